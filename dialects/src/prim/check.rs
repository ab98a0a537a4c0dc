//! What the verifiers of `prim` have in common.

use strata_core::prelude::*;

use super::sizes::{self, Arithmetic, Size};

/// A violation, or none.
pub type Checked = std::result::Result<(), Violation>;

/// Whether two sizes may be the same.
pub fn agree(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

/// Whether two shapes may be the same.
pub fn shapes_agree(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(*a, *b))
}

/// The shape as types spell it.
pub fn show(shape: &[i64]) -> String {
    let sizes: Vec<_> = shape.iter().map(|n| if *n == DYNAMIC { "?".to_owned() } else { n.to_string() }).collect();
    format!("[{}]", sizes.join(", "))
}

/// Every result has the shape that the op's operands and attributes give. What is wrong with the attributes was reported before.
pub fn result_sizes(constraint: u32, op: Op<'_>) -> Checked {
    let Some(sizes) = sizes::of(op) else { return Ok(()) };
    let sizes: std::result::Result<Vec<_>, _> = sizes.iter().map(|size| size.eval(&mut Numbers(op))).collect();
    let wanted = sizes.map_err(|Overflow| Violation::new(constraint, "a size of the result is more than an i64 holds"))?;
    op.results().into_iter().try_for_each(|result| shape(constraint, result.ty(), &wanted))
}

/// Sizes as numbers; those that types do not tell are unknown.
struct Numbers<'c>(Op<'c>);

struct Overflow;

fn both(a: i64, b: i64, f: impl Fn(i64, i64) -> Option<i64>) -> std::result::Result<i64, Overflow> {
    if a == DYNAMIC || b == DYNAMIC { Ok(DYNAMIC) } else { f(a, b).ok_or(Overflow) }
}

impl Arithmetic for Numbers<'_> {
    type Size = i64;
    type Error = Overflow;

    fn known(&mut self, size: i64) -> i64 {
        size
    }

    fn of(&mut self, operand: usize, dim: usize) -> std::result::Result<i64, Overflow> {
        Ok(self.0.operand(operand).ty().shape().get(dim).copied().unwrap_or(DYNAMIC))
    }

    fn index(&mut self, _: usize) -> std::result::Result<i64, Overflow> {
        Ok(DYNAMIC)
    }

    fn same(&mut self, sizes: &[Size]) -> std::result::Result<i64, Overflow> {
        for size in sizes {
            let size = size.eval(self)?;
            if size != DYNAMIC {
                return Ok(size);
            }
        }
        Ok(DYNAMIC)
    }

    fn add(&mut self, a: i64, b: i64) -> std::result::Result<i64, Overflow> {
        both(a, b, i64::checked_add)
    }

    fn sub(&mut self, a: i64, b: i64) -> std::result::Result<i64, Overflow> {
        both(a, b, i64::checked_sub)
    }

    fn mul(&mut self, a: i64, b: i64) -> std::result::Result<i64, Overflow> {
        both(a, b, i64::checked_mul)
    }

    fn div(&mut self, a: i64, by: i64) -> std::result::Result<i64, Overflow> {
        both(a, by, i64::checked_div_euclid)
    }

    fn at_least(&mut self, a: i64, low: i64) -> std::result::Result<i64, Overflow> {
        both(a, low, |a, low| Some(a.max(low)))
    }
}

fn shape(constraint: u32, found: Type<'_>, wanted: &[i64]) -> Checked {
    let found = found.shape();
    ensure!(shapes_agree(&found, wanted), constraint, "the result has the shape {}, its operands give {}", show(&found), show(wanted));
    Ok(())
}

/// Both have one element type.
pub fn same_elements(constraint: u32, a: Type<'_>, b: Type<'_>) -> Checked {
    ensure!(a.element() == b.element(), constraint, "element types {} and {} differ", a.element(), b.element());
    Ok(())
}

/// One `index` operand for each size of `sizes` that is not known.
pub fn one_per_unknown(constraint: u32, given: usize, sizes: &[i64]) -> Checked {
    let unknown = sizes.iter().filter(|n| **n == DYNAMIC).count();
    ensure!(given == unknown, constraint, "{given} index operands for {unknown} unknown sizes");
    Ok(())
}

/// One entry of an attribute per dimension.
pub fn per_dim(constraint: u32, name: &str, entries: &[i64], rank: usize) -> Checked {
    ensure!(entries.len() == rank, constraint, "`{name}` has {} entries for {rank} dimensions", entries.len());
    Ok(())
}

/// Different dimensions of a tensor of this rank.
pub fn dims(constraint: u32, name: &str, dims: &[i64], rank: usize) -> std::result::Result<Vec<usize>, Violation> {
    let mut seen = vec![false; rank];
    let mut list = Vec::new();
    for dim in dims {
        let place = usize::try_from(*dim).ok().filter(|d| *d < rank);
        let Some(place) = place else {
            return Err(Violation::new(constraint, format!("`{name}` names dimension {dim} of a tensor of rank {rank}")));
        };
        ensure!(!std::mem::replace(&mut seen[place], true), constraint, "`{name}` names dimension {dim} twice");
        list.push(place);
    }
    Ok(list)
}

/// One dimension of a tensor of this rank.
pub fn dim(constraint: u32, dim: i64, rank: usize) -> std::result::Result<usize, Violation> {
    usize::try_from(dim)
        .ok()
        .filter(|d| *d < rank)
        .ok_or_else(|| Violation::new(constraint, format!("`dim` is {dim}, and the tensor has rank {rank}")))
}

/// The shape without some dimensions.
pub fn without(shape: &[i64], dims: &[usize]) -> Vec<i64> {
    shape.iter().enumerate().filter(|(d, _)| !dims.contains(d)).map(|(_, n)| *n).collect()
}

/// `f` of known sizes, unknown otherwise.
pub fn known(size: i64, f: impl Fn(i64) -> i64) -> i64 {
    if size == DYNAMIC { DYNAMIC } else { f(size) }
}

/// One of the kinds that an op knows.
pub fn kind(constraint: u32, kind: &str, kinds: &[&str]) -> Checked {
    ensure!(kinds.contains(&kind), constraint, "the kind `{kind}` is none of {}", kinds.join(", "));
    Ok(())
}
