//! Arithmetic on sizes: operators on small tensors of integers whose elements are known, or are sizes that only a call knows, make no
//! ops but values of the import, so that a reshape gets sizes and not a tensor.

use std::rc::Rc;

use strata_core::ir::{self, ElementType};
use strata_core::upstream::arith;
use strata_dialects::aten::op;
use strata_dialects::capture;

use super::call::{Call, wrapped};
use super::dtype;
use super::error::Eval;
use super::importer::MAX_KNOWN;
use super::value::{Known, Num, Value};
use crate::import::symbols::apply;
use crate::pt2::expr::Func;

/// A rule of an operator; nothing where it must be computed at a call.
type Rule = for<'a, 'p, 'c> fn(&mut Call<'a, 'p, 'c>, &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>>;

/// Operators that are evaluated on known elements, sorted.
const RULES: &[(&str, Rule)] = &[
    ("Abs", |c, k| unary(c, k, |_, value| if value < 0 { value.checked_neg() } else { Some(value) }, None)),
    ("Add", |c, k| binary(c, k, i64::checked_add, Some(Func::Add))),
    ("And", |c, k| binary(c, k, |a, b| Some(a & b), Some(Func::And))),
    ("Cast", cast),
    ("Concat", concat),
    ("Div", divide),
    ("Equal", |c, k| compare(c, k, |a, b| a == b, Func::Eq)),
    ("Expand", expand),
    ("Gather", gather),
    ("Greater", |c, k| compare(c, k, |a, b| a > b, Func::Gt)),
    ("GreaterOrEqual", |c, k| compare(c, k, |a, b| a >= b, Func::Ge)),
    ("Identity", |_, k| Ok(Some(vec![(*k[0]).clone()]))),
    ("Less", |c, k| compare(c, k, |a, b| a < b, Func::Lt)),
    ("LessOrEqual", |c, k| compare(c, k, |a, b| a <= b, Func::Le)),
    ("Max", |c, k| variadic(c, k, |a, b| Some(a.max(b)), Func::Max)),
    ("Min", |c, k| variadic(c, k, |a, b| Some(a.min(b)), Func::Min)),
    ("Mod", |c, k| if c.flag("fmod", false) { Ok(None) } else { binary(c, k, |a, b| (a >= 0 && b > 0).then(|| a % b), None) }),
    ("Mul", |c, k| binary(c, k, i64::checked_mul, Some(Func::Mul))),
    ("Neg", |c, k| unary(c, k, |_, value| value.checked_neg(), None)),
    ("Not", |c, k| unary(c, k, |_, value| Some(1 - value), Some(Func::Not))),
    ("Or", |c, k| binary(c, k, |a, b| Some(a | b), Some(Func::Or))),
    ("Range", range),
    ("ReduceMax", |c, k| reduce(c, k, |a, b| Some(a.max(b)), Func::Max)),
    ("ReduceMin", |c, k| reduce(c, k, |a, b| Some(a.min(b)), Func::Min)),
    ("ReduceProd", |c, k| reduce(c, k, i64::checked_mul, Func::Mul)),
    ("ReduceSum", |c, k| reduce(c, k, i64::checked_add, Func::Add)),
    ("Reshape", reshape),
    ("Slice", slice),
    ("Split", split),
    ("Squeeze", squeeze),
    ("Sub", |c, k| binary(c, k, i64::checked_sub, None)),
    ("Unsqueeze", unsqueeze),
    ("Where", select),
];

