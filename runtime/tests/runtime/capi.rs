//! The C interface, given what no caller should give: each call ends with an error and its text.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use strata_runtime::capi::*;
use strata_runtime::dlpack::{DLDataType, DLDevice, DLTensor};
use strata_runtime::*;

use crate::program::{artefact, weights_file};

/// The text of the failure that just happened.
fn last_error() -> String {
    // SAFETY: the text is terminated and stays until the next failure of this thread.
    unsafe { CStr::from_ptr(strata_error()) }.to_str().unwrap().to_owned()
}

/// An open program, with the file of its weights.
fn open() -> (*mut Session, tempfile::NamedTempFile) {
    let weights = weights_file();
    let bytes = artefact(weights.path()).to_bytes();
    // SAFETY: the bytes are an artefact.
    let program = unsafe { strata_open(bytes.as_ptr().cast(), bytes.len() as u64, null()) };
    assert!(!program.is_null(), "{}", last_error());
    (program, weights)
}

/// Two floats, with room for the sizes and strides of a description.
struct Given {
    data: [f32; 4],
    sizes: [i64; 3],
    strides: [i64; 3],
}

impl Given {
    fn new() -> Given {
        Given { data: [1.0, 2.0, 3.0, 4.0], sizes: [2, 1, 1], strides: [1, 1, 1] }
    }

    fn describe(&mut self) -> DLTensor {
        DLTensor {
            data: self.data.as_mut_ptr().cast(),
            device: DLDevice::CPU,
            ndim: 1,
            dtype: DType::F32.dlpack(),
            shape: self.sizes.as_mut_ptr(),
            strides: null_mut(),
            byte_offset: 0,
        }
    }
}

/// What a change to a description is reported as, as input 0 and as output 0.
fn refused(change: impl Fn(&mut Given, &mut DLTensor)) -> [String; 2] {
    let (program, _weights) = open();
    let (mut x, mut y, mut out) = (Given::new(), Given::new(), Given::new());
    let (good, y, into) = (x.describe(), y.describe(), out.describe());
    let mut given = Given::new();
    let mut bad = given.describe();
    change(&mut given, &mut bad);
    let run = |x: &DLTensor, out: &DLTensor| {
        let (inputs, outputs): ([*const DLTensor; 2], [*const DLTensor; 1]) = ([x, &raw const y], [out]);
        // SAFETY: the lists are as long as said, and what the descriptions lead to is alive.
        let status = unsafe { strata_run(program, 2, inputs.as_ptr(), 1, outputs.as_ptr()) };
        if status == 0 { "nothing".into() } else { last_error() }
    };
    let all = [run(&bad, &into), run(&good, &bad)];
    assert_eq!(run(&good, &into), "nothing", "the program stays as it was");
    // SAFETY: the program is open.
    unsafe { strata_close(program) };
    all
}

#[test]
fn descriptions_that_cannot_be_true_are_refused() {
    let check = |input: &str, output: &str, change: &dyn Fn(&mut Given, &mut DLTensor)| {
        let wanted = [format!("input 0 `x` {input}"), format!("output 0 `out`: the tensor given for it {output}")];
        assert_eq!(refused(change), wanted);
    };
    let both = |text: &str, change: &dyn Fn(&mut Given, &mut DLTensor)| check(text, text, change);
    for ndim in [-1, i32::MIN, 0, 2, i32::MAX] {
        both(&format!("has rank {ndim}, the program wants 1"), &|_, t| t.ndim = ndim);
    }
    both("has dimensions and no list of their sizes", &|_, t| t.shape = null_mut());
    both("has dimensions and no list of their sizes", &|_, t| t.shape = t.shape.cast::<u8>().wrapping_add(3).cast());
    both("has a list of strides that is not aligned", &|g, t| t.strides = g.strides.as_mut_ptr().cast::<u8>().wrapping_add(1).cast());
    for size in [-1, i64::MIN] {
        both(&format!("has size {size} in dimension 0"), &|g, _| g.sizes[0] = size);
    }
    both("has elements and no memory", &|_, t| t.data = null_mut());
    let wide = "of sizes [4611686018427387904] (strides None) reaches beyond all memory";
    both(wide, &|g, _| g.sizes[0] = 1 << 62);
    both("of sizes [576460752303423488] (strides None) reaches beyond all memory", &|g, _| g.sizes[0] = 1 << 59);
    both("of sizes [2] (strides None) reaches beyond all memory", &|_, t| t.byte_offset = u64::MAX);
    for stride in [i64::MAX, i64::MIN, 1 << 60, -(1 << 60)] {
        both(&format!("of sizes [2] (strides Some([{stride}])) reaches beyond all memory"), &|g, t| {
            g.strides[0] = stride;
            t.strides = g.strides.as_mut_ptr();
        });
    }
    for dtype in [DLDataType { code: 77, bits: 32, lanes: 1 }, DLDataType { code: 2, bits: 0, lanes: 0 }] {
        check("has element type an unknown type, the program wants f32", "has another element type", &|_, t| t.dtype = dtype);
    }
    for device_type in [0, -1, 2, 99] {
        check(
            &format!("lives on device type {device_type}, the program wants host memory"),
            "is neither host memory nor dense memory of the program's device",
            &|_, t| t.device.device_type = device_type,
        );
    }
    // Elements on one another may be read, and not written.
    let repeated: &dyn Fn(&mut Given, &mut DLTensor) = &|g, t| {
        g.strides[0] = 0;
        t.strides = g.strides.as_mut_ptr();
    };
    assert_eq!(refused(repeated), ["nothing", "output 0 `out`: the tensor given for it has elements that lie on one another"]);
}

