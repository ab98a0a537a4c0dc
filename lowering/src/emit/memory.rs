//! Loads and stores through pointers: scalars, contiguous and masked vectors, gathers and scatters.
//!
//! bool is one byte in memory and `i1` in registers; complex numbers are two floats.

use super::complex_lanes;
use crate::num::Num;
use strata_core::ir::{Builder, Cx, ElementType, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::llvm::{self, AtomicBinOp, AtomicOrdering};
use strata_core::upstream::{complex, vector};
use strata_dialects::loops::elements::memory_type;

/// `!llvm.ptr`.
pub fn pointer<'c>(cx: Cx<'c>) -> Type<'c> {
    cx.parse_type("!llvm.ptr").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"))
}

fn alignment<'c>(cx: Cx<'c>, element: ElementType, width: u32) -> (&'static str, strata_core::ir::Attr<'c>) {
    let bytes = memory_bytes(element) as i64;
    ("alignment", cx.int_attr(cx.int(width), bytes))
}

/// Bytes of an element, or of a part of a complex one.
pub(super) fn memory_bytes(element: ElementType) -> usize {
    match element {
        ElementType::C64 => 4,
        ElementType::C128 => 8,
        _ => element.bytes(),
    }
}

/// `base + index` elements.
pub fn element_pointer<'c>(b: &mut Builder<'c>, base: Value<'c>, index: Num<'c>, element: ElementType) -> Value<'c> {
    if index == Num::Const(0) {
        return base;
    }
    let cx = b.cx();
    let index = index.value(b);
    let offset = arith::index_cast(b, index, cx.int(64));
    get_element_pointer(b, base, offset, memory_type(cx, element), pointer(cx))
}

fn get_element_pointer<'c>(b: &mut Builder<'c>, base: Value<'c>, offset: Value<'c>, element: Type<'c>, result: Type<'c>) -> Value<'c> {
    let cx = b.cx();
    let attrs = [("elem_type", cx.type_attr(element)), ("rawConstantIndices", cx.i32s_attr(&[i32::MIN]))];
    b.value(llvm::GetElementPtr::NAME, &[base, offset], result, &attrs)
}

/// A vector of pointers `base + indices`.
fn element_pointers<'c>(b: &mut Builder<'c>, base: Value<'c>, indices: Value<'c>, element: ElementType) -> Value<'c> {
    let cx = b.cx();
    let width = indices.ty().shape()[0];
    let offsets = arith::index_cast(b, indices, cx.vector(&[width], cx.int(64)));
    get_element_pointer(b, base, offsets, memory_type(cx, element), cx.vector(&[width], pointer(cx)))
}

/// One element.
pub fn load<'c>(b: &mut Builder<'c>, base: Value<'c>, index: Num<'c>, element: ElementType) -> Value<'c> {
    let cx = b.cx();
    let ty = memory_type(cx, element);
    let align = alignment(cx, element, 64);
    if element.is_complex() {
        let real_at = index.mul(b, Num::Const(2));
        let imag_at = real_at.add(b, Num::Const(1));
        let (real_at, imag_at) = (element_pointer(b, base, real_at, element), element_pointer(b, base, imag_at, element));
        let real = b.value(llvm::Load::NAME, &[real_at], ty, &[align]);
        let imag = b.value(llvm::Load::NAME, &[imag_at], ty, &[align]);
        return complex::create(b, real, imag, cx.element(element));
    }
    let at = element_pointer(b, base, index, element);
    let value = b.value(llvm::Load::NAME, &[at], ty, &[align]);
    from_memory(b, value, element)
}

/// Stores one element.
pub fn store<'c>(b: &mut Builder<'c>, base: Value<'c>, index: Num<'c>, value: Value<'c>, element: ElementType) {
    let align = alignment(b.cx(), element, 64);
    if element.is_complex() {
        let part = memory_type(b.cx(), element);
        let real = complex::re(b, value, part);
        let imag = complex::im(b, value, part);
        let real_at = index.mul(b, Num::Const(2));
        let imag_at = real_at.add(b, Num::Const(1));
        let (real_at, imag_at) = (element_pointer(b, base, real_at, element), element_pointer(b, base, imag_at, element));
        b.effect(llvm::Store::NAME, &[real, real_at], &[align]);
        b.effect(llvm::Store::NAME, &[imag, imag_at], &[align]);
        return;
    }
    let at = element_pointer(b, base, index, element);
    let value = to_memory(b, value, element);
    b.effect(llvm::Store::NAME, &[value, at], &[align]);
}

