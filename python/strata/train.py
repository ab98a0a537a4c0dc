"""`strata.value_and_grad` and `strata.train_step`: gradients and steps of training, compiled from the operators that one call runs."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils import _pytree as pytree

from . import direct, events, graph, optimizer, values
from .compiler import compile_program, to_function
from .options import Options


def value_and_grad(function: Callable, argnums: int | tuple[int, ...] = 0, *, mode: str | None = None, **options) -> Callable:
    """A function that gives the value of `function` and its gradients, in one compiled program.

    Arguments: `function` gives one real number as a tensor. Of a module the gradients are those of the parameters that require one, a dictionary by
    name; of a function those of the arguments `argnums`, with their structure (a tuple where `argnums` is one). `mode` as in `torch.compile`; the fields
    of `strata.Options` by name. As in `strata.compile`, a program is recorded for each kind of arguments. What the value does not depend on has a
    gradient of zeros.
    Errors: `ValueError` for an option or a value that is none; `strata.graph.Unsupported` or `RuntimeError` for what is not compiled.
    """
    return _Gradients(function, argnums, Options.of(mode, options))


def train_step(
    model: torch.nn.Module,
    loss: Callable | None,
    optimizer: torch.optim.Optimizer,
    *,
    clip_norm: float | None = None,
    accumulate: int = 1,
    scaler: torch.amp.GradScaler | None = None,
    mode: str | None = None,
    **options,
) -> "TrainStep":
    """A step of training as one compiled program: forward, loss, backward and optimizer.

    `step(*inputs, target)` computes `loss(model(*inputs), target)`, updates the model and gives the loss; where `loss` is `None` the model gives it and
    takes all arguments. It **overwrites** the parameters and buffers of the model and the state of the optimizer, in the tensors that they are, so that
    `state_dict()`, schedulers of the learning rate and eager steps go on from there. Gradients are not kept: `.grad` stays as it is.

    Under `torch.autocast("cpu")` the model and the loss compute in its types; the parameters stay as they are.

    Arguments: `optimizer` is a `torch.optim.SGD`, `Adam` or `AdamW`, whose groups may differ in all settings; `clip_norm` is the norm that the gradients are
    scaled down to, as by `torch.nn.utils.clip_grad_norm_`; `accumulate` calls make one step, with the mean of their gradients; `scaler` scales the loss, and
    is updated; `mode` and `options` as in `strata.compile`.
    Errors: `ValueError` for an optimizer, a setting of it or a loss that is none of these; `strata.graph.Unsupported` or `RuntimeError` for what is not
    compiled.
    """
    return TrainStep(model, loss, optimizer, _Whole.of(clip_norm, accumulate, scaler), Options.of(mode, options))


class _Weights:
    """The parameters and buffers of a module, each tensor once: its name, and all places where it is."""

    def __init__(self, module):
        self.modules = list(module.modules()) if isinstance(module, torch.nn.Module) else []
        found: dict[int, tuple[str, list]] = {}
        named = module.named_modules() if self.modules else ()
        for prefix, part in named:
            for owner in (part._parameters, part._buffers):
                for name, value in owner.items():
                    if value is not None:
                        found.setdefault(id(value), (f"{prefix}.{name}" if prefix else name, []))[1].append((owner, name))
        self.names = [name for name, _ in found.values()]
        self.places = [places for _, places in found.values()]

    def values(self) -> list[torch.Tensor]:
        return [places[0][0][places[0][1]] for places in self.places]


class _Programs:
    """Programs of a function of tensors and the weights of a module, one for each kind of arguments."""

    def __init__(self, function: Callable, module, options: Options):
        self.function, self.options = function, options
        self.weights = _Weights(module)
        self.programs: dict[tuple, object] = {}

    def find(self, arguments: tuple, named: dict, make: Callable, *settings):
        """The program of a call with these settings, the tensors of its arguments and the weights."""
        leaves, spec = pytree.tree_flatten((arguments, named))
        weights = self.weights.values()
        training = [part.training for part in self.weights.modules]
        kind = (spec, settings, direct.autocast(), *map(direct._kind, leaves), *map(direct._kind, weights), *training)
        found = self.programs.get(kind)
        if found is None:
            found = self.programs[kind] = make(leaves, spec, weights)
        return found, [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)], weights

    def record(self, leaves: list, spec: pytree.TreeSpec, weights: list):
        """The graph of one call as a program, all of whose tensors are arguments: its graph, and its places."""
        for owner in (*self.weights.modules, *weights):
            if owner._backward_hooks or getattr(owner, "_backward_pre_hooks", None):
                raise graph.Unsupported(f"a {type(owner).__name__} has a hook for its gradient, which a compiled program does not call; {values.ELSEWHERE}")
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        of_module = bool(self.weights.modules)
        by = {k for k, tensor in enumerate([*tensors, *weights]) if (tensor.requires_grad if of_module else tensor.is_floating_point())}
        module, result = direct.recorded(self.function, leaves, spec, self.weights.places, weights, by)
        if not result.is_leaf() or result.num_leaves != 1:
            raise ValueError("strata: the value to differentiate is one tensor, and the function gives several; give the loss alone")
        value = module.graph.output_node().args[0][0].meta["val"]
        if value.dim() != 0 or not value.dtype.is_floating_point:
            found = f"of shape {tuple(value.shape)} and {value.dtype}"
            raise ValueError(f"strata: the value to differentiate is {found}, and it is one real number; reduce it with mean() or sum()")
        return module, graph.program(module)


class _Gradients:
    """See `value_and_grad`."""

    def __init__(self, function: Callable, argnums, options: Options):
        self.of_module = isinstance(function, torch.nn.Module)
        self.argnums, self.options = argnums, options
        self.programs = _Programs(function, function, options)

    def __call__(self, *arguments, **named):
        (call, names, spec), tensors, weights = self.programs.find(arguments, named, lambda *of: self.compile(arguments, *of))
        value, *gradients = call(*tensors, *weights, torch.ones((), dtype=self.dtype))
        if self.of_module:
            return value, dict(zip(names, gradients))
        return value, pytree.tree_unflatten(gradients, spec)

    def compile(self, arguments: tuple, leaves: list, spec: pytree.TreeSpec, weights: list):
        module, program = self.programs.record(leaves, spec, weights)
        self.dtype = module.graph.output_node().args[0][0].meta["val"].dtype
        count = len(program.arguments) - len(weights) - len(program.constants)
        if self.of_module:
            wanted = [k for k, weight in enumerate(weights) if weight.requires_grad]
            names, structure = [self.programs.weights.names[k] for k in wanted], None
            wrt = [program.arguments[count + k] for k in wanted]
        else:
            names, structure, wrt = None, None, self.of_arguments(arguments, program.arguments)
            chosen = arguments[self.argnums] if isinstance(self.argnums, int) else tuple(arguments[k] for k in self.argnums)
            structure = pytree.tree_structure(chosen)
        if not wrt:
            raise ValueError("strata: there is nothing to differentiate by: no parameter requires a gradient, or the arguments hold no tensors")
        program.arguments.insert(len(program.arguments) - len(program.constants), "cot_0")
        program.places += [graph.TENSOR] * len(wrt)
        event = events.Graph("gradient", sum(node.op == "call_function" for node in module.graph.nodes))
        call, _ = to_function(program, self.options, event, asked={"gradient": {"wrt": wrt, "cotangents": [0]}})
        events.record(event)
        return direct.disjoint(call, direct._changed(module), count), names, structure

    def of_arguments(self, arguments: tuple, names: list[str]) -> list[str]:
        """The program's names of the tensors of the arguments `argnums`."""
        chosen = (self.argnums,) if isinstance(self.argnums, int) else tuple(self.argnums)
        found, at = {}, 0
        for k, argument in enumerate(arguments):
            leaves = pytree.tree_leaves(argument)
            tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
            if k in chosen and len(tensors) != len(leaves):
                raise ValueError(f"strata: argument {k} is to be differentiated by, and holds what is no tensor")
            found[k] = names[at : at + len(tensors)]
            at += len(tensors)
        missing = [k for k in chosen if k not in found]
        if missing:
            raise ValueError(f"strata: there is no argument {missing[0]} to differentiate by; the call has {len(arguments)}")
        return [name for k in chosen for name in found[k]]


