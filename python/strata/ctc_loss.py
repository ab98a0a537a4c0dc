"""`torch.nn.functional.ctc_loss` in a recorded function. PyTorch's tracers take it apart into operators that share a table, whose size the lengths of the
targets decide; as a whole its result has a size that is known.
"""

import torch
import torch.nn.functional as F
from torch.fx import GraphModule

_library = torch.library.Library("strata", "FRAGMENT")
_library.define(
    "ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank, int reduction, bool zero_infinity) -> Tensor"
)


def _result(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    return log_probs.new_empty(log_probs.shape[1:-1] if reduction == _REDUCTIONS["none"] else ())


_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
torch.library.register_fake("strata::ctc_loss", _result, lib=_library)
_WHOLE = torch.ops.strata.ctc_loss.default


def _recorded(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=_REDUCTIONS["mean"], zero_infinity=False):
    lengths = [each if isinstance(each, torch.Tensor) else torch.tensor(each) for each in (input_lengths, target_lengths)]
    return _WHOLE(log_probs, targets, *lengths, blank, reduction, zero_infinity)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """PyTorch's function."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _recorded(log_probs, targets, input_lengths, target_lengths, blank, _REDUCTIONS[reduction], zero_infinity)


SUBSTITUTES = {F.ctc_loss: ctc_loss, torch.ctc_loss: _recorded}


def whole(module: GraphModule) -> GraphModule:
    """The record with PyTorch's operator."""
    for node in module.graph.find_nodes(op="call_function", target=_WHOLE):
        node.target = torch.ops.aten.ctc_loss.Tensor
    module.recompile()
    return module
