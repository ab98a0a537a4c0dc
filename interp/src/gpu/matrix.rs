//! `mma.sync`: the 32 lanes of a warp hold two matrices and sums in their registers, and multiply them together.
//!
//! Rows of 16 elements times columns of 16, for 16 rows and 8 columns. Lane `4 g + t` holds of the left matrix pairs at `2 t` and `2 t + 8` of
//! rows `g` and `g + 8`, of the right one those of column `g`, of the sums columns `2 t` and `2 t + 1` of both rows. Of f32 there are 8 elements
//! in a row, of which a lane holds those at `t` and `t + 4`; their last 13 bits count for nothing.

use super::super::value::{InterpError, fail};
use super::code::Reg;
use super::run::{BlockRun, WARP};
use super::scalar::{bits_of, float};
use strata_core::ir::{ElementType, Op};

const ROWS: usize = 16;
const COLUMNS: usize = 8;

/// Registers of a product of matrices.
pub struct Product {
    /// Four sums.
    pub to: Reg,
    /// The lane's elements of the left matrix, in the order of its pairs.
    pub left: Vec<Half>,
    /// Those of the right one, half as many.
    pub right: Vec<Half>,
    /// The sums before.
    pub sums: Vec<Reg>,
    /// The elements' type.
    pub element: ElementType,
}

/// An element: its register, and by how many bits it is shifted there.
pub type Half = (Reg, u32);

impl Product {
    /// Reads the op; `registers` are its operands.
    pub fn of(op: Op<'_>, registers: &[Reg], to: Reg) -> Option<Self> {
        let text = |name: &str| op.attr(name).map(|attr| attr.to_string()).unwrap_or_default();
        let shape = text("shape");
        let element = match text("multiplicandAPtxType") {
            kind if kind.contains("bf16") => ElementType::BF16,
            kind if kind.contains("<f16>") => ElementType::F16,
            kind if kind.contains("tf32") => ElementType::F32,
            _ => return None,
        };
        let long = if element == ElementType::F32 { "k = 8" } else { "k = 16" };
        let known = ["m = 16", "n = 8", long].iter().all(|part| shape.contains(part))
            && text("layoutA").contains("row")
            && text("layoutB").contains("col");
        if !known || registers.len() != 10 {
            return None;
        }
        // Two elements are a vector, or one word.
        let halves = |k: usize| match op.operand(k).ty().is_vector() {
            _ if element == ElementType::F32 => vec![(registers[k], 0)],
            true => vec![(registers[k], 0), (registers[k] + 1, 0)],
            false => vec![(registers[k], 0), (registers[k], 16)],
        };
        let sums = registers[6..].to_vec();
        Some(Self { to, left: (0..4).flat_map(halves).collect(), right: (4..6).flat_map(halves).collect(), sums, element })
    }
}

impl BlockRun<'_, '_> {
    /// `ldmatrix`: lanes 8 `k` to 8 `k + 7` say where the rows of matrix `k` begin; lane `4 g + t` gets two elements of row `g`, or of
    /// column `g` where they are turned.
    pub(super) fn matrices(&mut self, on: &[usize], (to, pointer): (Reg, Reg), turned: bool) -> Result<(), InterpError> {
        for warp in on.chunks(WARP) {
            let first = whole(warp)?;
            for matrix in 0..4 {
                for lane in 0..WARP {
                    let mut word = 0;
                    for k in 0..2 {
                        let (own, other) = (lane / 4, lane % 4 * 2 + k);
                        let (row, column) = if turned { (other, own) } else { (own, other) };
                        let at = self.get(pointer, first + 8 * matrix + row);
                        if !at.is_multiple_of(16) {
                            return Err(fail("a row of a matrix does not begin at a multiple of 16 bytes"));
                        }
                        let element = self.memory.load(at.wrapping_add(2 * column as u64), 2, self.who(first + lane))?;
                        word |= element << (16 * k);
                    }
                    self.values[(to + matrix) * self.code.threads + first + lane] = word;
                }
            }
        }
        Ok(())
    }

    /// All lanes of each warp must take part.
    pub(super) fn matrix(&mut self, on: &[usize], product: &Product) -> Result<(), InterpError> {
        for warp in on.chunks(WARP) {
            let first = whole(warp)?;
            // Elements that a lane has side by side, and the bits of one that count.
            let (pair, seen) = if product.element == ElementType::F32 { (1, 0xFFFF_E000) } else { (2, 0xFFFF) };
            let number = |half: &Half, lane: usize| float((self.get(half.0, first + lane) >> half.1) & seen, product.element);
            let mut sums = vec![0.0; ROWS * COLUMNS];
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let slot = 2 * (row / 8) + column % 2;
                    let before = float(self.get(product.sums[slot], first + row % 8 * 4 + column / 2), ElementType::F32);
                    let term = |k: usize| {
                        let (word, lane, part) = (k / (4 * pair), k / pair % 4, k % pair);
                        // Words of the left matrix: the upper row, the lower one, then both further on.
                        let left = number(&product.left[pair * (row / 8 + 2 * word) + part], row % 8 * 4 + lane);
                        left * number(&product.right[pair * word + part], column * 4 + lane)
                    };
                    sums[row * COLUMNS + column] = before + (0..8 * pair).map(term).sum::<f64>();
                }
            }
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let (slot, thread) = (2 * (row / 8) + column % 2, first + row % 8 * 4 + column / 2);
                    self.values[(product.to + slot) * self.code.threads + thread] = bits_of(sums[row * COLUMNS + column], ElementType::F32);
                }
            }
        }
        Ok(())
    }
}

/// The first lane of a warp, all of whose lanes must be on.
fn whole(warp: &[usize]) -> Result<usize, InterpError> {
    let first = warp[0];
    if warp.len() != WARP || !first.is_multiple_of(WARP) || warp[WARP - 1] != first + WARP - 1 {
        return Err(fail(format!("matrices need all lanes of a warp; that of thread {first} has some off")));
    }
    Ok(first)
}
