"""Scripted programs whose calls differ in what they do: branches and loops that only a call decides, over views, lists, dicts and objects.

`PROGRAMS` has each function with the inputs of several calls.
"""

import enum
import math
from typing import Dict, List, Optional, Tuple, Union

import torch
from torch import Tensor, nn

PROGRAMS = []


def calls(*inputs):
    """A function to script, and the inputs of its calls."""
    def keep(function):
        PROGRAMS.append((function, [list(given) for given in inputs]))
        return function
    return keep


above = torch.randn(3, 4, generator=torch.Generator().manual_seed(2)).abs() + 0.1
below, v = -above, torch.arange(5.0)
none, one, three, five = (torch.tensor(n) for n in (0, 1, 3, 5))


# Tensors and views of them.


@calls((above,), (below,))
def writes_in_a_branch(x: Tensor):
    y = x.clone()
    first = y[0]
    if bool(x.sum() > 0):
        y += 1
    else:
        first.mul_(2)
        y[1] = first
    return y, first


@calls((above,), (below,))
def views_in_a_branch(x: Tensor):
    y = x.clone()
    across = y.t()
    middle = across[1:3]
    if bool(x.sum() > 0):
        middle.fill_(5)
        y[0] = 1
    return y, across, middle


@calls((above, three), (below, none))
def views_in_a_loop(x: Tensor, n: Tensor):
    y = x.clone()
    a = y[0]
    b = y[1]
    for k in range(int(n)):
        a += 1
        b += a
        y[2] += b
    return y, a, b


@calls((above, three), (below, none))
def writes_in_a_branch_of_a_loop(x: Tensor, n: Tensor):
    y = torch.zeros(4)
    for k in range(int(n)):
        if k % 2 == 0:
            y += x[k]
        else:
            y[0] = 5
    return y


@calls((above, three), (below, five))
def counts_in_a_tensor(x: Tensor, n: Tensor):
    count = torch.zeros((), dtype=torch.long)
    for k in range(int(n)):
        if int(count) > 1:
            x = x * 2
        count += 1
    return x, count


@calls((above,), (below,))
def sizes_in_place(x: Tensor):
    y = x.clone()
    z = y
    y.t_()
    y.unsqueeze_(0)
    w = y.squeeze_(0)
    w += 1
    x = x.clone()
    x.resize_(2, 6)
    return y, z, w, x


@calls((above,), (below,))
def results_by_out(x: Tensor):
    y = torch.zeros(3, 4)
    torch.add(x, 1, out=y)
    return y


class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.ones(4))
        self.register_buffer("b", torch.zeros(4))

    def forward(self, x: Tensor, n: Tensor):
        for k in range(int(n)):
            self.a += x[0]
            self.b = self.b + self.a
        if bool(x.sum() > 0):
            self.a, self.b = self.b, self.a
        return self.a * 2, self.b


BUFFERS = [[above, three], [below, none]]


@calls((above, three), (below, none))
def names_of_one_tensor(x: Tensor, n: Tensor):
    a, b = x * 2, x + 1
    if bool(x.sum() > 0):
        a = torch.relu(x)
        b = a
    else:
        b = a
    b += int(n)
    return a, b


# Tensors that grow and shrink.


@calls((above, three), (above, none))
def grows(x: Tensor, n: Tensor):
    y = x[:1]
    for k in range(int(n)):
        y = torch.cat([y, x[k].unsqueeze(0) * k])
    return y, y.size(0), y.sum(0)