/// Combines an element with the one in memory, in one step for all threads of a device. Gives the element that was there.
pub fn combine<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    index: Num<'c>,
    value: Value<'c>,
    element: ElementType,
    how: AtomicBinOp,
) -> Value<'c> {
    let cx = b.cx();
    let at = element_pointer(b, base, index, element);
    let attrs = [
        ("bin_op", how.attr(cx)),
        ("ordering", AtomicOrdering::Monotonic.attr(cx)),
        ("syncscope", cx.str_attr("device")),
        alignment(cx, element, 64),
    ];
    b.value(llvm::AtomicRMW::NAME, &[at, value], value.ty(), &attrs)
}

/// `width` elements in a row; with a mask, lanes that are off are zero.
pub fn load_vector<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    index: Num<'c>,
    element: ElementType,
    width: i64,
    mask: Option<Value<'c>>,
) -> Value<'c> {
    if element.is_complex() {
        return complex_lanes::load_vector(b, base, index, element, width, mask);
    }
    let cx = b.cx();
    let ty = cx.vector(&[width], memory_type(cx, element));
    let at = element_pointer(b, base, index, element);
    let value = match mask {
        None => b.value(llvm::Load::NAME, &[at], ty, &[alignment(cx, element, 64)]),
        Some(mask) => {
            let zero = zero_vector(b, ty);
            b.value(llvm::MaskedLoad::NAME, &[at, mask, zero], ty, &[alignment(cx, element, 32)])
        }
    };
    from_memory(b, value, element)
}

/// Words of so many bits in a row, from an address of any element on.
pub(super) fn load_words<'c>(b: &mut Builder<'c>, at: Value<'c>, bits: u32, width: i64) -> Value<'c> {
    let cx = b.cx();
    let align = ("alignment", cx.int_attr(cx.int(64), i64::from(bits / 8)));
    b.value(llvm::Load::NAME, &[at], cx.vector(&[width], cx.int(bits)), &[align])
}

/// `width` elements in a row that begins at a multiple of them.
pub fn load_row<'c>(b: &mut Builder<'c>, base: Value<'c>, index: Num<'c>, element: ElementType, width: i64) -> Value<'c> {
    let cx = b.cx();
    let at = element_pointer(b, base, index, element);
    let aligned = ("alignment", cx.int_attr(cx.int(64), width * memory_bytes(element) as i64));
    let value = b.value(llvm::Load::NAME, &[at], cx.vector(&[width], memory_type(cx, element)), &[aligned]);
    from_memory(b, value, element)
}

/// Stores elements in a row that begins at a multiple of them.
pub fn store_row<'c>(b: &mut Builder<'c>, base: Value<'c>, index: Num<'c>, values: &[Value<'c>], element: ElementType) {
    let (cx, width) = (b.cx(), values.len() as i64);
    let mut row: Option<Value<'c>> = None;
    for (lane, &value) in values.iter().enumerate() {
        let value = to_memory(b, value, element);
        row = Some(match row {
            None => broadcast(b, value, width),
            Some(row) => vector::insert(b, value, row, lane as i64),
        });
    }
    let at = element_pointer(b, base, index, element);
    let aligned = ("alignment", cx.int_attr(cx.int(64), width * memory_bytes(element) as i64));
    row.into_iter().for_each(|row| {
        b.effect(llvm::Store::NAME, &[row, at], &[aligned]);
    });
}

