//! Functions of integers.

/// The greatest common divisor, of magnitudes; of two zeros it is 0.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

#[cfg(test)]
mod tests {
    use super::gcd;

    #[test]
    fn divisors() {
        assert_eq!([gcd(12, -18), gcd(0, 5), gcd(0, 0), gcd(i64::MIN, 6)], [6, 5, 0, 2]);
    }
}