/// The results of a node on known elements.
pub(super) fn folded<'c>(call: &mut Call<'_, '_, 'c>) -> Eval<Option<Vec<Value<'c>>>> {
    if !call.node.domain.is_empty() || call.inputs.is_empty() {
        return Ok(None);
    }
    let Ok(place) = RULES.binary_search_by_key(&call.node.op_type.as_str(), |(name, _)| name) else { return Ok(None) };
    // What comes from ops is asked for its elements only where it is a size.
    if !call.inputs.iter().all(|input| matches!(input, Value::Known(_) | Value::Data(_) | Value::Absent)) {
        return Ok(None);
    }
    let mut known = Vec::new();
    for input in call.inputs.clone() {
        match input {
            Value::Absent => break,
            input => match call.importer.known(&input) {
                Some(elements) => known.push(elements),
                None => return Ok(None),
            },
        }
    }
    if known.is_empty() {
        return Ok(None);
    }
    let folded = (RULES[place].1)(call, &known)?;
    let small = |folded: &Vec<Known<'c>>| folded.iter().all(|known| known.items.len() <= MAX_KNOWN);
    Ok(folded.filter(small).map(|folded| folded.into_iter().map(|known| Value::Known(Rc::new(known))).collect()))
}

/// A function on numbers: computed, or arithmetic of the program.
fn computed<'c>(
    call: &mut Call<'_, '_, 'c>,
    items: &[Num<'c>],
    of_known: impl FnOnce(&[i64]) -> Option<i64>,
    func: Option<Func>,
) -> Option<Num<'c>> {
    let ints: Option<Vec<i64>> = items.iter().map(|item| if let Num::Int(value) = item { Some(*value) } else { None }).collect();
    if let Some(ints) = ints {
        return of_known(&ints).map(Num::Int);
    }
    // Neutral elements leave sizes as they are.
    match (func, items) {
        (Some(Func::Add), [other, Num::Int(0)] | [Num::Int(0), other]) | (Some(Func::Mul), [other, Num::Int(1)] | [Num::Int(1), other]) => {
            return Some(*other);
        }
        (Some(Func::Mul), [_, Num::Int(0)] | [Num::Int(0), _]) => return Some(Num::Int(0)),
        _ => {}
    }
    let bool = call.importer.cx.int(1);
    let is_bool = items.iter().any(|item| matches!(item, Num::Value(value) if value.ty() == bool));
    let builder = &mut call.importer.builder;
    let mut value = |item: &Num<'c>| match item {
        Num::Int(value) if is_bool => builder.const_int(bool, *value),
        Num::Int(value) => builder.const_index(*value),
        Num::Value(value) => *value,
    };
    let values: Vec<_> = items.iter().map(&mut value).collect();
    let value = apply(&mut call.importer.builder, func?, &values)?;
    (value.ty() == bool || value.ty().is_index()).then_some(Num::Value(value))
}

/// Whether a number is never negative: a size, and what sums, products and quotients make of sizes.
fn is_size(item: Num<'_>) -> bool {
    let value = match item {
        Num::Int(value) => return value >= 0,
        Num::Value(value) => value,
    };
    let Some(op) = value.defining_op() else { return false };
    let operands = || op.operands().into_iter().all(|operand| is_size(Num::Value(operand)));
    if op.isa::<arith::Constant>() {
        return op.int("value").is_some_and(|value| value >= 0);
    }
    op.isa::<capture::Dim>()
        || op::SYM_SIZE_INT.is(op)
        || ((op.isa::<arith::AddI>() || op.isa::<arith::MulI>() || op.isa::<arith::FloorDivSI>() || op.isa::<arith::MaxSI>()) && operands())
}

fn unary<'c>(
    call: &mut Call<'_, '_, 'c>,
    known: &[Rc<Known<'c>>],
    of_known: impl Fn(ElementType, i64) -> Option<i64>,
    func: Option<Func>,
) -> Eval<Option<Vec<Known<'c>>>> {
    let [a] = known else { return Ok(None) };
    let items = a.items.iter().map(|item| computed(call, &[*item], |ints| of_known(a.dtype, ints[0]), func)).collect::<Option<Vec<_>>>();
    Ok(items.map(|items| vec![Known { items, ..(**a).clone() }]))
}

