"""Strata compiles PyTorch programs to machine code.

    model = torch.compile(model, backend="strata")      # one line in a PyTorch program
    fast = strata.compile(function, *example)           # without TorchDynamo
    model = strata.load("model.strata")                 # a compiled file, without a compiler or PyTorch
    step = strata.train_step(model, loss, optimizer)    # forward, loss, backward and optimizer as one program
    print(strata.explain(model, *inputs))               # what is native, what is not, and why
    strata.report(model, *inputs)                       # strata_report.html: every level, pass and kernel
"""

from importlib import import_module

__version__ = "0.1.0"
__all__ = ["Compiled", "Explanation", "Loaded", "Options", "backend", "compile", "explain", "load", "report", "reset", "train_step", "value_and_grad"]

# Where each name is: what needs PyTorch is imported when it is asked for.
_PLACES = {
    "Compiled": "direct",
    "Explanation": "explanation",
    "Loaded": "loaded",
    "Options": "options",
    "backend": "dynamo",
    "compile": "direct",
    "explain": "explanation",
    "load": "loaded",
    "report": "page",
    "reset": "explanation",
    "train_step": "train",
    "value_and_grad": "train",
}


def __getattr__(name: str):
    if name not in _PLACES:
        raise AttributeError(f"module 'strata' has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
