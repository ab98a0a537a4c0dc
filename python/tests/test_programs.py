"""Programs as users write them that were not compiled, or not as a whole, before they stood here."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

import strata
from comparison import agrees, compiled, native, same


def gradients(function, module, *arguments):
    """The gradients of the parameters and of the arguments that want one."""
    wanted = [*module.parameters(), *(each for each in arguments if each.requires_grad)]
    return torch.autograd.grad(function(*arguments).square().sum(), wanted)


@pytest.mark.parametrize("make", [lambda p: torch.optim.AdamW(p, lr=0.01), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: torch.optim.Adagrad(p)])
def test_a_training_step_with_clipping_and_optimizer(make):
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    other, x, y = copy.deepcopy(net), torch.randn(6, 4), torch.randn(6, 1)

    def step(net, optimizer):
        optimizer.zero_grad()
        functional.mse_loss(net(x), y).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()

    mine, theirs, run = make(net.parameters()), make(other.parameters()), compiled(step)
    for _ in range(3):
        run(net, mine)
        step(other, theirs)
    torch.testing.assert_close(dict(net.state_dict()), dict(other.state_dict()), rtol=1e-4, atol=1e-4)
    native()


def test_operators_on_lists_of_tensors():
    def update(xs, ys):
        scaled = torch._foreach_mul(xs, [2.0, 3.0])
        torch._foreach_addcdiv_(scaled, xs, ys, value=0.5)
        return torch._foreach_pow(ys, 2), torch._foreach_maximum(scaled, 0.5), torch._foreach_norm(xs, 1), torch._foreach_lerp(xs, ys, 0.3)

    agrees(update, [torch.randn(3), torch.randn(2, 2)], [torch.rand(3) + 1, torch.rand(2, 2) + 1])
    native(1)


def test_a_signal_from_its_spectrum():
    def through(x, window):
        spectrum = torch.stft(x, 16, 4, window=window, return_complex=True)
        return torch.istft(spectrum * 2, 16, 4, window=window)

    agrees(through, torch.randn(2, 64), torch.hann_window(16))
    native(1)


@pytest.mark.parametrize("heads", [1, 2])
def test_attention_with_grouped_queries(heads):
    def attend(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, is_causal=True)

    q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, heads, 5, 8), torch.randn(2, heads, 5, 8)
    agrees(attend, q, k, v)
    inputs = [each.requires_grad_() for each in (q, k, v)]
    same(gradients(compiled(attend), nn.Identity(), *inputs), gradients(attend, nn.Identity(), *inputs))
    native(3)


def test_causal_attention_of_fewer_positions_with_a_mask():
    def attend(q, k, v, mask):
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, is_causal=True, attn_mask=mask)[0]

    agrees(attend, torch.randn(2, 3, 5, 8), torch.randn(2, 3, 9, 8), torch.randn(2, 3, 9, 8), torch.randn(5, 9))


@pytest.mark.parametrize(("queries", "keys"), [(1, 50), (7, 50), (50, 7)])
def test_causal_attention_of_other_positions(queries, keys):
    def attend(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    q, k, v = torch.randn(2, 4, queries, 8), torch.randn(2, 4, keys, 8), torch.randn(2, 4, keys, 8)
    agrees(attend, q, k, v)
    inputs = [each.requires_grad_() for each in (q, k, v)]
    same(gradients(compiled(attend), nn.Identity(), *inputs), gradients(attend, nn.Identity(), *inputs))
    native(3)


@pytest.mark.parametrize("arguments", [{}, {"is_causal": True}, {"attn_mask": torch.zeros(20, 20).index_fill(0, torch.tensor([3]), -torch.inf)}])
def test_the_logarithm_that_attention_leaves(arguments):
    """It is what the backward pass takes the weights from; the third mask hides a whole row."""

    def attend(q, k, v):
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, **arguments)[:2]

    agrees(attend, *(torch.randn(2, 3, 20, 16) for _ in range(3)))


@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_indices_behind_the_last_offset(mode, dtype, padding):
    """PyTorch's fast loops leave them out, the others give them to the last bag."""

    def bags(indices, table, offsets):
        return functional.embedding_bag(indices, table, offsets, mode=mode, include_last_offset=True, padding_idx=padding)

    indices, offsets, table = torch.randint(0, 20, (50,)), torch.tensor([0, 0, 4, 4, 30, 41, 41]), torch.randn(20, 5, dtype=dtype)
    agrees(bags, indices, table, offsets)
    agrees(bags, indices, table, offsets[:-1])
    table.requires_grad_()
    gradient = lambda run: torch.autograd.grad(run(indices, table, offsets).square().sum(), table)[0]
    if mode != "max" and dtype == torch.float32 and padding is None:
        # (PyTorch's own reads past the end of what comes in.)
        same(gradient(compiled(bags)), gradient(lambda indices, table, offsets: bags(indices[:41], table, offsets)))
    else:
        same(gradient(compiled(bags)), gradient(bags))


