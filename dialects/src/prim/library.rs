//! Calls of the runtime library: factorisations and transforms, which are algorithms and no loops over elements.
//!
//! One op serves all of them, so that a new function is a row of [`FUNCTIONS`], a function of the runtime and an arm of
//! the interpreter, and no level in between knows its name.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::sizes::{self, Constraint, Size, SizeConstraints};

/// A function of the runtime library, on the trailing dimensions of its operands; all leading ones are a batch.
pub struct Function {
    /// Its name; the runtime exports `strata_lib_NAME`.
    pub name: &'static str,
    /// Operands and results: element type and trailing sizes of each. `T` is `f32`, `f64` or their complex types, `R` its real
    /// part, `C` its complex type, `A` any type with an order, `B` is a truth value, `I` is `i32`, `L` is `i64`.
    pub signature: &'static str,
    /// Flags that a call may give.
    pub options: &'static [&'static str],
}

/// Only the values of a decomposition are computed.
const VALUES: &str = "values";

/// The first operand is given as its transpose: the matrix lies column after column.
pub const TURNED: &str = "turned";

/// The Fourier transform of each row of a matrix.
pub const FFT: &str = "fft";

/// The Fourier transform of each column.
pub const FFT_COLUMNS: &str = "fft_columns";

/// The Fourier transform of each row of the transpose.
pub const FFT_TURNED: &str = "fft_turned";

const fn function(name: &'static str, signature: &'static str, options: &'static [&'static str]) -> Function {
    Function { name, signature, options }
}

/// Every function, sorted by name. Numbers count from one where LAPACK counts so: pivots and infos.
///
/// - `cholesky`: lower factor of the Hermitian matrix in the lower triangle, and the order of the first minor that is not positive (or 0); both
///   matrices lie column after column, as in `lu`.
/// - `ctc`: the negative logarithm of a sequence's probability (see `aten._ctc_loss`), of scores by time and class, labels, how many of
///   both are used, and the class that is blank; and the logarithms of the probabilities to be in a state (`2s + 1` of them) at a time.
/// - `ctc_gradient`: its gradient, from scores, both results, the incoming gradient and the other operands.
/// - `eig`: eigenvalues and unit right eigenvectors.
/// - `eigh`: ascending eigenvalues and eigenvectors of the Hermitian matrix in the lower triangle.
/// - `fft`, `rfft`, `irfft`: unscaled transforms of a line; `rfft` gives `n / 2 + 1` frequencies, `irfft` takes them.
/// - `fft_columns`, `fft_turned`: `fft` of each column of a matrix, as a column and as a row of the result.
/// - `householder`: the first columns of the product of the reflections that `qr` leaves; both lie column after column, as in `lu`.
/// - `ldl`, `ldl_solve`: LAPACK's `sytrf` and `sytrs` (`hetrf` when `hermitian`) of the lower triangle.
/// - `lexsort`: the stable order of rows that compares their first elements, then the second ones, and so on.
/// - `lu`: packed factors, row exchanges, the permutation of rows that they are, and the first zero pivot (or 0). The matrix and its factors lie
///   column after column, as LAPACK has them: both are given as their transposes.
/// - `matrix_exp`: the exponential.
/// - `nms`: which boxes (`x1, y1, x2, y2`) no box of a higher score overlaps by more than the threshold, best first, and how many.
/// - `order_statistics`: the elements that a stable sort of a line puts at places of it (see `prim.sort`), and their positions.
/// - `permutation`: what a list of row exchanges does to the rows.
/// - `qr`: LAPACK's `geqrf`: R above the reflection vectors, and their factors. The matrix and what is packed lie column after column, as in `lu`.
/// - `svd`: left vectors, descending singular values, adjoint of the right vectors.
/// - `triangular_solve`: X of `A X = B`, where `upper` and `unit` tell of A itself.
/// - `true_positions`: where the first `k` elements of a line are that are true, then -1.
///
/// With the option `values`, `eig`, `eigh` and `svd` may leave their vectors undefined. With `turned`, the first operand is given as its transpose.
pub static FUNCTIONS: &[Function] = &[
    function("cholesky", "T(n,n) -> T(n,n) I()", &[]),
    function("ctc", "T(t,c) L(s) I() I() I() -> T() T(t,k)", &[]),
    function("ctc_gradient", "T(t,c) T(t,k) T() T() L(s) I() I() I() -> T(t,c)", &["zero_infinity"]),
    function("eig", "T(n,n) -> C(n) C(n,n)", &[VALUES]),
    function("eigh", "T(n,n) -> R(n) T(n,n)", &[VALUES]),
    function(FFT, "T(n) -> T(n)", &["inverse"]),
    function(FFT_COLUMNS, "T(n,m) -> T(n,m)", &["inverse"]),
    function(FFT_TURNED, "T(n,m) -> T(m,n)", &["inverse"]),
    function("householder", "T(n,m) T(k) -> T(n,m)", &[]),
    function("irfft", "T(k) -> R(n)", &[]),
    function("ldl", "T(n,n) -> T(n,n) I(n) I()", &["hermitian"]),
    function("ldl_solve", "T(n,n) I(n) T(n,k) -> T(n,k)", &["hermitian"]),
    function("lexsort", "A(n,m) -> L(n)", &[]),
    function("lu", "T(n,m) -> T(n,m) I(k) L(m) I()", &["nopivot"]),
    function("matrix_exp", "T(n,n) -> T(n,n)", &[]),
    function("nms", "T(n,d) T(n) T() -> L(n) L()", &[]),
    function("order_statistics", "A(n) L(k) -> A(k) L(k)", &["descending"]),
    function("permutation", "I(k) -> L(m)", &[]),
    function("qr", "T(n,m) -> T(n,m) T(k)", &[]),
    function("rfft", "T(n) -> C(k)", &[]),
    function("svd", "T(m,n) -> T(m,p) R(k) T(q,n)", &[VALUES]),
    function("triangular_solve", "T(n,n) T(n,k) -> T(n,k)", &["unit", "upper", TURNED]),
    function("true_positions", "B(n) -> L(k)", &[]),
];

