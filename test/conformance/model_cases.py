"""Exports tiny models with random weights as conformance cases: torchvision, timm and transformers by name, in eval mode.

    python model_cases.py OUT [--only REGEX]
"""

import copy
import functools
import re

import torch

import case

TEXT = {  # configuration class: what differs from the small common sizes
    "Albert": {"embedding_size": 16}, "BertGeneration": {}, "Camembert": {}, "CodeGen": {"rotary_dim": 4}, "ConvBert": {"embedding_size": 32},
    "Deberta": {}, "DebertaV2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}, "DistilBert": {}, "Ernie": {}, "Falcon": {},
    "FNet": {}, "GPTBigCode": {}, "GPTJ": {"rotary_dim": 4}, "GPTNeo": {"attention_types": [[["global", "local"], 1]]}, "Gemma": {"head_dim": 8},
    "Gemma2": {"head_dim": 8}, "Granite": {}, "LayoutLM": {}, "Lilt": {}, "MPNet": {}, "MobileBert": {"embedding_size": 16, "intra_bottleneck_size": 16},
    "Olmo": {}, "Olmo2": {}, "OPT": {"ffn_dim": 64, "word_embed_proj_dim": 32}, "Persimmon": {}, "Phi3": {"pad_token_id": 0}, "Qwen3": {"head_dim": 8},
    "RemBert": {"input_embedding_size": 16}, "RoFormer": {}, "Roberta": {}, "SqueezeBert": {"embedding_size": 32}, "StableLm": {}, "Starcoder2": {},
    "XGLM": {"d_model": 32, "ffn_dim": 64, "attention_heads": 4}, "XLMRoberta": {}, "Nystromformer": {}, "SmolLM3": {"pad_token_id": 0},
    "Mixtral": {"num_local_experts": 4}, "Qwen2Moe": {"num_experts": 4, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16},
    "GPT2": {}, "Mamba2": {"head_dim": 8, "num_heads": 8, "state_size": 8, "n_groups": 2}, "Cohere": {}, "Glm": {"head_dim": 8, "pad_token_id": 0},
    "Bloom": {}, "GptOss": {"head_dim": 8, "num_local_experts": 4}, "Helium": {"head_dim": 8}, "Nemotron": {},
}
VISION = {
    "Beit": {}, "ConvNextV2": {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}, "Deit": {"_class": "DeiT"}, "Dinov2": {},
    "FocalNet": {"embed_dim": 8, "depths": [1, 1, 1, 1]}, "Levit": {"hidden_sizes": [16, 24, 32], "num_attention_heads": [2, 3, 4], "depths": [1, 1, 1], "key_dim": [8, 8, 8]},
    "MobileNetV2": {}, "PoolFormer": {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}, "Pvt": {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]},
    "RegNet": {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "embedding_size": 8, "groups_width": 8},
    "ResNet": {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "embedding_size": 8}, "Segformer": {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]},
    "SiglipVision": {}, "Swinv2": {"embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4}, "ViTMSN": {}, "CLIPVision": {},
    "EfficientNet": {}, "Cvt": {}, "YolosConfig": {"_class": "Yolos"},
}
TIMM = [
    "resnet10t", "resnetv2_18", "mobilenetv4_conv_small_035", "efficientnet_b0", "ghostnetv2_100", "repvgg_a0", "edgenext_xx_small", "fastvit_t8",
    "coatnet_nano_rw_224", "crossvit_tiny_240", "deit_tiny_patch16_224", "eva02_tiny_patch14_224", "gmlp_ti16_224", "hrnet_w18_small", "levit_128s",
    "maxvit_nano_rw_256", "mvitv2_tiny", "nest_tiny", "pit_ti_224", "pvt_v2_b0", "regnetz_005", "rexnet_100", "sequencer2d_s", "tnt_s_patch16_224",
    "twins_svt_small", "visformer_tiny", "volo_d1_224", "xcit_nano_12_p16_224", "convnextv2_atto", "cspresnet50", "dla34", "dpn48b", "efficientformer_l1",
    "inception_v4", "lcnet_050", "mixnet_s", "res2net50_14w_8s", "selecsls42b", "skresnet18", "vovnet39a", "halonet26t", "lambda_resnet26t", "botnet26t_256",
    "starnet_s1", "caformer_s18", "swiftformer_xs", "tiny_vit_5m_224", "repghostnet_050", "inception_next_atto", "hgnetv2_b0",
]
TORCHVISION = [
    "alexnet", "vgg11_bn", "squeezenet1_1", "googlenet", "shufflenet_v2_x0_5", "mnasnet0_5", "mobilenet_v3_small", "efficientnet_b0", "regnet_x_400mf",
    "convnext_tiny", "swin_v2_t", "wide_resnet50_2", "densenet121", "inception_v3", "maxvit_t", "segmentation.fcn_resnet50", "segmentation.lraspp_mobilenet_v3_large",
    "video.r3d_18", "video.mc3_18", "video.r2plus1d_18",
]


