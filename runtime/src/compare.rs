//! Comparing results with expected ones, as `rs-run` and the tests do: element type and shape exactly, values within
//! `atol + rtol * |want|`, NaN equal to NaN, infinities equal to themselves.

use half::{bf16, f16};

use crate::dtype::DType;
use crate::float8;
use crate::tensor::Tensor;

/// How far values may be apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

impl Tolerance {
    /// PyTorch's default for an element type.
    pub fn default_for(dtype: DType) -> Tolerance {
        let (rtol, atol) = match dtype {
            DType::F64 | DType::C128 => (1e-7, 1e-7),
            DType::F32 | DType::C64 => (1.3e-6, 1e-5),
            DType::F16 => (1e-3, 1e-5),
            DType::BF16 => (1.6e-2, 1e-5),
            _ => (0.0, 0.0),
        };
        Tolerance { rtol, atol }
    }
}

/// The outcome of comparing two tensors of one type and shape.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Difference {
    /// Largest absolute difference of finite values.
    pub max_abs: f64,
    /// Largest relative difference of finite values.
    pub max_rel: f64,
    /// Elements past the tolerance.
    pub wrong: usize,
    /// The first of them: index, value found, value wanted.
    pub first: Option<(usize, String, String)>,
}

/// Compares two tensors; an error text when they differ in element type or shape.
pub fn compare(got: &Tensor, want: &Tensor, tolerance: Tolerance) -> Result<Difference, String> {
    same_type(got, want)?;
    let row_major = |tensor| Tensor::row_major(tensor).map_err(|e| e.to_string());
    let (got, want) = (row_major(got)?, row_major(want)?);
    let mut difference = Difference::default();
    for index in 0..want.len() {
        let (found, wanted) = (element(&got, index), element(&want, index));
        let (abs, size, close) = apart(found, wanted, tolerance);
        if abs.is_finite() {
            difference.max_abs = difference.max_abs.max(abs);
            difference.max_rel = difference.max_rel.max(if abs == 0.0 { 0.0 } else { abs / size.max(f64::MIN_POSITIVE) });
        }
        if !close {
            difference.wrong += 1;
            difference.first.get_or_insert_with(|| (index, show(found), show(wanted)));
        }
    }
    Ok(difference)
}

/// Whether two tensors have the same element type and shape; a text that says how they differ if not.
pub fn same_type(got: &Tensor, want: &Tensor) -> Result<(), String> {
    if got.dtype() == want.dtype() && got.shape() == want.shape() {
        return Ok(());
    }
    let show = |t: &Tensor| format!("{}{:?}", t.dtype(), t.shape());
    Err(format!("is {}, expected {}", show(got), show(want)))
}

/// The first few values of a tensor as text, in row-major order. Behind them stands a checksum of all, so that texts differ where values do.
pub fn preview(tensor: &Tensor, most: usize) -> String {
    let tensor = match tensor.row_major() {
        Ok(tensor) => tensor,
        Err(error) => return format!("[{error}]"),
    };
    let shown: Vec<String> = (0..tensor.len().min(most)).map(|index| show(element(&tensor, index))).collect();
    if tensor.len() <= most {
        return format!("[{}]", shown.join(", "));
    }
    format!("[{}, ...] crc32 {:08x}", shown.join(", "), crc32fast::hash(tensor.bytes()))
}

impl Difference {
    /// The first wrong element in words.
    pub fn describe(&self, want: &Tensor) -> Option<String> {
        let (index, found, wanted) = self.first.as_ref()?;
        let (mut rest, mut place) = (*index as i64, Vec::new());
        for &size in want.shape().iter().rev() {
            place.insert(0, rest % size);
            rest /= size;
        }
        let (wrong, len) = (self.wrong, want.len());
        Some(format!("{wrong} of {len} elements wrong, first at {place:?}: {found}, expected {wanted}; max abs error {:.3e}", self.max_abs))
    }
}

/// A value wide enough for every element type.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Element {
    Integer(i128),
    Real(f64),
    Complex(f64, f64),
}

