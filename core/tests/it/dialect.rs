//! Definitions: assembly, verification, views, builders.

use crate::toy::*;
use strata_core::prelude::*;

const TEXT: &str = r#"module {
  func.func @f(%arg0: tensor<4xf32>, %arg1: index) -> tensor<4xf32> {
    %0 = toy.constant {value = dense<0.000000e+00> : tensor<4xf32>} : tensor<4xf32>
    %1 = toy.add %arg0, %0 : tensor<4xf32>
    %2 = toy.reduce %1 {dims = array<i64: 0>, kind = "sum"} : (tensor<4xf32>) -> tensor<f32>
    %3:2 = toy.segments %1, %arg1, %1, %2 {segments = array<i64: 1, 1, 2>} : (tensor<4xf32>, index, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
    %4 = toy.fusion %3#0 : tensor<4xf32> {
    ^bb0(%arg2: tensor<4xf32>):
      %6 = toy.square %arg2 : tensor<4xf32>
      toy.yield %6 : tensor<4xf32>
    }
    %5 = toy.call @k(%4) : tensor<4xf32>
    toy.print %5 {note.free = 1 : i64} : tensor<4xf32>
    cf.br ^bb1
  ^bb1:  // pred: ^bb0
    return %5 : tensor<4xf32>
  }
  toy.kernel private @k(%arg0: tensor<4xf32> {toy.first}) -> tensor<4xf32> attributes {dims = 1 : i64} {
    toy.br [^bb1]
  ^bb1:  // pred: ^bb0
    toy.return %arg0 : tensor<4xf32>
  }
}
"#;

#[test]
fn text_round_trips() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    assert_eq!(module.to_string(), TEXT);
}

#[test]
fn generic_form_round_trips() {
    let context = context();
    let generic = parse(&context, TEXT).unwrap().op().to_generic_text();
    assert!(generic.contains("\"toy.add\"(%"), "{generic}");
    assert_eq!(parse(&context, &generic).unwrap().to_string(), TEXT);
}

#[test]
fn bytecode_round_trips() {
    let context = context();
    let bytes = parse(&context, TEXT).unwrap().to_bytecode();
    let module = Module::from_bytecode(&context, &bytes, "test").unwrap();
    assert_eq!(module.to_string(), TEXT);
}

#[test]
fn views_read_what_builders_wrote() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let reduce = module.op().find_all(Reduce::NAME)[0].as_::<Reduce>().unwrap();
    assert_eq!((reduce.dims(), reduce.kind(), reduce.init()), (vec![0], "sum".to_owned(), None));
    let segments = module.op().find_all(Segments::NAME)[0].as_::<Segments>().unwrap();
    assert_eq!((segments.rest().len(), segments.results().len()), (2, 2));
    assert!(segments.first().is_some() && segments.middle().ty().is_index());

    let mut builder = Builder::before(segments.op());
    let scalar = reduce.result().ty();
    let built = Segments::build(&mut builder, None, segments.middle(), &[reduce.input()], &[scalar, scalar]);
    assert_eq!(built.op().ints("segments"), Some(vec![0, 1, 1]));
    assert_eq!((built.first(), built.rest()), (None, vec![reduce.input()]));
    let built = Reduce::build(&mut builder, reduce.input(), &[0], "max", Some(1.5), scalar);
    assert_eq!((built.kind().as_str(), built.init()), ("max", Some(1.5)));
    assert!(module.op().verify());
}

#[test]
fn types_are_inferred_and_compared() {
    let context = context();
    let text = "func.func @f(%m: tensor<2x?xf32>) {
      %0 = toy.transpose %m : (tensor<2x?xf32>) -> tensor<3x2xf32>
      return
    }";
    let module = parse(&context, text).unwrap();
    let transpose = module.op().find_all(Transpose::NAME)[0].as_::<Transpose>().unwrap();
    let built = Transpose::build(&mut Builder::before(transpose.op()), transpose.input()).unwrap();
    assert_eq!(built.result().ty().to_string(), "tensor<?x2xf32>");
    let error = parse(&context, &text.replace("3x2", "2x2x1")).err().unwrap();
    assert!(error.contains("has the result types 'tensor<2x2x1xf32>', but its operands and attributes give 'tensor<?x2xf32>'"), "{error}");
}

#[test]
fn interfaces_are_found() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let add = module.op().find_all("toy.add")[0];
    assert_eq!(add.interface::<dyn Cost>().unwrap().cost(), 4);
    assert!(module.op().find_all("toy.square")[0].interface::<dyn Cost>().is_none());
}

