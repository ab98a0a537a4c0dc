"""`strata.compile` and `strata.load`, and what they say of wrong inputs."""

import os
import pickle
import subprocess
import sys

import numpy
import pytest
import torch
from torch import nn

import strata


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


@pytest.fixture
def exported(tmp_path):
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(6, 4), nn.GELU(), nn.Linear(4, 3)).eval(), torch.randn(5, 6)
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(net, (x,)), path)
    return path, x, net(x).detach()


def test_an_export_runs_on_tensors_and_arrays(exported):
    path, x, wanted = exported
    program = strata.load(path)
    same(program(x), wanted)
    found = program(x.numpy())
    assert isinstance(found, numpy.ndarray)
    same(torch.from_numpy(found), wanted)
    frozen = x.numpy().copy()
    frozen.setflags(write=False)
    same(torch.from_numpy(program(frozen)), wanted)


def test_no_torch_is_imported(exported):
    path, x, wanted = exported
    numpy.save(path.with_suffix(".npy"), x.numpy())
    code = f"import sys, numpy, strata; y = strata.load({str(path)!r})(numpy.load({str(path.with_suffix('.npy'))!r})); assert 'torch' not in sys.modules; print(y.sum())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout) - wanted.sum().item()) < 1e-4


def test_wrong_files_and_inputs_are_errors(exported, tmp_path):
    path, x, _ = exported
    with pytest.raises(FileNotFoundError):
        strata.load(tmp_path / "gone.pt2")
    with pytest.raises(ValueError, match="not a .strata"):
        strata.load(tmp_path / "model.onnx")
    (tmp_path / "bad.strata").write_bytes(b"nothing")
    with pytest.raises(ValueError):
        strata.load(tmp_path / "bad.strata")
    program = strata.load(path)
    with pytest.raises(TypeError, match="1 inputs"):
        program(x, x)
    with pytest.raises(TypeError, match="type str"):
        program("x")
    with pytest.raises(ValueError, match="element type f64"):
        program(x.double())
    with pytest.raises(ValueError, match="rank"):
        program(x[0])
    with pytest.raises(ValueError, match="element type f64"):
        program(x.double().numpy())


KEPT = """
import sys, time, torch, strata
from strata import events
torch._dynamo.config.caching_precompile = True
torch.manual_seed(0)
net, x = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.GELU()), torch.randn(5, 6)
run = torch.compile(net, backend="strata")
with torch.no_grad():
    found = run(x)
    torch.testing.assert_close(found, net(x))
    net[0].weight.mul_(2)
    torch.testing.assert_close(run(x), net(x))
torch._dynamo.precompile_context.PrecompileContext.save_to_dynamo_cache()
print(len(events.graphs))
"""


def test_a_second_process_traces_nothing(tmp_path):
    code = tmp_path / "program.py"
    code.write_text(KEPT)
    seen = []
    for _ in range(2):
        folder = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}  # where PyTorch keeps its caches, ours among them
        done = subprocess.run([sys.executable, code], capture_output=True, text=True, env={**os.environ, **folder})
        assert done.returncode == 0, done.stderr
        seen.append(done.stdout.split()[-1])
    assert seen == ["1", "0"]


def gelu(x, w):
    return nn.functional.gelu(x @ w)


def test_ahead_of_time(tmp_path):
    x, w = torch.randn(5, 6), torch.randn(6, 4)
    compiled = torch.compile(gelu, backend="strata", fullgraph=True).aot_compile(((x, w), {}))
    same(compiled(x, w), gelu(x, w))
    compiled.save_compiled_function(tmp_path / "gelu.bin")
    torch._dynamo.reset()
    with open(tmp_path / "gelu.bin", "rb") as file:
        again = torch.compiler.load_compiled_function(file)
    same(again(x, w), gelu(x, w))


def test_compile_without_torchdynamo():
    def function(x, y, scale=2):
        return {"sum": x + y * scale, "rows": [x.sum(0)]}

    compiled = strata.compile(function)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    same(compiled(x, y), function(x, y))
    same(compiled(x, y, scale=5), function(x, y, scale=5))
    same(compiled(x[:2], y[:2]), function(x[:2], y[:2]))
    assert len(compiled.programs) == 3


