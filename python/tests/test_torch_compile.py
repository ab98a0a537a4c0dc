"""`torch.compile(backend="strata")` as its users call it. Each program is compared with eager PyTorch."""

import copy
import json
import subprocess
import sys
import threading
import warnings

import pytest
import torch
from torch import nn
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils.checkpoint import checkpoint

import strata
from comparison import agrees, compiled, native, same
from strata import events


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.linear = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x):
        return self.linear(self.norm(self.conv(x)).relu().mean((2, 3)))


def test_the_backend_is_listed():
    assert "strata" in torch._dynamo.list_backends()


def test_inference():
    net, x = Net().eval(), torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        same(compiled(net)(x), net(x))
    native(1)


def test_training():
    net = Net()
    other, x = copy.deepcopy(net), torch.randn(4, 3, 8, 8)
    run = compiled(net)
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1, momentum=0.9) for each in (net, other)]
    for _ in range(3):
        losses = [each(x).square().mean() for each in (run, other)]
        same(*losses)
        for loss, optimizer in zip(losses, optimizers):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    same(dict(net.state_dict()), dict(other.state_dict()))
    native(2)


def test_mutation_of_arguments():
    def change(x, y):
        x.add_(1)
        y[1:].mul_(x.sum())
        return x * y

    agrees(change, torch.randn(3), torch.randn(3))
    native(1)


def test_results_that_are_views():
    x = torch.randn(4, 6)
    found = compiled(lambda x: (x.t(), x[1], x.view(-1), x * 2))(x)
    same(found, (x.t(), x[1], x.view(-1), x * 2))
    found[1].zero_()
    assert x[1].eq(0).all()


def test_views_of_arguments_compute_nothing():
    base = torch.randn(7, 6, 5)
    def views(x):
        return (*x.transpose(0, 1).split(2, 1), x.reshape(-1)[3:], x.sum())

    run = compiled(views)
    for x in (base[1:], base[2:]):  # the second has another offset in its memory
        x = x[:5]
        found, wanted = run(x), views(x)
        same(found, wanted)
        assert all(each.data_ptr() == view.data_ptr() for each, view in zip(found[:-1], wanted[:-1]))
    assert ", 1 kernel" in str(strata.explain(views, x))


def test_untracked_views_of_arguments_compute_nothing():
    def parts(x):
        return *torch.unsafe_split(x, 2, 1), *torch.unsafe_chunk(x[1:].t(), 3)

    x = torch.randn(4, 7)
    found, wanted = compiled(parts)(x), parts(x)
    same(found, wanted)
    assert all(each.data_ptr() == view.data_ptr() and each.stride() == view.stride() for each, view in zip(found, wanted))


