//! The interpreter on modules of every level, as text.

use strata_core::ir::Module;
use strata_core::registry::{Registry, load_dialect};
use strata_dialects::{aten, capture, host, loops, prim};
use strata_interp::{DType, InterpError, Lent, Outputs, Scalar, Signature, Tensor, Value, run, run_host};

/// Parses a module and runs `f` on it.
fn with_module<R>(text: &str, f: impl FnOnce(&Module<'_>) -> R) -> R {
    let registry = Registry::new().with_upstream().with_dialects(&[
        &aten::ATEN,
        &aten::PRIMS,
        &capture::CAPTURE,
        &host::HOST,
        &loops::LOOP,
        &prim::PRIM,
    ]);
    let context = registry.context();
    for dialect in ["aten", "capture", "prim", "loop", "host", "func", "arith", "math", "scf", "tensor"] {
        load_dialect(&context, dialect);
    }
    let module = Module::parse(&context, text, "test.mlir").expect("the text is valid");
    f(&module)
}

fn floats(shape: &[usize], v: &[f64]) -> Tensor {
    Tensor::from_floats(DType::F32, shape, v).expect("the values fill the shape")
}

fn call(text: &str, inputs: &[Tensor]) -> Result<Outputs, InterpError> {
    let inputs = inputs.iter().cloned().map(Value::Tensor).collect();
    with_module(text, |m| run(m.op(), None, inputs, Lent::weights(&|name| (name == "w").then(|| floats(&[2], &[10.0, 20.0])))))
}

fn output(result: Result<Outputs, InterpError>) -> Vec<f64> {
    let out = result.expect("the program runs");
    out.outputs[0].tensor().expect("a tensor").floats()
}

const CAPTURED: &str = r#"
func.func @main(%x: tensor<?x2xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<2xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<?x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 1 : i64, max = 3 : i64} : (tensor<?x2xf32>) -> index
  %0 = aten.add.Tensor %x, %w {alpha = 2 : i64} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %1 = aten.clone %0 : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = aten.select.int %1 {dim = 1 : i64, index = -1 : i64} : (tensor<?x2xf32>) -> tensor<?xf32>
  %3 = aten.neg_ %2 : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?x2xf32>
}
"#;

#[test]
fn captured_programs_mutate_through_views() {
    assert_eq!(output(call(CAPTURED, &[floats(&[1, 2], &[1.0, 2.0])])), [21.0, -42.0]);
}

#[test]
fn ranges_are_guards() {
    let result = call(CAPTURED, &[floats(&[4, 2], &[0.0; 8])]);
    assert!(matches!(result, Err(InterpError::Guard { .. })), "{result:?}");
    let result = call(CAPTURED, &[floats(&[2], &[0.0; 2])]);
    assert!(matches!(result, Err(InterpError::Guard { .. })), "{result:?}");
}

#[test]
fn control_flow_and_numbers() {
    let text = r#"
func.func @main(%n: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%a = %zero) -> (index) {
    %b = arith.addi %a, %i : index
    scf.yield %b : index
  }
  %big = arith.cmpi sgt, %sum, %one : index
  %r = scf.if %big -> (index) {
    scf.yield %sum : index
  } else {
    scf.yield %zero : index
  }
  return %r : index
}
"#;
    let result = with_module(text, |m| run(m.op(), None, vec![Value::int(5)], Lent::weights(&|_| None)));
    assert_eq!(result.expect("the program runs").outputs, [Value::Scalar(Scalar::Int(10))]);
}

#[test]
fn prim_programs_with_fusions() {
    let text = r#"
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = prim.fusion %x : (tensor<2x3xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2x3xf32>):
    %1 = prim.mul %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = prim.reduce %1 {dims = array<i64: 1>, kind = "sum"} : (tensor<2x3xf32>) -> tensor<2xf32>
    prim.yield %2 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
"#;
    assert_eq!(output(call(text, &[floats(&[2, 3], &[1.0, 2.0, 3.0, 0.0, 1.0, 0.0])])), [14.0, 1.0]);
}

const KERNEL: &str = r#"
loop.kernel @k {shapes = [affine_map<() -> (2, 3)>, affine_map<() -> (2)>], sizes = affine_map<() -> (2, 3)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<2x3xf32>):
  %0 = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>], reduce = array<i64: 1>, reducer = "max", space = "buffer"} : (tensor<2x3xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    %i = loop.index {dim = 1 : i64} : () -> index
    %c = arith.index_cast %i : index to i64
    %f = arith.sitofp %c : i64 to f32
    %s = arith.addf %a, %f : f32
    loop.yield %s : f32
  }
  loop.return %0 : tensor<2xf32>
}
"#;

