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
            Slice::DEF,
            Store::DEF,
            Weight::DEF,
        ]
    },
    ..DialectDef::NEW
};

/// Data of the call's input `index`.
#[op("host.input", traits(Pure))]
pub struct Input {
    buffer: Result<MemRef>,
    index: Attr<I64>,
}

/// A size of the call's input `index`.
#[op("host.input_size", traits(Pure))]
pub struct InputSize {
    size: Result<Index>,
    index: Attr<I64>,
    dim: Attr<I64>,
}

/// Data of a parameter, buffer or constant of the program.
#[op("host.weight", traits(Pure))]
pub struct Weight {
    buffer: Result<MemRef>,
    index: Attr<I64>,
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

/// The number of elements of a tensor of these sizes, which are symbolic. The call ends with the message `text`, the sizes being its
/// details, where one is negative or elements of so many `bytes` would take more memory than there are addresses. Every size that
/// is computed at run time passes here before memory is asked for: what is computed from these sizes later does not overflow.
#[op("host.elements", effects(Write))]
pub struct Elements {
    sizes: Variadic<Index>,
    elements: Result<Index>,
    bytes: Attr<I64>,
    text: Attr<Str>,
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
#[op("host.output", effects(Allocate, Write))]
pub struct Output {
    sizes: Variadic<Index>,
    buffer: Result<MemRef>,
    index: Attr<I64>,
}

/// Runs a kernel: buffers that it reads, buffers that it writes (the last `outputs` ones), and the scalars it was called with, in
/// the order of its arguments and results.
#[op("host.launch", effects(Read, Write))]
pub struct Launch {
    arguments: Variadic<AnyType>,
    callee: Attr<SymbolRef>,
    outputs: Attr<I64>,
}

/// The runtime function that is told which kernel runs from now on, by its number, or -1 for none.
pub const MARK: &str = "strata_mark";

/// Calls a function of the runtime library. `extents` says how many elements each buffer has, from the `index` arguments in order.
#[op("host.extern", effects(Read, Write))]
pub struct Extern {
    arguments: Variadic<AnyType>,
    name: Attr<Str>,
    extents: OptAttr<Map>,
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
