//! From a hand-written module to a call of its code.

mod lane_stores;
mod linking;
pub(crate) mod machine;

use super::*;
use crate::target::{self, MathTarget};
use machine::{Loaded, context, lowered};
use strata_core::ir::Module;

const KERNEL: &str = include_str!("kernel.mlir");

/// What the kernel's entry gets: the first two fields are also the context of its parallel body.
#[repr(C)]
struct Call {
    x: *const f32,
    y: *mut f32,
    n: i64,
    sum: f32,
}

fn run_kernel(target: &Target, options: &Options) -> (Vec<f32>, f32) {
    let context = context();
    let module = lowered(&context, KERNEL, target);
    let emitted = emit(module.op(), target, options).unwrap();
    let loaded = Loaded::new(&link(&[&emitted.object]).unwrap());
    let x: Vec<f32> = (0..1008).map(|i| (i as f32 - 500.0) / 50.0).collect();
    let mut y = vec![0.0; x.len() + 16];
    let mut call = Call { x: x.as_ptr(), y: y.as_mut_ptr(), n: x.len() as i64 - 3, sum: 0.0 };
    assert_eq!(loaded.call(&mut call), 0);
    (y, call.sum)
}

#[test]
fn a_kernel_computes() {
    for target in [target::host(), target::named("x86-64-v3").unwrap()] {
        let (y, sum) = run_kernel(&target, &Options { contract: true, ..Options::default() });
        for (i, &y) in y.iter().enumerate() {
            let x = (i as f64 - 500.0) / 50.0;
            let want = if i < 1005 { (x.tanh() * 0.5 + x).max(0.0) } else { 0.0 };
            assert!((f64::from(y) - want).abs() < 1e-5, "{i}: {y} {want}");
        }
        let want: f64 = y.iter().map(|&y| f64::from(y)).sum();
        assert!((f64::from(sum) - want).abs() < 1e-2, "{sum} {want}");
    }
}

#[test]
fn code_has_no_global_offset_table_and_imports_by_name() {
    let context = context();
    let target = target::host();
    let module = lowered(&context, KERNEL, &target);
    let emitted = emit(module.op(), &target, &Options { assembly: true, ir: true, ..Options::default() }).unwrap();
    assert!(emitted.ir.unwrap().contains("target-cpu"));
    assert!(emitted.assembly.unwrap().contains("strata_entry"));
    let image = link(&[&emitted.object]).unwrap();
    assert!(image.imports.iter().any(|(name, _)| name == "strata_parallel"), "{:?}", image.imports);
    assert!(image.relocations.is_empty() && image.data.is_empty());
    assert!(image.symbol(ENTRY).is_some_and(|entry| image.text.contains(&entry)));
}

#[test]
fn an_op_of_another_level_is_named() {
    let context = context();
    let text = "module { func.func @strata_entry(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } }";
    let module = Module::parse(&context, text, "test").unwrap();
    let lowered = lower_to_llvm(module.op(), &MathTarget::of(&target::host()));
    let message = lowered.and_then(|()| emit(module.op(), &target::host(), &Options::default())).unwrap_err().to_string();
    assert!(message.contains("func.func") || message.contains("tensor"), "{message}");
}

#[test]
fn an_unknown_machine_is_an_error() {
    let context = context();
    let target = Target { triple: "z80-none".to_owned(), cpu: "z80".to_owned(), ..Target::default() };
    let module = Module::new((&context).into());
    let message = emit(module.op(), &target, &Options::default()).unwrap_err().to_string();
    assert!(message.contains("z80"), "{message}");
}

/// Conversions between float types that LLVM would leave to a runtime library of its own.
#[test]
fn conversions_call_nothing() {
    let mut body = String::new();
    for (i, ty) in ["{}", "vector<16x{}>", "vector<5x{}>"].into_iter().enumerate() {
        let of = |element: &str| ty.replace("{}", element);
        body += &format!("%at{i} = llvm.getelementptr %call[{}] : (!llvm.ptr) -> !llvm.ptr, i64\n", 100 * i);
        body += &format!("%d{i} = llvm.load volatile %at{i} : !llvm.ptr -> {}\n", of("f64"));
        body += &format!("%n{i} = llvm.load volatile %at{i} : !llvm.ptr -> {}\n", of("i64"));
        for half in ["f16", "bf16"] {
            if i > 0 {
                let of = of(half);
                body += &format!("%w{i}{half} = llvm.load volatile %at{i} : !llvm.ptr -> {of}\n");
                body += &format!("%x{i}{half} = vector.reduction <maximumf>, %w{i}{half} : {of} into {half}\n");
                body += &format!("llvm.store volatile %x{i}{half}, %at{i} : {half}, !llvm.ptr\n");
            }
            let v = format!("{i}{half}");
            let (wide, single, double, narrow, int) = (of("i64"), of("f32"), of("f64"), of(half), of("i8"));
            body += &format!(
                "%a{v} = arith.truncf %d{i} : {double} to {narrow}
                 %b{v} = arith.extf %a{v} : {narrow} to {single}
                 %c{v} = arith.truncf %b{v} : {single} to {narrow}
                 %e{v} = arith.extf %c{v} : {narrow} to {double}
                 %f{v} = arith.fptosi %e{v} : {double} to {wide}
                 %g{v} = arith.sitofp %n{i} : {wide} to {single}
                 %h{v} = arith.fptosi %g{v} : {single} to {int}
                 %m{v} = arith.maximumf %e{v}, %d{i} : {double}
                 %k{v} = arith.maximumf %a{v}, %c{v} : {narrow}
                 llvm.store volatile %k{v}, %at{i} : {narrow}, !llvm.ptr
                 llvm.store volatile %f{v}, %at{i} : {wide}, !llvm.ptr
                 llvm.store volatile %h{v}, %at{i} : {int}, !llvm.ptr
                 llvm.store volatile %m{v}, %at{i} : {double}, !llvm.ptr\n"
            );
        }
    }
    let text = format!("func.func @strata_entry(%call: !llvm.ptr) -> i32 {{ {body} %r = arith.constant 0 : i32 return %r : i32 }}");
    for target in
        [target::host(), target::named("x86-64-v3").unwrap(), target::named("x86-64-v4").unwrap(), target::named("cascadelake").unwrap()]
    {
        let context = context();
        let module = lowered(&context, &text, &target);
        let image = link(&[&emit(module.op(), &target, &Options::default()).unwrap().object]).unwrap();
        assert!(image.imports.is_empty(), "{}: {:?}", target.cpu, image.imports);
    }
}

