"""Steps of training side by side: forward, loss, backward and optimizer.

    python bench/peers/train.py [NAME..] [--optimizer adamw] [--rounds 15] [--table train.md]

Eager PyTorch and Inductor with the optimizer's fused form, JAX where it is installed, and `strata.train_step`. Each peer trains a copy of the same model on the same batch; the
losses of the first steps are compared with eager's. Rounds take turns in an order that rotates, and a time is the median of the rounds. The first step of a
turn is not timed: steps of training follow each other, and that one finds the caches of another peer, whose threads still spin.
"""

import argparse
import copy
import sys
import time
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn


class Transformer(nn.Module):
    """Four layers on a batch of sequences of tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(256, 1000)

    def forward(self, tokens):
        return self.head(self.layers(self.embedding(tokens))).flatten(0, 1)


class Lstm(nn.Module):
    """Two layers on a batch of sequences, and the last step's class."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, 2, batch_first=True)
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Bert(nn.Module):
    """BERT-base as a classifier of texts, with weights drawn."""

    def __init__(self):
        super().__init__()
        from transformers import BertConfig, BertForSequenceClassification

        self.bert = BertForSequenceClassification(BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))

    def forward(self, tokens):
        return self.bert(tokens).logits


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def resnet18():
    from torchvision.models import resnet18

    return resnet18()


WORKLOADS = {
    "mlp": (mlp, lambda: (torch.randn(64, 784), torch.randint(0, 10, (64,)))),
    "resnet18": (resnet18, lambda: (torch.randn(4, 3, 224, 224), torch.randint(0, 1000, (4,)))),
    "transformer": (Transformer, lambda: (torch.randint(0, 1000, (8, 64)), torch.randint(0, 1000, (512,)))),
    "lstm": (Lstm, lambda: (torch.randn(32, 20, 64), torch.randint(0, 10, (32,)))),
    "bert": (Bert, lambda: (torch.randint(0, 30000, (4, 64)), torch.randint(0, 2, (4,)))),
}
OPTIMIZERS = {
    "sgd": lambda parameters, **form: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, **form),
    "adam": lambda parameters, **form: torch.optim.Adam(parameters, lr=1e-4, **form),
    "adamw": lambda parameters, **form: torch.optim.AdamW(parameters, lr=1e-4, **form),
}


def through_autograd(model, optimizer, compiled: bool):
    """A step by PyTorch's autograd."""
    optimizer = optimizer(model.parameters(), fused=True)
    loss = lambda x, target: F.cross_entropy(model(x), target)  # noqa: E731
    forward = torch.compile(loss) if compiled else loss

    def step(x, target):
        optimizer.zero_grad()
        value = forward(x, target)
        value.backward()
        optimizer.step()
        return value.detach()

    return step


def through_strata(model, optimizer):
    import strata

    return strata.train_step(model, F.cross_entropy, optimizer(model.parameters()), fallback="error")


class Loss(nn.Module):
    """A model with its loss behind it, as one program."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, target):
        return F.cross_entropy(self.model(x), target)


def through_jax(model, optimizer):
    """A step by `jax.grad`, with the optimizer in the same program; the parameters' memory is given to the new ones."""
    import jax

    from peer.jax import converted

    loss = Loss(model)
    trained = {name for name, _ in loss.named_parameters()}
    example = optimizer(loss.parameters())
    update, state = jax_optimizer(jax, example)
    held = {}

    def step(x, target):
        if not held:
            held["weights"], held["function"] = converted(jax, torch.export.export(loss, (x, target)))
            held["parameters"] = {name: value for name, value in held["weights"].items() if name in trained}
            held["rest"] = {name: value for name, value in held["weights"].items() if name not in trained}
            held["state"] = {name: state(value) for name, value in held["parameters"].items()}
            held["count"] = jax.numpy.zeros(())

            def whole(parameters, rest, states, count, x, target):
                def value(parameters):
                    (found,), changed = held["function"](parameters | rest, (x, target))
                    return found, changed

                (found, changed), gradients = jax.value_and_grad(value, has_aux=True)(parameters)
                count = count + 1
                both = {name: update(parameters[name], gradients[name], states[name], count) for name in parameters}
                return found, {name: new for name, (new, _) in both.items()}, rest | changed, {name: new for name, (_, new) in both.items()}, count

            held["step"] = jax.jit(whole, donate_argnums=(0, 2))
        given = (jax.numpy.asarray(each.numpy()) for each in (x, target))
        found, *new = held["step"](held["parameters"], held["rest"], held["state"], held["count"], *given)
        held["parameters"], held["rest"], held["state"], held["count"] = jax.block_until_ready(new)
        return found

    return step


