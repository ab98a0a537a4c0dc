"""Compiled graphs that PyTorch's own caches keep for another process: `caching_precompile` and `aot_compile`. Weights stay outside."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch._dynamo.aot_compile_types import SerializableCallable
from torch._dynamo.precompile_context import BackendCacheArtifact, PrecompileContext

from . import compiler
from ._native import Artefact


@dataclass
class Kept(SerializableCallable):
    """A compiled graph with all that is needed to load it again."""

    artefact: Artefact
    arguments: list[str]
    places: list[int | None]
    constants: list[object]

    def function(self) -> Callable:
        """The graph as a function of its arguments."""
        return compiler.load(self.artefact, self.arguments, self.places, self.constants)

    def __call__(self, *arguments):
        call = self.__dict__.get("_call")
        if call is None:
            call = self.__dict__["_call"] = self.function()
        return call(*arguments)

    def __getstate__(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name != "_call"}

    @classmethod
    def serialize_compile_artifacts(cls, fn: "Kept") -> bytes:
        return pickle.dumps(fn)

    @classmethod
    def deserialize_compile_artifacts(cls, data: bytes) -> "Kept":
        return pickle.loads(data)


class _Artifact(BackendCacheArtifact):
    """An entry of PyTorch's cache."""

    def after_deserialization(self) -> Callable:
        return self.content.function()


def keep(kept: Kept, module: torch.fx.GraphModule):
    """Gives a graph of TorchDynamo to PyTorch's cache, where that is switched on."""
    name = getattr(module, "_backend_id", None)
    if torch._dynamo.config.caching_precompile and name is not None:
        PrecompileContext.record_artifact(_Artifact(key=name, content=kept))


def ahead_of_time() -> bool:
    """Whether `aot_compile` asks, which needs a function that can be written to a file."""
    return torch._functorch.config.strict_autograd_cache


def not_cached():
    """AOTAutograd's own cache is off meanwhile: it cannot keep functions of other backends, and in `aot_compile` refuses them."""
    return torch._functorch.config.patch(
        force_autograd_cache=False, strict_autograd_cache=False, bundled_autograd_cache=False, enable_autograd_cache=False
    )
