//! Sequences of calls of the C interface, drawn from bytes: programs and tensors that are there, and everything that is not but can be
//! told. Each ends with a status; what lies around the caller's memory stays as it was.
#![no_main]

#[path = "../../tests/runtime/program.rs"]
mod program;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use strata_runtime::capi::*;
use strata_runtime::dlpack::{DLDataType, DLDevice, DLManagedTensor, DLTensor};
use strata_runtime::{DType, Session};

/// Choices, one byte each; zeros when there are no more.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A small number, or one of those at which arithmetic ends.
    fn number(&mut self) -> i64 {
        const ENDS: [i64; 12] =
            [i64::MIN, i64::MAX, -1, 1 << 62, 1 << 61, 1 << 59, 1 << 47, 1 << 32, -(1 << 32), 10_000_000_000, 1 << 20, 4096];
        match self.byte() {
            small @ 0..128 => i64::from(small % 9),
            large => ENDS[usize::from(large) % ENDS.len()],
        }
    }

    /// Whether to do something unusual.
    fn rarely(&mut self) -> bool {
        self.byte() >= 224
    }
}

/// Memory of a tensor that holds `ROOM` floats; around them is what must not change.
const ROOM: usize = 8;
const EDGE: f32 = 1234.5;

/// What a description leads to.
struct Given {
    data: [f32; 3 * ROOM],
    sizes: [i64; 4],
    strides: [i64; 4],
}

impl Given {
    fn new(choices: &mut Choices<'_>) -> Given {
        let mut data = [EDGE; 3 * ROOM];
        data[ROOM..2 * ROOM].iter_mut().for_each(|x| *x = f32::from(choices.byte()));
        Given { data, sizes: [0; 4].map(|_| choices.number()), strides: [0; 4].map(|_| choices.number()) }
    }

    fn is_whole(&self) -> bool {
        self.data[..ROOM].iter().chain(&self.data[2 * ROOM..]).all(|x| *x == EDGE)
    }

    /// A description that lies in nothing that it cannot lie in: where it is a true one in its rank, type and place, its elements are
    /// within the memory, or so far that this can be told.
    fn describe(&mut self, choices: &mut Choices<'_>) -> DLTensor {
        let (mut ndim, mut dtype, mut device) = (1, DType::F32.dlpack(), DLDevice::CPU);
        let honest = |far: i64| far.unsigned_abs() >= 1 << 58;
        let (size, stride) = (self.sizes[0], self.strides[0]);
        let strided = choices.byte() & 1 == 1;
        let reach = if strided { size.saturating_sub(1).saturating_mul(stride) } else { size };
        if !(honest(reach) && (strided || size > 0) || size <= 0 || (0..=ROOM as i64 - 1).contains(&reach)) {
            (self.sizes[0], self.strides[0]) = (size.rem_euclid(ROOM as i64), stride.clamp(0, 1));
        }
        if choices.rarely() {
            ndim = choices.number() as i32;
            ndim = if ndim == 1 { 2 } else { ndim };
        }
        if choices.rarely() {
            dtype = DLDataType { code: choices.byte(), bits: choices.byte(), lanes: choices.byte().into() };
            dtype.lanes += u16::from(dtype == DType::F32.dlpack());
        }
        if choices.rarely() {
            device = DLDevice { device_type: choices.number() as i32, device_id: choices.number() as i32 };
        }
        let data = if choices.rarely() { null_mut() } else { self.data[ROOM..].as_mut_ptr().cast::<c_void>() };
        let shape = if choices.rarely() { null_mut() } else { self.sizes.as_mut_ptr() };
        let byte_offset = if choices.rarely() { u64::MAX } else { 0 };
        DLTensor { data, device, ndim, dtype, shape, strides: if strided { self.strides.as_mut_ptr() } else { null_mut() }, byte_offset }
    }
}

/// An artefact, and the file of its weights, which stays for the process.
fn artefact() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let weights = Box::leak(Box::new(program::weights_file()));
        program::artefact(weights.path()).to_bytes()
    })
}

/// The text of the last failure can be read.
fn print_error() {
    // SAFETY: the text is terminated.
    unsafe { CStr::from_ptr(strata_error()) }.to_str().expect("a text");
}

fn open(choices: &mut Choices<'_>) -> *mut Session {
    let mut bytes = artefact().to_vec();
    let weights: *const c_char = if choices.rarely() { c"/nowhere".as_ptr() } else { null() };
    let length = match choices.rarely() {
        // Shorter than it is, or longer than anything.
        true if choices.byte() & 1 == 0 => bytes.len() as u64 * u64::from(choices.byte()) / 256,
        true => u64::MAX - u64::from(choices.byte()),
        false => bytes.len() as u64,
    };
    if choices.rarely() {
        let at = usize::from(choices.byte()) * 17 % bytes.len();
        bytes[at] ^= 1 << (choices.byte() & 7);
    }
    let from: *const c_void = if choices.rarely() { null() } else { bytes.as_ptr().cast() };
    // SAFETY: so many bytes are readable, or what is given can be told to be nothing.
    unsafe { strata_open(from, length, weights) }
}

fn call(program: *const Session, choices: &mut Choices<'_>) {
    let (mut given, mut lists) = ([0; 4].map(|_| Given::new(choices)), Vec::new());
    for given in &mut given {
        lists.push(given.describe(choices));
    }
    let mut pointers: Vec<*const DLTensor> = lists.iter().map(|tensor| &raw const *tensor).collect();
    for pointer in &mut pointers {
        if choices.rarely() {
            *pointer = if choices.byte() & 1 == 0 { null() } else { pointer.cast::<u8>().wrapping_add(1).cast() };
        }
    }
    let count = |choices: &mut Choices<'_>, usual: i32, most: i32| match choices.rarely() {
        true => (choices.number() as i32).min(most),
        false => usual,
    };
    let list = |choices: &mut Choices<'_>, at: usize| if choices.rarely() { null() } else { pointers[at..].as_ptr() };
    let program = if choices.rarely() { null() } else { program };
    let (n_in, inputs) = (count(choices, 2, 2), list(choices, 0));
    if choices.byte() & 1 == 0 {
        let (n_out, outputs) = (count(choices, 1, 2), list(choices, 2));
        // SAFETY: lists are as long as said at most, and descriptions are true or can be told not to be.
        if unsafe { strata_run(program, n_in, inputs, n_out, outputs) } != 0 {
            print_error();
        }
    } else {
        let mut results = [null_mut::<DLManagedTensor>(); 4];
        let n_out = count(choices, 2, 4);
        let into = if choices.rarely() { null_mut() } else { results.as_mut_ptr() };
        // SAFETY: as above, and there is room for the results.
        if unsafe { strata_call(program, n_in, inputs, n_out, into) } != 0 {
            print_error();
        }
        for result in results.into_iter().filter(|result| !result.is_null()) {
            // SAFETY: it was given to us, once.
            unsafe { (*result).deleter.expect("a deleter")(result) };
        }
    }
    assert!(given.iter().all(Given::is_whole), "a call wrote around the caller's memory");
}

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices(bytes);
    let program = open(&mut choices);
    if program.is_null() {
        print_error();
    }
    for _ in 0..choices.byte() % 6 {
        if choices.rarely() {
            // SAFETY: the program is null or open.
            unsafe { strata_set_memory_limit(program, choices.number() as u64) };
        }
        call(program, &mut choices);
    }
    // SAFETY: the program is null or open, and not used afterwards.
    unsafe { strata_close(program) };
});