def jax_optimizer(jax, example):
    """The rule of an optimizer of PyTorch for one parameter, and its state at the beginning."""
    of = example.defaults
    if isinstance(example, torch.optim.SGD):

        def momentum(parameter, gradient, state, _):
            state = of["momentum"] * state + gradient
            return parameter - of["lr"] * state, state

        return momentum, jax.numpy.zeros_like
    (beta1, beta2), decoupled = of["betas"], isinstance(example, torch.optim.AdamW)

    def adam(parameter, gradient, state, count):
        if decoupled:
            parameter = parameter * (1 - of["lr"] * of["weight_decay"])
        mean = beta1 * state[0] + (1 - beta1) * gradient
        square = beta2 * state[1] + (1 - beta2) * gradient * gradient
        scale = jax.numpy.sqrt(square / (1 - beta2**count)) + of["eps"]
        return parameter - of["lr"] / (1 - beta1**count) * mean / scale, (mean, square)

    return adam, lambda value: (jax.numpy.zeros_like(value), jax.numpy.zeros_like(value))


PEERS = {
    "eager": lambda model, optimizer: through_autograd(model, optimizer, False),
    "inductor": lambda model, optimizer: through_autograd(model, optimizer, True),
    "jax": through_jax,
    "strata": through_strata,
}


def measure(name: str, optimizer: str, peers: list[str], rounds: int) -> dict[str, float | str]:
    """Milliseconds of a step by each peer, or why there are none."""
    torch.manual_seed(0)
    make, draw = WORKLOADS[name]
    model, batch = make().train(), draw()
    steps, found, losses = {}, {}, {}
    for peer in peers:
        start = time.perf_counter()
        try:
            step = PEERS[peer](copy.deepcopy(model), OPTIMIZERS[optimizer])
            losses[peer] = [step(*batch).item() for _ in range(3)]
        except Exception as error:
            found[peer] = f"{type(error).__name__}: {error}".splitlines()[0][:100]
            continue
        far = max(abs(ours - theirs) / abs(theirs) for ours, theirs in zip(losses[peer], losses["eager"]))
        print(f"  {name}, {peer}: ready in {time.perf_counter() - start:.1f} s, losses off by {far:.0e}", file=sys.stderr, flush=True)
        if far > 1e-3:
            found[peer] = f"its losses are {losses[peer]}, eager's {losses['eager']}"
            continue
        steps[peer] = step
    times = {peer: [] for peer in steps}
    order = list(steps)
    for turn in range(rounds):
        for peer in order[turn % len(order) :] + order[: turn % len(order)]:
            steps[peer](*batch)
            start, calls = time.perf_counter(), 0
            while calls < 1 or time.perf_counter() - start < 0.1:
                steps[peer](*batch)
                calls += 1
            times[peer].append((time.perf_counter() - start) / calls * 1e3)
    return found | {peer: median(each) for peer, each in times.items()}


def table(rows: dict[str, dict], peers: list[str], optimizer: str) -> str:
    """Milliseconds, and how many times as fast as eager."""
    lines = [f"| step with {optimizer} | {' | '.join(peers)} |", "| --- |" + " --- |" * len(peers)]
    for name, row in rows.items():
        show = lambda peer: row[peer] if isinstance(row[peer], str) else f"{row[peer]:.1f} ms ({row['eager'] / row[peer]:.2f}x)"  # noqa: E731, B023
        lines.append(f"| {name} | {' | '.join(show(peer) for peer in peers)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(WORKLOADS)}; all without any")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    parser.add_argument("--peers", default="eager,inductor,jax,strata")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--table", type=Path, help="write the table to this file too")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in WORKLOADS]
    peers = options.peers.split(",")
    if unknown or any(peer not in PEERS for peer in peers) or "eager" not in peers:
        parser.error(f"there are the workloads {', '.join(WORKLOADS)} and the peers {', '.join(PEERS)}, of which eager must be one")
    torch.set_num_threads(options.threads)
    rows = {name: measure(name, options.optimizer, peers, options.rounds) for name in options.names or WORKLOADS}
    text = f"{options.threads} threads, torch {torch.__version__}\n\n{table(rows, peers, options.optimizer)}"
    print(text)
    if options.table:
        options.table.write_text(f"# Steps of training\n\n{text}")


if __name__ == "__main__":
    main()
