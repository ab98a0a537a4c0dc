//! Dialect conversion: legality, types, casts, signatures.

use crate::toy::*;
use strata_core::diagnostic::collect_errors;
use strata_core::prelude::*;
use strata_core::rewrite::{Conversion, Converted, Extent};

const TEXT: &str = "func.func @f(%x: tensor<4xf32>, %i: index) -> (tensor<4xf32>, index) {
  %c = arith.constant true
  %0 = toy.add %x, %x : tensor<4xf32>
  %1 = scf.if %c -> index {
    scf.yield %i : index
  } else {
    scf.yield %i : index
  }
  return %0, %1 : tensor<4xf32>, index
}";

fn add_to_arith(conversion: &mut Conversion<'_>) {
    conversion.legal_dialect("arith").illegal_dialect("toy");
    conversion.on::<Add>("add-to-arith", 1, |add, new, rewriter| {
        let ty = new.ty(add.result().ty())?;
        let sum = rewriter.value("arith.addf", new.operands(), ty, &[]);
        rewriter.replace(add.op(), &[sum]);
        Ok(())
    });
}

#[test]
fn ops_are_converted() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let mut conversion = Conversion::new(module.cx());
    add_to_arith(&mut conversion);
    conversion.apply(module.op(), Extent::Partial).unwrap();
    let text = module.to_string();
    assert!(text.contains("arith.addf") && !text.contains("toy."), "{text}");
    assert!(module.op().verify());
}

#[test]
fn types_change_in_signatures_and_structure() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let mut conversion = Conversion::new(module.cx());
    add_to_arith(&mut conversion);
    conversion.legal_op("builtin.module").types(|ty| ty.is_index().then(|| Converted::To(vec![ty.cx().int(64)])));
    conversion.structure();
    conversion.apply(module.op(), Extent::Full).unwrap();
    let text = module.to_string();
    assert!(text.contains("func.func @f(%arg0: tensor<4xf32>, %arg1: i64) -> (tensor<4xf32>, i64)"), "{text}");
    assert!(text.contains("scf.if %true -> (i64)") && !text.contains("index"), "{text}");
}

#[test]
fn casts_stand_between_old_and_new() {
    let context = context();
    let text = "func.func @f(%i: index) {\n  toy.print %i : index\n  return\n}";
    let module = parse(&context, text).unwrap();
    let mut conversion = Conversion::new(module.cx());
    conversion.legal_op("builtin.module").legal_dialect("arith").legal_dialect("toy");
    conversion.legal_op("func.return").functions("func.func");
    conversion.types(|ty| ty.is_index().then(|| Converted::To(vec![ty.cx().int(64)])));
    conversion.cast(|builder, ty, inputs| {
        let spec = OpSpec { name: "arith.index_cast", operands: inputs, results: &[ty], ..OpSpec::default() };
        Some(builder.op(spec))
    });
    let (result, errors) = collect_errors(module.cx(), || conversion.apply(module.op(), Extent::Partial));
    result.unwrap_or_else(|error| panic!("{error} {errors:?}"));
    assert!(module.to_string().contains("arith.index_cast %arg0 : i64 to index"), "{module}");
}

#[test]
fn what_cannot_be_converted_is_named() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let mut conversion = Conversion::new(module.cx());
    conversion.illegal_op(Add::NAME);
    conversion.on::<Add>("never", 1, |_, _, _| Err("never".into()));
    let (result, errors) = collect_errors(module.cx(), || conversion.apply(module.op(), Extent::Partial));
    assert!(result.unwrap_err().to_string().contains("no pattern makes legal"));
    assert!(errors[0].contains("failed to legalize operation 'toy.add'"), "{errors:?}");
}

#[test]
fn legality_may_depend_on_the_op() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let mut conversion = Conversion::new(module.cx());
    add_to_arith(&mut conversion);
    conversion.legal_if(Add::NAME, |op| op.operand(0) == op.operand(1));
    conversion.apply(module.op(), Extent::Partial).unwrap();
    assert!(module.to_string().contains("toy.add"), "{module}");
}