class First(torch.nn.Module):
    """Only the tensors of a model's result."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args):
        out = self.model(*args)
        out = out.to_tuple() if hasattr(out, "to_tuple") else out
        leaves = torch.utils._pytree.tree_leaves(out)
        return [t for t in leaves if isinstance(t, torch.Tensor)][:2]


def text(name, change):
    import transformers
    common = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=48, vocab_size=64,
                  max_position_embeddings=64, n_embd=32, n_layer=2, n_head=4, dim=32, n_layers=2, n_heads=4, hidden_dim=48, num_layers=2,
                  use_cache=False, hidden_dropout_prob=0.0, attn_implementation="eager", pad_token_id=0)
    config = getattr(transformers, name + "Config")(**(common | change))
    model = getattr(transformers, name + "Model")(config)
    return First(model), [torch.randint(1, 60, (2, 9))]


def vision(name, change):
    import transformers
    change = dict(change)
    cls = change.pop("_class", name)
    common = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8, attn_implementation="eager")
    config = getattr(transformers, cls + "Config")(**(common | change))
    return First(getattr(transformers, cls + "Model")(config)), [torch.randn(1, 3, 32, 32)]


def image(kind, name):
    if kind == "timm":
        import timm
        model = timm.create_model(name, num_classes=10)
        size = (model.default_cfg.get("test_input_size") or model.default_cfg["input_size"])[1:] if model.default_cfg.get("fixed_input_size") else (64, 64)
        return First(model), [torch.randn(1, 3, *size)]
    import torchvision
    place = torchvision.models
    for part in name.split(".")[:-1]:
        place = getattr(place, part)
    extra = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    model = getattr(place, name.split(".")[-1])(weights=None, **({"weights_backbone": None} if "segment" in name else {}), **extra)
    shape = (1, 3, 4, 32, 32) if "video" in name else (1, 3, 224, 224) if name == "maxvit_t" else (2, 3, 75, 75) if "inception" in name else (1, 3, 64, 64)
    return First(model), [torch.randn(*shape)]


def error_of(module, inputs):
    """The largest error of the model in f32, against itself in f64 (where it runs in that)."""
    with torch.no_grad():
        got = module(*inputs)
        try:
            exact = copy.deepcopy(module).double()(*[x.double() if x.is_floating_point() else x for x in inputs])
        except RuntimeError:
            return 1e-5
    return max(float((g.double() - e).abs().max()) for g, e in zip(got, exact))


def model_case(folder, name, make):
    module, inputs = make()
    module.eval()
    tolerance = (1e-4, max(1e-5, 10 * error_of(module, inputs)))
    return case.export(folder, "models", name.replace(".", "_"), module, [inputs], op=name, tolerance=tolerance)


def models():
    """What makes each model and its inputs, by name."""
    models = {f"hf_{n}": functools.partial(text, n, c) for n, c in TEXT.items()}
    models |= {f"hfv_{n}": functools.partial(vision, n, c) for n, c in VISION.items()}
    models |= {f"timm_{n}": functools.partial(image, "timm", n) for n in TIMM}
    return models | {f"tv_{n}": functools.partial(image, "torchvision", n) for n in TORCHVISION}


def makers(options):
    for seed, (name, make) in enumerate(models().items()):
        if re.search(options.only, name):
            torch.manual_seed(seed)
            yield name, functools.partial(model_case, options.out, name, make)


if __name__ == "__main__":
    case.collect(__doc__, makers, {"only": ""})
