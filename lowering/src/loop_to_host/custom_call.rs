//! Calls of kernels of a user's libraries: results get memory of their own, filled with what they begin as.

use strata_core::ir::{Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::{capture, host, loops, prim};

use super::Error;
use super::convert::{Converter, Tensor};
use super::library::dtype_code;
use crate::num::Num;

/// The kernel's tensors with their sizes, and its numbers, in order.
pub(super) fn custom_call<'c>(c: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let call = capture::CustomCall::cast(op).ok_or_else(|| Error::at(op, "it is not a call of a kernel"))?;
    let (read, written) = call.parts();
    let (mut operands, mut ranks, mut dtypes) = (Vec::new(), Vec::new(), Vec::new());
    let mut tensors = Vec::new();
    for value in read {
        if value.ty().is_tensor() {
            tensors.push((value, c.tensor(op, value)?));
            continue;
        }
        operands.push(c.scalar(value));
        ranks.push(-1);
        dtypes.push(-1);
    }
    for (result, begin) in call.results().into_iter().zip(written) {
        let tensor = begun(c, op, begin)?;
        declared(c, &call.symbol(), result, &tensor);
        c.tensors.insert(result, tensor.clone());
        tensors.push((result, tensor));
    }
    for (value, tensor) in tensors {
        operands.push(tensor.buffer);
        operands.extend(tensor.sizes.iter().map(|size| size.value(&mut c.b)));
        ranks.push(tensor.sizes.len() as i64);
        dtypes.push(dtype_code(c.element(op, value)?));
    }
    let text = format!("`{}` of {} fails with status {{0}}: {{error}}", call.symbol(), call.library());
    let mut attrs = vec![
        ("import", c.cx.str_attr(&call.import())),
        ("ranks", c.cx.i64s_attr(&ranks)),
        ("dtypes", c.cx.i64s_attr(&dtypes)),
        ("outputs", c.cx.i64_attr(op.num_results() as i64)),
        ("text", c.cx.str_attr(&text)),
    ];
    let launch = ["ptx", "blocks", "threads", "shared", "parameters"];
    attrs.extend(launch.into_iter().filter_map(|name| Some((name, op.attr(name)?))));
    narrow(c, call);
    c.b.effect(host::CustomCall::NAME, &operands, &attrs);
    Ok(())
}

/// The call ends where a size has more bits than the parameter that takes it.
fn narrow<'c>(c: &mut Converter<'c>, call: capture::CustomCall<'c>) {
    let operands = call.op().operands();
    let (tensors, numbers): (Vec<_>, Vec<_>) = operands.into_iter().partition(|operand| operand.ty().is_tensor());
    let parameters = tensors.into_iter().chain(numbers).zip(call.parameters().unwrap_or_default());
    for (k, (size, bits)) in parameters.enumerate() {
        if !size.ty().is_index() || bits == 64 {
            continue;
        }
        let size = c.scalar(size);
        let most = c.b.const_index(i64::from(i32::MAX));
        let test = arith::cmpi(&mut c.b, CmpIPredicate::Sle, size, most);
        let text = format!("`{}` takes {{0}} as parameter {k}, which has 32 bits", call.symbol());
        c.b.effect(host::Guard::NAME, &[test, size], &[("text", c.cx.str_attr(&text))]);
    }
}

/// A kernel's result in the type that the program declares, which guards have compared with the result's sizes.
pub(super) fn cast<'c>(c: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let mut tensor = c.tensor(op, op.operand(0))?;
    for (size, known) in tensor.sizes.iter_mut().zip(op.result(0).ty().shape()) {
        if known >= 0 {
            *size = Num::Const(known);
        }
    }
    c.tensors.insert(op.result(0), tensor);
    Ok(())
}

/// The memory of a result: that of what it begins as where nothing else reads it, else a copy.
fn begun<'c>(c: &mut Converter<'c>, op: Op<'c>, begin: Value<'c>) -> Result<Tensor<'c>, Error> {
    let tensor = c.tensor(op, begin)?;
    let alone = |value: Value<'c>| value.defining_op().filter(|maker| value.uses().len() == 1 && maker.block() == op.block());
    let mut maker = alone(begin);
    while let Some(view) = maker.filter(|maker| maker.isa::<prim::Reshape>()) {
        maker = alone(view.operand(0));
    }
    if maker.is_some_and(|maker| maker.isa::<loops::Call>()) {
        return Ok(tensor);
    }
    let element = c.element(op, begin)?;
    let copy = c.alloc(element, tensor.sizes.clone());
    c.copy(&tensor, &copy);
    Ok(copy)
}

/// The call ends where a result has another size than its type says.
fn declared<'c>(c: &mut Converter<'c>, symbol: &str, result: Value<'c>, tensor: &Tensor<'c>) {
    for (dim, (found, wanted)) in tensor.sizes.iter().zip(result.ty().shape()).enumerate() {
        let (Num::Value(found), 0..) = (*found, wanted) else { continue };
        let wanted = c.b.const_index(wanted);
        let test = arith::cmpi(&mut c.b, CmpIPredicate::Eq, found, wanted);
        let text = format!("`{symbol}` gives a size of {{0}} in dimension {dim}, where the program declares {{1}}");
        c.b.effect(host::Guard::NAME, &[test, found, wanted], &[("text", c.cx.str_attr(&text))]);
    }
}