#[test]
fn kernels_run_point_by_point() {
    let text = format!(
        "{KERNEL}\nfunc.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {{\n  %0 = loop.call %x {{callee = @k}} : (tensor<2x3xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}}\n"
    );
    assert_eq!(output(call(&text, &[floats(&[2, 3], &[1.0, 2.0, 3.0, 9.0, 1.0, 0.0])])), [5.0, 9.0]);
}

/// Two stages over six elements, the second reading the first's result at `map`, under a schedule.
fn two_stages(schedule: &str, map: &str) -> String {
    format!(
        r#"
loop.kernel @k {{{schedule}shapes = [affine_map<() -> (6)>, affine_map<() -> (6)>], sizes = affine_map<() -> (6)>, symbols = array<i64>}} : () -> () {{
^bb0(%x: tensor<6xf32>):
  %0 = loop.stage %x {{domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"}} : (tensor<6xf32>) -> tensor<6xf32> {{
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    loop.yield %n : f32
  }}
  %1 = loop.stage %0 {{domain = array<i64: 0>, maps = [affine_map<(d0) -> ({map})>], space = "buffer"}} : (tensor<6xf32>) -> tensor<6xf32> {{
  ^bb0(%a: f32):
    loop.yield %a : f32
  }}
  loop.return %1 : tensor<6xf32>
}}
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {{
  %0 = loop.call %x {{callee = @k}} : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}}
"#
    )
}

#[test]
fn a_scheduled_kernel_runs_in_the_order_of_its_schedule() {
    let input = || [floats(&[6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])];
    let backwards = [-6.0, -5.0, -4.0, -3.0, -2.0, -1.0];
    // Stage by stage any element is there.
    assert_eq!(output(call(&two_stages("", "-d0 + 5"), &input())), backwards);
    // Point by point the last one is not: the first stage has come to 0.
    let error = call(&two_stages("schedule = {order = array<i64: 0>}, ", "-d0 + 5"), &input()).unwrap_err().to_string();
    assert!(error.contains("[5] is read before it is computed"), "{error}");
    // What each point reads of its own is there in tiles, blocks and register tiles, whole ones or not.
    let schedules = [
        "tile = array<i64: 4>",
        "block = array<i64: 4>, tile = array<i64: 3>",
        "unroll = array<i64: 4>",
        "vector = 0 : i64, width = 4 : i64",
    ];
    for schedule in schedules {
        let text = two_stages(&format!("schedule = {{order = array<i64: 0>, {schedule}}}, "), "d0");
        assert_eq!(output(call(&text, &input())), [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], "{schedule}");
    }
}

#[test]
fn host_programs_launch_kernels() {
    let text = format!(
        "{KERNEL}\nfunc.func @main() attributes {{host.entry}} {{\n  %n = arith.constant 2 : index\n  %x = host.input {{index = 0 : i64}} : () -> memref<?xf32>\n  %y = host.output %n {{index = 0 : i64}} : (index) -> memref<?xf32>\n  host.launch %x, %y {{callee = @k, outputs = 1 : i64}} : (memref<?xf32>, memref<?xf32>) -> ()\n  host.return : () -> ()\n}}\n"
    );
    let signature = Signature { results: vec![DType::F32], mutations: vec![None], ..Signature::default() };
    let inputs = vec![Value::Tensor(floats(&[2, 3], &[1.0, 2.0, 3.0, 9.0, 1.0, 0.0]))];
    assert_eq!(output(with_module(&text, |m| run_host(m.op(), &signature, inputs, Lent::weights(&|_| None)))), [5.0, 9.0]);
}

#[test]
fn failures_name_the_op_and_its_place() {
    let text = r#"
func.func @main(%x: tensor<2xf32>, %i: tensor<1xi64>) -> tensor<1xf32> {
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
"#;
    let at = Tensor::from_ints(&[1], &[2]).expect("one element");
    let error = call(text, &[floats(&[2], &[1.0, 2.0]), at]).expect_err("the index is out of bounds");
    let text = error.to_string();
    assert!(text.contains("prim.gather") && text.contains("index out of bounds") && text.contains("test.mlir"), "{text}");
}