/// The common shape of two tensors, and the places of their elements in it.
fn broadcast(a: &[i64], b: &[i64]) -> Option<(Vec<i64>, Vec<[usize; 2]>)> {
    let rank = a.len().max(b.len());
    let at = |shape: &[i64], dim: usize| (dim + shape.len()).checked_sub(rank).map_or(1, |dim| shape[dim]);
    let mut shape = Vec::new();
    for dim in 0..rank {
        shape.push(match (at(a, dim), at(b, dim)) {
            (a, b) if a == b || b == 1 => a,
            (1, b) => b,
            _ => return None,
        });
    }
    let count = crate::types::checked_count(&shape).and_then(|count| usize::try_from(count).ok());
    let count = count.filter(|count| *count <= MAX_KNOWN)?;
    let place = |flat: usize, of: &[i64]| {
        let (mut rest, mut place, mut step) = (flat, 0, 1);
        for dim in (0..rank).rev() {
            let index = rest % shape[dim] as usize;
            rest /= shape[dim] as usize;
            let size = at(of, dim) as usize;
            place += if size == 1 { 0 } else { index * step };
            step *= size;
        }
        place
    };
    let places = (0..count).map(|flat| [place(flat, a), place(flat, b)]).collect();
    Some((shape, places))
}

fn elementwise<'c>(
    call: &mut Call<'_, '_, 'c>,
    known: &[Rc<Known<'c>>],
    dtype: ElementType,
    of_known: impl Fn(i64, i64) -> Option<i64>,
    func: Option<Func>,
) -> Option<Known<'c>> {
    let [a, b] = known else { return None };
    let (shape, places) = broadcast(&a.shape, &b.shape)?;
    let item = |[x, y]: [usize; 2]| computed(call, &[a.items[x], b.items[y]], |ints| of_known(ints[0], ints[1]), func);
    let items = places.into_iter().map(item).collect::<Option<Vec<_>>>()?;
    Some(Known { dtype, shape, items })
}

fn binary<'c>(
    call: &mut Call<'_, '_, 'c>,
    known: &[Rc<Known<'c>>],
    of_known: impl Fn(i64, i64) -> Option<i64>,
    func: Option<Func>,
) -> Eval<Option<Vec<Known<'c>>>> {
    // Types that wrap around early are computed as the operators do it.
    let dtype = known[0].dtype;
    let fits = move |value: i64| match dtype {
        ElementType::I64 | ElementType::Bool => Some(value),
        ElementType::I32 => i32::try_from(value).ok().map(i64::from),
        _ => None,
    };
    if func.is_none() && known.len() == 2 && known.iter().any(|known| known.ints().is_none()) {
        return Ok(difference(call, known));
    }
    Ok(elementwise(call, known, dtype, |a, b| of_known(a, b).and_then(fits), func).map(|result| vec![result]))
}

/// `Sub` of sizes.
fn difference<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Option<Vec<Known<'c>>> {
    if call.node.op_type != "Sub" {
        return None;
    }
    let negated = |call: &mut Call<'_, '_, 'c>, item: Num<'c>| match item {
        Num::Int(value) => value.checked_neg().map(Num::Int),
        Num::Value(value) => {
            let zero = call.importer.builder.const_index(0);
            Some(Num::Value(arith::subi(&mut call.importer.builder, zero, value)))
        }
    };
    let items = known[1].items.iter().map(|item| negated(call, *item)).collect::<Option<Vec<_>>>()?;
    let negative = Rc::new(Known { items, ..(*known[1]).clone() });
    elementwise(call, &[Rc::clone(&known[0]), negative], known[0].dtype, i64::checked_add, Some(Func::Add)).map(|result| vec![result])
}