fn element(tensor: &Tensor, index: usize) -> Element {
    let size = tensor.dtype().size();
    let bytes = &tensor.bytes()[index * size..][..size];
    fn read<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> T {
        bytemuck::pod_read_unaligned(&bytes[..size_of::<T>()])
    }
    match tensor.dtype() {
        DType::F64 => Element::Real(read(bytes)),
        DType::F32 => Element::Real(read::<f32>(bytes).into()),
        DType::F16 => Element::Real(read::<f16>(bytes).into()),
        DType::BF16 => Element::Real(read::<bf16>(bytes).into()),
        DType::F8E4M3FN => Element::Real(float8::from_e4m3fn(bytes[0])),
        DType::F8E5M2 => Element::Real(float8::from_e5m2(bytes[0])),
        DType::I64 => Element::Integer(read::<i64>(bytes).into()),
        DType::I32 => Element::Integer(read::<i32>(bytes).into()),
        DType::I16 => Element::Integer(read::<i16>(bytes).into()),
        DType::I8 => Element::Integer(read::<i8>(bytes).into()),
        DType::U8 | DType::Bool => Element::Integer(bytes[0].into()),
        DType::U16 => Element::Integer(read::<u16>(bytes).into()),
        DType::U32 => Element::Integer(read::<u32>(bytes).into()),
        DType::U64 => Element::Integer(read::<u64>(bytes).into()),
        DType::C64 => Element::Complex(read::<f32>(bytes).into(), read::<f32>(&bytes[4..]).into()),
        DType::C128 => Element::Complex(read(bytes), read(&bytes[8..])),
    }
}

/// Distance, size of the wanted value, and whether that is close enough.
fn apart(found: Element, wanted: Element, tolerance: Tolerance) -> (f64, f64, bool) {
    let within = |abs: f64, size: f64| abs <= tolerance.atol + tolerance.rtol * size;
    let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    match (found, wanted) {
        (Element::Integer(a), Element::Integer(b)) => {
            let (abs, size) = ((a - b).unsigned_abs() as f64, b.unsigned_abs() as f64);
            (abs, size, within(abs, size))
        }
        (Element::Real(a), Element::Real(b)) if same(a, b) => (0.0, b.abs(), true),
        (Element::Real(a), Element::Real(b)) => {
            let abs = (a - b).abs();
            (abs, b.abs(), b.is_finite() && within(abs, b.abs()))
        }
        (Element::Complex(a, b), Element::Complex(c, d)) if same(a, c) && same(b, d) => (0.0, c.hypot(d), true),
        (Element::Complex(a, b), Element::Complex(c, d)) => {
            let (abs, size) = ((a - c).hypot(b - d), c.hypot(d));
            let both_nan = (a.is_nan() || b.is_nan()) && (c.is_nan() || d.is_nan());
            (abs, size, both_nan || size.is_finite() && within(abs, size))
        }
        _ => (f64::INFINITY, 0.0, false),
    }
}

fn show(value: Element) -> String {
    match value {
        Element::Integer(value) => value.to_string(),
        Element::Real(value) => format!("{value:e}"),
        Element::Complex(re, im) => format!("{re:e}{im:+e}i"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(got: &[f32], want: &[f32]) -> usize {
        let tensor = |values: &[f32]| Tensor::from_slice(DType::F32, &[values.len() as i64], values).unwrap();
        compare(&tensor(got), &tensor(want), Tolerance { rtol: 1e-3, atol: 1e-3 }).unwrap().wrong
    }

    #[test]
    fn special_values_equal_themselves_only() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert_eq!(check(&[nan, inf, -inf, 1.0], &[nan, inf, -inf, 1.001]), 0);
        assert_eq!(check(&[nan, inf, inf, 1.0, 0.0], &[1.0, -inf, 1.0, inf, nan]), 5);
        assert_eq!(check(&[1.01], &[1.0]), 1);
    }

    #[test]
    fn types_and_shapes_must_agree() {
        let a = Tensor::from_slice(DType::F32, &[2], &[1f32, 2.0]).unwrap();
        let b = Tensor::from_slice(DType::F32, &[1, 2], &[1f32, 2.0]).unwrap();
        assert_eq!(compare(&a, &b, Tolerance::default_for(DType::F32)).unwrap_err(), "is f32[2], expected f32[1, 2]");
    }
}
