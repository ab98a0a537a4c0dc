//! A kernel read once into a flat form: registers by number, operators as functions.

use super::scalar::{One, Two};
use strata_core::ir::ElementType;

/// A register: one value for each thread of a block. Vectors and complex numbers are several in a row.
pub type Reg = usize;

/// How two numbers become one.
#[derive(Clone, Copy)]
pub enum Join {
    /// Integers of so many bits.
    Integers(Two, u32),
    /// Floats.
    Floats(fn(f64, f64) -> f64, ElementType),
}

/// What an instruction does.
pub enum Do {
    /// Sets a register to a number in all threads.
    Set { to: Reg, value: u64 },
    /// Copies.
    Move { to: Reg, from: Reg },
    /// An operator of integers, on so many bits, whose result has so many.
    Two { to: Reg, a: Reg, b: Reg, f: Two, bits: u32, result: u32 },
    /// An operator of one integer.
    One { to: Reg, a: Reg, f: One, bits: u32 },
    /// An operator of floats.
    Floats { to: Reg, a: Reg, b: Reg, f: fn(f64, f64) -> f64, ty: ElementType },
    /// An operator of one float.
    Float { to: Reg, a: Reg, f: fn(f64) -> f64, ty: ElementType },
    /// A question about a float.
    Test { to: Reg, a: Reg, f: fn(f64) -> bool, ty: ElementType },
    /// A comparison of floats.
    Compare { to: Reg, a: Reg, b: Reg, predicate: i64, ty: ElementType },
    /// `a * b + c` rounded once.
    Fused { to: Reg, a: Reg, b: Reg, c: Reg, ty: ElementType },
    /// The product of two numbers without a sign: its lower and its upper half.
    Product { low: Reg, high: Reg, a: Reg, b: Reg, bits: u32 },
    /// One of two.
    Select { to: Reg, condition: Reg, a: Reg, b: Reg },
    /// A change of type, by the op's name.
    Convert { to: Reg, a: Reg, name: String, from: ElementType, result: ElementType },
    /// Refuses a pointer that is no multiple of so many bytes.
    Aligned { pointer: Reg, to: u64 },
    /// Reads so many bytes; of a vector's element `at` bytes further.
    Load { to: Reg, pointer: Reg, at: u64, size: usize },
    /// Writes.
    Store { from: Reg, pointer: Reg, at: u64, size: usize },
    /// Combines what is there with a register in one step; gives what was there.
    Atomic { to: Reg, from: Reg, pointer: Reg, size: usize, join: Join },
    /// A pointer plus a number of elements.
    Offset { to: Reg, pointer: Reg, index: Reg, size: u64 },
    /// The thread's number.
    Thread { to: Reg },
    /// The block's number.
    Block { to: Reg },
    /// Another lane's register.
    Shuffle { to: Reg, from: Reg, distance: Reg, width: Reg },
    /// Bits of a register.
    Part { to: Reg, a: Reg, shift: u32, bits: u32 },
    /// The lanes of a warp read four matrices of 8 by 8 elements of 16 bits; each lane says where a row of one begins.
    Matrices { to: Reg, pointer: Reg, turned: bool },
    /// Starts copying 16 bytes, of which so many are there (all without a register); the others become zero.
    StartCopy { to: Reg, from: Reg, size: Option<Reg> },
    /// The copies started since the last time are a group.
    Group,
    /// Waits until all groups but the last `left` ones have arrived.
    Arrive { left: usize },
    /// The lanes of a warp multiply matrices together.
    Matrix(super::matrix::Product),
    /// All threads wait for each other.
    Barrier,
    /// Orders memory accesses before and after, as other blocks see them.
    Fence,
    /// Runs one of two lists.
    If { condition: Reg, then: Vec<Step>, otherwise: Vec<Step> },
    /// Runs a list while the number is below the end.
    For { number: Reg, end: Reg, step: Reg, body: Vec<Step> },
}

/// An instruction and where it came from.
pub struct Step {
    /// What it does.
    pub what: Do,
    /// The op's name and location.
    pub origin: (&'static str, std::sync::Arc<str>),
}

/// A kernel.
pub struct Code {
    /// What every thread does.
    pub steps: Vec<Step>,
    /// How many registers there are.
    pub registers: usize,
    /// Registers of the arguments.
    pub arguments: Vec<Reg>,
    /// Threads of a block.
    pub threads: usize,
    /// Bytes of shared memory.
    pub shared: usize,
    /// Bytes of a thread's own memory.
    pub local: usize,
    /// Tables.
    pub constants: Vec<Vec<u8>>,
}
