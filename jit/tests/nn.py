"""Writes nn.safetensors: weights, inputs and outputs of PyTorch's layers, which those of `strata::nn` are compared with."""

import pathlib

import torch
from safetensors.torch import save_file
from torch import nn

torch.manual_seed(0)
width = 8
layers = {
    "linear": (nn.Linear(width, 5), torch.randn(3, width)),
    "conv": (nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), torch.randn(2, 4, 7, 9)),
    "layer_norm": (nn.LayerNorm(width), torch.randn(3, width)),
    "group_norm": (nn.GroupNorm(2, 4), torch.randn(2, 4, 5)),
    "batch_norm": (nn.BatchNorm2d(4), torch.randn(2, 4, 5, 3)),
    "embedding": (nn.Embedding(10, width), torch.tensor([[1, 9], [0, 3]])),
    "attention": (nn.MultiheadAttention(width, 2, batch_first=True), torch.randn(2, 5, width)),
    "lstm": (nn.LSTM(width, 6, num_layers=2, batch_first=True), torch.randn(2, 5, width)),
}
tensors = {}
for name, (layer, x) in layers.items():
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    if name == "batch_norm":
        layer.running_mean.normal_()
        layer.running_var.uniform_(0.5, 2)
    layer.eval()
    with torch.no_grad():
        y = layer(x, x, x, need_weights=False)[0] if name == "attention" else layer(x)
    tensors |= {f"{name}.{key}": value for key, value in layer.state_dict().items()}
    tensors |= {f"{name}.x": x, f"{name}.y": y[0] if isinstance(y, tuple) else y}
save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, pathlib.Path(__file__).with_suffix(".safetensors"))
