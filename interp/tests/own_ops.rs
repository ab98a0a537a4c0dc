//! Ops of a dialect that this crate does not know are interpreted by what they say of themselves.

use strata_core::ir::Module;
use strata_core::prelude::*;
use strata_core::registry::{Registry, load_dialect};
use strata_core::upstream::arith;
use strata_dialects::prim::scalar::{Arithmetic, Cost, Elements, Pointwise};
use strata_dialects::prim::types::AnyTensor;
use strata_interp::value::{InterpError, Results, fail};
use strata_interp::{DType, Interpret, Lent, Tensor, Value, run};

static MINE: DialectDef =
    DialectDef { name: "mine", doc: "Ops of a test.", ops: || vec![Ends::DEF, Mystery::DEF, Twice::DEF], ..DialectDef::NEW };

/// The first and the last element.
#[op("mine.ends", effects(Pure), interfaces(Interpret))]
struct Ends {
    x: Operand<AnyTensor>,
    first: Result<AnyTensor>,
    last: Result<AnyTensor>,
}

impl Interpret for Ends<'_> {
    fn interpret(&self, operands: &[Value]) -> Results {
        let x = operands[0].tensor()?;
        let last = x.len().checked_sub(1).ok_or_else(|| fail("an empty tensor has no ends"))?;
        Ok([0, last].map(|k| Value::Tensor(Tensor::scalar(x.dtype(), x.at(k)))).to_vec())
    }
}

/// An element and itself.
#[op("mine.twice", effects(Pure), interfaces(Pointwise))]
struct Twice {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

impl Pointwise for Twice<'_> {
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn scalar<'c>(
        &self,
        b: &mut Builder<'c>,
        args: &[strata_core::ir::Value<'c>],
        elements: Elements,
    ) -> Option<strata_core::ir::Value<'c>> {
        match Arithmetic::of(elements.from) {
            Arithmetic::Float => Some(arith::addf(b, args[0], args[0])),
            Arithmetic::Signed | Arithmetic::Unsigned => Some(arith::addi(b, args[0], args[0])),
            Arithmetic::Complex => None,
        }
    }
}

/// An op that says nothing of itself.
#[op("mine.mystery", effects(Pure))]
struct Mystery {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

/// Runs a program of one argument.
fn call(text: &str, x: Tensor) -> std::result::Result<Vec<Value>, InterpError> {
    let context = Registry::new().with_upstream().with_dialects(&[&MINE]).context();
    load_dialect(&context, "func");
    load_dialect(&context, "mine");
    let module = Module::parse(&context, text, "test.mlir").expect("the text is valid");
    run(module.op(), None, vec![Value::Tensor(x)], Lent::weights(&|_| None)).map(|outputs| outputs.outputs)
}

fn elements(value: &Value) -> Vec<f64> {
    value.tensor().expect("it is a tensor").floats()
}

#[test]
fn ops_with_interpret_say_what_they_compute() {
    let text = "func.func @main(%x: tensor<3xf32>) -> (tensor<f32>, tensor<f32>) {
        %0:2 = mine.ends %x : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
        return %0#0, %0#1 : tensor<f32>, tensor<f32>
    }";
    let x = Tensor::from_floats(DType::F32, &[3], &[1.0, 2.0, 4.0]).expect("three elements");
    let ends = call(text, x).expect("the op has an interpretation");
    assert_eq!(ends.iter().flat_map(elements).collect::<Vec<_>>(), [1.0, 4.0]);
}

#[test]
fn pointwise_ops_are_interpreted_by_their_scalar_forms() {
    let text = |ty: &str| {
        format!(
            "func.func @main(%x: tensor<2x{ty}>) -> tensor<2x{ty}> {{\n %0 = mine.twice %x : (tensor<2x{ty}>) -> tensor<2x{ty}>\n return %0 : tensor<2x{ty}>\n}}"
        )
    };
    let twice = |ty, dtype, values: [f64; 2]| {
        let x = Tensor::from_floats(dtype, &[2], &values).expect("two elements");
        elements(&call(&text(ty), x).expect("there is a scalar form")[0])
    };
    assert_eq!(twice("f32", DType::F32, [1.5, -2.0]), [3.0, -4.0]);
    // Halves are computed with in f32 and rounded once; bytes wrap.
    assert_eq!(twice("f16", DType::F16, [1.5, -2.0]), [3.0, -4.0]);
    assert_eq!(twice("i64", DType::I64, [7.0, -2.0]), [14.0, -4.0]);
    assert_eq!(twice("ui8", DType::U8, [200.0, 3.0]), [144.0, 6.0]);
}

#[test]
fn ops_that_say_nothing_are_refused_with_the_way_out() {
    let text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0 = mine.mystery %x : (tensor<3xf32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
    }";
    let x = Tensor::from_floats(DType::F32, &[3], &[1.0, 2.0, 4.0]).expect("three elements");
    let error = call(text, x).expect_err("nobody knows what it computes");
    assert!(matches!(&error, InterpError::Unsupported { op, .. } if op == "mine.mystery"), "{error}");
    assert!(error.to_string().contains("`Interpret`"), "{error}");
}
