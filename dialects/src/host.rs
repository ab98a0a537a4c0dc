//! The host level: the program around the kernels, in destination-passing style.
//!
//! Buffers are one-dimensional memrefs, dense and row-major. The entry is a `func.func` with the unit attribute `host.entry`.

use strata_core::prelude::*;

/// The dialect.
pub static HOST: DialectDef = DialectDef {
    name: "host",
    doc: "The program around the kernels: the call's tensors, allocations, launches, copies.",
    ops: || {
        vec![
            Alloc::DEF,
            Arena::DEF,
            Constant::DEF,
            Copy::DEF,
            CustomCall::DEF,
            Elements::DEF,
            Extern::DEF,
            Guard::DEF,
            Input::DEF,
            InputSize::DEF,
            Launch::DEF,
            Load::DEF,
            Output::DEF,
            Product::DEF,
            Return::DEF,
            Settle::DEF,
            Slice::DEF,
            Store::DEF,
            Weight::DEF,
        ]
    },
    ..DialectDef::NEW
};

/// No call has more inputs, outputs or weights, and no tensor more dims: their places in lists are numbers of four bytes.
const MOST: i64 = i32::MAX as i64;

/// Whether an attribute is a place in a list.
fn place(op: Op<'_>, name: &str) -> std::result::Result<(), Violation> {
    let number = op.int(name).unwrap_or_default();
    ensure!((0..=MOST).contains(&number), 1, "the {name} {number} is not between 0 and {MOST}");
    Ok(())
}

/// Data of the call's input `index`.
///
/// C1: `index` is between 0 and 2^31 - 1.
#[op("host.input", traits(Pure), verify)]
pub struct Input {
    buffer: Result<MemRef>,
    index: Attr<I64>,
}

impl Verify for Input<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        place(self.op(), "index")
    }
}

/// A size of the call's input `index`.
///
/// C1: `index` and `dim` are between 0 and 2^31 - 1.
#[op("host.input_size", traits(Pure), verify)]
pub struct InputSize {
    size: Result<Index>,
    index: Attr<I64>,
    dim: Attr<I64>,
}

impl Verify for InputSize<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        place(self.op(), "index")?;
        place(self.op(), "dim")
    }
}

/// Data of a parameter, buffer or constant of the program.
///
/// C1: `index` is between 0 and 2^31 - 1.
#[op("host.weight", traits(Pure), verify)]
pub struct Weight {
    buffer: Result<MemRef>,
    index: Attr<I64>,
}

impl Verify for Weight<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        place(self.op(), "index")
    }
}

/// Elements known while compiling.
#[op("host.constant", traits(Pure))]
pub struct Constant {
    buffer: Result<MemRef>,
    value: Attr<Dense>,
}

/// Ends the call with the message `text` unless the condition holds; `details` go into the message.
#[op("host.guard", effects(Write))]
pub struct Guard {
    condition: Operand<Bool>,
    details: Variadic<Index>,
    text: Attr<Str>,
}

/// Ends the call if a kernel that was launched before it has found an index out of bounds. Such a kernel only leaves a note, for which the
/// call fails when it returns; what is written over values that a failed call must not change is written behind this op.
#[op("host.settle", effects(Write))]
pub struct Settle {}

/// The number of elements of a tensor of these sizes, which are symbolic. The call ends with the message `text`, the sizes being its
/// details, where one is negative or elements of so many `bytes` would take more memory than there are addresses. Every size that
/// is computed at run time passes here before memory is asked for: what is computed from these sizes later does not overflow.
///
/// C1: `bytes` is between 1 and 16.
#[op("host.elements", effects(Write), verify)]
pub struct Elements {
    sizes: Variadic<Index>,
    elements: Result<Index>,
    bytes: Attr<I64>,
    text: Attr<Str>,
}

impl Verify for Elements<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let bytes = self.bytes();
        ensure!((1..=16).contains(&bytes), 1, "no element has {bytes} bytes");
        Ok(())
    }
}

/// The product of two numbers of which sizes are made. The call ends with the message `text`, the operands being its details, where it
/// overflows.
#[op("host.product", effects(Write))]
pub struct Product {
    lhs: Operand<Index>,
    rhs: Operand<Index>,
    product: Result<Index>,
    text: Attr<Str>,
}

/// No tensor takes more bytes: no process has more addresses, and sums of some thousand such numbers do not overflow.
pub const LARGEST: i64 = 1 << 47;

