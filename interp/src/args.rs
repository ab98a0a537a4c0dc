//! `aten` ops of a module: arguments by schema name, views and writes.

use strata_core::ir::{Op, Type, Value as Ssa};

use super::alias::{Ref, functional, is_in_place, is_view, recasts, reshapes};
use super::dtype::DType;
use super::run::{Machine, Slot, dtype_of};
use super::value::{Args, InterpError, Value, fail};
use super::{Scalar, Tensor, aten};
use strata_dialects::aten::schema::{Arg, Kind};
use strata_dialects::aten::{AtenOp, Operator, Scalar as Number, Schema, Size, op};
use strata_dialects::capture::{Storage, storage};

/// Batch norms that write running statistics whatever their schema says.
const UPDATES_STATISTICS: &[Operator] = &[op::_BATCH_NORM_WITH_UPDATE, op::_NATIVE_BATCH_NORM_LEGIT, op::BATCH_NORM, op::NATIVE_BATCH_NORM];

/// Whether an op writes to its arguments.
pub(super) fn mutates(op: Op<'_>) -> bool {
    Operator::of(op).is_some_and(is_in_place) || updates_statistics(op)
}

/// Whether an op counts in the storage of its first operand.
pub(super) fn addresses_storage(op: Op<'_>) -> bool {
    Operator::of(op).is_some_and(|operator| operator.schema().addresses_storage())
}

fn updates_statistics(op: Op<'_>) -> bool {
    let training = || op::_BATCH_NORM_WITH_UPDATE.is(op) || op.attr("training").and_then(|a| a.as_bool()) == Some(true);
    Operator::of(op).is_some_and(|operator| UPDATES_STATISTICS.contains(&operator)) && training()
}

/// Runs an op and binds its results.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Result<(), InterpError> {
    let read = AtenOp::new(op).map_err(|e| fail(e.to_string()))?;
    let mut args = Args::of_run(&m.seeds);
    for arg in &read.schema().args {
        let value = argument(m, &read, arg)?;
        args.set(arg.name, value);
    }
    let operator = read.schema().operator();
    if m.aliasing && op.num_operands() > 0 {
        let first = read.schema().args.first().map_or("self", |a| a.name);
        if let Some(done) = shared(m, op, operator, first, &args)? {
            return done.into_iter().zip(op.results()).try_for_each(|(slot, at)| {
                m.bind_slot(at, slot);
                Ok(())
            });
        }
    }
    let results = if is_empty(op, read.schema()) { empty(op)? } else { flat(aten::call(operator, &args)?) };
    if updates_statistics(op) && args.opt("running_mean").is_some() {
        update_statistics(m, &read, &args)?;
    }
    // Results that a call leaves out have type `none`.
    m.bind_results(op, results)
}

/// Whether an op is known to give tensors without elements only. There is nothing to compute then; PyTorch's kernels do not even look
/// whether they know the element type.
fn is_empty(op: Op<'_>, schema: &Schema) -> bool {
    let mut asked = op.results().into_iter().filter(|result| !result.is_unused()).map(Ssa::ty).peekable();
    let empty = asked.peek().is_some() && asked.all(|ty| ty.is_tensor() && ty.is_static() && ty.shape().contains(&0));
    empty && !schema.is_mutable() && !schema.has("nondeterministic_seeded")
}

fn empty(op: Op<'_>) -> Result<Vec<Value>, InterpError> {
    let make = |ty: Type<'_>| match ty.is_tensor() && ty.is_static() {
        true => Tensor::zeros(dtype_of(ty)?, &ty.shape().into_iter().map(|size| size as usize).collect::<Vec<_>>()).map(Value::Tensor),
        // It is not used.
        false => Ok(Value::None),
    };
    op.result_types().into_iter().map(make).collect()
}

fn flat(results: Vec<Value>) -> Vec<Value> {
    let mut out = Vec::new();
    for r in results {
        match r {
            Value::Tensors(ts) => out.extend(ts.into_iter().map(|t| t.map_or(Value::None, Value::Tensor))),
            other => out.push(other),
        }
    }
    out
}