@pytest.mark.parametrize("first", [False, True])
def test_an_encoder_of_transformers(first):
    layer = nn.TransformerEncoderLayer(16, 4, 32, activation="gelu" if first else "relu", batch_first=True, norm_first=first)
    net, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(), torch.randn(2, 6, 16)
    padded = torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
    causal = nn.Transformer.generate_square_subsequent_mask(6)
    with torch.no_grad():
        same(compiled(net)(x), net(x))
        same(compiled(net)(x, src_key_padding_mask=padded), net(x, src_key_padding_mask=padded))
        same(compiled(net)(x, mask=causal), net(x, mask=causal))
        same(compiled(net)(x, mask=causal, src_key_padding_mask=padded), net(x, mask=causal, src_key_padding_mask=padded))
    native()


def test_attention_of_a_module():
    net, x = nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.randn(2, 6, 16)
    with torch.no_grad():
        for average in (True, False):
            agrees(lambda x: net(x, x, x, average_attn_weights=average), x)  # noqa: B023
        agrees(lambda x: net(x, x, x, need_weights=False)[0], x)
    native()


class Cache(nn.Module):
    """Attends to what it was given before."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 16, 8))
        self.project = nn.Linear(8, 8)

    def forward(self, x, position):
        self.keys[:, position] = self.project(x)
        scores = (x[:, None] @ self.keys.transpose(1, 2)).squeeze(1)
        weights = torch.where(torch.arange(16) <= position, scores, float("-inf")).softmax(-1)
        return (weights[:, None] @ self.keys).squeeze(1)


def test_a_cache_is_written_at_a_position_that_is_a_tensor():
    net = Cache()
    other, run = copy.deepcopy(net), compiled(net)
    with torch.no_grad():
        for k in range(4):
            x, position = torch.randn(2, 8), torch.tensor(k)
            same(run(x, position), other(x, position))
            same(net.keys, other.keys)
    native(1)


def test_a_cache_is_written_where_it_lies_and_not_at_all_by_a_call_that_fails():
    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(2, 16, 8))
            self.register_buffer("values", torch.zeros(2, 16, 8))

        def forward(self, query, key, value, positions):
            self.keys.index_copy_(1, positions, key)
            self.values[:, positions] = value
            return functional.scaled_dot_product_attention(query, self.keys, self.values)

    net = Cache()
    other, run = copy.deepcopy(net), compiled(net)
    query, new = torch.randn(2, 1, 8), torch.randn(4, 2, 3, 8)
    with torch.no_grad():
        for positions in ([0, 1, 2], [15, 3, 3], [7, 0, 9]):
            call = query, new[0], new[1], torch.tensor(positions)
            same(run(*call), other(*call))
            same((net.keys, net.values), (other.keys, other.values))
        for positions in ([4, 16, 5], [4, 5, -17]):
            with pytest.raises(IndexError, match="index out of bounds"):
                run(query, new[2], new[3], torch.tensor(positions))
            same((net.keys, net.values), (other.keys, other.values))
    native(1)


def test_positions_count_from_the_end():
    run, x = compiled(lambda x, k: (x[k], x.select_scatter(x[0], 0, int(k)) if isinstance(k, int) else x[:, k])), torch.randn(6, 6)
    for k in (3, -1, 5, -6):
        same(run(x, torch.tensor(k)), (x[k], x[:, k]))
        same(run(x, k), (x[k], x.select_scatter(x[0], 0, k)))
    for k in (6, -7):
        with pytest.raises(IndexError):
            run(x, torch.tensor(k))


@pytest.mark.parametrize(
    "function, calls",
    [
        (lambda x: x[x > 0] * 2, [[1.0, -1.0, 3.0], [-1.0, -2.0, -3.0]]),
        (torch.nonzero, [[1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]),
        (lambda x: torch.unique(x, return_counts=True), [[2.0, 1.0, 2.0], [0.0, 0.0, 0.0]]),
        (lambda x: torch.bincount(x.long()), [[2.0, 1.0, 2.0], [0.0, 5.0, 0.0]]),
        (lambda x: torch.repeat_interleave(x, x.long()), [[2.0, 1.0, 0.0], [0.0, 5.0, 1.0]]),
        (lambda x: x * x.sum().item() + x[0].item(), [[2.0, 1.0, 2.0], [-1.0, 0.5, 0.25]]),
    ],
)
def test_sizes_and_numbers_that_a_call_decides(function, calls):
    run = strata.compile(function)
    for call in calls:
        same(run(torch.tensor(call)), function(torch.tensor(call)))
    assert len(run.programs) == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 if x.sum() > 0 else x - 1,
        lambda x: torch.cov(x, fweights=x.long()),
        lambda x: torch.tensor_split(x, x.long()),
        lambda x: torch.tensor(x.tolist()),
        lambda x: torch.tensor(x.numpy() + 1),
    ],
)
def test_a_function_that_asks_for_a_value_is_refused_with_its_line(function):
    with pytest.raises(strata.graph.Unsupported, match=r"test_programs.py:\d+: .* needs the value of a tensor, which a recorded call does not have"):
        strata.compile(function)(torch.ones(3))


def test_a_recorded_function_knows_that_it_is_compiled():
    def function(x):
        return x + 1 if torch.compiler.is_compiling() or x.sum() > 0 else x

    same(strata.compile(function)(torch.ones(3)), torch.full((3,), 2.0))
    assert not torch.compiler.is_compiling()
