"""`strata.value_and_grad` and `strata.train_step`: gradients and steps of training, compiled from the operators that one call runs."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import torch
from torch.utils import _pytree as pytree

from . import direct, events, graph
from .compiler import compile_text, to_function
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
    mode: str | None = None,
    **options,
) -> "TrainStep":
    """A step of training as one compiled program: forward, loss, backward and optimizer.

    `step(*inputs, target)` computes `loss(model(*inputs), target)`, updates the model and gives the loss; where `loss` is `None` the model gives it and
    takes all arguments. It **overwrites** the parameters and buffers of the model and the state of the optimizer, in the tensors that they are, so that
    `state_dict()`, schedulers of the learning rate and eager steps go on from there. Gradients are not kept: `.grad` stays as it is.

    Arguments: `optimizer` is a `torch.optim.SGD`, `Adam` or `AdamW` with the same settings in all its groups; `clip_norm` is the norm that the gradients are
    scaled down to, as by `torch.nn.utils.clip_grad_norm_`; `mode` and `options` as in `strata.compile`.
    Errors: `ValueError` for an optimizer or a loss that is none of these; `strata.graph.Unsupported` or `RuntimeError` for what is not compiled.
    """
    return TrainStep(model, loss, optimizer, clip_norm, Options.of(mode, options))


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

    def find(self, arguments: tuple, named: dict, make: Callable):
        """The program of a call, the tensors of its arguments and the weights."""
        leaves, spec = pytree.tree_flatten((arguments, named))
        weights = self.weights.values()
        training = [part.training for part in self.weights.modules]
        kind = (spec, *map(direct._kind, leaves), *map(direct._kind, weights), *training)
        found = self.programs.get(kind)
        if found is None:
            found = self.programs[kind] = make(leaves, spec, weights)
        return found, [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)], weights

    def record(self, leaves: list, spec: pytree.TreeSpec, weights: list):
        """The graph of one call as a program, all of whose tensors are arguments: its graph, and its places."""
        module, result = direct.recorded(self.function, leaves, spec, self.weights.places, weights)
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
        return call, names, structure

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
class _Step:
    """A compiled step."""

    call: Callable
    trained: list[int]
    """The weights that it trains."""
    changed: list[int]
    """All weights that it writes."""


class TrainStep:
    """See `train_step`."""

    def __init__(self, model: torch.nn.Module, loss: Callable | None, optimizer: torch.optim.Optimizer, clip_norm: float | None, options: Options):
        self.optimizer, self.options = optimizer, options
        self.rule = _Rule.of(optimizer)
        if clip_norm is not None:
            if not 0 < clip_norm < float("inf"):
                raise ValueError(f"strata: clip_norm={clip_norm!r} is no number above 0")
            self.rule.settings += f",clip_norm={float(clip_norm)!r}"
        function = model if loss is None else lambda *batch: loss(model(*batch[:-1]), batch[-1])
        self.programs = _Programs(function, model, options)

    def __call__(self, *batch):
        step, tensors, weights = self.programs.find(batch, {}, self.compile)
        trained = [weights[k] for k in step.trained]
        count, counts, states = self.rule.state(self.optimizer, trained)
        (loss,) = step.call(*tensors, *weights, _rate(self.optimizer), *count, *states)
        torch.autograd.graph.increment_version([*(weights[k] for k in step.changed), *states])
        if counts:
            torch._foreach_add_(counts, 1)
        return loss

    def compile(self, leaves: list, spec: pytree.TreeSpec, weights: list) -> _Step:
        module, program = self.programs.record(leaves, spec, weights)
        end = len(program.arguments) - len(program.constants)
        first = end - len(weights)
        ours = {id(parameter) for group in self.optimizer.param_groups for parameter in group["params"]}
        trained = [k for k, weight in enumerate(weights) if id(weight) in ours and weight.requires_grad]
        if not trained:
            raise ValueError("strata: the optimizer has no parameter of the model that requires a gradient")
        names = {k: program.arguments[first + k] for k in trained}
        event = events.Graph("train", sum(node.op == "call_function" for node in module.graph.nodes))
        asked = {"gradient": {"wrt": list(names.values()), "cotangents": [0]}, "train": self.rule.settings}
        start = perf_counter()
        artefact = compile_text("graph.json", program.text, self.options, asked)
        event.add(compile=perf_counter() - start)
        # What the loss does not depend on is not written, and has no state, as in PyTorch.
        written = {output["name"] for output in json.loads(artefact.manifest)["outputs"] if output["kind"] == "mutation"}
        trained = [k for k in trained if names[k] in written]
        changed = {k - first for k in direct._changed(module) if k >= first}
        # What the program takes beside the graph's arguments, by the names that `--train-step` gives.
        states = [f"{names[k]}.{part}" for k in trained for part in self.rule.parts]
        program.arguments[end:end] = ["lr", *(["step"] if self.rule.counts else []), *states]
        call, _ = to_function(program, self.options, event, artefact)
        events.record(event)
        return _Step(call, trained, sorted(changed.union(trained)))


def _rate(optimizer: torch.optim.Optimizer) -> float:
    rates = {float(group["lr"]) for group in optimizer.param_groups}
    if len(rates) != 1:
        raise ValueError(f"strata: the optimizer's groups have the learning rates {', '.join(map(str, sorted(rates)))}, and a step takes one")
    return rates.pop()


@dataclass
class _Rule:
    """What an optimizer of PyTorch does, in terms of `--train-step`."""

    settings: str
    parts: list[str]
    """What it keeps of each parameter, by PyTorch's names."""
    counts: bool
    """Whether its rule asks for the number of the step."""

    @staticmethod
    def of(optimizer: torch.optim.Optimizer) -> "_Rule":
        kinds = {torch.optim.SGD: "sgd", torch.optim.Adam: "adam", torch.optim.AdamW: "adamw"}
        kind = kinds.get(type(optimizer))
        if kind is None:
            known = ", ".join(each.__name__ for each in kinds)
            raise ValueError(f"strata: a step is not compiled for {type(optimizer).__name__}; it is for {known} of torch.optim")
        groups = [{name: value for name, value in group.items() if name not in _OF_GROUPS} for group in optimizer.param_groups]
        if any(group != groups[0] for group in groups):
            raise ValueError("strata: the optimizer's groups have different settings, and a step has one; they may differ in their parameters alone")
        group, settings, parts = groups[0], [kind, "lr=input", f"weight_decay={float(groups[0]['weight_decay'])!r}"], []
        if kind == "sgd":
            counts = group["momentum"] != 0 and group["dampening"] != 0
            if group["momentum"] != 0:
                settings += [f"momentum={float(group['momentum'])!r}", f"dampening={float(group['dampening'])!r}"]
                parts.append("momentum_buffer")
        else:
            (beta1, beta2), counts = group["betas"], True
            settings += [f"beta1={float(beta1)!r}", f"beta2={float(beta2)!r}", f"eps={float(group['eps'])!r}"]
            parts += ["exp_avg", "exp_avg_sq"] + (["max_exp_avg_sq"] if group["amsgrad"] else [])
            if group.get("decoupled_weight_decay", False) and kind == "adam":
                settings[0] = "adamw"
        settings += [name for name in ("nesterov", "amsgrad", "maximize") if group.get(name)]
        return _Rule(",".join(settings), parts, counts)

    def state(self, optimizer: torch.optim.Optimizer, trained: list) -> tuple[list, list, list]:
        """The number of steps so far for the program, those that PyTorch keeps, and the state of each parameter; what is missing begins."""
        counts, states, begun = [], [], True
        for parameter in trained:
            state = optimizer.state[parameter]
            if any(state.get(part) is None for part in self.parts):
                begun = False
                if self.counts and "exp_avg" in self.parts:
                    state["step"] = torch.zeros((), dtype=torch.float32)
                state.update({part: torch.zeros_like(parameter, memory_format=torch.contiguous_format) for part in self.parts})
            states += [state[part] for part in self.parts]
            if "step" in state:
                counts.append(state["step"])
        if not self.counts:
            return [], counts, states
        if counts and any(count != counts[0] for count in counts):
            raise ValueError("strata: the optimizer's parameters have made different numbers of steps, and a step counts one")
        # SGD asks only whether this is the first step, and PyTorch keeps no number for it.
        number = counts[0].to(torch.float32).clone() if counts else torch.tensor(1.0 if begun else 0.0)
        return [number], counts, states


# What is in a group and is no setting of the rule.
_OF_GROUPS = {"params", "lr", "initial_lr", "foreach", "fused", "capturable", "differentiable", "param_names"}
