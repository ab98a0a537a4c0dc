//! The exponential of a matrix: Taylor's polynomial of a scaled matrix, squared again.

use super::matrix::Matrix;
use super::number::Number;

/// Taylor's polynomial of degree 18 by five products, as sums of the powers 0, 1, 2, 3 and 6 of a matrix (Bader, Blanes, Casas, "Computing the
/// matrix exponential with an optimized Taylor polynomial approximation", 2019). Of these sums `B` it is `B[1] + (B[2] + C) C` with
/// `C = B[0] B[4] + B[3]`.
const SUMS: [[f64; 5]; 5] = [
    [0.0, -1.003_655_810_301_446_2e-1, -8.029_246_482_411_57e-3, -8.921_384_980_457_3e-4, 0.0],
    [0.0, 3.978_497_494_996_451e-1, 1.367_837_784_604_117_2, 4.982_896_225_253_826_7e-1, -6.378_981_945_947_233e-4],
    [-1.096_763_960_529_620_6e1, 1.680_158_138_789_062, 5.717_798_464_788_655e-2, -6.982_101_224_880_520_6e-3, 3.349_750_170_860_705e-5],
    [-9.043_168_323_908_106e-2, -6.764_045_190_713_819e-2, 6.759_613_017_704_597e-2, 2.955_525_704_293_155_2e-2, -1.391_802_575_160_607e-5],
    [0.0, 0.0, -9.233_646_193_671_186e-2, -1.693_649_390_020_817_2e-2, -1.400_867_981_820_361e-5],
];

/// The largest norm for which the polynomial is exact to single and to double precision (the same source).
const REACH: [f64; 2] = [3.010_066_362_817_634, 1.090_863_719_290_036];

/// `exp(A)`.
pub fn exponential<N: Number>(a: &Matrix<N>) -> Matrix<N> {
    let n = a.rows;
    let norm = a.norm1();
    if !norm.is_finite() {
        return Matrix::build(n, n, |_, _| N::real(f64::NAN));
    }
    let is_double = N::real(1.0 + f64::EPSILON).re() > 1.0;
    let reach = REACH[usize::from(is_double)];
    let halvings = if norm > reach { (norm / reach).log2().ceil() as i32 } else { 0 };
    let scale = N::real(0.5_f64.powi(halvings));
    let first = Matrix { data: a.data.iter().map(|x| *x * scale).collect(), ..*a };
    let second = first.times(&first);
    let third = second.times(&first);
    let sixth = third.times(&third);
    let powers = [&first, &second, &third, &sixth];
    let sum = |of: usize| sum(&powers, &SUMS[of]);
    let mut common = sum(0).times(&sum(4));
    add(&mut common, &sum(3));
    let mut left = sum(2);
    add(&mut left, &common);
    let mut result = left.times(&common);
    add(&mut result, &sum(1));
    (0..halvings).for_each(|_| result = result.times(&result));
    result
}

/// The sum of the identity and of matrices, each times a number.
fn sum<N: Number>(powers: &[&Matrix<N>; 4], factors: &[f64; 5]) -> Matrix<N> {
    let [one, factors @ ..] = factors.map(N::real);
    let [first, second, third, sixth] = powers.map(|power| &power.data[..]);
    let rest = second.iter().zip(third).zip(sixth);
    let data = first.iter().zip(rest).map(|(a, ((b, c), d))| factors[0] * *a + factors[1] * *b + factors[2] * *c + factors[3] * *d);
    let n = powers[0].rows;
    let mut sum = Matrix { data: data.collect(), ..*powers[0] };
    (0..n).for_each(|place| sum[(place, place)] += one);
    sum
}

fn add<N: Number>(to: &mut Matrix<N>, from: &Matrix<N>) {
    to.data.iter_mut().zip(&from.data).for_each(|(to, from)| *to += *from);
}
