//! What the verifiers of `prim` have in common.

use strata_core::prelude::*;

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

/// The result has the shape that the operands give.
pub fn result_shape(constraint: u32, found: Type<'_>, wanted: &[i64]) -> Checked {
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