fn compare<'c>(
    call: &mut Call<'_, '_, 'c>,
    known: &[Rc<Known<'c>>],
    of_known: impl Fn(i64, i64) -> bool,
    func: Func,
) -> Eval<Option<Vec<Known<'c>>>> {
    if known.iter().any(|known| known.dtype == ElementType::Bool && known.ints().is_none()) {
        return Ok(None);
    }
    Ok(elementwise(call, known, ElementType::Bool, |a, b| Some(i64::from(of_known(a, b))), Some(func)).map(|result| vec![result]))
}

fn variadic<'c>(
    call: &mut Call<'_, '_, 'c>,
    known: &[Rc<Known<'c>>],
    of_known: impl Fn(i64, i64) -> Option<i64>,
    func: Func,
) -> Eval<Option<Vec<Known<'c>>>> {
    let mut result = Rc::clone(&known[0]);
    for other in &known[1..] {
        match elementwise(call, &[result, Rc::clone(other)], other.dtype, &of_known, Some(func)) {
            Some(next) => result = Rc::new(next),
            None => return Ok(None),
        }
    }
    Ok(Some(vec![(*result).clone()]))
}

/// A quotient is rounded to zero, which for sizes is down.
fn divide<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let positive = |known: &Known<'c>| known.items.iter().all(|item| matches!(item, Num::Int(value) if *value > 0));
    let unknown = known.iter().any(|known| known.ints().is_none());
    if unknown && !(known.len() == 2 && known[0].items.iter().all(|item| is_size(*item)) && positive(&known[1])) {
        return Ok(None);
    }
    Ok(elementwise(call, known, known[0].dtype, i64::checked_div, Some(Func::FloorDiv)).map(|result| vec![result]))
}

fn cast<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let to = dtype::element(call.int("to", 0))?;
    let from = &known[0];
    let wider = matches!((from.dtype, to), (ElementType::Bool | ElementType::I32 | ElementType::I64, ElementType::I64 | ElementType::I32));
    let items = match (from.ints(), to) {
        (Some(ints), ElementType::Bool) => Some(ints.into_iter().map(|value| Num::Int(i64::from(value != 0))).collect()),
        (Some(ints), to) if to.is_integer() => super::data::int_bytes(to, &ints).map(|_| from.items.clone()),
        (None, _) if wider && from.dtype != ElementType::Bool => Some(from.items.clone()),
        _ => None,
    };
    Ok(items.map(|items| vec![Known { dtype: to, shape: from.shape.clone(), items }]))
}

fn concat<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    if known.len() != call.inputs.len() || known.iter().any(|known| known.shape.len() != 1) {
        return Ok(None);
    }
    let items: Vec<_> = known.iter().flat_map(|known| known.items.iter().copied()).collect();
    Ok(Some(vec![Known { dtype: known[0].dtype, shape: vec![items.len() as i64], items }]))
}

/// The elements at these places, in another shape.
fn taken<'c>(known: &Known<'c>, shape: Vec<i64>, places: impl IntoIterator<Item = usize>) -> Option<Vec<Known<'c>>> {
    let items = places.into_iter().map(|place| known.items.get(place).copied()).collect::<Option<Vec<_>>>()?;
    Some(vec![Known { dtype: known.dtype, shape, items }])
}

fn expand<'c>(_: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let [value, sizes] = known else { return Ok(None) };
    let Some(sizes) = sizes.ints() else { return Ok(None) };
    let Some((shape, places)) = broadcast(&value.shape, &sizes) else { return Ok(None) };
    Ok(taken(value, shape, places.into_iter().map(|[place, _]| place)))
}

fn gather<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let [value, places] = known else { return Ok(None) };
    let (1, Some(ints)) = (value.shape.len(), places.ints()) else { return Ok(None) };
    call.axis(0, 1)?;
    let place = |index: i64| wrapped(index, value.items.len()).map(|place| place as usize);
    let ints = ints.into_iter().map(place).collect::<Eval<Vec<_>>>()?;
    Ok(taken(value, places.shape.clone(), ints))
}

