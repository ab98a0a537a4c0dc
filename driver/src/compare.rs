//! Where two results of a program differ by more than a change of the order of sums explains.

use std::fmt;

use strata_interp::{DType, Outputs, Scalar, Tensor, Value};

/// The first value in which two runs differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Which result: `result 0`, `mutation of 'running_mean'`.
    pub result: String,
    /// Index of the element; nothing when the results are not of one shape or type.
    pub position: Option<Vec<usize>>,
    /// What was there before.
    pub before: String,
    /// What is there after.
    pub after: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { result, position, before, after } = self;
        match position {
            Some(position) => write!(f, "{result}, element {position:?}: {before} before, {after} after"),
            None => write!(f, "{result}: {before} before, {after} after"),
        }
    }
}

/// Relative error that a float type may gain.
fn tolerance(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F64 => 1e-12,
        DType::F32 => 1e-5,
        DType::F16 => 4e-3,
        DType::Bf16 => 3e-2,
        DType::F8E4M3FN => 0.13,
        DType::F8E5M2 => 0.26,
        _ => 0.0,
    }
}

/// The first difference between the results of two runs.
pub fn first_difference(before: &Outputs, after: &Outputs) -> Option<Difference> {
    if before.outputs.len() != after.outputs.len() {
        let count = |outputs: &Outputs| format!("{} results", outputs.outputs.len());
        return Some(Difference { result: "the program".into(), position: None, before: count(before), after: count(after) });
    }
    for (at, (old, new)) in before.outputs.iter().zip(&after.outputs).enumerate() {
        if let Some(difference) = value(&format!("result {at}"), old, new) {
            return Some(difference);
        }
    }
    for (name, old) in &before.mutations {
        let result = format!("mutation of '{name}'");
        let difference = match after.mutations.iter().find(|(other, _)| other == name) {
            Some((_, new)) => value(&result, old, new),
            None => Some(Difference { result, position: None, before: describe(old), after: "not written".into() }),
        };
        if difference.is_some() {
            return difference;
        }
    }
    let extra = after.mutations.iter().find(|(name, _)| before.mutations.iter().all(|(other, _)| other != name))?;
    Some(Difference {
        result: format!("mutation of '{}'", extra.0),
        position: None,
        before: "not written".into(),
        after: describe(&extra.1),
    })
}

/// Scalars count as tensors of rank 0 whatever their width is: below `prim` numbers of the call are tensors.
fn value(result: &str, before: &Value, after: &Value) -> Option<Difference> {
    let differs = |position, before: String, after: String| Some(Difference { result: result.to_owned(), position, before, after });
    let ((old, loose), (new, also)) = match (dense(before), dense(after)) {
        (Some(old), Some(new)) => (old, new),
        _ => return (before != after).then(|| differs(None, describe(before), describe(after))).flatten(),
    };
    if old.shape() != new.shape() || (old.dtype() != new.dtype() && !loose && !also) {
        return differs(None, describe(before), describe(after));
    }
    let bound = tolerance(old.dtype()).max(tolerance(new.dtype()));
    let floor = bound * scale(&old);
    let place = (0..old.len()).find(|&k| !close(old.at(k), new.at(k), bound, floor))?;
    differs(Some(index(place, old.shape())), show(old.at(place)), show(new.at(place)))
}

fn dense(value: &Value) -> Option<(Tensor, bool)> {
    match value {
        Value::Tensor(tensor) => Some((tensor.clone(), false)),
        Value::Scalar(scalar) => {
            let dtype = if matches!(scalar, Scalar::Float(_)) { DType::F64 } else { scalar.default_dtype() };
            Some((Tensor::scalar(dtype, *scalar), true))
        }
        _ => None,
    }
}

/// The size that an element of the tensor typically has: errors of sums are relative to their terms.
fn scale(tensor: &Tensor) -> f64 {
    if tensor.dtype().is_integral() {
        return 0.0;
    }
    let squares: Vec<f64> = tensor.complexes().into_iter().map(|value| value.norm_sqr()).filter(|square| square.is_finite()).collect();
    if squares.is_empty() { 0.0 } else { (squares.iter().sum::<f64>() / squares.len() as f64).sqrt() }
}

fn close(a: Scalar, b: Scalar, relative: f64, floor: f64) -> bool {
    if a == b || (a.is_nan() && b.is_nan()) {
        return true;
    }
    if let (Scalar::Int(_) | Scalar::Bool(_), Scalar::Int(_) | Scalar::Bool(_)) = (a, b) {
        return a.int() == b.int();
    }
    let (a, b) = (a.complex(), b.complex());
    (a - b).norm() <= relative * a.norm().max(b.norm()) + floor && a.is_finite() && b.is_finite()
}

fn index(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (slot, &size) in index.iter_mut().zip(shape).rev() {
        *slot = place % size.max(1);
        place /= size.max(1);
    }
    index
}

fn show(value: Scalar) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => format!("{value:?}"),
        Scalar::Complex(value) => value.to_string(),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => format!("a tensor {:?} {:?}", tensor.dtype(), tensor.shape()),
        Value::Scalar(scalar) => show(*scalar),
        other => other.kind().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::first_difference;
    use strata_interp::{DType, Outputs, Tensor, Value};

    fn outputs(dtype: DType, values: &[f64]) -> Outputs {
        let tensor = Tensor::from_floats(dtype, &[2, values.len() / 2], values).expect("the values fill the shape");
        Outputs { outputs: vec![Value::Tensor(tensor)], mutations: Vec::new() }
    }

    fn check(dtype: DType, before: &[f64], after: &[f64], wanted: Option<&str>) {
        let found = first_difference(&outputs(dtype, before), &outputs(dtype, after)).map(|difference| difference.to_string());
        assert_eq!(found.as_deref(), wanted);
    }

    #[test]
    fn rounding_is_no_difference() {
        check(DType::F32, &[1.0, -2.0, 3.0, f64::NAN], &[1.000001, -2.0, 3.0, f64::NAN], None);
        check(DType::F64, &[1.0, 2.0], &[1.000001, 2.0], Some("result 0, element [0, 0]: 1.0 before, 1.000001 after"));
    }

    #[test]
    fn the_element_is_named() {
        check(DType::F32, &[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.5, 5.0], Some("result 0, element [1, 0]: 3.0 before, 3.5 after"));
        check(DType::I64, &[1.0, 2.0], &[1.0, 3.0], Some("result 0, element [1, 0]: 2 before, 3 after"));
        check(DType::F32, &[1.0, f64::INFINITY], &[1.0, 3.0], Some("result 0, element [1, 0]: inf before, 3.0 after"));
    }
}
