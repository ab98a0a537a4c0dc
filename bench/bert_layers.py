"""Exports BERT of so many layers twice, the second time with another epsilon in one layer: what `--bench layers` edits.

python bench/bert_layers.py FOLDER [LAYERS [HIDDEN]] writes base.pt2 and edited.pt2.
"""

import sys
from pathlib import Path

import torch
from transformers import BertConfig, BertModel


class Hidden(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.bert = BertModel(config)

    def forward(self, tokens):
        return self.bert(tokens).last_hidden_state


def main(folder, layers=12, hidden=768):
    config = BertConfig(hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=hidden // 64, intermediate_size=4 * hidden)
    torch.manual_seed(0)
    model = Hidden(config).eval()
    tokens = torch.randint(0, config.vocab_size, (1, 16))
    for name, epsilon in [("base", 1e-12), ("edited", 1e-5)]:
        model.bert.encoder.layer[layers // 2].output.LayerNorm.eps = epsilon
        torch.export.save(torch.export.export(model, (tokens,)), Path(folder) / f"{name}.pt2")


main(sys.argv[1], *map(int, sys.argv[2:]))