fn range<'c>(_: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let ints = known.iter().map(|known| known.ints().filter(|ints| ints.len() == 1).map(|ints| ints[0])).collect::<Option<Vec<_>>>();
    let Some(&[start, limit, step]) = ints.as_deref() else { return Ok(None) };
    if step == 0 {
        return Err("a range has the step 0".into());
    }
    let mut items = Vec::new();
    let mut value = start;
    while if step > 0 { value < limit } else { value > limit } {
        items.push(Num::Int(value));
        match value.checked_add(step) {
            Some(next) if items.len() <= MAX_KNOWN => value = next,
            _ => return Ok(None),
        }
    }
    Ok(Some(vec![Known { dtype: known[0].dtype, shape: vec![items.len() as i64], items }]))
}

/// A reduction over all elements of a list.
fn reduce<'c>(
    call: &mut Call<'_, '_, 'c>,
    known: &[Rc<Known<'c>>],
    of_known: impl Fn(i64, i64) -> Option<i64>,
    func: Func,
) -> Eval<Option<Vec<Known<'c>>>> {
    let value = &known[0];
    let axes = call.axes(1, value.shape.len())?;
    let all = match axes.as_deref() {
        None | Some([]) => !call.flag("noop_with_empty_axes", false),
        Some(axes) => axes == [0],
    };
    if value.shape.len() != 1 || !all || value.dtype != ElementType::I64 {
        return Ok(None);
    }
    let Some((first, rest)) = value.items.split_first() else { return Ok(None) };
    let mut result = *first;
    for item in rest {
        match computed(call, &[result, *item], |ints| of_known(ints[0], ints[1]), Some(func)) {
            Some(next) => result = next,
            None => return Ok(None),
        }
    }
    let shape = if call.flag("keepdims", true) { vec![1] } else { Vec::new() };
    Ok(Some(vec![Known { dtype: value.dtype, shape, items: vec![result] }]))
}

fn reshape<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let [value, sizes] = known else { return Ok(None) };
    let Some(mut sizes) = sizes.ints() else { return Ok(None) };
    if !call.flag("allowzero", false) {
        for (size, old) in sizes.iter_mut().zip(&value.shape) {
            *size = if *size == 0 { *old } else { *size };
        }
    }
    let count = value.items.len() as i64;
    let rest = sizes.iter().filter(|size| **size != -1).try_fold(1i64, |count, size| count.checked_mul(*size));
    if let (Some(open), Some(rest @ 1..)) = (sizes.iter().position(|size| *size == -1), rest) {
        sizes[open] = count / rest;
    }
    let same = sizes.iter().try_fold(1i64, |count, size| count.checked_mul(*size)) == Some(count);
    if !same || sizes.iter().any(|size| *size < 0) {
        return Ok(None);
    }
    Ok(Some(vec![Known { shape: sizes, ..(**value).clone() }]))
}

fn slice<'c>(_: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let Some((value, bounds)) = known.split_first() else { return Ok(None) };
    let bounds = bounds.iter().map(|known| known.ints().filter(|ints| ints.len() == 1).map(|ints| ints[0])).collect::<Option<Vec<_>>>();
    let (1, Some(bounds)) = (value.shape.len(), bounds) else { return Ok(None) };
    let (start, end, step) = match bounds[..] {
        [start, end] | [start, end, 0 | -1] => (start, end, 1),
        [start, end, 0 | -1, step] => (start, end, step),
        _ => return Ok(None),
    };
    let count = value.items.len() as i64;
    let bound = |at: i64, low, high| if at < 0 { at.saturating_add(count) } else { at }.clamp(low, high);
    let mut places = Vec::new();
    match step {
        0 => return Err("a slice has the step 0".into()),
        1.. => places.extend((bound(start, 0, count)..bound(end, 0, count)).step_by(step as usize)),
        _ => {
            let (mut place, end) = (bound(start, 0, count - 1), bound(end, -1, count - 1));
            while place > end {
                places.push(place);
                place = place.saturating_add(step);
            }
        }
    }
    let places: Vec<_> = places.into_iter().map(|place| place as usize).collect();
    Ok(taken(value, vec![places.len() as i64], places))
}

