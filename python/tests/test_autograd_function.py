"""`torch.autograd.Function` in recorded functions and in graphs of TorchDynamo, beside eager PyTorch."""

import threading

import pytest
import torch
import torch.utils.checkpoint
from comparison import compiled, native, same
from torch.autograd import Function
from torch.autograd.function import once_differentiable

import strata


class Exp(Function):
    """Three times the gradient, so that none but its own will do."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return 3 * gradient * y


class Straight(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Product(Function):
    """Two inputs and a number, an intermediate value, and an attribute."""

    @staticmethod
    def forward(ctx, x, y, power):
        inner = x.sin() * y
        ctx.save_for_backward(x, y, inner)
        ctx.power = power
        return inner**power

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        x, y, inner = ctx.saved_tensors
        outer = gradient * ctx.power * inner ** (ctx.power - 1)
        first = outer * y * x.cos() if ctx.needs_input_grad[0] else None
        return first, outer * x.sin() if ctx.needs_input_grad[1] else None, None


class Several(Function):
    """Several outputs, of which one is counted and one has no gradient."""

    @staticmethod
    def forward(ctx, x):
        places, mask = x.argsort(), (x > 0).to(x.dtype)
        ctx.mark_non_differentiable(places, mask)
        ctx.save_for_backward(mask)
        return x.square(), places, mask, x.cos()

    @staticmethod
    def backward(ctx, square, places, mask, cos):
        return 5 * square - cos * ctx.saved_tensors[0] + places + mask


class Separate(Function):
    """With `setup_context`, a default, and gradients that are not materialised."""

    @staticmethod
    def forward(x, y, scale=2.0):
        return x * y * scale, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.scale = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        product, total = (0 if each is None else each for each in (product, total))
        return product * y * ctx.scale + total, 7 * product * x + total, None


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 11


class Summed(Function):
    """A gradient in the sizes that its argument broadcasts to, in another type; one that writes to its cotangent; and one by `vjp`."""

    @staticmethod
    def forward(ctx, x, y):
        return x.double() + y

    @staticmethod
    def vjp(ctx, gradient):
        return gradient.mul_(3), gradient


class Clipped(torch.nn.Module):
    """A straight-through estimator in a module, whose backward reads a parameter of it that is no argument."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 5)
        weight = lambda: self.linear.weight  # noqa: E731

        class Clip(Function):
            @staticmethod
            def forward(ctx, x):
                return x.clamp(-1, 1) + weight().sum()

            @staticmethod
            def backward(ctx, gradient):
                return gradient * weight().mean()

        self.clip = Clip.apply

    def forward(self, x):
        return self.clip(self.linear(x)).square().mean()


def _in_place(x):
    y = x.sin()
    z = InPlace.apply(y)
    return (y * z).sum()


def _without(x):
    with torch.no_grad():
        y = Exp.apply(x)
    return (y * x).sum()


