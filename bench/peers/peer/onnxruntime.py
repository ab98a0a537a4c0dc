"""onnxruntime on the CPU, with its inputs bound beforehand."""

import io

import torch

from peer import Absent, Prepared, without_modes
from workloads import Workload


def prepare(work: Workload, mode: str | None, threads: int) -> Prepared:
    without_modes("onnxruntime", mode)
    try:
        import onnxruntime
        import onnxscript  # noqa: F401  # what PyTorch's exporter needs
    except ImportError as error:
        raise Absent(f"{error.name} is not installed") from None
    program, file = torch.onnx.export(work.export(), dynamo=True, verbose=False), io.BytesIO()
    program.save(file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]

    def bound(arguments):
        binding = session.io_binding()
        for name, value in zip(names, arguments):
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value.numpy()))
        for result in session.get_outputs():
            binding.bind_output(result.name)
        return binding

    def call(binding):
        session.run_with_iobinding(binding)
        return binding

    tensors = lambda binding: [torch.from_numpy(each) for each in binding.copy_outputs_to_cpu()]  # noqa: E731
    return Prepared(call, [(bound(each),) for each in work.arguments()], tensors)
