"""Strata compiles PyTorch programs to machine code: `torch.compile(model, backend="strata")`."""