@dataclass
class _Whole:
    """Settings of the whole step."""

    settings: str
    accumulate: int
    scaler: torch.amp.GradScaler | None

    @staticmethod
    def of(clip_norm: float | None, accumulate: int, scaler: torch.amp.GradScaler | None) -> "_Whole":
        settings = ""
        if clip_norm is not None:
            if not 0 < clip_norm < float("inf"):
                raise ValueError(f"strata: clip_norm={clip_norm!r} is no number above 0")
            settings += f",clip_norm={float(clip_norm)!r}"
        if isinstance(accumulate, bool) or not isinstance(accumulate, int) or accumulate < 1:
            raise ValueError(f"strata: accumulate={accumulate!r} is no number of calls, at least 1")
        if accumulate > 1:
            settings += f",accumulate={accumulate}"
        if scaler is not None and not isinstance(scaler, torch.amp.GradScaler):
            raise ValueError(f"strata: scaler={scaler!r} is no torch.amp.GradScaler")
        if scaler is None or not scaler.is_enabled():
            return _Whole(settings, accumulate, None)
        if scaler._device != "cpu":
            raise ValueError(f'strata: the scaler is one of {scaler._device!r}, and the step runs on the CPU: torch.amp.GradScaler("cpu")')
        factors = {"growth_factor": scaler.get_growth_factor(), "backoff_factor": scaler.get_backoff_factor()}
        dynamic = {"init_scale": scaler._init_scale, **factors, "growth_interval": scaler.get_growth_interval()}
        settings += ",loss_scale=dynamic" + "".join(f",{name}={value!r}" for name, value in dynamic.items())
        return _Whole(settings, accumulate, scaler)

    @property
    def names(self) -> list[str]:
        """What the program keeps of the scaler."""
        return ["grad_scaler.scale", "grad_scaler.growth_tracker"] if self.scaler else []

    def tensors(self) -> list[torch.Tensor]:
        """The same, in the tensors that the scaler has."""
        if self.scaler is None:
            return []
        if self.scaler._scale is None:
            self.scaler._lazy_init_scale_growth_tracker(torch.device("cpu"))
        return [self.scaler._scale, self.scaler._growth_tracker]