/// The bf16 nearest to a number, of two the even one: by distances, which f64 has exactly.
fn nearest_bf16(x: f32) -> u16 {
    let below = (x.to_bits() >> 16) as u16;
    let value = |bits: u16| match f32::from_bits(u32::from(bits) << 16) {
        // Where the next number would be, were there one.
        infinite if infinite.is_infinite() => 2f64.powi(128).copysign(infinite.into()),
        finite => finite.into(),
    };
    let [low, high] = [below, below + 1].map(|bits| (value(bits) - f64::from(x)).abs());
    below + u16::from(high < low || high == low && below % 2 == 1)
}

#[test]
fn bf16_is_rounded_to_nearest_with_and_without_an_instruction() {
    let text = "func.func @strata_entry(%call: !llvm.ptr) -> i32 {
        %x = llvm.load %call {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
        %to = llvm.getelementptr %call[8] : (!llvm.ptr) -> !llvm.ptr, f32
        %y = arith.truncf %x : vector<8xf32> to vector<8xbf16>
        llvm.store %y, %to {alignment = 2 : i64} : vector<8xbf16>, !llvm.ptr
        %r = arith.constant 0 : i32
        return %r : i32
    }";
    #[repr(C)]
    struct Lanes([f32; 8], [u16; 8]);
    for target in [target::host(), target::named("x86-64-v3").unwrap()] {
        let context = context();
        let module = lowered(&context, text, &target);
        let loaded = Loaded::new(&link(&[&emit(module.op(), &target, &Options::default()).unwrap().object]).unwrap());
        // Ties, their neighbours and the ends of every range, of both signs; numbers that are not normal are the instruction's own affair.
        let bits = (0..=0xff_u32)
            .flat_map(|exponent| [0, 0x7fff, 0x8000, 0x8001, 0x1_8000, 0x7f_7fff, 0x7f_8000, 0x7f_ffff].map(|low| exponent << 23 | low));
        for bits in bits.filter(|bits| bits >> 23 > 0 || *bits == 0) {
            let x = f32::from_bits(bits);
            let mut lanes = Lanes([x, -x, x, -x, x, -x, x, -x], [0; 8]);
            assert_eq!(loaded.call(&mut lanes), 0);
            for (x, found) in lanes.0.into_iter().zip(lanes.1) {
                let found_value = f32::from_bits(u32::from(found) << 16);
                let right = if x.is_nan() {
                    found_value.is_nan()
                } else if x.is_infinite() {
                    found_value == x
                } else {
                    found == nearest_bf16(x)
                };
                assert!(right, "{}: {x:e} ({:#x}) gave {found:#x}", target.cpu, x.to_bits());
            }
        }
    }
}

/// Shows where the time goes; run with `--nocapture`.
#[test]
fn timings() {
    let context = context();
    let target = target::host();
    for passes in [None, Some("default<O2>".to_owned()), Some("default<O1>".to_owned())] {
        for _ in 0..3 {
            let module = Module::parse(&context, &format!("module {{ {KERNEL} }}"), "kernel").unwrap();
            let start = std::time::Instant::now();
            lower_to_llvm(module.op(), &MathTarget::of(&target)).unwrap();
            let lower = start.elapsed();
            let options = Options { passes: passes.clone(), ..Options::default() };
            let start = std::time::Instant::now();
            let emitted = emit(module.op(), &target, &options).unwrap();
            let emit = start.elapsed();
            let start = std::time::Instant::now();
            link(&[&emitted.object]).unwrap();
            println!("{passes:?}: lower {lower:?} emit {emit:?} link {:?} {:?}", start.elapsed(), emitted.timings);
        }
    }
}

#[test]
fn damaged_objects_are_errors() {
    assert!(link(&[b"no object"]).is_err());
    let context = context();
    let target = target::host();
    let module = lowered(&context, KERNEL, &target);
    let object = emit(module.op(), &target, &Options::default()).unwrap().object;
    for at in (0..object.len()).step_by(7) {
        let mut damaged = object.clone();
        damaged[at] ^= 0x55;
        // Any answer but a crash.
        let _ = link(&[&damaged]);
        let _ = link(&[&object[..at]]);
    }
}