FUNCTIONS = {
    "exp": lambda x: Exp.apply(2 * x).sum(),
    "kept": lambda x: sum(map(Exp.apply, (x, x * 2, Exp.apply(x)))).mean(),
    "straight": lambda x: (Straight.apply(x) * x).sum(),
    "product": lambda x: Product.apply(x, x.exp(), 3).sum(),
    "constant": lambda x: Product.apply(torch.ones(5), x, 2).sum(),
    "several": lambda x: sum(map(torch.sum, Several.apply(x * 3)[::2])) + Several.apply(x)[3].sum(),
    "separate": lambda x: (Separate.apply(x, x.exp())[0] * Separate.apply(x, x.sin(), 3.0)[1]).sum(),
    "in place": _in_place,
    "summed": lambda x: Summed.apply(x, x.double().reshape(5, 1)).square().sum().float(),
    "no_grad": _without,
    "detached": lambda x: (Exp.apply(x.detach()) * x).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gradient_is_its_backward(name):
    function, x = FUNCTIONS[name], torch.randn(5)
    eager = x.clone().requires_grad_()
    wanted = function(eager)
    wanted.backward()
    value, gradient = strata.value_and_grad(function)(x)
    same(value, wanted.detach())
    same(gradient, eager.grad)
    same(strata.compile(function)(x), wanted.detach())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_torch_compile_takes_it(name):
    function, x = FUNCTIONS[name], torch.randn(5)
    eager, mine = x.clone().requires_grad_(), x.clone().requires_grad_()
    wanted, found = function(eager), compiled(function)(mine)
    wanted.backward()
    found.backward()
    same(found, wanted)
    same(mine.grad, eager.grad)
    with torch.no_grad():
        same(compiled(function)(x), function(x))
    native()


def test_a_step_of_training_has_its_gradient():
    torch.manual_seed(0)
    model, eager = Clipped(), Clipped()
    eager.load_state_dict(model.state_dict())
    step = strata.train_step(model, None, torch.optim.SGD(model.parameters(), lr=0.1))
    optimizer = torch.optim.SGD(eager.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(4, 5)
        optimizer.zero_grad()
        loss = eager(x)
        loss.backward()
        optimizer.step()
        same(step(x), loss.detach())
    same(model.state_dict(), eager.state_dict())


class Unmarked(InPlace):
    @staticmethod
    def forward(ctx, x):
        return x.mul_(2)


class Writes(Exp):
    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0].mul_(2)


class Buffers(Straight):
    @staticmethod
    def backward(ctx, gradient):
        return gradient if ctx.input_grad_buffers[0] is None else None


class Marked(InPlace):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        ctx.mark_dirty(x)
        return y


class Lost(InPlace):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(x)
        return x.mul_(2)


class Differentiates(Straight):
    @staticmethod
    def backward(ctx, gradient):
        x = gradient.detach().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(x.sin().sum(), x)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (Unmarked, r"writes to an argument without ctx.mark_dirty\(..\) of it"),
        (Writes, "writes in its backward to what its forward saved or gave"),
        (Buffers, "reads ctx.input_grad_buffers"),
        (Marked, "marks an argument as dirty and does not give it"),
        (Lost, "marks an argument as dirty and as not differentiable"),
        (Differentiates, "asks PyTorch for a gradient"),
    ],
)
def test_what_a_record_does_not_have_is_refused_with_its_line(function, why):
    with pytest.raises(strata.graph.Unsupported, match=rf"test_autograd_function.py:\d+: .* calls a torch.autograd.Function that {why}"):
        strata.value_and_grad(lambda x: function.apply(x.sin()).sum())(torch.ones(3))


def test_a_checkpoint_that_runs_its_function_again_is_refused():
    def function(x):
        return torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True).sum()

    with pytest.raises(strata.graph.Unsupported, match="a torch.autograd.Function that asks PyTorch for a gradient"):
        strata.value_and_grad(function)(torch.ones(3))


def test_a_transform_of_a_call_is_refused():
    class Mapped(Separate):
        generate_vmap_rule = True

    with pytest.raises(strata.graph.Unsupported, match=r"test_autograd_function.py:\d+: .* calls a torch.autograd.Function under a transform"):
        strata.value_and_grad(lambda x: torch.vmap(Mapped.apply)(x, x)[0].sum())(torch.ones(3))


def test_a_wrong_gradient_is_an_error_as_in_pytorch():
    class Wrong(Straight):
        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient

    class Shape(Straight):
        @staticmethod
        def backward(ctx, gradient):
            return gradient[:2]

    for function, why in ((Wrong, r"WrongBackward returned an incorrect number of gradients \(expected 1, got 2\)"), (Shape, r"got \[2\] but expected")):
        with pytest.raises(RuntimeError, match=why):
            function.apply(torch.ones(3, requires_grad=True)).sum().backward()
        with pytest.raises(RuntimeError, match=why):
            strata.value_and_grad(lambda x: function.apply(x).sum())(torch.ones(3))  # noqa: B023


def test_other_threads_call_theirs_while_one_records():
    begun, done, found = threading.Event(), threading.Event(), []

    def other():
        begun.wait()
        x = torch.ones(3, requires_grad=True)
        Exp.apply(x).sum().backward()
        found.append(x.grad)
        done.set()

    def function(x):
        begun.set()
        done.wait(10)
        return Exp.apply(x).sum()

    thread = threading.Thread(target=other)
    thread.start()
    strata.value_and_grad(function)(torch.ones(3))
    thread.join()
    same(found[0], torch.full((3,), 3 * torch.e))
