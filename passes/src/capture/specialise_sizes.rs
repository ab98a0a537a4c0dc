//! `--specialise-sizes=sizes=4x8:3`: the entry for calls with inputs of exactly these sizes.
//!
//! `sizes` lists the inputs of the call in order, separated by colons; a scalar's entry is empty. The entry's arguments get these
//! sizes as their types, and the program's symbols become numbers, so that everything below knows them. What the program checks
//! about a call it still checks. Refused: another number of inputs, another rank, a size that contradicts a fixed one.
//!
//! ```mlir
//! func.func @main(%x: tensor<?x2xf32> {capture.kind = "input", capture.name = "x"}) -> index attributes {capture.entry} {
//!   %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 0 : i64, max = 9 : i64} : (tensor<?x2xf32>) -> index
//!   return %s : index
//! }
//! // becomes, for sizes=4x2
//! func.func @main(%x: tensor<4x2xf32> {capture.kind = "input", capture.name = "x"}) -> index attributes {capture.entry} {
//!   %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 0 : i64, max = 9 : i64} : (tensor<4x2xf32>) -> index
//!   %0 = arith.constant 4 : index
//!   return %0 : index
//! }
//! ```

use strata_core::ir::{Attr, Builder, DYNAMIC, Op, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_dialects::capture;

/// Gives the entry's inputs fixed sizes.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("arith"))]
pub struct SpecialiseSizes {
    /// The sizes of the call's inputs, as in 4x8:3.
    #[option(default = "")]
    sizes: String,
}

impl Pass for SpecialiseSizes {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(capture::ENTRY).is_none() {
            return Ok(());
        }
        specialise(op, &parse(&self.sizes)?)
    }
}

fn parse(text: &str) -> Result<Vec<Vec<i64>>, PassError> {
    let number = |text: &str| match text.parse::<i64>() {
        Ok(size) if size >= 0 => Ok(size),
        _ => Err(PassError::new(format!("'{text}' is no size; sizes are written as in 4x8:3"))),
    };
    let shape = |text: &str| text.split('x').filter(|size| !size.is_empty()).map(number).collect();
    text.split(':').map(shape).collect()
}

fn specialise<'c>(entry: Op<'c>, sizes: &[Vec<i64>]) -> Result<(), PassError> {
    let (cx, block) = (entry.cx(), entry.body(0));
    let dicts = entry.attr("arg_attrs").and_then(Attr::as_array).unwrap_or_default();
    let kind = |at: usize| dicts.get(at).and_then(|dict| dict.entry(capture::KIND)).and_then(Attr::as_str);
    let inputs: Vec<Value<'c>> =
        block.args().into_iter().enumerate().filter(|(at, _)| kind(*at).is_none_or(|kind| kind == "input")).map(|(_, arg)| arg).collect();
    if inputs.len() != sizes.len() {
        return Err(PassError::new(format!("the program takes {} inputs, sizes are given for {}", inputs.len(), sizes.len())));
    }
    for (at, (input, wanted)) in inputs.iter().zip(sizes).enumerate() {
        if !input.ty().is_tensor() {
            continue;
        }
        let declared = input.ty().shape();
        let fits = declared.len() == wanted.len() && declared.iter().zip(wanted).all(|(&size, &given)| size == DYNAMIC || size == given);
        if !fits {
            return Err(PassError::new(format!("input {at} is {}, it cannot have the sizes {wanted:?}", input.ty())));
        }
        input.set_type(cx.tensor(wanted, input.ty().element()));
    }
    for op in block.ops().into_iter().filter(|op| op.isa::<capture::Dim>()) {
        let size = op.int("dim").and_then(|dim| op.operand(0).ty().shape().get(usize::try_from(dim).ok()?).copied());
        if let Some(size) = size.filter(|&size| size != DYNAMIC) {
            let known = Builder::after(op).const_index(size);
            op.result(0).replace_all_uses_with(known);
        }
    }
    let results = entry.attr("function_type").and_then(Attr::as_type).map(|ty| ty.results()).unwrap_or_default();
    let arguments: Vec<_> = block.args().into_iter().map(Value::ty).collect();
    entry.set_attr("function_type", cx.type_attr(cx.function(&arguments, &results)));
    Ok(())
}