/// Fresh memory of the call for so many elements.
#[op("host.alloc", effects(Allocate))]
pub struct Alloc {
    elements: Operand<Index>,
    buffer: Result<MemRef>,
}

/// One block of memory of the call, of so many bytes; what `--plan-memory` makes of allocations.
#[op("host.arena", effects(Allocate))]
pub struct Arena {
    bytes: Operand<Index>,
    buffer: Result<MemRef>,
}

/// The part of a block that starts at a byte offset.
#[op("host.slice", traits(Pure))]
pub struct Slice {
    arena: Operand<MemRef>,
    offset: Operand<Index>,
    buffer: Result<MemRef>,
}

/// Memory of the call's output `index`, whose sizes become these.
///
/// C1: `index` is between 0 and 2^31 - 1.
#[op("host.output", effects(Allocate, Write), verify)]
pub struct Output {
    sizes: Variadic<Index>,
    buffer: Result<MemRef>,
    index: Attr<I64>,
}

impl Verify for Output<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        place(self.op(), "index")
    }
}

/// Runs a kernel: buffers that it reads, buffers that it writes (the last `outputs` ones), and the scalars it was called with, in
/// the order of its arguments and results.
#[op("host.launch", effects(Read, Write))]
pub struct Launch {
    arguments: Variadic<AnyType>,
    callee: Attr<SymbolRef>,
    outputs: Attr<I64>,
}

/// The attribute of the function that is the host program.
pub const ENTRY: &str = "host.entry";

/// The attribute of the host program that prepares weights.
pub const PREPARE: &str = "host.prepare";

/// The attribute of a host program whose memory is planned: bytes of its arena.
pub const ARENA_BYTES: &str = "host.arena_bytes";

/// The attribute of a module that is native code: the messages of its status codes, status `k` being message `k - 1`.
pub const MESSAGES: &str = "host.messages";

/// The attribute of a device kernel: the number of its blocks, a map of the symbols.
pub const GRID: &str = "host.grid";

/// The attribute of a device kernel: which of its operands are the symbols.
pub const SYMBOLS: &str = "host.symbols";

/// The runtime function that is told which kernel runs from now on, by its number, or -1 for none.
pub const MARK: &str = "strata_mark";

/// Calls a function of the runtime library. `extents` says how many elements each buffer has, from the `index` arguments in order.
#[op("host.extern", effects(Read, Write))]
pub struct Extern {
    arguments: Variadic<AnyType>,
    name: Attr<Str>,
    extents: OptAttr<Map>,
}

/// Calls a kernel of a user's library, which compiled programs import by the name `import`. The arguments are, one after the other, for
/// each tensor its buffer and its sizes, and for each number the number. `ranks` and `dtypes` have an entry for each of them: rank and
/// element type of a tensor by the number that library functions know it by, -1 for a number. The last `outputs` tensors are written to.
/// The call ends with the message `text` where the kernel fails, whose status is `{0}` and whose own words are `{error}`.
///
/// With `ptx` the kernel of that name in the PTX file is started on a CUDA device: in as many blocks as `blocks` says of the `index` numbers, of
/// `threads` threads and `shared` bytes of shared memory. Its parameters are the tensors without their sizes and then the numbers, of so many
/// bits each as `parameters` says; those behind them get zero.
#[op("host.custom_call", effects(Read, Write))]
pub struct CustomCall {
    arguments: Variadic<AnyType>,
    import: Attr<Str>,
    ranks: Attr<I64s>,
    dtypes: Attr<I64s>,
    outputs: Attr<I64>,
    text: Attr<Str>,
    ptx: OptAttr<Str>,
    blocks: OptAttr<Map>,
    threads: OptAttr<I64s>,
    shared: OptAttr<I64>,
    parameters: OptAttr<I64s>,
}

/// Copies so many elements.
#[op("host.copy", effects(Read, Write))]
pub struct Copy {
    source: Operand<MemRef>,
    target: Operand<MemRef>,
    elements: Operand<Index>,
}

/// The first element of a buffer.
#[op("host.load", effects(Read))]
pub struct Load {
    buffer: Operand<MemRef>,
    element: Result<AnyType>,
}

/// Sets the first element of a buffer.
#[op("host.store", effects(Write))]
pub struct Store {
    element: Operand<AnyType>,
    buffer: Operand<MemRef>,
}

/// Ends the entry.
#[op("host.return", traits(Terminator))]
pub struct Return {}
