"""Optimizers of PyTorch in terms of `--train-step`: their settings, and where their state is."""

from dataclasses import dataclass

import torch

KINDS = {torch.optim.SGD: "sgd", torch.optim.Adam: "adam", torch.optim.AdamW: "adamw"}

# Settings of PyTorch that say how a step is computed and not what comes of it.
_WAYS = {"foreach", "fused", "capturable"}


@dataclass
class Rule:
    """What a group of parameters is updated by."""

    settings: dict[str, str]
    """The settings of `--train-step`, but for the learning rate."""
    parts: list[str]
    """What is kept of each parameter, by PyTorch's names."""
    counts: bool
    """Whether the rule asks for the number of the step."""

    @staticmethod
    def of(optimizer: torch.optim.Optimizer, group: dict) -> "Rule":
        """The rule of one of the optimizer's groups."""
        settings = {"weight_decay": repr(float(group["weight_decay"]))}
        if group["differentiable"]:
            raise ValueError("strata: the optimizer's `differentiable` is set, and a step is not differentiated itself")
        known = {"lr", "weight_decay", "maximize", "differentiable", *_WAYS}
        if isinstance(optimizer, torch.optim.SGD):
            known |= {"momentum", "dampening", "nesterov"}
            counts = group["momentum"] != 0 and group["dampening"] != 0
            parts = ["momentum_buffer"] if group["momentum"] != 0 else []
            settings |= {"momentum": repr(float(group["momentum"])), "dampening": repr(float(group["dampening"]) if parts else 0.0)}
        else:
            known |= {"betas", "eps", "amsgrad", "decoupled_weight_decay"}
            counts, parts = True, ["exp_avg", "exp_avg_sq"] + (["max_exp_avg_sq"] if group["amsgrad"] else [])
            (beta1, beta2), eps = group["betas"], group["eps"]
            settings |= {"beta1": repr(float(beta1)), "beta2": repr(float(beta2)), "eps": repr(float(eps))}
        settings |= {name: str(bool(group[name])).lower() for name in ("nesterov", "amsgrad", "maximize") if name in known}
        # What a user puts into a group beside that is nothing to PyTorch either.
        unknown = [name for name in optimizer.defaults if name not in known]
        if unknown:
            raise ValueError(f"strata: a step does not take the optimizer's `{unknown[0]}`; it takes {', '.join(sorted(known - _WAYS))}")
        return Rule(settings, parts, counts)

    @property
    def text(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.settings.items())


def kind(optimizer: torch.optim.Optimizer) -> str:
    """The name of an optimizer in `--train-step`."""
    found = KINDS.get(type(optimizer))
    if found is None:
        known = ", ".join(each.__name__ for each in KINDS)
        raise ValueError(f"strata: a step is not compiled for {type(optimizer).__name__}; it is for {known} of torch.optim")
    hooks = [name for name in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks") if getattr(optimizer, name, None)]
    if hooks:
        raise ValueError("strata: the optimizer has hooks around its steps, which a compiled step does not call; call them around it")
    decoupled = {bool(group.get("decoupled_weight_decay", found == "adamw")) for group in optimizer.param_groups}
    if found == "adam" and len(decoupled) > 1:
        raise ValueError("strata: the optimizer's groups differ in `decoupled_weight_decay`, and a step has one of both; make two optimizers")
    return "adamw" if found == "adam" and decoupled == {True} else found


class State:
    """What a step keeps in the optimizer, in the order in which the program takes it."""

    def __init__(self, optimizer: torch.optim.Optimizer, trained: list[tuple[int, Rule]]):
        self.optimizer, self.trained = optimizer, trained
        self.counted = any(rule.counts for _, rule in trained)
        self.begun: torch.Tensor | None = None
        """The number of steps of a rule that asks whether one was made, and keeps no number in PyTorch."""

    def tensors(self, weights: list) -> tuple[list, list]:
        """The state of each parameter, where what is missing begins, and the numbers of steps that PyTorch keeps."""
        states, counts, missing = [], [], False
        for at, rule in self.trained:
            if not rule.parts:
                continue
            state = self.optimizer.state[weights[at]]
            if any(state.get(part) is None for part in rule.parts):
                missing = True
                if rule.counts and "exp_avg" in rule.parts:
                    state["step"] = torch.zeros((), dtype=torch.float32)
                state.update({part: torch.zeros_like(weights[at], memory_format=torch.contiguous_format) for part in rule.parts})
            states += [state[part] for part in rule.parts]
            if "step" in state:
                counts.append(state["step"])
        if missing:
            self.begun = None
        if self.begun is None and self.counted and not counts:
            self.begun = torch.tensor(0.0 if missing else 1.0)
        return states, counts

    def number(self, counts: list) -> torch.Tensor:
        """The number of steps so far, for the program to write the next one to."""
        if not counts:
            return self.begun
        if any(count != counts[0] for count in counts):
            raise ValueError("strata: the optimizer's parameters have made different numbers of steps, and a step counts one")
        return counts[0].to(torch.float32).clone()
