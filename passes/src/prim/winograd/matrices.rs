//! The transforms, from polynomials.
//!
//! A row of results is a correlation: `y[i] = sum_k d[i + k] g[k]`, with `TILE` results, `WINDOW` weights, and `UNDER` elements. Its
//! transpose, with `g` fixed, takes `TILE` numbers `y` to the `UNDER` coefficients of the product of the polynomials `y(x)` and `g(x)`. Such
//! a product has `UNDER` coefficients and is known from its values at `UNDER - 1` points and its leading coefficient, its value "at
//! infinity". So it is: evaluate `y` (matrix `V`, rows `1, p, p^2, ..` and at infinity the last coefficient), evaluate `g` likewise,
//! multiply value by value, interpolate (matrix `I`). Transposed again, the correlation is `V^T ((G g) * (I^T d))`.
//!
//! Interpolation after Lagrange: value `i` contributes the polynomial `prod_{j != i} (x - p_j) / (p_i - p_j)`; infinity contributes
//! `prod_j (x - p_j)`. The denominators are weights' matter: they divide the rows of `G`, and what is left of `I^T` are the
//! coefficients of those products. In two dims every line is transformed, then every column.
//!
//! Any different points will do; how far apart they lie decides the error. With 0, 1, -1, 2, -2 it is some twelve times the direct form's,
//! with 0, 3/4, -3/4, 3/2, -3/2 about twice: powers of points and of their differences stay near 1. All entries but those of `G` are
//! exact in `f32`.
//!
//! A gradient of weights has `WINDOW` results and `TILE` weights: the same points, and the same `I^T`.

/// Results of a tile along one dim; weights, of a gradient of weights.
pub const TILE: usize = 4;
/// Weights along one dim; results, of a gradient of weights.
pub const WINDOW: usize = 3;
/// Where polynomials are evaluated.
const POINTS: [f64; TILE + WINDOW - 2] = [0.0, 0.75, -0.75, 1.5, -1.5];

/// The three matrices, row by row.
pub struct Transform {
    /// `I^T`: of the elements under a tile.
    pub input: Vec<f64>,
    /// `G`: of the weights.
    pub weights: Vec<f64>,
    /// `V^T`: to the results.
    pub result: Vec<f64>,
}

impl Transform {
    /// The matrices for so many results and weights along one dim, which are [`TILE`] and [`WINDOW`] in either order.
    pub fn new(results: usize, window: usize) -> Self {
        let under = results + window - 1;
        let others = |at: usize| POINTS.iter().enumerate().filter(move |(j, _)| *j != at).map(|(_, point)| *point);
        let powers = |point: f64, count: usize| (0..count as i32).map(move |power| point.powi(power));
        let (mut input, mut weights) = (Vec::new(), Vec::new());
        for (at, &point) in POINTS.iter().enumerate() {
            let mut row = polynomial(others(at));
            row.resize(under, 0.0);
            input.extend(row);
            let denominator: f64 = others(at).map(|other| point - other).product();
            weights.extend(powers(point, window).map(|power| power / denominator));
        }
        input.extend(polynomial(POINTS.into_iter()));
        weights.extend((0..window).map(|k| f64::from(u8::from(k + 1 == window))));
        let row = |k: usize| POINTS.iter().map(move |point| point.powi(k as i32)).chain([f64::from(u8::from(k + 1 == results))]);
        let result = (0..results).flat_map(row).collect();
        Self { input, weights, result }
    }
}

/// The coefficients of `prod (x - root)`, the constant one first.
fn polynomial(roots: impl Iterator<Item = f64>) -> Vec<f64> {
    roots.fold(vec![1.0], |before, root| {
        let raised = std::iter::once(0.0).chain(before.iter().copied());
        raised.zip(before.iter().copied().chain([0.0])).map(|(raised, same)| raised - root * same).collect()
    })
}