/// Every second or every fourth element of those from `index` on: two vectors, of which the second ends with the last element, so that nothing
/// behind it is touched. With a mask, lanes that are off are zero, and only elements of those that are on are touched.
pub fn load_every<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    index: Num<'c>,
    element: ElementType,
    (width, step): (i64, i64),
    mask: Option<Value<'c>>,
) -> Value<'c> {
    let part = width * step / 2;
    let second = step * (width - 1) + 1 - part;
    let off = mask.map(|mask| zero_vector(b, mask.ty()));
    let parts = [(0, 0..width / 2), (second, width / 2..width)].map(|(start, lanes)| {
        // The mask's lane of an element, or one of those that are off.
        let lane = |at: i64| if at % step == 0 && lanes.contains(&(at / step)) { at / step } else { width };
        let mask = mask.zip(off).map(|(mask, off)| vector::shuffle(b, mask, off, (start..start + part).map(lane)));
        let index = index.add(b, Num::Const(start));
        load_vector(b, base, index, element, part, mask)
    });
    let lanes = (0..width).map(|lane| if lane < width / 2 { step * lane } else { part + step * lane - second });
    vector::shuffle(b, parts[0], parts[1], lanes)
}

/// `width` elements in a row that ends at `index`, the last one first; those that `mask` leaves out are zero.
pub fn load_reversed<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    index: Num<'c>,
    element: ElementType,
    width: i64,
    mask: Option<Value<'c>>,
) -> Value<'c> {
    let reverse_row = |b: &mut Builder<'c>, row: Value<'c>| vector::shuffle(b, row, row, (0..width).rev());
    let reverse = |b: &mut Builder<'c>, value: Value<'c>| match complex_lanes::is_complex(value) {
        true => complex_lanes::by_rows(b, [value], |b, [row]| reverse_row(b, row)),
        false => reverse_row(b, value),
    };
    let first = index.sub(b, Num::Const(width - 1));
    let mask = mask.map(|mask| reverse(b, mask));
    let row = load_vector(b, base, first, element, width, mask);
    reverse(b, row)
}

/// Stores `width` elements in a row.
pub fn store_vector<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    index: Num<'c>,
    value: Value<'c>,
    element: ElementType,
    mask: Option<Value<'c>>,
) {
    if element.is_complex() {
        return complex_lanes::store_vector(b, base, index, value, element, mask);
    }
    let at = element_pointer(b, base, index, element);
    let value = to_memory(b, value, element);
    match mask {
        None => b.effect(llvm::Store::NAME, &[value, at], &[alignment(b.cx(), element, 64)]),
        Some(mask) => b.effect(llvm::MaskedStore::NAME, &[value, at, mask], &[alignment(b.cx(), element, 32)]),
    };
}

/// Brings an element into the core's own cache; any address will do.
pub fn prefetch<'c>(b: &mut Builder<'c>, base: Value<'c>, index: Num<'c>, element: ElementType) {
    let cx = b.cx();
    let at = element_pointer(b, base, index, element);
    let number = |value: i64| cx.int_attr(cx.int(32), value);
    b.effect(llvm::Prefetch::NAME, &[at], &[("rw", number(0)), ("hint", number(3)), ("cache", number(1))]);
}

/// Makes stores past the caches visible before anything that follows.
pub fn fence(b: &mut Builder<'_>) {
    let ordering = AtomicOrdering::SeqCst.attr(b.cx());
    b.effect(llvm::Fence::NAME, &[], &[("ordering", ordering)]);
}

/// Orders accesses of a device's memory before it and after it, as all of its threads see them.
pub fn device_fence(b: &mut Builder<'_>) {
    let cx = b.cx();
    b.effect(llvm::Fence::NAME, &[], &[("ordering", AtomicOrdering::AcqRel.attr(cx)), ("syncscope", cx.str_attr("device"))]);
}

/// Elements at a vector of indices.
pub fn gather<'c>(b: &mut Builder<'c>, base: Value<'c>, indices: Value<'c>, element: ElementType, mask: Option<Value<'c>>) -> Value<'c> {
    if element.is_complex() {
        return complex_lanes::gather(b, base, indices, element, mask);
    }
    let width = indices.ty().shape()[0];
    let pointers = element_pointers(b, base, indices, element);
    let mask = mask_or_all(b, mask, width);
    let value = gather_lanes(b, pointers, mask, element);
    from_memory(b, value, element)
}

/// Bits of a register that takes a lane by one instruction.
const LANE_REGISTER_BITS: i64 = 128;

