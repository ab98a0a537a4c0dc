"""The backend of `torch.compile`. What compiles is imported with the first graph: a process whose graphs are all in PyTorch's cache needs none of it."""

from collections.abc import Callable

import torch
from torch.fx import GraphModule

from . import events
from .options import Options

# Recurrent layers are one operator each for us. TorchDynamo leaves them to eager PyTorch else, since its own tracing writes out their steps.
torch._dynamo.config.allow_rnn = True

# The lines of guards and recompilations are TorchDynamo's own.
_dynamos = {kind: True for kind in ("guards", "recompiles") if events.wanted(kind)}
if _dynamos:
    torch._logging.set_logs(**_dynamos)


def backend(module: GraphModule, inputs: list, *, mode: str | None = None, options: dict | None = None) -> Callable:
    """What `torch.compile(..., backend="strata")` calls with each graph."""
    from .compilation import Compilation

    return Compilation(Options.of(mode, options)).of_dynamo(module, inputs)
