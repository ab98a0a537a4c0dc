"""Conditions that a recorded function only raises by: `assert condition`, and `if condition:` whose one statement is a `raise` that it does not catch.

A record has no values, so it goes on where nothing is raised, and the compiled program asks the condition in each call.
"""

import ast
import dis
import linecache
import os
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

import torch

_OURS = os.path.dirname(__file__) + os.sep
_MANY_TESTS = (ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.comprehension)
"""Expressions whose parts are asked for their truth too."""


def asserted(value: torch.Tensor, frame: FrameType | None) -> bool | None:
    """What the truth of a recorded value is where nothing is raised, with an assertion in the record; `None` where the code does more than raise by it."""
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    if frame is None or value.numel() != 1 or not _asks_for_truth(frame):
        return None
    found = _tests(frame.f_code.co_filename).get(frame.f_lineno)
    if found is None:
        return None
    holds, text = found
    condition = value.reshape(())
    torch.ops.aten._assert_async.msg(condition if holds else condition == 0, text)
    return holds


def _asks_for_truth(frame: FrameType) -> bool:
    """Whether it is the code itself that asks, and not a function that it calls."""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return name == "TO_BOOL" or name.startswith("POP_JUMP")


@lru_cache(None)
def _tests(file: str) -> dict[int, tuple[bool, str]]:
    """For each line of such a condition: what its value is where nothing is raised, and what is raised else."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    found: dict[int, tuple[bool, str]] = {}
    for test, holds, text in _conditions(tree):
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, holds = test.operand, not holds
        if not any(isinstance(part, _MANY_TESTS) or isinstance(part, ast.Compare) and len(part.ops) > 1 for part in ast.walk(test)):
            found.update((line, (holds, text)) for line in range(test.lineno, test.end_lineno + 1))
    return found


def _conditions(tree: ast.Module) -> Iterator[tuple[ast.expr, bool, str]]:
    guarded = [statement for node in ast.walk(tree) if getattr(node, "handlers", None) for statement in node.body]
    caught = {node for statement in guarded for node in ast.walk(statement)}
    for node in ast.walk(tree):
        if node in caught:
            continue
        if isinstance(node, ast.Assert):
            yield node.test, True, _text(node.msg, node)
        elif isinstance(node, ast.If):
            for holds, body in ((False, node.body), (True, node.orelse)):
                if len(body) == 1 and isinstance(body[0], ast.Raise):
                    error = body[0].exc
                    yield node.test, holds, _text(error.args[0] if isinstance(error, ast.Call) and error.args else None, body[0])


def _text(message: ast.expr | None, statement: ast.stmt) -> str:
    """The message where it is written out, the statement where it is made of values."""
    return message.value if isinstance(message, ast.Constant) and isinstance(message.value, str) else ast.unparse(statement)