@pytest.mark.parametrize("view", [lambda x: x.chunk(2), lambda x: x[x.shape[0] // 2 :], lambda x: x.view(-1)[3:], lambda x: x.t()[1]])
def test_results_that_are_views_at_symbolic_places(view):
    run = compiled(lambda x: (view(x), view(x + 1)), dynamic=True)
    for rows in (6, 8, 9):
        x = torch.randn(rows, 4)
        same(run(x), (view(x), view(x + 1)))
        first = torch.utils._pytree.tree_leaves(run(x))[0]
        first.zero_()
        same(torch.utils._pytree.tree_leaves(view(x))[0], torch.zeros_like(first))
    native()


def test_gradients_through_views_at_symbolic_places():
    run = compiled(lambda x: x.mul(2).chunk(2), dynamic=True)
    for rows in (6, 8):
        x = torch.randn(rows, 4, requires_grad=True)
        (found,) = torch.autograd.grad(run(x)[1].square().sum(), x)
        (wanted,) = torch.autograd.grad((x * 2).chunk(2)[1].square().sum(), x)
        same(found, wanted)


def test_a_view_of_an_argument_is_changed():
    def change(x):
        x.t()[0].fill_(7)
        return x.sum(1)

    agrees(change, torch.randn(3, 4))


def test_arguments_that_overlap():
    base = torch.randn(10)

    def change(a, b):
        a.add_(1)
        return a + b

    mine, theirs = base.clone(), base.clone()
    same(compiled(change)(mine[:6], mine[4:]), change(theirs[:6], theirs[4:]))
    same(mine, theirs)


@pytest.mark.parametrize("make", [lambda x: x.t(), lambda x: x[:, ::2], lambda x: x.expand(3, 5, 6), lambda x: x.flip(0)[1:], lambda x: x.unfold(0, 2, 1)])
def test_arguments_that_are_not_contiguous(make):
    x = make(torch.randn(5, 6))
    same(compiled(lambda x: (x + 1, x.sum(-1), x.softmax(-1)))(x), (x + 1, x.sum(-1), x.softmax(-1)))
    native(1)


def test_channels_last():
    net, x = Net().eval().to(memory_format=torch.channels_last), torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    with torch.no_grad():
        same(compiled(net)(x), net(x))
    result = compiled(lambda x: x * 2)(x)
    assert result.is_contiguous(memory_format=torch.channels_last)


def test_lazy_conjugation_and_negation():
    z = torch.randn(4, dtype=torch.complex64)
    same(compiled(lambda z: z * 2)(z.conj()), z.conj() * 2)
    same(compiled(lambda x: x * 2)(z.conj().imag), z.conj().imag * 2)
    same(compiled(lambda z: z.conj())(z), z.conj())


def test_numbers_and_tensors_without_dimensions():
    x, s = torch.randn(3), torch.tensor(2.5)
    same(compiled(lambda x, s, k: (x * s + k, s + 1))(x, s, 3), (x * s + 3, s + 1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.uint8, torch.bool, torch.complex128])
def test_dtypes(dtype):
    x = torch.randn(4, 5).mul(3).to(dtype)
    torch.testing.assert_close(compiled(lambda x: (x + x, x.t(), x == x))(x), (x + x, x.t(), x == x))
    native(1)


def test_graph_breaks():
    def broken(x):
        y = x.sin()
        print(end="")
        return y + 1 if y.sum() > 0 else y - 1

    for sign in (1, -1):
        x = torch.rand(4) * sign
        same(compiled(broken)(x), broken(x))
    strata.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(broken, fullgraph=True)(x)


def test_autocast():
    net, x = nn.Linear(16, 16), torch.randn(4, 16)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        found, wanted = compiled(net)(x), net(x)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)


def test_inference_mode():
    net, x = Net().eval(), torch.randn(2, 3, 8, 8)
    with torch.inference_mode():
        same(compiled(net)(x), net(x))
    x = torch.randn(3)
    with torch.inference_mode():
        y = x * 2
    same(compiled(lambda y: y + 1)(y), y + 1)


def test_no_grad_inside():
    x = torch.randn(4, requires_grad=True)

    def partly(x):
        with torch.no_grad():
            scale = x.square().sum()
        return (x * scale).sum()

    (found,), (wanted,) = torch.autograd.grad(compiled(partly)(x), x), torch.autograd.grad(partly(x), x)
    same(found, wanted)


def test_checkpoint():
    layer, x = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8)), torch.randn(4, 8, requires_grad=True)
    function = lambda x: checkpoint(layer, x, use_reentrant=False).sum()  # noqa: E731
    (found,), (wanted,) = torch.autograd.grad(compiled(function)(x), x), torch.autograd.grad(function(x), x)
    same(found, wanted)


@torch.library.custom_op("strata_test::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() / 2)


@halve.register_fake
def _(x):
    return torch.empty_like(x)


def test_a_custom_operator_divides_the_graph_and_is_told():
    function = lambda x: halve(x.sin() + 1).cos() * 2  # noqa: E731
    x = torch.randn(5)
    with pytest.warns(UserWarning, match="halve"):
        same(compiled(function, fullgraph=True)(x), function(x))
    assert [graph.status for graph in events.graphs] == ["partitioned"]
    with pytest.raises(Exception, match="halve"):
        strata.reset()
        compiled(function, options={"fallback": "error"})(x)


def test_subclasses():
    def function(x, y):
        return torch.sin(x) + y * 2

    a, b = (TwoTensor(torch.randn(4), torch.randn(4)) for _ in range(2))
    result, wanted = compiled(function)(a, b), function(a, b)
    assert isinstance(result, TwoTensor)
    torch.testing.assert_close((result.a, result.b), (wanted.a, wanted.b))

    made = compiled(lambda x: TwoTensor(x.sin(), x.cos()))(torch.ones(3))
    assert isinstance(made, TwoTensor)
    torch.testing.assert_close(made.b, torch.ones(3).cos())

    x = TwoTensor(torch.randn(4), torch.randn(4)).requires_grad_()
    compiled(lambda x: (x.sin() * x).sum())(x).backward()
    torch.testing.assert_close(x.grad.a, (x.a.cos() * x.a + x.a.sin()).detach())


def test_jagged_tensors_run_in_eager_pytorch():
    jagged = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged)
    with pytest.warns(UserWarning, match="jagged"):
        result = compiled(lambda t: t * 2 + 1)(jagged)
    assert torch.equal(result.values(), jagged.values() * 2 + 1)


def test_threads():
    function = compiled(lambda x: (x @ x.t()).softmax(0))
    inputs = [torch.randn(8, 8) for _ in range(8)]
    function(inputs[0])
    failed = []

    def work(x):
        for _ in range(50):
            if not torch.allclose(function(x), (x @ x.t()).softmax(0), atol=1e-5):
                failed.append(x)

    threads = [threading.Thread(target=work, args=(x,)) for x in inputs]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed


