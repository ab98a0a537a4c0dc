//! The C interface from end to end, with a compiler that hands back an artefact made here.

mod copy;

use std::ffi::{CStr, CString};
use std::path::Path;
use std::process::Command;

use crate::{BenchTensor, Peer, bench_error, bench_prepare, bench_run};

fn tensor(values: &mut [f32]) -> BenchTensor {
    let mut shape = [0; 8];
    shape[0] = values.len() as i64;
    BenchTensor { data: values.as_mut_ptr().cast(), dtype: 0, rank: 1, shape, strides: [1; 8] }
}

#[test]
fn a_bundle_is_compiled_and_called() {
    let bundle = tempfile::tempdir().unwrap();
    let library = bundle.path().join("libfake.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/fake_compiler.c");
    assert!(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status().unwrap().success());
    copy::artefact().write(&bundle.path().join("model.pt2")).unwrap();
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

        let mut apart = [0f32; 6];
        let given = |data: &mut [f32], stride| BenchTensor { shape: [3; 8], strides: [stride; 8], ..tensor(data) };
        let mut output = given(&mut apart, 2);
        assert_eq!(bench_run(handle, 1, &raw const input, 1, &raw mut output, 1), 0);
        assert_eq!(apart, [1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
        let mut output = given(&mut apart, 0);
        assert_eq!(bench_run(handle, 1, &raw const input, 1, &raw mut output, 1), 1);
        assert!(CStr::from_ptr(bench_error()).to_str().unwrap().contains("lie on one another"));

        let start = std::time::Instant::now();
        let mut output = tensor(&mut out);
        assert_eq!(bench_run(handle, 1, &raw const input, 1, &raw mut output, 1_000_000), 0);
        println!("{:?} per call", start.elapsed() / 1_000_000);
        drop(Box::from_raw(handle.cast::<Peer>()));
    }
    let nowhere = CString::new("/nowhere").unwrap();
    // SAFETY: as above.
    unsafe {
        assert!(bench_prepare(nowhere.as_ptr(), 2).is_null());
    }
}
