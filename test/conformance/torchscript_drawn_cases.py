"""Draws scripted programs at random: branches and loops on values around writes in place, views, lists and numbers.

    python torchscript_drawn_cases.py OUT [--count N] [--seed N]

Each program is called three times, so that its branches go both ways and its loops take no step, two and three. A program that is refused
is no fault; one that gives another value than PyTorch's interpreter is.
"""

import functools
import random

import torch
from torch import Tensor  # scripted text names it

import case
from torchscript_cases import save

x = torch.randn(3, 4, generator=torch.Generator().manual_seed(3))
CALLS = [(x, torch.tensor(2)), (-x, torch.tensor(0)), (x * 3, torch.tensor(3))]


class Draw:
    """A program that is being written: the names of its matrices, rows, numbers and lists."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["a = x.clone()", "b = x * 2", "k = 1"]
        self.matrices, self.rows, self.numbers, self.lists = ["a", "b"], [], ["k"], []

    def pick(self, of):
        return self.random.choice(of)

    def fresh(self, kind, names):
        names.append(f"{kind}{len(self.lines)}")
        return names[-1]

    def matrix(self):
        """An expression of three rows and four columns: new, a view, or a name."""
        m, other = self.pick(self.matrices), self.pick(self.matrices)
        forms = [f"{m} + {other}", f"{m} * {self.pick(['2', '0.5', *self.numbers])}", f"{m}.clone()", f"{m} - {m}.mean()", f"torch.relu({m})"]
        forms += [f"{m}.t().reshape(3, 4)", f"torch.cat([{m}[1:], {m}[:1]])", m, f"{m}.flip(0)"]
        return self.pick(forms + [f"{m} + {row}" for row in self.rows])

    def condition(self):
        m, place = self.pick(self.matrices), self.random.randint(-3, 3)
        return self.pick([f"bool({m}.sum() > {place})", f"{self.pick(self.numbers)} > {place}", f"bool({m}[0, 0] > 0)"])

    def statement(self, depth):
        """Writes a statement; only the outermost ones make names."""
        m, n, row = self.pick(self.matrices), self.pick(self.numbers), self.random.randint(0, 2)
        simple = [f"{m} = {self.matrix()}", f"{m} += 1", f"{m}.mul_(2)", f"{m}[{row}] = 3", f"{m}[:, {row}] += 1", f"{m}.t()[1].fill_(2)"]
        simple += [f"{m}[1:3] *= 0.5", f"{m}.view(-1)[::3].sub_(1)", f"{m}.copy_({self.pick(self.matrices)} * 1)"]
        simple += [f"{n} += 1", f"{n} = {n} * 2 - 1", f"{n} = {n} % 3", f"{n} = int({m}[0, 0])"]
        for r in self.rows:
            simple += [f"{r} += 1", f"{r}[0] = 5", f"{r} = {m}[{row}]", f"{r} = {r} * 2"]
        for l in self.lists:
            simple += [f"{l}[0] = {m} * 2", f"{l}[1] = {m}", f"{m} = {l}[0] + {l}[1]", f"{l}.append({m} + 1)", f"{l}[0] += 1", f"{l}.reverse()"]
        kind = self.random.random()
        if kind < 0.1 and depth == 0:
            return self.write(depth, f"{self.fresh('r', self.rows)} = {m}[{row}]")
        if kind < 0.15 and depth == 0:
            items = f"[{m}, {self.pick(self.matrices)}]"
            return self.write(depth, f"{self.fresh('l', self.lists)} = {items}")
        if kind < 0.2 and depth == 0:
            value = self.matrix()
            return self.write(depth, f"{self.fresh('m', self.matrices)} = {value}")
        if kind < 0.4 and depth < 2:
            self.block(depth, f"if {self.condition()}:")
            return self.block(depth, "else:") if self.random.random() < 0.6 else None
        if kind < 0.5 and depth < 2:
            return self.block(depth, f"for i{len(self.lines)} in range({self.pick(['int(n)', '2'])}):")
        return self.write(depth, self.pick(simple))

    def block(self, depth, head):
        self.write(depth, head)
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1)

    def write(self, depth, line):
        self.lines.append("    " * depth + line)

    def text(self):
        for _ in range(self.random.randint(4, 8)):
            self.statement(0)
        results = self.matrices + self.rows + self.numbers + [f"torch.stack({l}).sum(0)" for l in self.lists]
        lines = [*self.lines, f"return ({', '.join(results)})"]
        return "def forward(x: Tensor, n: Tensor):\n" + "".join(f"    {line}\n" for line in lines)


def make(folder, seed):
    text = Draw(seed).text()
    return save(folder, f"drawn_{seed}", lambda: torch.jit.CompilationUnit(text).forward, CALLS)


def makers(options):
    for seed in range(options.seed, options.seed + options.count):
        yield f"drawn_{seed}", functools.partial(make, options.out, seed)


if __name__ == "__main__":
    case.collect(__doc__, makers, {"count": 300, "seed": 1})
