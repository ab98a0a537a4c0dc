//! A masked store of known lanes writes these lanes and nothing beside them, whatever the value was before it was narrowed.

use super::*;
use crate::target;

/// The numbers that the code reads, and where it stores them narrowed.
#[repr(C)]
struct Call {
    from: [i64; 16],
    to: [u8; 256],
}

/// Loads 16 numbers of `wide`, shifts them (which LLVM cannot do after the narrowing), narrows them to `narrow` and
/// stores the lanes of `mask`.
fn stored(wide: &str, narrow: &str, mask: &[usize], from: &[u8], target: &Target) -> [u8; 256] {
    let mask: Vec<_> = (0..16).map(|lane| mask.contains(&lane).to_string()).collect();
    let text = format!(
        "func.func @strata_entry(%call: !llvm.ptr) -> i32 {{
           %to = llvm.getelementptr %call[128] : (!llvm.ptr) -> !llvm.ptr, i8
           %mask = llvm.mlir.constant(dense<[{}]> : vector<16xi1>) : vector<16xi1>
           %wide = llvm.load %call {{alignment = 1 : i64}} : !llvm.ptr -> vector<16x{wide}>
           %four = arith.constant dense<4> : vector<16x{wide}>
           %shifted = arith.shrui %wide, %four : vector<16x{wide}>
           %narrow = arith.trunci %shifted : vector<16x{wide}> to vector<16x{narrow}>
           llvm.intr.masked.store %narrow, %to, %mask {{alignment = 1 : i32}} : vector<16x{narrow}>, vector<16xi1> into !llvm.ptr
           %r = arith.constant 0 : i32
           return %r : i32 }}",
        mask.join(", ")
    );
    let context = context();
    let module = lowered(&context, &text, target);
    let emitted = emit(module.op(), target, &Options::default()).unwrap();
    let loaded = Loaded::new(&link(&[&emitted.object]).unwrap());
    let mut call = Call { from: [0; 16], to: [0xaa; 256] };
    for (place, byte) in call.from.iter_mut().zip(from.chunks(8)) {
        *place = i64::from_le_bytes(byte.try_into().unwrap());
    }
    assert_eq!(loaded.call(&mut call), 0);
    call.to
}

#[test]
fn nothing_beside_the_lanes_is_written() {
    for (wide, narrow) in [(64, 32), (64, 16), (64, 8), (32, 16), (32, 8), (16, 8)] {
        let bytes = |bits: usize| bits / 8;
        let mut from = [0u8; 128];
        for lane in 0..16 {
            from[lane * bytes(wide)..][..2].copy_from_slice(&(16 * (3 + lane as u16)).to_le_bytes());
        }
        let masks: [&[usize]; 9] =
            [&[0], &[5], &[15], &[0, 1], &[3, 9], &[], &[0, 1, 2, 3, 4, 5, 6], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], &[2, 3, 4]];
        let targets = [target::host(), target::named("x86-64-v3").unwrap()];
        for (mask, target) in masks.into_iter().flat_map(|mask| targets.iter().map(move |target| (mask, target))) {
            let mut want = [0xaa; 256];
            for &lane in mask {
                want[lane * bytes(narrow)..][..bytes(narrow)].fill(0);
                want[lane * bytes(narrow)] = 3 + lane as u8;
            }
            let got = stored(&format!("i{wide}"), &format!("i{narrow}"), mask, &from, target);
            assert_eq!(got, want, "i{wide} to i{narrow}, lanes {mask:?}, {}", target.cpu);
        }
    }
}
