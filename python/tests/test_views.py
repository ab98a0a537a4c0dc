"""Results of `strata.compile` that are views of arguments."""

import pytest
import torch

import strata
from comparison import same


def parts(x):
    return x.split(2, 1), x.t(), x + 1


def test_views_share_the_memory_of_their_argument():
    x = torch.randn(4, 6)
    (first, *_), turned, sum = strata.compile(parts)(x)
    first.zero_()
    assert x[:, :2].eq(0).all() and turned.data_ptr() == x.data_ptr() and turned.stride() == (1, 6)
    assert sum.data_ptr() != x.data_ptr()


def test_views_of_arguments_with_other_strides_and_offsets():
    function = strata.compile(parts)
    whole = torch.arange(80.0).reshape(8, 10)
    for x in (whole[:4, :6], whole[1:5, 3:9], whole[:6, :4].t(), whole[::2, :6]):
        found, wanted = function(x), parts(x)
        for result, expected in zip((*found[0], *found[1:]), (*wanted[0], *wanted[1:]), strict=True):
            same(result, expected)
        assert [view.data_ptr() for view in found[0]] == [view.data_ptr() for view in wanted[0]]


def test_an_argument_that_changes_and_is_viewed():
    def change(x):
        x.add_(1)
        return x.t(), x

    x = torch.ones(2, 3)
    turned, whole = strata.compile(change)(x)
    same(x, torch.full((2, 3), 2.0))
    same(turned, torch.full((3, 2), 2.0))
    same(whole, torch.full((2, 3), 2.0))


def test_many_parts_of_an_argument_are_taken_by_one_call():
    def f(x, y):
        first, *rest = torch.unbind(x)
        return first, y + 1, *x.split(2, 1), *rest

    compiled = strata.compile(f)
    for at in range(3):
        x, y = torch.randn(7, 12, 3), torch.randn(3)
        found, wanted = compiled(x, y), f(x, y)
        assert type(found) is tuple and len(found) == len(wanted)
        for a, b in zip(found, wanted):
            torch.testing.assert_close(a, b, rtol=0, atol=0)
            assert (a.stride(), a.storage_offset()) == (b.stride(), b.storage_offset())
        found[2].fill_(at)
        assert (x[:, :2] == at).all()


def joined(kind, a, b):
    """Tensors that lie across the rows of the result, put together in one way."""
    return {
        "side by side": lambda: torch.cat([a.t(), b.t()], 1),
        "one behind the other": lambda: torch.cat([a.t(), b.t()[:, : a.shape[0]]]) if b.shape[0] >= a.shape[0] else torch.cat([a.t(), a.t()]),
        "rolled": lambda: a.t().roll((5, 11), (0, 1)),
        "reversed": lambda: a.t().flip(0),
        "padded": lambda: torch.nn.functional.pad(a.t(), (3, 4, 2, 1)),
        "pairs": lambda: torch.stack([a, a.flip(0)], -1),
        "triples": lambda: torch.stack([a, a.flip(0), a.flip(1)], -1),
    }[kind]().contiguous()


@pytest.mark.parametrize("dtype", (torch.bool, torch.int8, torch.bfloat16, torch.float32, torch.int64, torch.complex64), ids=str)
@pytest.mark.parametrize("kind", ("side by side", "one behind the other", "rolled", "reversed", "padded", "pairs", "triples"))
@pytest.mark.parametrize("sizes", ((97, 300, 131), (40, 66, 200), (129, 70, 130)), ids=str)
def test_what_lies_across_rows_is_put_together(sizes, kind, dtype):
    torch.manual_seed(3)
    rows, more, columns = sizes
    made = lambda *shape: torch.randn(shape).gt(0) if dtype is torch.bool else torch.randn(shape).mul(50).to(dtype)
    a, b = made(rows, columns), made(more, columns)
    same(strata.compile(lambda a, b: joined(kind, a, b))(a, b), joined(kind, a, b))
