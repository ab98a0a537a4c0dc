//! The C interface from end to end, with a compiler that hands back an artefact made here: `out[i] = x[i]`, by hand.

use std::ffi::{CStr, CString};
use std::path::Path;
use std::process::Command;

use strata_bench::{BenchTensor, bench_error, bench_prepare, bench_run};
use strata_runtime::manifest::*;
use strata_runtime::{Artefact, DType, Image, Manifest};

/// x86-64 for `strata_entry`: outputs[0].shape[0] = n; strata_output(call, 0, 4n); copy n floats; return 0.
#[rustfmt::skip]
const CODE: &[u8] = &[
    0x53, 0x41, 0x54, 0x55,                         // push rbx; push r12; push rbp
    0x48, 0x89, 0xfb,                               // mov rbx, rdi
    0x48, 0x8b, 0x07,                               // mov rax, [rdi]            inputs
    0x4c, 0x8b, 0x20,                               // mov r12, [rax]            x
    0x49, 0x8b, 0x44, 0x24, 0x18,                   // mov rax, [r12 + 24]       x.shape
    0x48, 0x8b, 0x28,                               // mov rbp, [rax]            n
    0x48, 0x8b, 0x47, 0x08,                         // mov rax, [rdi + 8]        outputs
    0x48, 0x8b, 0x00,                               // mov rax, [rax]
    0x48, 0x8b, 0x40, 0x18,                         // mov rax, [rax + 24]
    0x48, 0x89, 0x28,                               // mov [rax], rbp
    0x31, 0xf6,                                     // xor esi, esi
    0x48, 0x8d, 0x14, 0xad, 0x00, 0x00, 0x00, 0x00, // lea rdx, [rbp * 4]
    0xff, 0x15, 0xcd, 0x0f, 0x00, 0x00,             // call [rip + 0xfcd]        the slot at 0x1000
    0x48, 0x89, 0xc7,                               // mov rdi, rax
    0x49, 0x8b, 0x34, 0x24,                         // mov rsi, [r12]            x.data
    0x48, 0x89, 0xe9,                               // mov rcx, rbp
    0xf3, 0xa5,                                     // rep movsd
    0x31, 0xc0,                                     // xor eax, eax
    0x5d, 0x41, 0x5c, 0x5b, 0xc3,                   // pop rbp; pop r12; pop rbx; ret
];

fn artefact() -> Artefact {
    let mut manifest = Manifest::new("copy", Target::host());
    manifest.layout = Layout {
        entry: 0,
        memory_bytes: 0x2000,
        segments: vec![
            Segment { offset: 0, bytes: 0x1000, access: Access::Execute },
            Segment { offset: 0x1000, bytes: 0x1000, access: Access::Read },
        ],
        imports: vec![Import { name: "strata_output".into(), offset: 0x1000 }],
        relocations: Vec::new(),
    };
    manifest.inputs = vec![Input { name: "x".into(), kind: InputKind::Tensor, dtype: DType::F32, shape: vec![None], value: None }];
    manifest.outputs = vec![Output { kind: OutputKind::Output, name: "out".into(), dtype: DType::F32, shape: vec![None] }];
    Artefact { manifest, image: Image { bytes: CODE.to_vec() } }
}

fn tensor(values: &mut [f32]) -> BenchTensor {
    let mut shape = [0; 8];
    shape[0] = values.len() as i64;
    BenchTensor { data: values.as_mut_ptr().cast(), dtype: 0, rank: 1, shape, strides: [1; 8] }
}

#[test]
fn a_bundle_is_compiled_and_called() {
    let bundle = tempfile::tempdir().unwrap();
    let library = bundle.path().join("libfake.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_compiler.c");
    assert!(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status().unwrap().success());
    artefact().write(&bundle.path().join("model.pt2")).unwrap();
    // SAFETY: no other thread of this test program reads the environment.
    unsafe { std::env::set_var("STRATA_COMPILER", &library) };
    let path = CString::new(bundle.path().to_str().unwrap()).unwrap();
    // SAFETY: the path is terminated; handle and tensors are used as the interface says.
    unsafe {
        let handle = bench_prepare(path.as_ptr(), 2);
        assert!(!handle.is_null(), "{:?}", CStr::from_ptr(bench_error()));
        let (mut x, mut out, mut short) = ([1f32, 2.0, 3.0], [0f32; 3], [0f32; 2]);
        let (input, mut output) = (tensor(&mut x), tensor(&mut out));
        assert_eq!(bench_run(handle, 1, &raw const input, 1, &raw mut output, 1000), 0);
        assert_eq!(out, x);
        assert_eq!(bench_run(handle, 0, std::ptr::null(), 0, std::ptr::null_mut(), 1), 1);
        assert_eq!(CStr::from_ptr(bench_error()).to_str(), Ok("the program takes 1 inputs, the call has 0"));
        let mut output = tensor(&mut short);
        assert_eq!(bench_run(handle, 1, &raw const input, 1, &raw mut output, 1), 1);
        assert!(CStr::from_ptr(bench_error()).to_str().unwrap().contains("it has shape [3]"));

        let start = std::time::Instant::now();
        let mut output = tensor(&mut out);
        assert_eq!(bench_run(handle, 1, &raw const input, 1, &raw mut output, 1_000_000), 0);
        println!("{:?} per call", start.elapsed() / 1_000_000);
        drop(Box::from_raw(handle.cast::<strata_bench::Peer>()));
    }
    let nowhere = CString::new("/nowhere").unwrap();
    // SAFETY: as above.
    unsafe {
        assert!(bench_prepare(nowhere.as_ptr(), 2).is_null());
    }
}
