//! Tensors with other sizes or in another order, and tensors that are made.

use strata_core::ir::{self, DYNAMIC, ElementType};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith;
use strata_dialects::aten::{Input, Scalar, op};
use strata_dialects::capture;

use crate::import::symbols::apply;
use crate::onnx::call::{Arg, Call, d, i, is, many, n, ns, one, s, t, unknown, wrapped};
use crate::onnx::data::Data;
use crate::onnx::dtype;
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};
use crate::pt2::expr::Func;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Concat", |c| {
        let inputs = c.tensors()?;
        let rank = inputs.first().ok_or("it has no inputs")?.ty().rank();
        let axis = c.axis(0, rank)?;
        c.op(op::CAT, &[crate::onnx::call::ts(&inputs), i(axis)]).map(one)
    }),
    row("Constant", constant),
    row("ConstantOfShape", constant_of_shape),
    row("DepthToSpace", depth_to_space),
    row("Expand", expand),
    row("EyeLike", eye_like),
    row("Flatten", flatten),
    row("Identity", |c| Ok(vec![c.input(0)])),
    row("Range", range),
    row("Reshape", reshape),
    row("Shape", |c| {
        let sizes = c.importer.sizes_of(&c.input(0))?;
        let rank = sizes.len() as i64;
        let bound = |at: i64| (if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize;
        let (start, end) = (bound(c.int("start", 0)), bound(c.int("end", rank)));
        Ok(vec![Value::sizes(sizes.get(start..end).unwrap_or_default().to_vec())])
    }),
    row("Size", |c| {
        let sizes = c.importer.sizes_of(&c.input(0))?;
        let count = product(c, &sizes);
        Ok(vec![Value::number(ElementType::I64, count)])
    }),
    row("Slice", slice),
    row("SpaceToDepth", space_to_depth),
    row("Split", |c| {
        let x = c.tensor(0)?;
        let parts = split(c, x)?;
        Ok(many(parts))
    }),
    row("Squeeze", squeeze),
    row("Tile", |c| {
        let (x, repeats) = (c.tensor(0)?, c.numbers(1)?);
        c.op(op::REPEAT, &[t(x), ns(&repeats)]).map(one)
    }),
    row("Transpose", |c| {
        let x = c.tensor(0)?;
        let rank = x.ty().rank();
        let perm = c.ints("perm").unwrap_or_else(|| (0..rank as i64).rev().collect());
        let perm = perm.into_iter().map(|dim| wrapped(dim, rank)).collect::<Eval<Vec<_>>>()?;
        c.op(op::PERMUTE, &[t(x), is(&perm)]).map(one)
    }),
    row("Trilu", |c| {
        let (x, diagonal) = (c.tensor(0)?, if c.has(1) { c.numbers(1)? } else { vec![Num::Int(0)] });
        let operator = if c.flag("upper", true) { op::TRIU } else { op::TRIL };
        c.op(operator, &[t(x), n(*diagonal.first().ok_or("its diagonal is no number")?)]).map(one)
    }),
    row("Unsqueeze", unsqueeze),
];

/// The product of sizes.
pub(super) fn product<'c>(c: &mut Call<'_, '_, 'c>, sizes: &[Num<'c>]) -> Num<'c> {
    let known = sizes.iter().map(|size| if let Num::Int(size) = size { *size } else { 1 }).fold(1i64, i64::saturating_mul);
    let builder = &mut c.importer.builder;
    let unknown = sizes.iter().filter_map(|size| if let Num::Value(value) = size { Some(*value) } else { None });
    let result = unknown.fold(None, |result: Option<ir::Value<'c>>, size| {
        Some(match result {
            Some(result) => builder.value(arith::MulI::NAME, &[result, size], size.ty(), &[]),
            None => size,
        })
    });
    match result {
        None => Num::Int(known),
        Some(value) if known == 1 => Num::Value(value),
        Some(value) => {
            let known = builder.const_index(known);
            Num::Value(builder.value(arith::MulI::NAME, &[value, known], value.ty(), &[]))
        }
    }
}

/// A size plus a number.
pub(super) fn plus<'c>(c: &mut Call<'_, '_, 'c>, size: Num<'c>, more: i64) -> Num<'c> {
    match size {
        Num::Int(size) => Num::Int(size.saturating_add(more)),
        size if more == 0 => size,
        Num::Value(value) => {
            let more = c.importer.builder.const_index(more);
            Num::Value(c.importer.builder.value(arith::AddI::NAME, &[value, more], value.ty(), &[]))
        }
    }
}