fn split<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let value = &known[0];
    let (1, Some(sizes)) = (value.shape.len(), known.get(1).map_or(Some(Vec::new()), |sizes| sizes.ints())) else { return Ok(None) };
    let count = value.items.len();
    let parts = call.node.output.len();
    let sizes = if sizes.is_empty() && parts > 0 && count.is_multiple_of(parts) { vec![(count / parts) as i64; parts] } else { sizes };
    let whole = sizes.iter().try_fold(0i64, |sum, size| sum.checked_add(*size)) == Some(count as i64);
    if !whole || sizes.iter().any(|size| *size < 0) {
        return Ok(None);
    }
    let mut start = 0;
    let mut results = Vec::new();
    for size in sizes {
        let items = value.items[start..start + size as usize].to_vec();
        start += size as usize;
        results.push(Known { dtype: value.dtype, shape: vec![size], items });
    }
    Ok(Some(results))
}

fn squeeze<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let value = &known[0];
    let axes = call.axes(1, value.shape.len())?;
    let kept = |(dim, size): (usize, &i64)| match &axes {
        Some(axes) if axes.contains(&(dim as i64)) => None,
        None if *size == 1 => None,
        _ => Some(*size),
    };
    let shape: Vec<_> = value.shape.iter().enumerate().filter_map(kept).collect();
    let same = shape.iter().product::<i64>() == value.items.len() as i64;
    Ok(same.then(|| vec![Known { shape, ..(**value).clone() }]))
}

fn unsqueeze<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let value = &known[0];
    let count = call.ints("axes").map_or_else(|| known.get(1).map_or(0, |axes| axes.items.len()), |axes| axes.len());
    let Some(mut axes) = call.axes(1, value.shape.len() + count)? else { return Ok(None) };
    axes.sort_unstable();
    let mut shape = value.shape.clone();
    for axis in axes {
        if axis as usize > shape.len() {
            return Ok(None);
        }
        shape.insert(axis as usize, 1);
    }
    Ok(Some(vec![Known { shape, ..(**value).clone() }]))
}

fn select<'c>(call: &mut Call<'_, '_, 'c>, known: &[Rc<Known<'c>>]) -> Eval<Option<Vec<Known<'c>>>> {
    let [condition, yes, no] = known else { return Ok(None) };
    let same = condition.shape == yes.shape && yes.shape == no.shape;
    if !same {
        return Ok(None);
    }
    let mut items = Vec::new();
    for ((when, yes), no) in condition.items.iter().zip(&yes.items).zip(&no.items) {
        let item = match when {
            Num::Int(when) => Some(if *when != 0 { *yes } else { *no }),
            Num::Value(_) => {
                let index = |call: &mut Call<'_, '_, 'c>, item: Num<'c>| -> ir::Value<'c> {
                    match item {
                        Num::Int(value) => call.importer.builder.const_index(value),
                        Num::Value(value) => value,
                    }
                };
                let sides = [Num::Value(index(call, *yes)), Num::Value(index(call, *no))];
                computed(call, &[*when, sides[0], sides[1]], |_| None, Some(Func::Where))
            }
        };
        match item {
            Some(item) => items.push(item),
            None => return Ok(None),
        }
    }
    Ok(Some(vec![Known { dtype: yes.dtype, shape: yes.shape.clone(), items }]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted() {
        for pair in RULES.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} stands before {}", pair[0].0, pair[1].0);
        }
    }

    #[test]
    fn elements_of_two_shapes_meet() {
        let (shape, places) = broadcast(&[2, 1], &[3]).expect("shapes that fit");
        assert_eq!(shape, [2, 3]);
        assert_eq!(places, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert!(broadcast(&[2], &[3]).is_none());
    }
}
