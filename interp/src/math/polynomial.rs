//! Orthogonal polynomials by their recurrences.

use crate::dtype::DType;

/// Which family, in the names of `torch.special`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Family {
    ChebyshevT,
    ChebyshevU,
    ChebyshevV,
    ChebyshevW,
    HermiteH,
    HermiteHe,
    LaguerreL,
    LegendreP,
}

/// The polynomial of degree `n` at `x`; zero for a negative degree. Steps are rounded to `d`, a product and the difference
/// that it is part of together.
pub fn value(family: Family, x: f64, n: i64, d: DType) -> f64 {
    use Family::*;
    if n < 0 {
        return 0.0;
    }
    let first = match family {
        ChebyshevT | HermiteHe | LegendreP => x,
        ChebyshevU | HermiteH => 2.0 * x,
        ChebyshevV => d.round(2.0 * x - 1.0),
        ChebyshevW => d.round(2.0 * x + 1.0),
        LaguerreL => d.round(1.0 - x),
    };
    let (mut last, mut now) = (1.0, first);
    if n == 0 {
        return last;
    }
    let double = 2.0 * x;
    // A cap keeps hostile degrees from running for ever.
    for k in 1..n.min(1 << 20) {
        let k = k as f64;
        let before = d.round(k * last);
        let next = match family {
            ChebyshevT | ChebyshevU | ChebyshevV | ChebyshevW => double * now - last,
            HermiteH => double * now - 2.0 * before,
            HermiteHe => x * now - before,
            LaguerreL => d.round(d.round(2.0 * k + first) * now - before) / (k + 1.0),
            LegendreP => d.round(d.round((2.0 * k + 1.0) * x) * now - before) / (k + 1.0),
        };
        (last, now) = (now, d.round(next));
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_degrees() {
        assert_eq!(value(Family::ChebyshevT, 0.5, 3, DType::F64), -1.0);
        assert_eq!(value(Family::HermiteH, 1.0, 2, DType::F64), 2.0);
        assert_eq!(value(Family::LegendreP, 0.5, 2, DType::F64), -0.125);
        assert_eq!(value(Family::LaguerreL, 2.0, 2, DType::F64), -1.0);
    }
}
