//! The verifier that follows from an op's data: counts, types, attribute kinds, traits; then the op's own.

use super::{Arity, OpDef, Traits, ValueDef};
use crate::diagnostic::{Severity, emit_at_op};
use crate::ir::{DYNAMIC, Op, Type, Value};
use strata_core_sys::strata_verify_traits;

/// Attributes that any op may carry besides those of its definition.
const SYMBOL_ATTRS: &[&str] = &["sym_name", "sym_visibility"];
const FUNCTION_ATTRS: &[&str] = &["sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"];

/// Verifies one op; all that is wrong with its data is reported, then the first violation of its own rules.
pub(crate) fn verify(def: &OpDef, op: Op<'_>) -> bool {
    let mut errors = Vec::new();
    check_values(def, op, &mut errors);
    check_attrs(def, op, &mut errors);
    check_regions(def, op, &mut errors);
    if errors.is_empty() {
        // SAFETY: the op is alive.
        if !unsafe { strata_verify_traits(op.to_raw(), def.traits.0) } {
            return false;
        }
        if let Err(violation) = check_inferred(def, op) {
            errors.push(violation);
        } else if let Some(Err(violation)) = def.verify.map(|verify| verify(op)) {
            errors.push(violation.to_string());
        }
    }
    for error in &errors {
        emit_at_op(op, Severity::Error, error, &[]);
    }
    errors.is_empty()
}

fn check_values(def: &OpDef, op: Op<'_>, errors: &mut Vec<String>) {
    match operand_sizes(def, op) {
        Ok(sizes) => check_types("operand", def.operands, &sizes, &|index| op.operand(index), errors),
        Err(error) => errors.push(error),
    }
    match sizes("result", def.results, op.num_results()) {
        Ok(sizes) => check_types("result", def.results, &sizes, &|index| op.result(index), errors),
        Err(error) => errors.push(error),
    }
}

/// Sizes of the operand groups.
fn operand_sizes(def: &OpDef, op: Op<'_>) -> Result<Vec<usize>, String> {
    if !def.has_segments() {
        return sizes("operand", def.operands, op.num_operands());
    }
    let Some(segments) = op.ints("segments") else {
        return Err(format!("needs 'segments = array<i64: ..>' with the sizes of its {} operand groups", def.operands.len()));
    };
    let sizes: Option<Vec<usize>> = segments.iter().map(|size| usize::try_from(*size).ok()).collect();
    let fits = |sizes: &Vec<usize>| {
        sizes.len() == def.operands.len()
            && sizes.iter().sum::<usize>() == op.num_operands()
            && def.operands.iter().zip(sizes).all(|(operand, size)| match operand.arity {
                Arity::One => *size == 1,
                Arity::Optional => *size <= 1,
                Arity::Variadic => true,
            })
    };
    sizes.filter(fits).ok_or_else(|| {
        format!("'segments' {segments:?} does not split its {} operands into ({})", op.num_operands(), signature(def.operands))
    })
}

fn signature(values: &[ValueDef]) -> String {
    let show = |value: &ValueDef| match value.arity {
        Arity::One => value.name.to_owned(),
        Arity::Optional => format!("{}?", value.name),
        Arity::Variadic => format!("{}..", value.name),
    };
    values.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Sizes of groups of which at most one is not of size one.
fn sizes(what: &str, values: &[ValueDef], total: usize) -> Result<Vec<usize>, String> {
    let ones = values.iter().filter(|value| value.arity == Arity::One).count();
    let open = values.iter().find(|value| value.arity != Arity::One);
    let fits = match open.map(|value| value.arity) {
        None | Some(Arity::One) => total == ones,
        Some(Arity::Optional) => total == ones || total == ones + 1,
        Some(Arity::Variadic) => total >= ones,
    };
    if !fits {
        return Err(format!("has {total} {what}(s), its definition has ({})", signature(values)));
    }
    Ok(values.iter().map(|value| if value.arity == Arity::One { 1 } else { total - ones }).collect())
}

fn check_types<'c>(what: &str, values: &[ValueDef], sizes: &[usize], value_at: &dyn Fn(usize) -> Value<'c>, errors: &mut Vec<String>) {
    let mut index = 0;
    for (def, size) in values.iter().zip(sizes) {
        for _ in 0..*size {
            let ty = value_at(index).ty();
            if !(def.constraint.check)(ty) {
                errors.push(format!("{what} #{index} '{}' must be {}, but is '{ty}'", def.name, def.constraint.name));
            }
            index += 1;
        }
    }
}