/// The results of an op that views or writes its first operand's storage.
fn shared<'c>(m: &mut Machine<'c>, op: Op<'c>, operator: Operator, first: &str, args: &Args) -> Result<Option<Vec<Slot>>, InterpError> {
    let Slot::Shared(r) = m.slot(op.operand(0))?.clone() else { return Ok(None) };
    if addresses_storage(op) {
        return in_storage(m, op, operator, first, args, &r).map(Some);
    }
    let positions = r.positions().clone();
    let views = |seen: Vec<Value>| -> Result<Vec<Slot>, InterpError> {
        flat(seen).into_iter().map(|v| Ok(Slot::Shared(r.view(v.tensor()?.clone())))).collect()
    };
    if is_in_place(operator) {
        let computing = functional(operator).ok_or_else(|| aten::unsupported(operator))?;
        if reshapes(operator) {
            let seen = aten::call(computing, &args.clone().with(first, positions))?;
            let slots = views(seen)?;
            // The operand itself changes its shape.
            if let [slot] = &slots[..] {
                m.bind_slot(op.operand(0), slot.clone());
            }
            return Ok(Some(slots));
        }
        let resizes = operator.schema().reads_in_storage_order();
        let args = match (resizes, storage(op.operand(0))) {
            (true, Storage::Order(order)) => &args.clone().with(first, args.tensor(first)?.permute(&order)?),
            _ => args,
        };
        let value = aten::call(computing, args)?.into_iter().next().ok_or_else(|| fail("no result to write"))?;
        if resizes {
            let slot = Slot::Shared(m.heap.store(value.tensor()?, &storage(op.result(0)))?);
            m.bind_slot(op.operand(0), slot.clone());
            return Ok(Some(vec![slot]));
        }
        m.heap.write(&r, value.tensor()?)?;
        m.written.insert(r.storage());
        return Ok(Some(vec![Slot::Shared(r)]));
    }
    if op.attr(strata_dialects::capture::COPIES).is_some() {
        return Ok(None);
    }
    let dtype = dtype_of(op.operand(0).ty())?;
    if is_view(operator, dtype) {
        let seen = aten::call(operator, &args.clone().with(first, positions))?;
        return views(seen).map(Some);
    }
    if let Some(skip) = recasts(operator, dtype) {
        let seen = flat(aten::call(operator, args)?);
        let slot = |t: &Tensor| Ok(Slot::Shared(r.recast(t.dtype(), t.shape(), skip)?));
        return seen.iter().map(|t| slot(t.tensor()?)).collect::<Result<_, _>>().map(Some);
    }
    let converts = matches!(
        operator,
        op::_AUTOCAST_TO_FULL_PRECISION
            | op::_AUTOCAST_TO_REDUCED_PRECISION
            | op::TO_DEVICE
            | op::TO_DTYPE
            | op::TO_DTYPE_LAYOUT
            | op::TO_OTHER
    );
    let asked = op.attr("copy").and_then(|copy| copy.as_bool()) == Some(true);
    if converts && !asked && op.result_types() == [op.operand(0).ty()] {
        return Ok(Some(vec![Slot::Shared(r)]));
    }
    Ok(None)
}

/// The results of an op that counts in the storage of its first operand: it is given the whole storage.
fn in_storage<'c>(
    m: &mut Machine<'c>,
    op: Op<'c>,
    operator: Operator,
    first: &str,
    args: &Args,
    r: &Ref,
) -> Result<Vec<Slot>, InterpError> {
    let (whole, mut args) = (m.heap.whole(r)?, args.clone());
    if args.opt("storage_offset").is_none() {
        args = args.with("storage_offset", Value::int(r.offset()));
    }
    // The operator is given the elements' numbers in the storage.
    let numbers =
        Tensor::from_scalars(DType::I64, whole.positions().shape(), (0..whole.positions().len()).map(|k| Scalar::Int(k as i128)))?;
    let positions = |numbers: &Tensor| -> Result<Ref, InterpError> {
        let picked: Vec<usize> = numbers.ints().into_iter().map(|k| k as usize).collect();
        Ok(r.view(whole.positions().pick(numbers.shape(), &picked)))
    };
    if let Some(source) = args.opt("src").cloned() {
        // What is written is a copy of the storage, and the result is the operand's part of it.
        let mut copy = m.heap.load(&whole)?;
        let source = source.tensor()?.cast(copy.dtype());
        copy =
            aten::call(operator, &args.with(first, copy).with("src", source))?.first().ok_or_else(|| fail("no result"))?.tensor()?.clone();
        let copied = m.heap.store(&copy, &Storage::RowMajor)?;
        let part = m.heap.load(&copied.view(r.positions().clone()))?;
        return Ok(vec![Slot::Shared(m.heap.store(&part, &storage(op.result(0)))?)]);
    }
    let in_place = functional(operator).filter(|_| reshapes(operator));
    let seen = aten::call(in_place.unwrap_or(operator), &args.with(first, numbers))?;
    let view = positions(seen.first().ok_or_else(|| fail("no result"))?.tensor()?)?;
    if operator.schema().has("view_copy") {
        return Ok(vec![Slot::Shared(m.heap.store(&m.heap.load(&view)?, &storage(op.result(0)))?)]);
    }
    let slot = Slot::Shared(view);
    if in_place.is_some() {
        m.bind_slot(op.operand(0), slot.clone());
    }
    Ok(vec![slot])
}

