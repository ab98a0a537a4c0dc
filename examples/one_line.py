"""One line makes a PyTorch program a compiled one.

    python examples/one_line.py [--quick]
"""

import sys
import time

import torch

import strata
from timing import least


def function(x, y):
    return torch.sin(x) * torch.cos(y) + x.square().mean()


def show(name, model, *inputs):
    compiled = torch.compile(model, backend="strata")  # the line
    with torch.no_grad():
        start = time.perf_counter()
        found = compiled(*inputs)
        first = time.perf_counter() - start
        wanted = model(*inputs)
        off = max((a - b).abs().max().item() for a, b in zip(tensors(found), tensors(wanted)))
        eager, ours = least(lambda: model(*inputs)), least(lambda: compiled(*inputs))
    print(f"{name:<10} first call {first:5.2f} s   eager {eager:10.1f} us   strata {ours:10.1f} us   {eager / ours:5.1f}x   largest difference {off:.1e}")


def tensors(value):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def main():
    torch.manual_seed(0)
    show("function", function, torch.randn(100, 100), torch.randn(100, 100))
    module = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 10)).eval()
    show("module", module, torch.randn(32, 64))
    if "--quick" in sys.argv:
        return
    try:
        import torchvision

        show("ResNet-50", torchvision.models.resnet50(weights=None).eval(), torch.randn(1, 3, 224, 224))
    except ImportError:
        print("ResNet-50  needs torchvision")
    try:
        import transformers

        bert = transformers.BertModel(transformers.BertConfig()).eval()
        show("BERT", bert, torch.randint(0, 1000, (1, 128)))
    except ImportError:
        print("BERT       needs transformers")
    print(strata.explain(module, torch.randn(32, 64)))


if __name__ == "__main__":
    main()