@pytest.mark.parametrize("change", ["step", "load", "data", "assign", "inplace"])
def test_weights_that_change_are_seen(change):
    net, x = Net().eval(), torch.randn(2, 3, 8, 8)
    function = compiled(net)
    with torch.no_grad():
        same(function(x), net(x))
    if change == "step":
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
        net(x).square().sum().backward()
        optimizer.step()
    elif change == "load":
        net.load_state_dict({name: torch.randn_like(value).abs() if value.is_floating_point() else value for name, value in net.state_dict().items()})
    elif change == "data":
        net.linear.weight.data = torch.randn(5, 8)
    elif change == "assign":
        net.linear.weight = nn.Parameter(torch.randn(5, 8))
    else:
        with torch.no_grad():
            net.conv.weight.mul_(3)
    with torch.no_grad():
        for _ in range(2):
            same(function(x), net(x))
    native()


def test_weights_that_come_to_lie_where_others_lay():
    net, x = nn.Linear(64, 64), torch.randn(4, 64)
    function = compiled(net)
    with torch.no_grad():
        same(function(x), net(x))
        for _ in range(20):
            net.weight.data = torch.zeros(1)
            net.weight.data = torch.randn(64, 64)  # may get the memory that the one before the zeros had
            same(function(x), net(x))


def test_weights_that_change_at_every_call():
    net, x = nn.Linear(8, 8), torch.randn(4, 8)
    function = compiled(net)
    with torch.no_grad():
        for _ in range(20):
            net.weight.add_(0.1)
            same(function(x), net(x))


def test_errors_are_pytorchs():
    with pytest.raises(IndexError):
        compiled(lambda x, i: x[i])(torch.randn(3), torch.tensor([5]))
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        compiled(torch.linalg.inv)(torch.zeros(2, 2))


@pytest.mark.parametrize("bad", [{"mode": "fastest"}, {"options": {"numeric": "fast"}}, {"options": {"numerics": "exact"}}, {"options": {"freeze": 3}}])
def test_options_that_are_none(bad):
    with pytest.raises(Exception, match="strata"):
        compiled(lambda x: x + 1, **bad)(torch.randn(3))


@pytest.mark.parametrize("good", [{"mode": "reduce-overhead"}, {"options": {"numerics": "fast"}}, {"options": {"numerics": "strict", "freeze": False}}, {"options": {"cache": False}}])
def test_options(good):
    net, x = Net().eval(), torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        same(compiled(net, **good)(x), net(x))
    native(1)


def test_stances():
    function, x = compiled(lambda x: x + 1), torch.ones(2)
    function(x)
    with torch.compiler.set_stance("force_eager"):
        same(function(torch.ones(2, 2)), torch.full((2, 2), 2.0))
    assert len(events.graphs) == 1
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError):
        function(torch.ones(3, 3, dtype=torch.float64))


def test_random_numbers():
    function = compiled(lambda x: nn.functional.dropout(x, 0.5))
    x = torch.ones(1000)
    first, second = function(x), function(x)
    assert 300 < first.eq(0).sum() < 700 and not first.equal(second)
    assert first[first != 0].eq(2).all()
    torch.manual_seed(3)
    third = function(x)
    torch.manual_seed(3)
    assert third.equal(function(x))


@pytest.mark.parametrize("kernel, stride, size, padding", [(3, 1, 14, 1), (5, 2, 29, 2), (4, 2, 19, 0), (4, 2, 18, 1), (2, 2, 9, 0), (7, 2, 11, 3), (3, 3, 17, 1)])
def test_depthwise_convolutions(kernel, stride, size, padding):
    """In the order that images have in PyTorch; windows that move by two read the phases of rows."""
    for module, space, dtype in ((nn.Conv1d, 1, torch.float32), (nn.Conv2d, 2, torch.float32), (nn.Conv2d, 2, torch.bfloat16)):
        layer = module(20, 20, kernel, stride, padding, groups=20).to(dtype)
        x = torch.randn(2, 20, *[size] * space, dtype=dtype)
        with torch.no_grad():
            tolerance = {torch.float32: 1e-5, torch.bfloat16: 2e-2}[dtype]
            torch.testing.assert_close(compiled(layer)(x), layer(x), rtol=tolerance, atol=tolerance)


def test_the_number_of_threads():
    program = """
import torch, strata
torch.set_num_threads(1)
add = lambda x: x + 1
torch.compile(add, backend="strata")(torch.ones(3))
assert strata._native.threads(8) == 1
for wrong in (2, 0, True):
    try:
        strata.compile(add, torch.ones(4), threads=wrong)
    except ValueError as error:
        print(error)
strata.compile(add, torch.ones(4), threads=1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3 and "run on 1 threads" in done.stdout


def test_kernels_run_on_the_threads_of_eager_pytorch():
    """Also after `torch.set_num_threads`; and a forked process, where those threads are not, computes alone."""
    program = """
