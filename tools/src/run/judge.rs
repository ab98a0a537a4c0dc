//! Compares the results of one run with what a case expects.

use strata_runtime::Tensor;
use strata_runtime::compare::{Tolerance, compare, same_type};

use super::backend::Named;
use super::case::{Expected, InputSet};

/// What is compared and how closely.
pub struct Rules<'a> {
    /// Tolerance of values; PyTorch's default for the element type if `None`.
    pub tolerance: Option<Tolerance>,
    /// Compare shapes and types only.
    pub shape_only: bool,
    /// Outputs whose values are free.
    pub skip_outputs: &'a [usize],
}

/// The largest errors seen.
#[derive(Debug, Default, Clone, Copy)]
pub struct Errors {
    /// Absolute.
    pub abs: f64,
    /// Relative.
    pub rel: f64,
}

/// Judges one run: the largest errors, or why it is wrong.
pub fn judge(results: &[Named], set: &InputSet, rules: &Rules) -> Result<Errors, String> {
    let mut errors = Errors::default();
    let mut outputs: Vec<&Named> = results.iter().filter(|r| !r.mutation).collect();
    let mut wrong = gradients(&mut outputs, set, &mut errors)?;
    // Who asks for gradients may leave the outputs out.
    if set.gradient().is_some() && set.outputs() == 0 {
        outputs.clear();
    }
    let (mut given, expected) = (outputs.iter(), set.outputs());
    for k in 0..expected {
        let Some(want) = set.output(k) else { break };
        let want = match &want {
            Expected::Tensor(want) => *want,
            Expected::Scalar(want) => want,
            Expected::Nothing => continue,
        };
        let Some(got) = given.next() else {
            return Err(format!("{} outputs, expected {expected}", outputs.len()));
        };
        let free = rules.shape_only || rules.skip_outputs.contains(&k);
        if let Err(reason) = check(&got.tensor, want, free, rules.tolerance, &mut errors) {
            wrong.push(format!("out_{k} {reason}"));
        }
    }
    if given.next().is_some() {
        return Err(format!("{} outputs, expected {expected}", outputs.len()));
    }
    for (name, want) in set.mutations() {
        let result = results.iter().find(|r| r.mutation && r.name == name);
        let verdict = match result {
            Some(got) => check(&got.tensor, want, rules.shape_only, rules.tolerance, &mut errors),
            None => Err("was not changed".into()),
        };
        if let Err(reason) = verdict {
            wrong.push(format!("mut_{name} {reason}"));
        }
    }
    if wrong.is_empty() { Ok(errors) } else { Err(wrong.join("; ")) }
}

/// Takes the gradients or tangents, which follow the outputs, and says which are wrong.
fn gradients(outputs: &mut Vec<&Named>, set: &InputSet, errors: &mut Errors) -> Result<Vec<String>, String> {
    let Some(gradient) = set.gradient() else { return Ok(Vec::new()) };
    let (names, mut wrong) = (gradient.compared(), Vec::new());
    let first = outputs.len().checked_sub(gradient.count());
    let first = first.ok_or_else(|| format!("{} results for {} gradients", outputs.len(), gradient.count()))?;
    // Those that are expected are the last; first gradients that are differentiated stand before them.
    let found = outputs.split_off(first).split_off(gradient.count() - names.len());
    for (name, got) in names.into_iter().zip(found) {
        let expected = gradient.expected(&name);
        let verdict = match (set.expected_gradient(&expected), gradient.is_none(&name)) {
            (Some(want), _) => {
                let tolerance = gradient.atol(&name).map(|atol| Tolerance { rtol: 0.0, atol });
                check(&got.tensor, want, false, tolerance, errors)
            }
            // Where PyTorch has none, it is zero.
            (None, true) if got.tensor.bytes().iter().any(|byte| *byte != 0) => Err("is not zero".to_owned()),
            (None, true) => Ok(()),
            (None, false) => return Err(format!("there is no `{expected}` to compare with")),
        };
        wrong.extend(verdict.err().map(|reason| format!("{expected} {reason}")));
    }
    Ok(wrong)
}

fn check(got: &Tensor, want: &Tensor, free: bool, tolerance: Option<Tolerance>, errors: &mut Errors) -> Result<(), String> {
    if free {
        return same_type(got, want);
    }
    let difference = compare(got, want, tolerance.unwrap_or_else(|| Tolerance::default_for(want.dtype())))?;
    errors.abs = errors.abs.max(difference.max_abs);
    errors.rel = errors.rel.max(difference.max_rel);
    match difference.describe(want) {
        Some(reason) => Err(reason),
        None => Ok(()),
    }
}