fn check_attrs(def: &OpDef, op: Op<'_>, errors: &mut Vec<String>) {
    let mut present = 0;
    op.for_each_attr(&mut |name, attr| {
        if let Some(known) = def.attr(name) {
            present += usize::from(known.required);
            if !(known.kind.check)(attr) {
                errors.push(format!("attribute '{name}' must be {}, but is '{attr}'", known.kind.name));
            }
        } else if !may_carry(def, name) {
            errors.push(unknown_attr(def, name));
        }
    });
    if present < def.attrs.iter().filter(|attr| attr.required).count() {
        for attr in def.attrs.iter().filter(|attr| attr.required && op.attr(attr.name).is_none()) {
            errors.push(format!("needs the attribute '{}' ({})", attr.name, attr.kind.name));
        }
    }
}

/// Attributes with a dialect's prefix are anybody's notes; the others belong to the op.
fn may_carry(def: &OpDef, name: &str) -> bool {
    name.contains('.')
        || def.traits.has(Traits::OPEN_ATTRIBUTES)
        || (name == "segments" && def.has_segments())
        || (def.traits.has(Traits::SYMBOL) && SYMBOL_ATTRS.contains(&name))
        || (def.traits.has(Traits::CALL) && name == "callee")
        || (def.traits.has(Traits::FUNCTION) && FUNCTION_ATTRS.contains(&name))
}

fn unknown_attr(def: &OpDef, name: &str) -> String {
    let known: Vec<_> = def.attrs.iter().map(|attr| attr.name).collect();
    if known.is_empty() {
        return format!("has no attribute '{name}'; it has none at all");
    }
    format!("has no attribute '{name}'; it has: {}", known.join(", "))
}

fn check_regions(def: &OpDef, op: Op<'_>, errors: &mut Vec<String>) {
    let regions = op.regions();
    let fits = if def.variadic_regions { regions.len() + 1 >= def.regions.len() } else { regions.len() == def.regions.len() };
    if !fits {
        errors.push(format!("has {} region(s), its definition has {}", regions.len(), def.regions.len()));
    }
    if def.traits.has(Traits::SINGLE_BLOCK) {
        for (index, region) in regions.iter().enumerate() {
            let blocks = region.blocks().len();
            if blocks > 1 {
                errors.push(format!("region #{index} must have one block, but has {blocks}"));
            }
        }
    }
    let successors = op.num_successors();
    let fits = if def.variadic_successors { successors + 1 >= def.successors.len() } else { successors == def.successors.len() };
    if !fits {
        errors.push(format!("has {successors} successor(s), its definition has {}", def.successors.len()));
    }
}

/// Compares the results with what the op's own inference says; sizes may be less or more known.
fn check_inferred(def: &OpDef, op: Op<'_>) -> Result<(), String> {
    let Some(infer) = def.infer else { return Ok(()) };
    let attrs = op.attrs();
    let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let inferred = infer(op.cx(), &op.operands(), &attrs).map_err(|violation| violation.to_string())?;
    let found = op.result_types();
    if inferred.len() == found.len() && inferred.iter().zip(&found).all(|(inferred, found)| is_compatible(*inferred, *found)) {
        return Ok(());
    }
    let show = |types: &[Type<'_>]| types.iter().map(|ty| format!("'{ty}'")).collect::<Vec<_>>().join(", ");
    Err(format!("has the result types {}, but its operands and attributes give {}", show(&found), show(&inferred)))
}

fn is_compatible(a: Type<'_>, b: Type<'_>) -> bool {
    if a == b {
        return true;
    }
    let (left, right) = (a.shape(), b.shape());
    a.is_tensor()
        && b.is_tensor()
        && a.element() == b.element()
        && left.len() == right.len()
        && left.iter().zip(&right).all(|(a, b)| a == b || *a == DYNAMIC || *b == DYNAMIC)
}