/// One operand or result of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The letter of its element type.
    pub element: char,
    /// The letters of its trailing sizes.
    pub sizes: Vec<char>,
}

impl Function {
    /// The function of this name.
    pub fn find(name: &str) -> Option<&'static Function> {
        FUNCTIONS.binary_search_by(|f| f.name.cmp(name)).ok().map(|at| &FUNCTIONS[at])
    }

    /// Operands and results.
    pub fn parts(&self) -> (Vec<Part>, Vec<Part>) {
        let (operands, results) = self.signature.split_once("->").unwrap_or((self.signature, ""));
        let parts = |text: &str| text.split_whitespace().filter_map(Part::read).collect();
        (parts(operands), parts(results))
    }

    /// The letters of sizes, in order of appearance, and how many of them the operands tell.
    pub fn letters(&self) -> (Vec<char>, usize) {
        let (operands, results) = self.parts();
        let (mut letters, mut told) = (Vec::new(), 0);
        for (at, part) in operands.iter().chain(&results).enumerate() {
            for &letter in &part.sizes {
                if !letters.contains(&letter) {
                    letters.push(letter);
                }
            }
            told = if at < operands.len() { letters.len() } else { told };
        }
        (letters, told)
    }

    /// The option that spares a call what nobody uses, if there is one; `needed` says of each result, by its number, whether it is used.
    pub fn option_for(&self, needed: impl Fn(usize) -> bool) -> Option<&'static str> {
        let vectors = |results: Vec<Part>| results.iter().enumerate().any(|(at, part)| part.sizes.len() > 1 && needed(at));
        (self.options.contains(&VALUES) && !vectors(self.parts().1)).then_some(VALUES)
    }

    /// The options of a call as bits, in the order of the table; None where it does not know one.
    pub fn mask(&self, options: &[String]) -> Option<i64> {
        options.iter().try_fold(0, |mask, name| Some(mask | 1 << self.options.iter().position(|option| option == name)?))
    }
}

impl Part {
    fn read(text: &str) -> Option<Part> {
        let (element, sizes) = text.strip_suffix(')')?.split_once('(')?;
        Some(Part { element: element.chars().next()?, sizes: sizes.chars().filter(|c| c.is_alphabetic()).collect() })
    }

    /// Its element type, in a call on this type.
    pub fn element_type(&self, of: ElementType) -> ElementType {
        use ElementType::*;
        let complex = matches!(of, C128 | F64);
        match self.element {
            'R' if of.is_complex() => {
                if complex {
                    F64
                } else {
                    F32
                }
            }
            'C' => {
                if complex {
                    C128
                } else {
                    C64
                }
            }
            'I' => I32,
            'L' => I64,
            _ => of,
        }
    }
}

/// What a [`Function`] of the runtime library gives. After the tensors come `index` operands: one for each size that
/// only results have and no result type tells, in order of appearance in the signature.
///
/// C1: `function` and `options` are known. C2: operands and results are as many as the signature's, and the `index`
/// operands as many as needed. C3: element types are the signature's. C4: all tensors have one batch, and sizes of
/// one letter agree.
#[op("prim.library", effects(Pure), interfaces(SizeConstraints), verify)]
pub struct Library {
    operands: Variadic<AnyType>,
    results: Results<AnyType>,
    function: Attr<Str>,
    options: Attr<Strs>,
}