#[test]
fn lists_and_programs_that_are_not_there_are_refused() {
    let (program, weights) = open();
    let (mut x, mut y) = (Given::new(), Given::new());
    let (x, y) = (x.describe(), y.describe());
    let inputs: [*const DLTensor; 2] = [&raw const x, &raw const y];
    let check = |status: i32, text: &str| assert_eq!((status, last_error().as_str()), (1, text));
    let unaligned = inputs.as_ptr().cast::<u8>().wrapping_add(1).cast();
    let mut results = [null_mut(); 3];
    // SAFETY: what is not null is as it should be, but for what is refused.
    unsafe {
        check(strata_run(null(), 2, inputs.as_ptr(), 0, null()), "no program was given (it is null)");
        check(strata_call(null(), 0, null(), 0, null_mut()), "no program was given (it is null)");
        check(strata_set_memory_limit(null(), 1), "no program was given (it is null)");
        check(strata_run(program, -1, inputs.as_ptr(), 0, null()), "-1 inputs were given");
        check(strata_run(program, 2, null(), 0, null()), "the list of 2 inputs is null or not aligned");
        check(strata_run(program, 2, unaligned, 0, null()), "the list of 2 inputs is null or not aligned");
        check(strata_run(program, 2, inputs.as_ptr(), 1, null()), "the list of 1 outputs is null or not aligned");
        check(strata_run(program, 2, inputs.as_ptr(), i32::MIN, null()), "-2147483648 outputs were given");
        check(strata_run(program, 0, null(), 0, null()), "the program takes 2 inputs, the call has 0");
        check(strata_run(program, 2, [inputs[0], null()].as_ptr(), 0, null()), "input 1 `y` is not given");
        check(strata_run(program, 2, inputs.as_ptr(), 1, [null()].as_ptr()), "output 0 `out`: no tensor is given for it");
        check(strata_call(program, 2, inputs.as_ptr(), 2, null_mut()), "the list of 2 outputs is null or not aligned");
        check(strata_call(program, 2, inputs.as_ptr(), 3, results.as_mut_ptr()), "the program has 2 results, 3 were asked for");
        check(strata_call(program, 2, inputs.as_ptr(), -2, results.as_mut_ptr()), "-2 outputs were given");
        assert_eq!(results, [null_mut(); 3]);

        let opened = |program: *mut Session, text: &str| assert!(program.is_null() && last_error().starts_with(text), "{}", last_error());
        opened(strata_open(null(), 100, null()), "no artefact was given");
        opened(strata_open(program.cast::<c_void>(), u64::MAX, null()), "no artefact was given");
        opened(strata_open([0u8; 64].as_ptr().cast(), 0, null()), "not a Strata artefact");
        opened(strata_open_file(null(), null()), "no path was given");
        opened(strata_open_file(c"/nowhere/at/all.strata".as_ptr(), null()), "/nowhere/at/all.strata: No such file");
        opened(strata_open_file(c"/nowhere/at/all.so".as_ptr(), null()), "/nowhere/at/all.so: No such file");
        let bytes = artefact(weights.path()).to_bytes();
        let missing = CString::new("/nowhere/weights").unwrap();
        let none: *const c_char = missing.as_ptr();
        opened(strata_open(bytes.as_ptr().cast(), bytes.len() as u64, none), "weights file /nowhere/weights: No such file");
        strata_close(program);
        strata_close(null_mut());
    }
}

#[test]
fn a_program_can_be_bounded() {
    let (program, _weights) = open();
    let (mut x, mut y) = (Given::new(), Given::new());
    let (x, y) = (x.describe(), y.describe());
    let inputs: [*const DLTensor; 2] = [&raw const x, &raw const y];
    let call = || {
        // SAFETY: the inputs are alive; no result is taken.
        let status = unsafe { strata_call(program, 2, inputs.as_ptr(), 0, null_mut()) };
        if status == 0 { "done".into() } else { last_error() }
    };
    // SAFETY: the program is open until the end.
    unsafe {
        assert_eq!(strata_set_memory_limit(program, 20), 0);
        // Two floats of the result and two of scratch are 16 bytes, the counter makes 24.
        assert_eq!(call(), "out of memory: 8 bytes are asked for, 16 of at most 20 for a call of this program are taken");
        assert_eq!(strata_set_memory_limit(program, 24), 0);
        assert_eq!(call(), "done");
        strata_close(program);
    }
}