/// The numbers from 0 to a size.
pub(super) fn arange<'c>(c: &mut Call<'_, '_, 'c>, size: Num<'c>, dtype: ElementType) -> Eval<ir::Value<'c>> {
    c.op(op::ARANGE_START_STEP, &[s(0), number(size), s(1), d(dtype)])
}

/// A number as an argument of any number's type.
pub(super) fn number<'c>(number: Num<'c>) -> Arg<'c> {
    Some(Input::Scalar(match number {
        Num::Int(value) => Scalar::Int(value),
        Num::Value(value) => Scalar::Value(value),
    }))
}

/// A value that the node itself says.
fn constant<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let name = c.node.output.first().map_or("", String::as_str);
    let floats = |shape: &[i64], values: &[f32]| {
        Data::inline(name, ElementType::F32, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    };
    let ints = |shape: &[i64], values: &[i64]| {
        Data::inline(name, ElementType::I64, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    };
    let data = if let Some(attr) = c.attr("value") {
        let tensor = attr.t.as_ref().ok_or("its value is no tensor")?;
        Data { name: name.to_owned(), ..Data::read(c.importer.file, tensor)? }
    } else if let Some(attr) = c.attr("value_float") {
        floats(&[], &[attr.f])
    } else if let Some(attr) = c.attr("value_floats") {
        floats(&[attr.floats.len() as i64], &attr.floats)
    } else if let Some(attr) = c.attr("value_int") {
        ints(&[], &[attr.i])
    } else if let Some(attr) = c.attr("value_ints") {
        ints(&[attr.ints.len() as i64], &attr.ints)
    } else if let Some(attr) = c.attr("sparse_value") {
        let sparse = attr.sparse_tensor.as_ref().ok_or("its value is no sparse tensor")?;
        Data { name: name.to_owned(), ..Data::read_sparse(c.importer.file, sparse)? }
    } else {
        return Err("its value is a string or missing; constants are tensors of numbers".into());
    };
    Ok(vec![Value::Data(data.into())])
}

fn constant_of_shape<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let sizes = c.numbers(0)?;
    let Some(attr) = c.attr("value") else {
        return c.op(op::FULL, &[ns(&sizes), crate::onnx::call::f(0.0), d(ElementType::F32)]).map(one);
    };
    let data = Data::read(c.importer.file, attr.t.as_ref().ok_or("its value is no tensor")?)?;
    let dtype = data.dtype;
    // Lists of sizes are often made like this.
    if let (Some(ints), [Num::Int(count @ 0..64)]) = (data.ints(), &sizes[..])
        && let [value] = ints[..]
        && dtype == ElementType::I64
    {
        return Ok(vec![Value::sizes(vec![Num::Int(value); *count as usize])]);
    }
    let value = c.importer.tensor(&Value::Data(data.into()))?;
    let value = c.op(op::RESHAPE, &[t(value), is(&[])])?;
    c.op(op::EXPAND, &[t(value), ns(&sizes)]).map(one)
}

/// Sizes of a reshape: 0 is the size that was there, unless zeros are allowed.
fn reshape<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, mut sizes) = (c.tensor(0)?, c.numbers(1)?);
    let given = c.input(1);
    let (rank, zeros) = (x.ty().rank(), c.flag("allowzero", false));
    if c.importer.known(&given).is_none() {
        sizes = sizes_of_call(c, x, sizes, zeros)?;
        return c.reshape(x, &sizes).map(one);
    }
    if !zeros {
        for (dim, size) in sizes.iter_mut().enumerate() {
            if *size == Num::Int(0) {
                if dim >= rank {
                    return Err(format!("size {dim} is that of the input, which has {rank} dimensions").into());
                }
                *size = c.importer.size_of(x, dim);
            }
        }
    }
    c.reshape(x, &sizes).map(one)
}

