//! Orthogonal polynomials by their recurrences.

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

/// The polynomial of degree `n` at `x`; zero for a negative degree.
pub fn value(family: Family, x: f64, n: i64) -> f64 {
    use Family::*;
    if n < 0 {
        return 0.0;
    }
    let first = match family {
        ChebyshevT | HermiteHe | LegendreP => x,
        ChebyshevU | HermiteH => 2.0 * x,
        ChebyshevV => 2.0 * x - 1.0,
        ChebyshevW => 2.0 * x + 1.0,
        LaguerreL => 1.0 - x,
    };
    let (mut last, mut now) = (1.0, first);
    if n == 0 {
        return last;
    }
    // A cap keeps hostile degrees from running for ever.
    for k in 1..n.min(1 << 20) {
        let k = k as f64;
        let next = match family {
            ChebyshevT | ChebyshevU | ChebyshevV | ChebyshevW => 2.0 * x * now - last,
            HermiteH => 2.0 * x * now - 2.0 * k * last,
            HermiteHe => x * now - k * last,
            LaguerreL => ((2.0 * k + 1.0 - x) * now - k * last) / (k + 1.0),
            LegendreP => ((2.0 * k + 1.0) * x * now - k * last) / (k + 1.0),
        };
        (last, now) = (now, next);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_degrees() {
        assert_eq!(value(Family::ChebyshevT, 0.5, 3), -1.0);
        assert_eq!(value(Family::HermiteH, 1.0, 2), 2.0);
        assert_eq!(value(Family::LegendreP, 0.5, 2), -0.125);
        assert_eq!(value(Family::LaguerreL, 2.0, 2), -1.0);
    }
}
