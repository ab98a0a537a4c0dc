//! `llvm`: LLVM's instructions.

use super::{enumeration, ops};
use crate::ir::{Attr, Builder, Cx, Type, Value};

ops! {
    /// The address of a global.
    op AddressOf "llvm.mlir.addressof";
    /// The same address in another address space.
    cast AddrSpaceCast "llvm.addrspacecast" addrspacecast(x);
    /// Memory of the function's frame.
    op Alloca "llvm.alloca";
    /// Reads, changes and writes memory at once.
    op AtomicRMW "llvm.atomicrmw";
    /// The same bits as another type.
    cast Bitcast "llvm.bitcast" bitcast(x);
    /// Calls an intrinsic by its name.
    op CallIntrinsic "llvm.call_intrinsic";
    /// A constant.
    op Constant "llvm.mlir.constant";
    /// A part of a struct.
    op ExtractValue "llvm.extractvalue";
    /// Orders memory accesses.
    op Fence "llvm.fence";
    /// An address some elements further.
    op GetElementPtr "llvm.getelementptr";
    /// Memory of the module.
    op Global "llvm.mlir.global";
    /// Reads memory.
    op Load "llvm.load";
    /// Reads a vector's lanes from addresses of their own.
    op MaskedGather "llvm.intr.masked.gather";
    /// Reads the lanes of a vector that are on.
    op MaskedLoad "llvm.intr.masked.load";
    /// Writes a vector's lanes to addresses of their own.
    op MaskedScatter "llvm.intr.masked.scatter";
    /// Writes the lanes of a vector that are on.
    op MaskedStore "llvm.intr.masked.store";
    /// The larger; NaN if one is.
    op Maximum "llvm.intr.maximum";
    /// The smaller; NaN if one is.
    op Minimum "llvm.intr.minimum";
    /// Asks for a cache line ahead of its use.
    op Prefetch "llvm.intr.prefetch";
    /// An address as a number.
    cast PtrToInt "llvm.ptrtoint" ptrtoint(x);
    /// A product of signed integers, and whether it wrapped.
    cast SMulWithOverflow "llvm.intr.smul.with.overflow" smul_with_overflow(lhs, rhs);
    /// Writes memory.
    op Store "llvm.store";
}

enumeration! {
    /// What `llvm.atomicrmw` does with the memory and the operand.
    pub enum AtomicBinOp {
        /// Sum of integers.
        Add = 1,
        /// The larger signed integer.
        Max = 7,
        /// The smaller signed integer.
        Min = 8,
        /// Sum of floats.
        FAdd = 11,
        /// One more, or zero from the operand on.
        UIncWrap = 15,
    }
}

enumeration! {
    /// What an atomic access or a fence orders.
    pub enum AtomicOrdering {
        /// Nothing but the access itself.
        Monotonic = 2,
        /// Later accesses stay behind it.
        Acquire = 4,
        /// Earlier accesses stay before it.
        Release = 5,
        /// Both.
        AcqRel = 6,
        /// Both, in one order for all threads.
        SeqCst = 7,
    }
}

/// Marks a pointer argument whose memory no other argument reaches.
pub const NOALIAS: &str = "llvm.noalias";

/// The address of a global.
pub fn address_of<'c>(b: &mut Builder<'c>, global: &str, pointer: Type<'c>) -> Value<'c> {
    let name = b.cx().symbol_attr(global);
    b.value(AddressOf::NAME, &[], pointer, &[("global_name", name)])
}

/// The result of an intrinsic of a target, by its name.
pub fn call_intrinsic<'c>(b: &mut Builder<'c>, name: &str, operands: &[Value<'c>], ty: Type<'c>) -> Value<'c> {
    let attrs = intrinsic(b.cx(), name, operands);
    b.value(CallIntrinsic::NAME, operands, ty, &attrs)
}

/// An intrinsic of a target that has no result, by its name.
pub fn call_void_intrinsic<'c>(b: &mut Builder<'c>, name: &str, operands: &[Value<'c>]) {
    let attrs = intrinsic(b.cx(), name, operands);
    b.effect(CallIntrinsic::NAME, operands, &attrs);
}

fn intrinsic<'c>(cx: Cx<'c>, name: &str, operands: &[Value<'c>]) -> [(&'static str, Attr<'c>); 3] {
    [
        ("intrin", cx.str_attr(name)),
        ("op_bundle_sizes", cx.i32s_attr(&[])),
        ("operandSegmentSizes", cx.i32s_attr(&[operands.len() as i32, 0])),
    ]
}

/// One part of a struct.
pub fn extractvalue<'c>(b: &mut Builder<'c>, from: Value<'c>, position: i64, ty: Type<'c>) -> Value<'c> {
    let position = b.cx().i64s_attr(&[position]);
    b.value(ExtractValue::NAME, &[from], ty, &[("position", position)])
}
