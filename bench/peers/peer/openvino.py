"""OpenVINO on the CPU, in the precision of the program."""

import torch

from peer import Absent, Prepared, without_modes
from workloads import Workload


def prepare(work: Workload, mode: str | None, threads: int) -> Prepared:
    without_modes("openvino", mode)
    try:
        import openvino
    except ImportError as error:
        raise Absent(f"{error.name} is not installed") from None
    hints = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.compile_model(openvino.convert_model(work.export()), "CPU", hints)
    request = compiled.create_infer_request()
    call = lambda *arguments: request.infer(arguments, share_inputs=True, share_outputs=True)  # noqa: E731
    arguments = [tuple(each.numpy() for each in values) for values in work.arguments()]
    return Prepared(call, arguments, lambda results: [torch.from_numpy(results[each].copy()) for each in compiled.outputs])