/// The message that MLIR gives for one op in a function on `%t: tensor<4xf32>`, `%b: tensor<4xi1>`, `%i: index`.
fn message(op: &str) -> String {
    let context = context();
    let text = format!("func.func @f(%t: tensor<4xf32>, %b: tensor<4xi1>, %i: index) {{\n  {op}\n  return\n}}");
    parse(&context, &text).err().unwrap_or_else(|| "no error".to_owned())
}

#[test]
fn data_is_verified() {
    let cases = [
        ("%0 = \"toy.add\"(%t) : (tensor<4xf32>) -> tensor<4xf32>", "has 1 operand(s), its definition has (lhs, rhs)"),
        ("%0 = toy.add %i, %i : index", "operand #0 'lhs' must be a ranked tensor, but is 'index'"),
        ("%0 = toy.add %t, %b : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>", "requires the same type"),
        ("%0 = toy.add %b, %b : tensor<4xi1>", "'toy.add' op C1: bools are not added"),
        ("%0 = toy.reduce %t {dims = 1, kind = \"sum\"} : (tensor<4xf32>) -> tensor<f32>", "'dims' must be array<i64>"),
        ("%0 = toy.reduce %t {kind = \"sum\"} : (tensor<4xf32>) -> tensor<f32>", "needs the attribute 'dims' (array<i64>)"),
        ("%0 = toy.square %t {alpha = 1} : tensor<4xf32>", "has no attribute 'alpha'; it has none at all"),
        ("%0 = toy.reduce %t {dims = array<i64: 4>, kind = \"sum\"} : (tensor<4xf32>) -> tensor<f32>", "C2: dims [4]"),
        ("%0 = toy.reduce %t {dims = array<i64: 0>, kind = \"s\", k = 1} : (tensor<4xf32>) -> tensor<f32>", "it has: dims, kind, init"),
        ("\"toy.segments\"(%t, %i) {segments = array<i64: 1, 1>} : (tensor<4xf32>, index) -> ()", "does not split its 2 operands"),
        ("toy.nothing %t : tensor<4xf32>", "custom op 'toy.nothing' is unknown"),
        ("\"toy.nothing\"(%t) : (tensor<4xf32>) -> ()", "unregistered operation 'toy.nothing'"),
        ("toy.fusion : () -> ()", "expected 1 region(s)"),
        ("toy.print %t", "expected ':' and the op's type"),
        ("toy.print %t : (index, index) -> ()", "expected 1 operand types, found 2"),
        ("\"toy.square\"(%t) <{a = 1}> : (tensor<4xf32>) -> tensor<4xf32>", "keeps its attributes in {...}"),
        ("%0 = toy.transpose %t : tensor<4xf32>", "'toy.transpose' op C1: tensor<4xf32> is no matrix"),
        (
            "%m = toy.transpose %t : (tensor<4xf32>) -> tensor<4x1xf32>\n%0 = toy.transpose %m : tensor<4x1xf32>",
            "C1: tensor<4xf32> is no matrix",
        ),
        ("toy.panics {now}", "'toy.panics' op its verifier panicked: as asked (core/tests/it/toy.rs:"),
    ];
    for (op, expected) in cases {
        let message = message(op);
        assert!(message.contains(expected), "{op}\n  expected: {expected}\n  found: {message}");
    }
}

#[test]
fn the_deepest_text_that_is_accepted_parses_on_a_small_stack() {
    let context = context();
    let depth = 250;
    let text = "scf.execute_region {\n".repeat(depth) + &"scf.yield\n}\n".repeat(depth);
    let text = format!("func.func @f() {{\n{text}return\n}}");
    // Threads of tests have 2 MiB.
    let module = parse(&context, &text).unwrap();
    assert_eq!(module.op().find_all("scf.execute_region").len(), depth);
    assert!(module.to_string().len() > text.len());
    let error = parse(&context, &"(".repeat(60_000)).err().unwrap();
    assert!(error.contains("test:1: regions, types or attributes nest deeper"), "{error}");
}

#[test]
fn misuse_is_a_message() {
    let context = context();
    let cx = Cx::from(&context);
    let panic = |call: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let function = cx.function(&[], &[]);
    assert!(panic(&|| _ = cx.tensor(&[2], function)).contains("no tensor of shape [2] with elements '() -> ()'"));
    let unloaded = panic(&|| _ = Builder::detached(cx.unknown()).effect("gpu.barrier", &[], &[]));
    assert!(unloaded.contains("'gpu.barrier' is not registered"), "{unloaded}");
}