/// Sizes that a call brings: which of them are 0 or -1 is decided there.
fn sizes_of_call<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, sizes: Vec<Num<'c>>, zeros: bool) -> Eval<Vec<Num<'c>>> {
    let all = c.sizes(x);
    let total = product(c, &all);
    let builder = &mut c.importer.builder;
    let value = |builder: &mut Rewriter<'c>, size: Num<'c>| match size {
        Num::Int(size) => builder.const_index(size),
        Num::Value(size) => size,
    };
    let no = || "its sizes are no numbers";
    let mut known = Vec::new();
    for (dim, size) in sizes.into_iter().enumerate() {
        let size = value(builder, size);
        known.push(match all.get(dim) {
            Some(old) if !zeros => {
                let (old, zero) = (value(builder, *old), builder.const_index(0));
                let same = apply(builder, Func::Eq, &[size, zero]).ok_or_else(no)?;
                apply(builder, Func::Where, &[same, old, size]).ok_or_else(no)?
            }
            _ => size,
        });
    }
    let (one, open) = (builder.const_index(1), builder.const_index(-1));
    let (mut rest, mut is_open) = (one, Vec::new());
    for size in &known {
        let opened = apply(builder, Func::Eq, &[*size, open]).ok_or_else(no)?;
        let factor = apply(builder, Func::Where, &[opened, one, *size]).ok_or_else(no)?;
        rest = apply(builder, Func::Mul, &[rest, factor]).ok_or_else(no)?;
        is_open.push(opened);
    }
    let rest = apply(builder, Func::Max, &[rest, one]).ok_or_else(no)?;
    let total = value(builder, total);
    let filled = apply(builder, Func::FloorDiv, &[total, rest]).ok_or_else(no)?;
    let sizes = known.into_iter().zip(is_open).map(|(size, open)| apply(builder, Func::Where, &[open, filled, size]).map(Num::Value));
    sizes.collect::<Option<_>>().ok_or_else(|| no().into())
}

/// Two dimensions: those before `axis`, and the others.
fn flatten<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let rank = x.ty().rank() as i64;
    let axis = c.int("axis", 1);
    let axis = if axis < 0 { axis + rank } else { axis };
    if !(0..=rank).contains(&axis) {
        return Err(format!("axis {axis} is none of a tensor of {rank} dimensions").into());
    }
    let sizes = c.sizes(x);
    let (outer, inner) = sizes.split_at(axis as usize);
    let sizes = [product(c, outer), product(c, inner)];
    c.reshape(x, &sizes).map(one)
}

fn squeeze<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let (rank, shape) = (x.ty().rank(), x.ty().shape());
    let axes = match c.axes(1, rank)? {
        Some(axes) => axes,
        None if shape.contains(&DYNAMIC) => return Err(unknown("which sizes are 1").into()),
        None => (0..rank as i64).filter(|dim| shape[*dim as usize] == 1).collect(),
    };
    if let Some(axis) = axes.iter().find(|axis| !matches!(shape[**axis as usize], 1 | DYNAMIC)) {
        return Err(format!("size {} of axis {axis} is not 1", shape[*axis as usize]).into());
    }
    let kept: Vec<_> = (0..rank).filter(|dim| !axes.contains(&(*dim as i64))).map(|dim| c.importer.size_of(x, dim)).collect();
    c.reshape(x, &kept).map(one)
}

fn unsqueeze<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let mut x = c.tensor(0)?;
    let count = match c.ints("axes") {
        Some(axes) => axes.len(),
        None => c.known_ints(1)?.len(),
    };
    let mut axes = c.axes(1, x.ty().rank() + count)?.unwrap_or_default();
    axes.sort_unstable();
    for axis in axes {
        x = c.op(op::UNSQUEEZE, &[t(x), i(axis)])?;
    }
    Ok(one(x))
}

/// Both shapes broadcast.
fn expand<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, sizes) = (c.tensor(0)?, c.numbers(1)?);
    let sizes = broadcast_sizes(c, x, &sizes);
    c.op(op::EXPAND, &[t(x), ns(&sizes)]).map(one)
}