@calls((v,), (v * 10,))
def shrinks(x: Tensor):
    while x.numel() > 1 and bool(x.sum() > 1):
        x = x[: x.numel() // 2] + x[x.numel() - x.numel() // 2:]
    return x


@calls((v, three), (v, torch.tensor(6)))
def two_that_grow(x: Tensor, n: Tensor):
    y = x
    z = x[:2]
    for k in range(int(n)):
        y, z = z, torch.cat([y, z])
        if y.size(0) > 20:
            y = y[:3]
    return y, z


# Lists, dicts and objects.


@calls((above, three), (above, none))
def appends_in_a_loop(x: Tensor, n: Tensor):
    out: List[Tensor] = []
    for k in range(int(n)):
        out.append(x * k)
    if len(out) == 0:
        return x.unsqueeze(0)
    return torch.stack(out, 1).transpose(0, 1) + torch.cat(out).sum()


@calls((v,), (v - 3,))
def appends_where(x: Tensor):
    out = [x[0]]
    numbers = [k * k for k in range(int(x[4]) + 1)]
    for k in range(int(x[4]) + 1):
        if bool(x[k] > 0):
            out.append(x[k] * 2)
    return torch.stack(out), len(out), torch.tensor(numbers), numbers[-1], sum(numbers)


@calls((v, three), (v, none))
def items_at_a_place(x: Tensor, n: Tensor):
    numbers = [1, 2, 4, 8]
    tensors = [x, x * 2, x * 3, x * 4]
    numbers[int(n)] = 100
    return tensors[int(n)] * numbers[int(n)], numbers


@calls((above, three), (below, one))
def entries_in_a_loop(x: Tensor, n: Tensor):
    d = {"a": x, "b": x * 2}
    pair = [x, x * 2]
    for k in range(int(n)):
        d["a"] = d["a"] + d["b"]
        pair[0], pair[1] = pair[1], pair[0] + pair[1]
    return d["a"], pair


@torch.jit.script
class Box:
    def __init__(self, t: Tensor):
        self.t = t
        self.n = 0


@calls((above, three), (below, one))
def objects(x: Tensor, n: Tensor):
    box = Box(x)
    same = box
    for k in range(int(n)):
        box.t = box.t * 2
        box.n += 1
    if bool(x.sum() > 0):
        box = Box(x * 2)
    else:
        box.t = x - 1
    return box.t, same.n


@calls((above, three), (above, none))
def returns_in_a_loop(x: Tensor, n: Tensor):
    for k in range(int(n)):
        if bool(x[k].sum() > 0.5):
            return x * k
    return x - 1


@calls((above, three), (above * 2, three), (below, none))
def returns_tuples_in_loops(x: Tensor, n: Tensor):
    largest = 0.0
    for k in range(int(n)):
        for j in range(4):
            if bool(x[k, j] > 2):
                return x * k, (j, True), x[k]
        largest = max(largest, float(x[k].max()))
    return x - 1, (int(largest * 10), False), x[1] + largest


@calls((above,), (below,))
def breaks_in_nested_loops(x: Tensor):
    count = 0
    for _ in range(3):
        for _ in range(3):
            if bool(x.sum() < 0):
                break
            x = x - 1
            count += 1
    return x, count


@calls(({"a": {"p": above, "q": v}, "b": {"p": below}}, {3: [above, v], 5: [below]}, [{"a": above, "b": v}, {"a": v}]))
def nested_dicts(d: Dict[str, Dict[str, Tensor]], e: Dict[int, List[Tensor]], l: List[Dict[str, Tensor]]):
    return d["a"]["p"] + d["b"]["p"], l[0]["a"].sum() + l[1]["a"], e[3][1] * 2, e[5][0], len(e[3])


# Numbers and texts.


@calls((torch.tensor(2.5),), (torch.tensor(0.25),))
def floats(x: Tensor):
    k = float(x)
    whole = math.floor(k), math.ceil(k), int(k * 10), math.isinf(k)
    return whole, round(k), abs(-k), k % 0.7, -k % 0.7, k // 0.7, k**2.5, math.atan2(k, 2.0), math.log(k), math.erf(k)


@calls((torch.tensor(5),), (torch.tensor(-8),))
def ints(x: Tensor):
    k = int(x)
    total = 0
    for j in range(k, 0, -2):
        total = total * 2 + j
    return abs(k), k**2, k % 3, k // 3, k / 3, k & 6, k ^ 3, divmod(k, 3), math.sqrt(abs(k)), k + True, total


@calls((torch.tensor([3, 1, 2]),), (torch.tensor([0, 5, 1]),))
def elements(x: Tensor):
    numbers: List[int] = x.tolist()
    more: List[int] = x[x > 0].tolist()
    total = 0
    for number in more:
        total += number * number
    return numbers[0] + numbers[1] * 10, total, len(more)


@calls((above,))
def methods_of_texts(x: Tensor):
    name = "  A name, B name "
    known = "%d of %s" % (3, "x") == "3 of x" and "7".zfill(3) == "007" and str([0.1, 2.0]) == "[0.10000000000000001, 2.]"
    return len(name.strip().split(", ")[1]), name.rfind("name"), name.count("a"), name.lower().title() == name.title(), known, hex(255) == "0xff"


@calls((above,))
def statistics(x: Tensor):
    weights = torch.tensor([0.1, 0.2, 0.3, 0.4])
    return torch.cov(x), torch.corrcoef(x), torch.cov(x[0], correction=0), torch.cov(x, aweights=weights), torch.equal(x, x), torch.allclose(x, x + 1)


# What no op joins: the rest of the program runs in both branches.


@calls((above,), (below,))
def writes_to_one_of_two(x: Tensor):
    y, z = x.clone(), x * 2
    a, b = {"x": x}, {"x": x * 2}
    if bool(x.sum() > 0):
        w, c = y, a
    else:
        w, c = z[1:], b
    w += 1
    c["x"] = c["x"] + w.sum()
    return y, z, w.sum(), a["x"], b["x"]


class Sign(enum.Enum):
    PLUS = 1
    MINUS = 2


def sign_of(x: Tensor) -> Sign:
    if bool(x.sum() > 0):
        return Sign.PLUS
    return Sign.MINUS


@calls((above,), (below,))
def returns_a_member(x: Tensor):
    factor: Union[int, float] = 2
    if sign_of(x) == Sign.MINUS:
        factor = 1.5
    if isinstance(factor, int):
        return x * factor, True
    return x + factor, False


@calls((above, three), (below, none), (below, one))
def absent_before_a_loop(x: Tensor, n: Tensor):
    largest: Optional[Tensor] = None
    place: Optional[int] = None
    for k in range(int(n)):
        if largest is None:
            largest = x[k]
        else:
            largest = torch.maximum(largest, x[k])
        if bool(x[k, 0] > 0.3):
            place = k
    if largest is None:
        return x[0], -1
    return largest, place if place is not None else 7


@calls((above, three), (below, none), (below, one))
def lists_of_a_loop(x: Tensor, n: Tensor):
    pairs: List[Tuple[int, Tensor]] = []
    squares: Dict[int, int] = {}
    stack: List[int] = []
    text = ""
    for k in range(int(n)):
        pairs.append((k, x[k]))
        squares[k] = k * k
        stack.append(k)
        text += "ab"
    total, number = torch.zeros(4), 0
    for k, row in pairs:
        total = total + k * row
    while len(stack) > 0:
        number = number * 2 + stack.pop()
    for key, square in squares.items():
        number += key + square
    return total, number, len(text)


class Flags(nn.Module):
    """Both branches change buffers, numbers and members of what is kept."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(4))
        self.count, self.last = 0, 0.5

    def forward(self, x: Tensor):
        rows = self.sum if bool(x.sum() > 0) else torch.zeros(4)
        rows += x[0]
        if sign_of(x) == Sign.PLUS:
            self.count += 1
            self.sum = rows * 2
        else:
            self.last = float(x[0, 0])
        return rows + self.count, self.sum + self.last


# Numbers that only a call knows, as keys and items.


@calls((three,), (none,), (torch.tensor(7),))
def numbers_in_lists(n: Tensor):
    k = int(n)
    known, places, names = {0: 10, 3: 20, k + 1: 5}, [5, 7, 3, 0], ["a", "b", "c", "d"]
    inside = k in [1, 2, 3], k not in (0, 5), [5, 3, k].count(k)
    return inside, places.index(k), known.get(k, 7), k in known, known[k + 1], names[k % 4] == "d"


@calls((torch.tensor([3, 1, 4, 1]),), (torch.tensor([0, 0, 0, 5]),))
def counts_in_a_dict(x: Tensor):
    counts: Dict[int, int] = {}
    for k in range(4):
        number = int(x[k])
        counts[number] = counts.get(number, 0) + 1
    most = 0
    for count in counts.values():
        most = max(most, count)
    return len(counts), most


@calls((above,), (below,))
def sorts_numbers(x: Tensor):
    numbers: List[float] = x[1].tolist()
    falling = numbers.copy()
    falling.sort(reverse=True)
    numbers.sort()
    flags = [number > 0 for number in numbers]
    y = x.clone()
    y.fill_diagonal_(2)
    return numbers, falling, any(flags), all(flags), y


@calls((above, none), (below, one), (above, three))
def pops_in_a_loop(x: Tensor, n: Tensor):
    rows = [x, x + 1, x * 3]
    for k in range(int(n)):
        x = x + rows.pop()
    return x, len(rows)


@calls((above, none), (below, one), (above, three))
def takes_entries_in_a_loop(x: Tensor, n: Tensor):
    entries: Dict[int, Tensor] = {0: x, 1: x * 2, 2: x - 1}
    for k in range(int(n)):
        x = x * entries[k]
        del entries[k]
    return x, len(entries)


@calls((above, none), (below, one), (above, three))
def empties_a_list_until(x: Tensor, n: Tensor):
    numbers = [1, 2, 3]
    while bool(n > 0):
        n = n - 1
        x = x * numbers.pop(0)
    return x, len(numbers)


@calls((above, one), (below, none), (above, torch.tensor(2)))
def places_in_lists(x: Tensor, n: Tensor):
    k = int(n)
    rows, sizes = [x[0], x[1], x[2]], [x, x[:2], x[:1]]
    rows[k] = rows[k] * 2
    return torch.stack(rows), sizes[k].sum()


@calls((above, one), (below, none), (above, torch.tensor(2)))
def inserts_and_cuts(x: Tensor, n: Tensor):
    k = int(n)
    numbers, total = [1, 2, 3], 0
    numbers.insert(k, 9)
    for number in numbers[k:]:
        total = total * 10 + number
    return numbers, total


@calls((above, one), (below, torch.tensor(2)), (above, three))
def parts_of_tensors(x: Tensor, n: Tensor):
    k = int(n)
    parts = x.split(k)
    rows = torch.unbind(x[:k])
    return parts[0].sum(), len(parts), torch.stack(rows).sum()


@calls((above, three), (below, one))
def results_of_deep_branches(x: Tensor, n: Tensor):
    pairs: List[Tuple[int, Tensor]] = []
    for k in range(int(n)):
        pairs.append((k, x[k % 3]))
    a, b, c = torch.zeros(4), torch.ones(4), x.sum(0)
    for k, row in pairs:
        a, b, c = b + k * row, c * 0.5, a - row
    return a, b, c, a + b, b * c


@calls((above, none), (above, one), (below, torch.tensor(2)))
def pops_in_loops(x: Tensor, n: Tensor):
    rows, names = [x[0], x[1]], {0: x[0], 1: x[1]}
    total = x[2]
    for k in range(int(n)):
        total = total + rows.pop() * names.pop(k)
    return total, len(rows), len(names)
