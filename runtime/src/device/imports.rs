//! The functions by which a program's code asks for what only its device can do; see the architecture page.
//!
//! Without a device they do nothing: a session refuses such a program before it is called.

use std::ffi::c_void;

use super::DeviceCall;
use crate::abi::StrataCall;
use crate::imports::{Address as Function, state};

/// All of them, by name.
pub(crate) static FUNCTIONS: &[(&str, Function)] = &[
    ("strata_device_constant", Function(strata_device_constant as *const c_void)),
    ("strata_device_copy", Function(strata_device_copy as *const c_void)),
    ("strata_device_launch", Function(strata_device_launch as *const c_void)),
    ("strata_device_launch_custom", Function(strata_device_launch_custom as *const c_void)),
    ("strata_device_read", Function(strata_device_read as *const c_void)),
    ("strata_device_stage", Function(strata_device_stage as *const c_void)),
    ("strata_device_unstage", Function(strata_device_unstage as *const c_void)),
    ("strata_device_write", Function(strata_device_write as *const c_void)),
];

/// # Safety
/// `call` is the argument of a running entry.
unsafe fn device<'a>(call: *mut StrataCall) -> Option<&'a mut DeviceCall> {
    // SAFETY: the caller's promise.
    unsafe { state(call) }.device.as_deref_mut()
}

/// A constant of the image, as the device has it.
///
/// # Safety
/// Called by an image with the argument of its running entry and bytes of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_constant(call: *mut StrataCall, from: *const u8, bytes: i64) -> *mut c_void {
    // SAFETY: the image passes its own argument.
    let Some(device) = (unsafe { device(call) }) else { return std::ptr::null_mut() };
    // SAFETY: the image passes bytes of its own.
    device.constant(unsafe { std::slice::from_raw_parts(from, bytes as usize) }) as usize as *mut c_void
}

/// Copies bytes inside of the device.
///
/// # Safety
/// Called by an image with the argument of its running entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_copy(call: *mut StrataCall, from: u64, to: u64, bytes: i64) {
    // SAFETY: the image passes its own argument.
    if let Some(device) = unsafe { device(call) } {
        device.copy(from, to, usize::try_from(bytes).unwrap_or(0));
    }
}

/// Starts kernel number `kernel` in so many blocks, on arguments of a word each.
///
/// # Safety
/// Called by an image with the argument of its running entry and `count` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_launch(call: *mut StrataCall, kernel: i64, blocks: i64, arguments: *const u64, count: i64) {
    // SAFETY: the image passes its own argument.
    let Some(device) = (unsafe { device(call) }) else { return };
    // SAFETY: the image passes so many words.
    let arguments = unsafe { std::slice::from_raw_parts(arguments, count as usize) };
    device.launch(kernel as usize, u64::try_from(blocks).unwrap_or(0), arguments);
}

/// Starts kernel number `kernel`, which is the user's: the words are its blocks in three dimensions, and its arguments.
///
/// # Safety
/// Called by an image with the argument of its running entry and `count` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_launch_custom(call: *mut StrataCall, kernel: i64, words: *const u64, count: i64) {
    // SAFETY: the image passes its own argument.
    let Some(device) = (unsafe { device(call) }) else { return };
    // SAFETY: the image passes so many words.
    let words = unsafe { std::slice::from_raw_parts(words, count as usize) };
    if let Some((blocks, arguments)) = words.split_first_chunk::<3>() {
        // A number of blocks below zero is none, as for the kernels of the program.
        device.launch_custom(kernel as usize, blocks.map(|blocks| u64::try_from(blocks as i64).unwrap_or(0)), arguments);
    }
}

/// Copies bytes of the device to the host, which looks at them.
///
/// # Safety
/// Called by an image with the argument of its running entry and room for so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_read(call: *mut StrataCall, from: u64, to: *mut u8, bytes: i64) {
    // SAFETY: the image passes its own argument, and room for so many bytes.
    if let Some(device) = unsafe { device(call) } {
        // SAFETY: as above.
        device.read(from, unsafe { std::slice::from_raw_parts_mut(to, bytes as usize) });
    }
}

/// Copies bytes of the host to the device.
///
/// # Safety
/// Called by an image with the argument of its running entry and so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_write(call: *mut StrataCall, from: *const u8, to: u64, bytes: i64) {
    // SAFETY: the image passes its own argument.
    if let Some(device) = unsafe { device(call) } {
        // SAFETY: the image passes so many bytes.
        device.write(unsafe { std::slice::from_raw_parts(from, bytes as usize) }, to);
    }
}

/// The host's copy of a tensor of the device, until [`strata_device_unstage`].
///
/// # Safety
/// Called by an image with the argument of its running entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_stage(call: *mut StrataCall, at: u64, bytes: i64) -> *mut c_void {
    // SAFETY: the image passes its own argument.
    let device = unsafe { device(call) };
    device.map_or(std::ptr::null_mut(), |device| device.stage(at, usize::try_from(bytes).unwrap_or(0)).cast())
}

/// Takes all copies of the host back to the device.
///
/// # Safety
/// Called by an image with the argument of its running entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_device_unstage(call: *mut StrataCall) {
    // SAFETY: the image passes its own argument.
    if let Some(device) = unsafe { device(call) } {
        device.unstage();
    }
}