/// The sizes that a tensor and sizes broadcast to. A size that only a call knows may be 1 beside one that is not.
fn broadcast_sizes<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, sizes: &[Num<'c>]) -> Vec<Num<'c>> {
    let own = c.sizes(x);
    let rank = own.len().max(sizes.len());
    let at = |list: &[Num<'c>], dim: usize| (dim + list.len()).checked_sub(rank).map_or(Num::Int(1), |dim| list[dim]);
    let mut broadcast = |own: Num<'c>, size: Num<'c>| match (own, size) {
        (own, Num::Int(1)) => own,
        (Num::Int(known), Num::Value(size)) if known != 1 => {
            let builder = &mut c.importer.builder;
            let fits = [1, known].map(|fitting| {
                let fitting = builder.const_index(fitting);
                arith::cmpi(builder, arith::CmpIPredicate::Eq, size, fitting)
            });
            let holds = arith::ori(builder, fits[0], fits[1]);
            let text =
                builder.cx().str_attr(&format!("a tensor of {known} elements along a dimension is expanded to 1 or {known} of them"));
            builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
            own
        }
        (_, size) => size,
    };
    (0..rank).map(|dim| broadcast(at(&own, dim), at(sizes, dim))).collect()
}

/// Numbers from a start to a limit: their count is computed, and they are made of it.
fn range<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let dtype = c.dtype(0)?;
    let mut bounds = Vec::new();
    for place in 0..3 {
        let bound = c.tensor(place)?;
        bounds.push(c.op(op::RESHAPE, &[t(bound), is(&[])])?);
    }
    let wide = |c: &mut Call<'_, '_, 'c>, place: usize| c.cast(bounds[place], ElementType::F64);
    let (start, limit, step) = (wide(c, 0)?, wide(c, 1)?, wide(c, 2)?);
    let length = c.op(op::SUB_TENSOR, &[t(limit), t(start)])?;
    let steps = c.op(op::DIV_TENSOR, &[t(length), t(step)])?;
    let steps = c.op(op::CEIL, &[t(steps)])?;
    let steps = c.op(op::CLAMP_MIN, &[t(steps), s(0)])?;
    let count = c.cast(steps, ElementType::I64)?;
    let count = c.importer.numbers(&Value::Tensor(count))?;
    let line = arange(c, count[0], dtype)?;
    let moved = c.op(op::MUL_TENSOR, &[t(line), t(bounds[2])])?;
    c.op(op::ADD_TENSOR, &[t(moved), t(bounds[0])]).map(one)
}

fn eye_like<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.input(0);
    let sizes = c.importer.sizes_of(&x)?;
    let dtype = match c.attr("dtype") {
        Some(attr) => dtype::element(attr.i)?,
        None => c.dtype(0)?,
    };
    let [rows, columns] = sizes[..] else {
        return Err(format!("a matrix is wanted, and one of {} dimensions is given", sizes.len()).into());
    };
    let line = |c: &mut Call<'_, '_, 'c>, size, shape: &[i64]| {
        let line = arange(c, size, ElementType::I64)?;
        c.op(op::RESHAPE, &[t(line), is(shape)])
    };
    let (down, across) = (line(c, rows, &[-1, 1])?, line(c, columns, &[1, -1])?);
    let moved = c.op(op::ADD_SCALAR, &[t(down), s(c.int("k", 0))])?;
    let mask = c.op(op::EQ_TENSOR, &[t(moved), t(across)])?;
    c.cast(mask, dtype).map(one)
}

/// The parts of a tensor along `axis`.
pub(super) fn split<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>) -> Eval<Vec<ir::Value<'c>>> {
    let axis = c.axis(0, x.ty().rank())?;
    let size = c.importer.size_of(x, axis as usize);
    let parts = (c.node.output.len() as i64).max(1);
    if c.int("num_outputs", parts) != parts {
        return Err(format!("its num_outputs are {}, and it has {parts} outputs", c.int("num_outputs", parts)).into());
    }
    let sizes = match (c.has(1), size) {
        (true, _) => c.numbers(1)?,
        (false, Num::Int(size)) => {
            let part = (size + parts - 1) / parts;
            (0..parts).map(|place| Num::Int(part.min(size - part * place).max(0))).collect()
        }
        (false, Num::Value(size)) => {
            let count = c.importer.builder.const_index(parts);
            vec![Num::Value(arith::floordivsi(&mut c.importer.builder, size, count)); parts as usize]
        }
    };
    let mut start = Num::Int(0);
    let mut results = Vec::new();
    for part in sizes {
        let end = sum(c, start, part);
        results.push(c.op(op::SLICE_TENSOR, &[t(x), i(axis), n(start), n(end)])?);
        start = end;
    }
    Ok(results)
}

/// The sum of two sizes.
pub(super) fn sum<'c>(c: &mut Call<'_, '_, 'c>, a: Num<'c>, b: Num<'c>) -> Num<'c> {
    match (a, b) {
        (size, Num::Int(more)) | (Num::Int(more), size) => plus(c, size, more),
        (Num::Value(a), Num::Value(b)) => Num::Value(c.importer.builder.value(arith::AddI::NAME, &[a, b], a.ty(), &[])),
    }
}

/// Bounds of a slice beyond any size mean its end; the least integers have another meaning in the IR.
fn bounded<'c>(bound: Num<'c>) -> Num<'c> {
    if let Num::Int(value) = bound { Num::Int(value.max(-(1 << 62))) } else { bound }
}