fn update_statistics<'c>(m: &mut Machine<'c>, read: &AtenOp<'c>, args: &Args) -> Result<(), InterpError> {
    let results = aten::call(op::_NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL, &args.clone().with("training", Value::Scalar(Scalar::Bool(true))))?;
    for (value, name) in results.iter().skip(3).zip(["running_mean", "running_var"]) {
        let Some(at) = read.opt_tensor(name).map_err(|e| fail(e.to_string()))? else { continue };
        if let Slot::Shared(r) = m.slot(at)?.clone() {
            m.heap.write(&r, value.tensor()?)?;
            m.written.insert(r.storage());
        }
    }
    Ok(())
}

fn size<'c>(m: &Machine<'c>, s: Size<'c>) -> Result<Scalar, InterpError> {
    match s {
        Size::Const(v) => Ok(Scalar::Int(v as i128)),
        Size::Value(v) => m.scalar(v),
    }
}

/// An argument's value, its default where the op leaves it out.
fn argument<'c>(m: &Machine<'c>, read: &AtenOp<'c>, arg: &'static Arg) -> Result<Value, InterpError> {
    let name = arg.name;
    let wrong = |e: strata_dialects::aten::AtenError| fail(e.to_string());
    let scalar = || -> Result<Value, InterpError> {
        Ok(match read.opt_scalar(name).map_err(wrong)? {
            None => Value::None,
            Some(Number::Int(v)) => Value::int(v),
            Some(Number::Float(v)) => Value::float(v),
            Some(Number::Bool(v)) => Value::Scalar(Scalar::Bool(v)),
            Some(Number::Complex(re, im)) => Value::Scalar(Scalar::Complex(num_complex::Complex64::new(re, im))),
            Some(Number::Value(v)) => Value::Scalar(m.scalar(v)?),
        })
    };
    let ints = || -> Result<Value, InterpError> {
        match read.opt_ints(name).map_err(wrong)? {
            None => Ok(Value::None),
            Some(list) => Ok(Value::Scalars(list.into_iter().map(|s| size(m, s)).collect::<Result<_, _>>()?)),
        }
    };
    let tensors = |list: Vec<Option<strata_core::ir::Value<'c>>>| -> Result<Value, InterpError> {
        Ok(Value::Tensors(list.into_iter().map(|v| v.map(|v| m.tensor(v)).transpose()).collect::<Result<Vec<Option<Tensor>>, _>>()?))
    };
    Ok(match (arg.ty.kind, arg.ty.list) {
        (Kind::Tensor, true) if arg.ty.optional_elements => tensors(read.opt_tensors(name).map_err(wrong)?)?,
        (Kind::Tensor, true) => tensors(read.tensors(name).map_err(wrong)?.into_iter().map(Some).collect())?,
        (Kind::Tensor, false) => match read.opt_tensor(name).map_err(wrong)? {
            Some(v) => m.get(v)?,
            None => Value::None,
        },
        (Kind::Int | Kind::SymInt, true) => ints()?,
        (Kind::Float, true) => {
            read.opt_floats(name).map_err(wrong)?.map_or(Value::None, |v| Value::Scalars(v.into_iter().map(Scalar::Float).collect()))
        }
        (Kind::Bool, true) => Value::Scalars(read.bools(name).map_err(wrong)?.into_iter().map(Scalar::Bool).collect()),
        (Kind::Scalar, true) => read.op().attr(name).map_or(Value::None, scalars),
        (Kind::Int | Kind::SymInt | Kind::Float | Kind::Bool | Kind::Scalar, false) => scalar()?,
        (Kind::Str, _) => read.opt_str(name).map_err(wrong)?.map_or(Value::None, Value::Str),
        (Kind::ScalarType, false) => match read.op().attr(name).and_then(|a| a.as_type()) {
            Some(ty) => Value::DType(dtype_of(ty)?),
            None => match read.dtype(name).map_err(wrong)? {
                Some(d) => Value::DType(dtype_of(read.op().cx().element(d))?),
                None => Value::None,
            },
        },
        _ => Value::None,
    })
}

/// A list of Python numbers, in any of the spellings of arrays.
fn scalars(attr: strata_core::ir::Attr<'_>) -> Value {
    if let Some(v) = attr.as_i64s() {
        return Value::ints(&v);
    }
    if let Some(v) = attr.as_f64s() {
        return Value::Scalars(v.into_iter().map(Scalar::Float).collect());
    }
    let number = |a: strata_core::ir::Attr<'_>| {
        a.as_bool().map(Scalar::Bool).or_else(|| a.as_int().map(|v| Scalar::Int(v as i128))).or_else(|| a.as_float().map(Scalar::Float))
    };
    match attr.as_array() {
        Some(list) => Value::Scalars(list.into_iter().filter_map(number).collect()),
        None => number(attr).map_or(Value::None, |v| Value::Scalars(vec![v])),
    }
}
