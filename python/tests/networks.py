"""Full-size networks through one line, beside eager PyTorch and Inductor.

    python networks.py [--filter PART] [--peers eager,inductor] [--train]

Needs torchvision; timm and transformers where they are installed. Prints the largest difference from eager, the time of the first call, the least
time of a call for each peer, and the ratio of eager's to ours.
"""

import argparse
import copy
import sys
import time
import warnings

import torch

from strata import events

VISION = [
    "resnet18", "resnet50", "mobilenet_v3_large", "efficientnet_b0", "densenet121", "vgg11", "vit_b_16", "swin_t", "convnext_tiny",
    "regnet_y_400mf", "shufflenet_v2_x1_0", "squeezenet1_1", "mnasnet1_0", "resnext50_32x4d", "maxvit_t",
]  # fmt: skip
TEXT = ["bert", "gpt2", "distilbert", "t5", "roberta", "albert", "electra"]


def vision(name):
    import torchvision

    return getattr(torchvision.models, name)(weights=None), (torch.randn(1, 3, 224, 224),), {}


def text(name):
    import transformers as t

    tokens = torch.randint(0, 1000, (1, 128))
    makers = {
        "bert": lambda: t.BertModel(t.BertConfig()),
        "gpt2": lambda: t.GPT2Model(t.GPT2Config(use_cache=False)),
        "distilbert": lambda: t.DistilBertModel(t.DistilBertConfig()),
        "t5": lambda: t.T5EncoderModel(t.T5Config(d_model=512, num_layers=6)),
        "roberta": lambda: t.RobertaModel(t.RobertaConfig()),
        "albert": lambda: t.AlbertModel(t.AlbertConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072)),
        "electra": lambda: t.ElectraModel(t.ElectraConfig()),
    }
    return makers[name](), (tokens,), {}


def leaves(result):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def least(call, seconds=2.0):
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def step(model, optimizer, arguments):
    optimizer.zero_grad()
    sum(leaf.square().mean() for leaf in leaves(model(*arguments)) if leaf.is_floating_point()).backward()
    optimizer.step()


def run(name, maker, options):
    torch.manual_seed(0)
    model, arguments, _ = maker(name)
    model.train(options.train)
    if options.train:
        for part in model.modules():
            if "Dropout" in type(part).__name__ or "StochasticDepth" in type(part).__name__:
                part.p = 0.0
    calls = {}
    for peer in ["strata", *options.peers.split(",")]:
        torch._dynamo.reset()
        mine = copy.deepcopy(model)
        function = mine if peer == "eager" else torch.compile(mine, backend=peer)
        optimizer = torch.optim.SGD(mine.parameters(), lr=1e-3) if options.train else None
        call = (lambda f=function, o=optimizer: step(f, o, arguments)) if options.train else (lambda f=function: f(*arguments))
        events.graphs.clear()
        with torch.set_grad_enabled(options.train):
            start = time.perf_counter()
            result = call()
            first = time.perf_counter() - start
            graphs = list(events.graphs)
            result = [p.detach().clone() for p in mine.parameters()] if options.train else [leaf.clone() for leaf in leaves(result)]
            calls[peer] = (least(call), first, result, graphs)
    wanted, (ours, first, found, graphs) = calls["eager"][2], calls["strata"]
    off = max(((a - b).abs().max() / b.abs().max().clamp_min(1e-6)).item() for a, b in zip(found, wanted, strict=True) if a.numel())
    natives = sum(graph.status == "native" for graph in graphs)
    peers = "  ".join(f"{peer} {1e3 * calls[peer][0]:8.2f} ms ({calls[peer][0] / ours:5.2f}x)" for peer in options.peers.split(","))
    print(f"{name:<22} off {off:.1e}  graphs {natives}/{len(graphs)}  first {first:6.2f} s  strata {1e3 * ours:8.2f} ms  {peers}", flush=True)
    return off < 1e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filter", default="")
    parser.add_argument("--peers", default="eager")
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    right = True
    for maker, names in ((vision, VISION), (text, TEXT)):
        for name in names:
            if options.filter in name:
                try:
                    right &= run(name, maker, options)
                except Exception as error:
                    right = False
                    print(f"{name:<22} {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
