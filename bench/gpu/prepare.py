"""Exports the workloads and compiles them for devices. It needs PyTorch and `rs-compile`, and no device.

    python bench/gpu/prepare.py --tools target/release --target cuda:sm_80,sm_90 --out FOLDER

Then carry FOLDER (with `rs-run` in it) and `bench/gpu` to the machine with the device.
"""

import argparse
import pathlib
import shutil
import subprocess

import torch
from safetensors.torch import save_file

import workloads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--target", default="cuda:sm_80,sm_90")
    parser.add_argument("--mode", default="reduce-overhead")
    parser.add_argument("--filter", default="")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="FOLDER")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    shutil.copy(arguments.tools / "rs-run", arguments.out)
    for work in workloads.all_of(torch, "cpu"):
        if arguments.filter not in work.name:
            continue
        sizes = tuple({0: torch.export.Dim("rows", min=2)} for _ in work.inputs) if work.dynamic else None
        model = arguments.out / f"{work.name}.pt2"
        shapes = {"inputs": sizes} if sizes else None
        torch.export.save(torch.export.export(work.module, work.inputs, dynamic_shapes=shapes), model)
        inputs = {f"in_{k}": tensor.contiguous() for k, tensor in enumerate(work.inputs)}
        save_file(inputs, arguments.out / f"{work.name}.safetensors")
        compiled = [arguments.tools / "rs-compile", model, "--target", arguments.target, "--mode", arguments.mode]
        compiled += ["-o", arguments.out / f"{work.name}.strata"]
        done = subprocess.run([str(part) for part in compiled], capture_output=True, text=True)
        print(f"{work.name}: {'compiled' if done.returncode == 0 else done.stderr.strip()}", flush=True)


if __name__ == "__main__":
    main()
