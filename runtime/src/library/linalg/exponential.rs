//! The exponential of a matrix: Padé's approximation of a scaled matrix, squared again.

use super::lu::{lu, permutation};
use super::matrix::Matrix;
use super::number::Number;
use super::triangular::solve;

/// Coefficients of the numerator of degree 13; those of the denominator alternate in sign.
const PADE: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];

/// The largest norm for which the approximation is exact to double precision.
const REACH: f64 = 5.37;

/// `exp(A)`.
pub fn exponential<N: Number>(a: &Matrix<N>) -> Matrix<N> {
    let n = a.rows;
    let norm = a.norm1();
    if !norm.is_finite() {
        return Matrix::build(n, n, |_, _| N::real(f64::NAN));
    }
    let halvings = if norm > REACH { (norm / REACH).log2().ceil() as i32 } else { 0 };
    let a = Matrix { data: a.data.iter().map(|x| x.scale(0.5_f64.powi(halvings))).collect(), ..*a };
    // Even powers to the sixth; the higher ones are a common factor (Higham, "The scaling and squaring method revisited", 2005).
    let second = a.times(&a);
    let fourth = second.times(&second);
    let powers = [Matrix::identity(n, n), second.times(&fourth), fourth, second];
    let [one, sixth, fourth, second] = &powers;
    let half = |first: usize| {
        let sum = |terms: &[(&Matrix<N>, f64)]| {
            let mut sum = Matrix::zeros(n, n);
            terms.iter().for_each(|(power, factor)| add(&mut sum, power, *factor));
            sum
        };
        let high = sum(&[(sixth, PADE[first + 12]), (fourth, PADE[first + 10]), (second, PADE[first + 8])]);
        let mut low = sum(&[(sixth, PADE[first + 6]), (fourth, PADE[first + 4]), (second, PADE[first + 2]), (one, PADE[first])]);
        add(&mut low, &sixth.times(&high), 1.0);
        low
    };
    let (mut even, odd) = (half(0), a.times(&half(1)));
    let mut numerator = even.clone();
    add(&mut numerator, &odd, 1.0);
    add(&mut even, &odd, -1.0);
    let mut result = divide(even, &numerator);
    (0..halvings).for_each(|_| result = result.times(&result));
    result
}

fn add<N: Number>(to: &mut Matrix<N>, from: &Matrix<N>, factor: f64) {
    to.data.iter_mut().zip(&from.data).for_each(|(to, from)| *to += from.scale(factor));
}

/// X of `A X = B`.
fn divide<N: Number>(a: Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    let parts = lu(a, false);
    let order = permutation(&parts.pivots, b.rows);
    let b = Matrix::build(b.rows, b.cols, |r, c| b[(order[r] as usize, c)]);
    solve(&parts.factors, solve(&parts.factors, b, false, true), true, false)
}
