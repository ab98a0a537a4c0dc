//! `--split-scans`: scans of few long rows become scans of their pieces, for a device whose blocks share rows.
//!
//! One block of threads scans a row. Where rows are fewer than there are blocks at a time, and long, the rows of three kernels do it sooner: pieces
//! are scanned each by itself, then what they come to, and what stands before a piece is combined with all of it.
//!
//! ```mlir
//! %0 = prim.scan %x {dim = 0 : i64, kind = "sum"} : (tensor<1048576xf32>) -> tensor<1048576xf32>
//! // becomes
//! %pieces = prim.reshape %x : (tensor<1048576xf32>) -> tensor<256x4096xf32>
//! %inside = prim.scan %pieces {dim = 1 : i64, kind = "sum"} : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
//! %before = ... "the scan of the last column, one piece further"
//! %0 = ... "%inside + %before where there is a piece before"
//! ```
//!
//! Refused are rows of unknown length or number, rows that are enough for all blocks or short, and sums and products of floats with numerics `strict`: their order is
//! the program's.

use strata_core::ir::{ElementType, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::aten::dtype::Numeric;
use strata_dialects::loops::view::product;
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Prim, Scalar, Size};
use strata_dialects::target::gpu::{ELEMENTS_OF_THREAD, Gpu, THREADS_OF_BLOCK};

/// Scans pieces of long rows.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith"))]
pub struct SplitScans {
    /// strict, ulp or fast.
    #[option(default = "ulp")]
    numerics: String,
    /// Scans that were split.
    scans: Counter,
}

/// Elements of a piece, which a block scans.
const PIECE: i64 = THREADS_OF_BLOCK * ELEMENTS_OF_THREAD;

impl Pass for SplitScans {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let free = Numerics::of(&self.numerics)? > Numerics::Strict;
        let gpu = Gpu::of(op)?;
        for scan in op.find_all(prim::Scan::NAME) {
            let Some(operator) = cx.remarks().found(scan, operator(scan, &gpu, free)) else { continue };
            let Some(block) = scan.block() else { continue };
            let prim = Prim::new(block, scan.location());
            split(&prim, scan, operator);
            if let Some(message) = prim.take_error() {
                return Err(PassError::at(scan, &message));
            }
            self.scans.add(1);
        }
        Ok(())
    }
}

/// Whether its rows are too few to keep the device busy, and each is so long that it is worth two more kernels.
fn is_long(scan: Op<'_>, gpu: &Gpu) -> bool {
    let (ty, dim) = (scan.operand(0).ty(), scan.int("dim").unwrap_or_default() as usize);
    let shape = ty.shape();
    let rows = product(shape.iter().enumerate().filter(|(other, _)| *other != dim).map(|(_, &size)| size));
    ty.is_static() && shape.get(dim).is_some_and(|&length| length >= gpu.elements_of_a_launch(4)) && (1..gpu.busy_blocks()).contains(&rows)
}

/// Whether any order gives the same.
fn is_exact(scan: Op<'_>) -> bool {
    let rounds = scan.operand(0).ty().element_type().is_some_and(|element| element.is_float() || element.is_complex());
    !rounds || !matches!(scan.str("kind").as_deref(), Some("sum" | "prod"))
}

/// The operator that a scan combines by, if the scan is to be split; `free` allows another order of what rounds.
fn operator(scan: Op<'_>, gpu: &Gpu, free: bool) -> Result<&'static str, NoMatch> {
    if !is_long(scan, gpu) {
        return Err("its rows are enough for the device, are short, or their sizes are not known".into());
    }
    if !free && !is_exact(scan) {
        return Err("the numerics are strict, and another order rounds otherwise".into());
    }
    Ok(match scan.str("kind").as_deref() {
        Some("sum") => prim::Add::NAME,
        Some("prod") => prim::Mul::NAME,
        Some("max") => prim::Maximum::NAME,
        Some("min") => prim::Minimum::NAME,
        Some("and") => prim::And::NAME,
        Some("or") => prim::Or::NAME,
        Some("xor") => prim::Xor::NAME,
        _ => return Err("no operator combines what comes before a piece with it".into()),
    })
}

fn split<'c, 'p>(prim: &'p Prim<'p>, scan: Op<'c>, operator: &str)
where
    'c: 'p,
{
    let scan: Op<'p> = scan;
    prim.set_before(scan);
    let (x, dim, kind) = (prim.tensor(scan.operand(0)), scan.int("dim").unwrap_or_default() as usize, scan.str("kind").unwrap_or_default());
    let (dtype, length) = (x.dtype(), x.size(dim));
    let pieces = length.ceil_div(PIECE);
    // What stands behind the end is behind all that is kept.
    let whole = x.convert(dtype.compute()).pad_dim(dim, Scalar::Int(0), 0, pieces * PIECE - length);
    let mut shape = whole.shape().to_vec();
    shape.splice(dim..=dim, [pieces, Size::Const(PIECE)]);
    let inside = whole.reshape(&shape).scan(&kind, dim + 1);
    let totals = inside.at(dim + 1, PIECE - 1).scan(&kind, dim);
    let before = totals.pad_dim(dim, Scalar::Int(0), 1, -1).unsqueeze(dim + 1);
    let first = prim.iota(ElementType::I64, &shape, dim).equal(0);
    let all = first.select(inside, inside.binary(operator, before)).reshape(&whole.shape());
    prim.replace(scan, &[all.slice(dim, 0, length, 1).convert(dtype).value()]);
}