def test_compiled_modules_follow_their_weights():
    net, x = nn.Sequential(nn.Linear(6, 4), nn.ReLU()), torch.randn(5, 6)
    compiled = strata.compile(net, x)
    same(compiled(x), net(x).detach())
    with torch.no_grad():
        net[0].weight.mul_(2)
    same(compiled(x), net(x).detach())
    net[0].weight = nn.Parameter(torch.randn(4, 6))
    same(compiled(x), net(x).detach())


def test_compiled_modules_follow_their_mode():
    net, x = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4)), torch.randn(5, 6)
    net(x)
    compiled = strata.compile(net.eval())
    same(compiled(x), net(x).detach())
    net.train()
    wanted = nn.functional.batch_norm(net[0](x), None, None, training=True).detach()
    same(compiled(x), wanted)
    net.eval()
    same(compiled(x), net(x).detach())


def test_a_compiler_that_is_not_there_is_named(tmp_path):
    code = 'import torch; torch.compile(lambda x: x + 1, backend="strata")(torch.ones(3))'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "STRATA_COMPILER": str(tmp_path / "gone.so")})
    assert done.returncode != 0 and "gone.so" in done.stderr and "UnboundLocalError" not in done.stderr


def test_compiled_functions_change_their_arguments():
    @strata.compile
    def change(x):
        x.add_(1)
        return x * 2

    x = torch.ones(3)
    same(change(x), torch.full((3,), 4.0))
    same(x, torch.full((3,), 2.0))


def test_a_compiled_function_is_saved_with_its_weights(tmp_path):
    torch.manual_seed(0)
    net, x, table = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4)).eval(), torch.randn(5, 6), torch.arange(6.0)
    path = tmp_path / "net.strata"
    strata.compile(lambda x, k: {"y": net(x * table), "sum": x.sum() + k}, x, 3).save(path)
    wanted = net(x * table).detach(), x.sum() + 3
    same(strata.load(path)(x), wanted)
    strata.compile(net, x).save(path)
    wanted = net(x).detach()
    program = f"import numpy, strata; print(strata.load({str(path)!r})(numpy.array({x.tolist()}, dtype='f')).tolist())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "STRATA_COMPILER": "/nowhere"})
    assert done.returncode == 0, done.stderr
    same(torch.tensor(eval(done.stdout)), wanted)


def test_a_saved_function_gives_arguments_and_views_of_them_too(tmp_path):
    x, path = torch.randn(4, 6), tmp_path / "parts.strata"
    strata.compile(lambda x: (x, x + 1, x.t(), *x.split(4, 1)), x).save(path)
    for result, wanted in zip(strata.load(path)(x), (x, x + 1, x.t(), *x.split(4, 1)), strict=True):
        same(result, wanted)


def test_a_compiled_program_is_one_object_that_pickles():
    compiled = strata.compile(lambda x: x.sin() + 1, torch.randn(3))
    artefact = compiled.files[0].artefact()
    again = pickle.loads(pickle.dumps(artefact))
    assert again.to_bytes() == artefact.to_bytes() and again.kernels == artefact.kernels == 1
    with pytest.raises(ValueError, match="not a Strata artefact"):
        type(artefact)(b"nothing")


def test_what_is_not_one_program_is_not_saved(tmp_path):
    function = strata.compile(lambda x: x + 1)
    with pytest.raises(ValueError, match="0 kinds of arguments"):
        function.save(tmp_path / "no.strata")
    function(torch.ones(2)), function(torch.ones(3))
    with pytest.raises(ValueError, match="2 kinds of arguments"):
        function.save(tmp_path / "no.strata")
    with pytest.raises(ValueError, match="changes weights"):
        strata.compile(nn.BatchNorm1d(4).train(), torch.randn(3, 4)).save(tmp_path / "no.strata")


def _doubled(x):
    return x * 2


def test_a_saved_program_says_what_it_was_recorded_from(tmp_path):
    x, net = torch.randn(4), nn.Linear(4, 4).eval()
    for function, name, line in ((_doubled, "_doubled", _doubled.__code__), (net, "Linear", nn.Linear.forward.__code__)):
        path = tmp_path / f"{name}.strata"
        strata.compile(function, x).save(path)
        origin = strata.load(path).manifest["origin"]
        assert origin["file"] == f"{name} at {line.co_filename}:{line.co_firstlineno}"
        assert origin["format"] == f"strata.compile, PyTorch {torch.__version__}"
