//! Reading another lane's register: `gpu.shuffle` moves 32 bits, other values go in pieces of that.

use strata_core::ir::{Builder, ElementType, Type, Value};
use strata_core::upstream::{arith, complex, gpu};

/// The value in the lane whose number differs from this one's in the bit `distance`, of any element type.
pub fn from_lane_across<'c>(b: &mut Builder<'c>, value: Value<'c>, distance: i64) -> Value<'c> {
    let (cx, ty) = (b.cx(), value.ty());
    match ty.element_type() {
        Some(element) if element.is_complex() => {
            let part = cx.element(if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 });
            let parts = [complex::Re::NAME, complex::Im::NAME].map(|name| {
                let value = b.value(name, &[value], part, &[]);
                from_lane_across(b, value, distance)
            });
            b.value(complex::Create::NAME, &parts, ty, &[])
        }
        Some(ElementType::Index) => through(b, value, cx.int(64), distance, [arith::IndexCast::NAME; 2]),
        Some(element) if element.is_float() && element != ElementType::F32 => {
            through(b, value, cx.int(element.bits()), distance, [arith::Bitcast::NAME; 2])
        }
        Some(element) if element.bits() < 32 => through(b, value, cx.int(32), distance, [arith::ExtUI::NAME, arith::TruncI::NAME]),
        Some(element) if element.bits() == 64 => halves(b, value, distance),
        _ => word(b, value, distance),
    }
}

/// In another type, and back.
fn through<'c>(b: &mut Builder<'c>, value: Value<'c>, other: Type<'c>, distance: i64, [to, back]: [&str; 2]) -> Value<'c> {
    let ty = value.ty();
    let value = b.value(to, &[value], other, &[]);
    let value = from_lane_across(b, value, distance);
    b.value(back, &[value], ty, &[])
}

/// 64 bits as two words.
fn halves<'c>(b: &mut Builder<'c>, value: Value<'c>, distance: i64) -> Value<'c> {
    let (long, short) = (value.ty(), b.cx().int(32));
    let by = b.const_int(long, 32);
    let high = arith::shrui(b, value, by);
    let [low, high] = [value, high].map(|part| {
        let part = arith::trunci(b, part, short);
        let part = word(b, part, distance);
        arith::extui(b, part, long)
    });
    let high = arith::shli(b, high, by);
    arith::ori(b, low, high)
}

/// 32 bits.
fn word<'c>(b: &mut Builder<'c>, value: Value<'c>, distance: i64) -> Value<'c> {
    let cx = b.cx();
    let (distance, width) = (b.const_int(cx.int(32), distance), b.const_int(cx.int(32), strata_dialects::target::gpu::WARP));
    let mode = cx.parse_attr("#gpu<shuffle_mode xor>").unwrap_or_else(|| unreachable!("the gpu dialect is loaded"));
    let op = b.op(strata_core::ir::OpSpec {
        name: gpu::Shuffle::NAME,
        operands: &[value, distance, width],
        results: &[value.ty(), cx.int(1)],
        attrs: &[("mode", mode)],
        ..Default::default()
    });
    op.result(0)
}