fn slice<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let mut x = c.tensor(0)?;
    let rank = x.ty().rank();
    let (starts, ends) = (c.numbers(1)?, c.numbers(2)?);
    let axes = match c.has(3) {
        true => c.known_ints(3)?.into_iter().map(|axis| wrapped(axis, rank)).collect::<Eval<Vec<_>>>()?,
        false => (0..starts.len() as i64).collect(),
    };
    let steps = if c.has(4) { c.known_ints(4)? } else { vec![1; starts.len()] };
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() || starts.len() > rank {
        return Err("starts, ends, axes and steps are lists of different lengths".into());
    }
    for (place, axis) in axes.into_iter().enumerate() {
        let (start, end, step) = (bounded(starts[place]), bounded(ends[place]), steps[place]);
        x = match step {
            0 => return Err("a slice has the step 0".into()),
            1.. => c.op(op::SLICE_TENSOR, &[t(x), i(axis), n(start), n(end), i(step)])?,
            _ => backwards(c, x, axis, start, end, step)?,
        };
    }
    Ok(one(x))
}

/// A slice from the end: the tensor is turned around, and bounds count from the other end.
fn backwards<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, axis: i64, start: Num<'c>, end: Num<'c>, step: i64) -> Eval<ir::Value<'c>> {
    let flipped = c.op(op::FLIP, &[t(x), is(&[axis])])?;
    let (Num::Int(start), Num::Int(end)) = (start, end) else {
        return Err("a slice with a negative step has bounds that only a call knows".into());
    };
    let step = step.checked_neg().ok_or("a step is too large")?;
    let (start, end) = match c.importer.size_of(x, axis as usize) {
        Num::Int(size) => {
            let bound = |at: i64, low: i64, high: i64| if at < 0 { at + size } else { at }.clamp(low, high);
            // An end before the beginning stays there.
            (size - 1 - bound(start, -1, size - 1), size - 1 - bound(end, -1, size - 1))
        }
        // From the last element, or one counted from there, to the first.
        Num::Value(_) if start < 0 && end <= -(1 << 31) => (-1 - start, i64::MAX),
        Num::Value(_) if start >= i64::from(i32::MAX) && end <= -(1 << 31) => (0, i64::MAX),
        Num::Value(_) => {
            return Err("a slice with a negative step of a size that only a call knows is imported from end to beginning only".into());
        }
    };
    c.op(op::SLICE_TENSOR, &[t(flipped), i(axis), i(start), i(end), i(step)])
}

/// An image's sizes, and the size of a block.
fn blocks<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<(ir::Value<'c>, [Num<'c>; 4], i64)> {
    let x = c.tensor(0)?;
    let sizes = c.sizes(x);
    let block = c.int("blocksize", 0);
    let [n, channels, height, width] = sizes[..] else {
        return Err(format!("an image of rank 4 is wanted, not one of {}", sizes.len()).into());
    };
    if block < 1 {
        return Err(format!("its blocksize {block} is no size").into());
    }
    Ok((x, [n, channels, height, width], block))
}

fn quotient<'c>(c: &mut Call<'_, '_, 'c>, size: Num<'c>, by: i64) -> Num<'c> {
    match size {
        Num::Int(size) => Num::Int(size / by),
        Num::Value(value) => {
            let by = c.importer.builder.const_index(by);
            Num::Value(arith::floordivsi(&mut c.importer.builder, value, by))
        }
    }
}

fn moved<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, sizes: &[Num<'c>], perm: &[i64], result: &[Num<'c>]) -> Eval<Vec<Value<'c>>> {
    let split = c.reshape(x, sizes)?;
    let turned = c.op(op::PERMUTE, &[t(split), is(perm)])?;
    c.reshape(turned, result).map(one)
}

fn depth_to_space<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, [n, channels, height, width], block) = blocks(c)?;
    let features = quotient(c, channels, block.saturating_mul(block));
    let side = Num::Int(block);
    let result = [n, features, product(c, &[height, side]), product(c, &[width, side])];
    match c.text("mode", "DCR")? {
        "DCR" => moved(c, x, &[n, side, side, features, height, width], &[0, 3, 4, 1, 5, 2], &result),
        "CRD" => moved(c, x, &[n, features, side, side, height, width], &[0, 1, 4, 2, 5, 3], &result),
        other => Err(format!("its mode {other:?} is neither DCR nor CRD").into()),
    }
}

fn space_to_depth<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, [n, channels, height, width], block) = blocks(c)?;
    let side = Num::Int(block);
    let (height, width) = (quotient(c, height, block), quotient(c, width, block));
    let result = [n, product(c, &[channels, side, side]), height, width];
    let perm = match c.text("mode", "DCR")? {
        "DCR" => [0, 3, 5, 1, 2, 4],
        "CRD" => [0, 1, 3, 5, 2, 4],
        other => return Err(format!("its mode {other:?} is neither DCR nor CRD").into()),
    };
    moved(c, x, &[n, channels, height, side, width, side], &perm, &result)
}