@dataclass
class _Step:
    """A compiled step."""

    call: Callable
    state: optimizer.State
    """What it keeps in the optimizer."""
    groups: list[int]
    """The optimizer's groups, in the order of the program's learning rates."""
    changed: list[int]
    """All weights that it writes."""


class TrainStep:
    """See `train_step`."""

    def __init__(self, model: torch.nn.Module, loss: Callable | None, optimizer: torch.optim.Optimizer, whole: _Whole, options: Options):
        self.optimizer, self.whole, self.options = optimizer, whole, options
        self.rules()
        self.calls = torch.zeros((), dtype=torch.int64)
        self.sums: dict[int, torch.Tensor] = {}
        """The gradients so far of each weight, where several calls make a step."""
        function = model if loss is None else lambda *batch: loss(model(*batch[:-1]), batch[-1])
        self.programs = _Programs(function, model, options)

    def rules(self) -> tuple[str, list[optimizer.Rule]]:
        """The optimizer's name, and the rule of each of its groups."""
        return optimizer.kind(self.optimizer), [optimizer.Rule.of(self.optimizer, group) for group in self.optimizer.param_groups]

    def __call__(self, *batch):
        # A setting other than the learning rate is a part of the program.
        rules = [rule.text for rule in self.rules()[1]]
        step, tensors, weights = self.programs.find(batch, {}, self.compile, *rules)
        states, counts = step.state.tensors(weights)
        number = [step.state.number(counts)] if step.state.counted else []
        rates = [float(self.optimizer.param_groups[k]["lr"]) for k in step.groups]
        sums = [self.calls, *(self.sum_of(k, weights[k]) for k, _ in step.state.trained)] if self.whole.accumulate > 1 else []
        (loss,) = step.call(*tensors, *weights, *self.whole.tensors(), *sums, *rates, *number, *states)
        torch.autograd.graph.increment_version([*(weights[k] for k in step.changed), *states])
        if counts:
            torch._foreach_copy_(counts, number * len(counts))
        return loss

    def sum_of(self, k: int, weight: torch.Tensor) -> torch.Tensor:
        """The sum of a weight's gradients since the last step."""
        if k not in self.sums:
            self.sums[k] = torch.zeros_like(weight, memory_format=torch.contiguous_format, requires_grad=False)
        return self.sums[k]

    def compile(self, leaves: list, spec: pytree.TreeSpec, weights: list) -> _Step:
        module, program = self.programs.record(leaves, spec, weights)
        end = len(program.arguments) - len(program.constants)
        first = end - len(weights)
        kind, rules = self.rules()
        group_of = {id(parameter): k for k, group in enumerate(self.optimizer.param_groups) for parameter in group["params"]}
        trained = {k: group_of[id(weight)] for k, weight in enumerate(weights) if id(weight) in group_of and weight.requires_grad}
        if not trained:
            raise ValueError("strata: the optimizer has no parameter of the model that requires a gradient")
        names = {k: program.arguments[first + k] for k in trained}
        groups = sorted(set(trained.values()))
        settings = f"{kind},lr=input,{rules[groups[0]].text}{self.whole.settings}"
        for group in groups[1:]:
            members = "+".join(names[k] for k in trained if trained[k] == group)
            settings += f";params={members},lr=input,{rules[group].text}"
        event = events.Graph("train", sum(node.op == "call_function" for node in module.graph.nodes))
        asked = {"gradient": {"wrt": list(names.values()), "cotangents": [0]}, "train": settings}
        artefact = compile_program(program, self.options, event, asked)
        # What the loss does not depend on is not written, and has no state, as in PyTorch.
        updated = {output["name"] for output in json.loads(artefact.manifest)["outputs"] if output["kind"] == "mutation"}
        state = optimizer.State(self.optimizer, [(k, rules[group]) for k, group in trained.items() if names[k] in updated])
        # The program's number of steps is there where a rule of a group asks for it, also of one whose parameters are not written.
        state.counted = any(rules[group].counts for group in groups)
        written = direct._changed(module)
        changed = {k - first for k in written if k >= first}
        # What the program takes beside the graph's arguments, by the names that `--train-step` gives.
        sums = ["accumulated_calls", *(f"{names[k]}.accumulated_grad" for k, _ in state.trained)] if self.whole.accumulate > 1 else []
        rates = ["lr", *(f"lr_{k}" for k in range(1, len(groups)))]
        states = [f"{names[k]}.{part}" for k, rule in state.trained for part in rule.parts]
        program.arguments[end:end] = [*self.whole.names, *sums, *rates, *(["step"] if state.counted else []), *states]
        call, _ = to_function(program, self.options, event, artefact)
        events.record(event)
        return _Step(direct.disjoint(call, written, first), state, groups, sorted(changed.union(k for k, _ in state.trained)))