/// Elements at a vector of addresses. Those that CPUs have no gather for are loaded one by one, into registers of 128 bits that are put together.
fn gather_lanes<'c>(b: &mut Builder<'c>, pointers: Value<'c>, mask: Value<'c>, element: ElementType) -> Value<'c> {
    let cx = b.cx();
    let (width, bits) = (pointers.ty().shape()[0], 8 * element.bytes() as i64);
    if bits < 32 && width * bits > LANE_REGISTER_BITS {
        let half = |b: &mut Builder<'c>, from: i64| {
            let lanes = || from..from + width / 2;
            let (pointers, mask) = (vector::shuffle(b, pointers, pointers, lanes()), vector::shuffle(b, mask, mask, lanes()));
            gather_lanes(b, pointers, mask, element)
        };
        let (low, high) = (half(b, 0), half(b, width / 2));
        return vector::shuffle(b, low, high, 0..width);
    }
    let ty = cx.vector(&[width], memory_type(cx, element));
    let zero = zero_vector(b, ty);
    b.value(llvm::MaskedGather::NAME, &[pointers, mask, zero], ty, &[alignment(cx, element, 32)])
}

/// Stores at a vector of indices.
pub fn scatter<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    indices: Value<'c>,
    value: Value<'c>,
    element: ElementType,
    mask: Option<Value<'c>>,
) {
    if element.is_complex() {
        return complex_lanes::scatter(b, base, indices, value, element, mask);
    }
    let width = indices.ty().shape()[0];
    let pointers = element_pointers(b, base, indices, element);
    let mask = mask_or_all(b, mask, width);
    let value = to_memory(b, value, element);
    b.effect(llvm::MaskedScatter::NAME, &[value, pointers, mask], &[alignment(b.cx(), element, 32)]);
}

fn mask_or_all<'c>(b: &mut Builder<'c>, mask: Option<Value<'c>>, width: i64) -> Value<'c> {
    mask.unwrap_or_else(|| {
        let on = b.const_int(b.cx().int(1), 1);
        broadcast(b, on, width)
    })
}

fn zero_vector<'c>(b: &mut Builder<'c>, ty: Type<'c>) -> Value<'c> {
    let element = ty.element();
    let zero = zero(b, element);
    broadcast(b, zero, ty.shape()[0])
}

/// Zero of a float or integer type.
pub fn zero<'c>(b: &mut Builder<'c>, ty: Type<'c>) -> Value<'c> {
    if ty.element_type().is_some_and(ElementType::is_float) { b.const_float(ty, 0.0) } else { b.const_int(ty, 0) }
}

/// A scalar in every lane.
pub fn broadcast<'c>(b: &mut Builder<'c>, value: Value<'c>, width: i64) -> Value<'c> {
    if value.ty().element_type().is_some_and(ElementType::is_complex) {
        return complex_lanes::broadcast(b, value, width);
    }
    let ty = b.cx().vector(&[width], value.ty());
    vector::broadcast(b, value, ty)
}

/// bool bytes to `i1`.
pub(super) fn from_memory<'c>(b: &mut Builder<'c>, value: Value<'c>, element: ElementType) -> Value<'c> {
    let cx = b.cx();
    match element {
        ElementType::Bool => {
            let ty = value.ty();
            let zero = if ty.is_vector() { zero_vector(b, ty) } else { b.const_int(ty, 0) };
            arith::cmpi(b, CmpIPredicate::Ne, value, zero)
        }
        ElementType::Index => {
            let ty = value.ty();
            let result = if ty.is_vector() { cx.vector(&ty.shape(), cx.index()) } else { cx.index() };
            arith::index_cast(b, value, result)
        }
        _ => value,
    }
}

/// `i1` to bool bytes.
pub(super) fn to_memory<'c>(b: &mut Builder<'c>, value: Value<'c>, element: ElementType) -> Value<'c> {
    let cx = b.cx();
    let scalar = memory_type(cx, element);
    let ty = if value.ty().is_vector() { cx.vector(&value.ty().shape(), scalar) } else { scalar };
    match element {
        ElementType::Bool => arith::extui(b, value, ty),
        ElementType::Index => arith::index_cast(b, value, ty),
        _ => value,
    }
}