import os, pathlib, torch
import strata
x = torch.randn(1 << 20)
exp = torch.compile(torch.exp, backend="strata")
threads = lambda: [(task / "comm").read_text().strip() for task in pathlib.Path("/proc/self/task").iterdir()]
torch.set_num_threads(2)
for number in (2, 1, 2):
    torch.set_num_threads(number)
    for _ in range(20):
        torch.testing.assert_close(exp(x), torch.exp(x))
assert not [name for name in threads() if name.startswith("strata-")], threads()
child = os.fork()
if not child:
    os._exit(int(not torch.isclose(exp(x)[::4096], torch.tensor([v.exp() for v in x[::4096]])).all()))
assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_report(tmp_path):
    def broken(x):
        y = torch.relu(x)
        torch._dynamo.graph_break()
        return torch.sin(y)

    page = strata.report(broken, torch.randn(3, 5), file=str(tmp_path / "page.html"))
    data = page.read_text().split('id="data">')[1].split("</script>")[0]
    report = json.loads(data)["report"]
    assert len(report["programs"]) == 2 and report["notes"]
    for program, name in zip(report["programs"], ("relu", "sin")):
        sources = program["compilation"]["sources"]
        (kernel,) = program["compilation"]["kernels"]
        assert any(sources[k]["name"] == name and sources[k]["file"] == __file__ for k in kernel["sources"])
        assert program["call"]["median"] > 0 and [launch["kernel"] for launch in program["call"]["launches"]] == [kernel["name"]]
    assert json.loads((tmp_path / "page.trace.json").read_text())["traceEvents"]
    assert strata.explain(lambda x: x + 1, torch.randn(3)).native  # nothing is recorded any more


def test_report_of_training(tmp_path):
    layer = torch.nn.Linear(4, 4)
    before = layer.weight.detach().clone()

    def step(x):
        layer(x).sum().backward()

    page = strata.report(step, torch.randn(2, 4), file=str(tmp_path / "page.html"))
    report = json.loads(page.read_text().split('id="data">')[1].split("</script>")[0])["report"]
    assert report["programs"] and torch.equal(layer.weight, before)


def test_explain():
    def broken(x):
        y = x.sin()
        print(end="")
        return y + 1

    told = strata.explain(broken, torch.randn(3))
    assert len(told.guard_nanoseconds) == 2 and all(0 < each < 1e6 for each in told.guard_nanoseconds)
    assert len(told.graphs) == 2 and len(told.breaks) == 1 and told.guards and not told.native
    assert "2 of 2 graphs are native" in str(told)
    assert strata.explain(lambda x: x + 1, torch.randn(3)).native


def test_explain_tells_of_functions_that_are_given_up():
    def doubled(x):
        for row in range(2):
            x = x + (x > row).nonzero().sum()
        return x

    told = strata.explain(doubled, torch.randn(3))
    assert told.skipped == 1 and not told.native and "TorchDynamo gave" in str(told)


def test_the_backend_is_a_function_after_its_use():
    compiled(lambda x: x + 1)(torch.ones(3))
    same(torch.compile(lambda x: x * 2, backend=strata.backend)(torch.ones(3)), torch.full((3,), 2.0))


def test_no_warning_when_all_is_native():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(lambda x: x.exp() + 1)(torch.randn(3))


@pytest.mark.parametrize("mode", ["linear", "bilinear", "bicubic", "trilinear"])
def test_interpolation_is_one_operator(mode):
    sizes = {"linear": (9,), "bilinear": (9, 7), "bicubic": (9, 7), "trilinear": (5, 4, 6)}[mode]
    x = torch.randn(2, 3, *sizes, requires_grad=True)

    def resize(x):
        return nn.functional.interpolate(x, scale_factor=1.5, mode=mode)

    gradients = []
    for run in (compiled(resize, fullgraph=True), resize):
        gradients += torch.autograd.grad(run(x).square().sum(), x)
    same(*gradients)
    native(2)
    assert max(graph.nodes for graph in events.graphs) < 4, events.graphs
    same(strata.compile(resize)(x.detach()), resize(x.detach()))


def test_interpolation_to_symbolic_sizes():
    run = compiled(lambda x: nn.functional.interpolate(x, scale_factor=2, mode="bilinear"), dynamic=True)
    for side in (5, 8, 6):
        x = torch.randn(1, 3, side, side + 1)
        same(run(x), nn.functional.interpolate(x, scale_factor=2, mode="bilinear"))
    native()
