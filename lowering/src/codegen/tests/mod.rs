//! From a hand-written module to a call of its code.

mod lane_stores;
mod linking;
pub(crate) mod machine;

use super::*;
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
    for target in [Target::host(), Target::named("x86-64-v3")] {
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
    let target = Target::host();
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
    let lowered = lower_to_llvm(module.op(), &Target::host().math());
    let message = lowered.and_then(|()| emit(module.op(), &Target::host(), &Options::default())).unwrap_err().to_string();
    assert!(message.contains("func.func") || message.contains("tensor"), "{message}");
}

#[test]
fn an_unknown_machine_is_an_error() {
    let context = context();
    let target = Target { triple: "z80-none".to_owned(), cpu: "z80".to_owned(), features: String::new() };
    let module = Module::new((&context).into());
    let message = emit(module.op(), &target, &Options::default()).unwrap_err().to_string();
    assert!(message.contains("z80"), "{message}");
}

/// Conversions between float types that LLVM would leave to a runtime library of its own.
#[test]
fn conversions_call_nothing() {
    let target = Target::host();
    let mut body = String::new();
    for (i, ty) in ["{}", "vector<16x{}>", "vector<5x{}>"].into_iter().enumerate() {
        let of = |element: &str| ty.replace("{}", element);
        body += &format!("%at{i} = llvm.getelementptr %call[{}] : (!llvm.ptr) -> !llvm.ptr, i64\n", 100 * i);
        body += &format!("%d{i} = llvm.load volatile %at{i} : !llvm.ptr -> {}\n", of("f64"));
        body += &format!("%n{i} = llvm.load volatile %at{i} : !llvm.ptr -> {}\n", of("i64"));
        for half in ["f16", "bf16"] {
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
                 llvm.store volatile %f{v}, %at{i} : {wide}, !llvm.ptr
                 llvm.store volatile %h{v}, %at{i} : {int}, !llvm.ptr
                 llvm.store volatile %m{v}, %at{i} : {double}, !llvm.ptr\n"
            );
        }
    }
    let text = format!("func.func @strata_entry(%call: !llvm.ptr) -> i32 {{ {body} %r = arith.constant 0 : i32 return %r : i32 }}");
    let context = context();
    let module = lowered(&context, &text, &target);
    let image = link(&[&emit(module.op(), &target, &Options::default()).unwrap().object]).unwrap();
    assert!(image.imports.is_empty(), "{:?}", image.imports);
}

/// Shows where the time goes; run with `--nocapture`.
#[test]
fn timings() {
    let context = context();
    let target = Target::host();
    for passes in [None, Some("default<O2>".to_owned()), Some("default<O1>".to_owned())] {
        for _ in 0..3 {
            let module = Module::parse(&context, &format!("module {{ {KERNEL} }}"), "kernel").unwrap();
            let start = std::time::Instant::now();
            lower_to_llvm(module.op(), &target.math()).unwrap();
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
    let target = Target::host();
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