impl SizeConstraints for Library<'_> {
    /// Each batch is that of the first operand, and each letter the size that it stood for first.
    fn size_constraints(&self) -> Vec<Constraint> {
        let Some(function) = Function::find(&self.function()) else { return Vec::new() };
        let (mut constraints, mut letters) = (Vec::new(), Vec::<(char, Size)>::new());
        for (operand, (part, value)) in function.parts().0.iter().zip(self.operands()).enumerate() {
            let lead = value.ty().rank().saturating_sub(part.sizes.len());
            constraints.extend(sizes::equal(0, operand, (0..lead).map(|dim| (dim, dim))));
            for (place, letter) in part.sizes.iter().enumerate() {
                let size = Size::Of(operand, lead + place);
                match letters.iter().find(|(known, _)| known == letter) {
                    Some((_, first)) => constraints.push(Constraint::Equal(first.clone(), size)),
                    None => letters.push((*letter, size)),
                }
            }
        }
        constraints
    }
}

impl Verify for Library<'_> {
    fn verify(self) -> Checked {
        let name = self.function();
        let Some(function) = Function::find(&name) else {
            return Err(Violation::new(1, format!("the library has no function `{name}`")));
        };
        ensure!(function.mask(&self.options()).is_some(), 1, "`{name}` has the options {}", function.options.join(", "));
        let (operands, results) = function.parts();
        let (given, wanted) = (self.operands(), results.len());
        let tensors = given.iter().take_while(|value| value.ty().is_tensor()).count();
        ensure!(
            tensors == operands.len() && self.results().len() == wanted,
            2,
            "{tensors} tensors give {} for `{name}`: {}",
            self.results().len(),
            function.signature
        );
        let of = given[0].ty().element_type().filter(|e| match operands[0].element {
            'A' => !e.is_complex(),
            'B' => *e == ElementType::Bool,
            'I' => true,
            _ => matches!(e, ElementType::F32 | ElementType::F64) || e.is_complex(),
        });
        let Some(of) = of else { return Err(Violation::new(3, format!("`{name}` of {}", given[0].ty()))) };
        let mut sizes = Sizes::default();
        for (part, value) in operands.iter().zip(&given).chain(results.iter().zip(&self.results())) {
            let ty = value.ty();
            ensure!(ty.element_type() == Some(part.element_type(of)), 3, "{ty} does not fit in {}", function.signature);
            sizes.agree(part, &ty.shape())?;
        }
        let (letters, told) = function.letters();
        let unknown = letters[told..].iter().filter(|letter| sizes.of(**letter) == DYNAMIC).count();
        ensure!(given.len() - tensors == unknown, 2, "{} index operands for {unknown} unknown sizes", given.len() - tensors);
        Ok(())
    }
}

/// The sizes that types tell.
#[derive(Default)]
struct Sizes {
    batch: Option<Vec<i64>>,
    letters: Vec<(char, i64)>,
}

impl Sizes {
    fn of(&self, letter: char) -> i64 {
        self.letters.iter().find(|(known, _)| *known == letter).map_or(DYNAMIC, |(_, size)| *size)
    }

    fn agree(&mut self, part: &Part, shape: &[i64]) -> Checked {
        let Some(lead) = shape.len().checked_sub(part.sizes.len()) else {
            return Err(Violation::new(4, format!("the shape {} has too few dimensions", check::show(shape))));
        };
        let batch = self.batch.get_or_insert_with(|| shape[..lead].to_vec());
        ensure!(
            check::shapes_agree(batch, &shape[..lead]),
            4,
            "the batches {} and {} differ",
            check::show(batch),
            check::show(&shape[..lead])
        );
        for (&letter, &size) in part.sizes.iter().zip(&shape[lead..]) {
            let known = self.of(letter);
            ensure!(check::agree(known, size), 4, "{letter} is {known} and {size}");
            self.letters.retain(|(other, _)| *other != letter || known != DYNAMIC);
            if known == DYNAMIC {
                self.letters.push((letter, size));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_reads() {
        assert!(FUNCTIONS.is_sorted_by_key(|f| f.name));
        for f in FUNCTIONS {
            let (operands, results) = f.parts();
            assert_eq!(operands.len() + results.len(), f.signature.matches('(').count(), "{}", f.name);
            assert!(!operands.is_empty() && !results.is_empty() && Function::find(f.name).is_some());
        }
        assert_eq!(Function::find("svd").map(Function::letters), Some((vec!['m', 'n', 'p', 'k', 'q'], 2)));
    }

    #[test]
    fn options_are_bits_in_order() {
        let solve = Function::find("triangular_solve").unwrap();
        assert_eq!(solve.mask(&["upper".to_owned()]), Some(2));
        assert_eq!(solve.mask(&["lower".to_owned()]), None);
    }

    #[test]
    fn vectors_that_nobody_needs_are_an_option() {
        let svd = Function::find("svd").unwrap();
        assert_eq!(svd.option_for(|result| result == 1), Some("values"));
        assert_eq!(svd.option_for(|result| result < 2), None);
        assert_eq!(Function::find("lu").unwrap().option_for(|_| false), None);
    }
}
