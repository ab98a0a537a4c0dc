//! A program's kernels: the newest of its modules that the device can run, assembled by the driver.

use std::ffi::{CString, c_void};

use cudarc::driver::result::{device, module};
use cudarc::driver::sys;

use super::message_of;
use crate::device::DeviceError;
use crate::manifest::{DeviceCode, DeviceKernel, DeviceModule};

/// A kernel ready to be started.
#[derive(Debug)]
pub(super) struct Kernel {
    pub function: sys::CUfunction,
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    name: String,
    location: String,
}

impl Kernel {
    /// What it is, for messages.
    pub fn what(&self) -> String {
        if self.location.is_empty() { format!("kernel `{}`", self.name) } else { format!("kernel `{}`, from {}", self.name, self.location) }
    }
}

/// Loads the kernels of a program; `modules` takes what is to be unloaded.
pub(super) fn load(
    device: sys::CUdevice,
    name: &str,
    code: &DeviceCode,
    modules: &mut Vec<sys::CUmodule>,
) -> Result<Vec<Kernel>, DeviceError> {
    let failed = |what: String, reason: String| DeviceError::Failed { device: name.to_owned(), what, reason };
    let mut assembled = |what: String, ptx: &str| -> Result<sys::CUmodule, DeviceError> {
        let text = CString::new(ptx).map_err(|_| failed(what.clone(), "the PTX contains a zero byte".into()))?;
        let module = assemble(&text).map_err(|reason| failed(what, reason))?;
        modules.push(module);
        Ok(module)
    };
    let own = if code.kernels.iter().any(|kernel| kernel.file.is_none()) {
        let attribute = |attribute| {
            // SAFETY: the device is the driver's.
            unsafe { device::get_attribute(device, attribute) }.map_err(|error| failed("its architecture".into(), message_of(error)))
        };
        let major = attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let chosen = choose(&code.modules, 10 * major + minor).ok_or_else(|| DeviceError::Architecture {
            has: code.modules.iter().map(|module| &*module.architecture).collect::<Vec<_>>().join(", "),
            device: format!("sm_{major}{minor}"),
        })?;
        Some(assembled(format!("the kernels for {}", chosen.architecture), &chosen.ptx)?)
    } else {
        None
    };
    let files = code.ptx_files.iter().map(|file| Ok((file.file.as_str(), assembled(format!("the kernels of {}", file.file), &file.ptx)?)));
    let files = files.collect::<Result<Vec<_>, DeviceError>>()?;
    let mut kernels = Vec::new();
    for DeviceKernel { name, file, threads, shared, location, .. } in &code.kernels {
        let what = || format!("kernel `{name}`");
        let loaded = match file {
            Some(file) => files.iter().find(|(known, _)| known == file).map(|(_, module)| *module),
            None => own,
        };
        let loaded = loaded.ok_or_else(|| failed(what(), "the program does not have its file".into()))?;
        let symbol = CString::new(name.as_bytes()).map_err(|_| failed(what(), "its name contains a zero byte".into()))?;
        // SAFETY: the module was loaded just now.
        let function = unsafe { module::get_function(loaded, symbol) };
        let function = function.map_err(|error| failed(what(), message_of(error)))?;
        kernels.push(Kernel { function, threads: *threads, shared: *shared, name: name.clone(), location: location.clone() });
    }
    Ok(kernels)
}

/// The newest architecture that is not newer than the device: its PTX is what the driver assembles for all that follow.
fn choose(modules: &[DeviceModule], device: i32) -> Option<&DeviceModule> {
    let number = |module: &DeviceModule| module.architecture.strip_prefix("sm_").and_then(|number| number.parse::<i32>().ok());
    modules.iter().filter(|module| number(module).is_some_and(|number| number <= device)).max_by_key(|module| number(module))
}

/// Lets the driver assemble PTX; what it says where it refuses.
fn assemble(text: &CString) -> Result<sys::CUmodule, String> {
    let mut log = vec![0u8; 8192];
    let mut options = [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let mut loaded = std::ptr::null_mut();
    // SAFETY: the text is terminated; the options are two, with a value each; the log is as long as it says.
    let status = unsafe { sys::cuModuleLoadDataEx(&raw mut loaded, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()) };
    status.result().map(|()| loaded).map_err(|error| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        let log = String::from_utf8_lossy(&log[..end]);
        [message_of(error), log.trim().to_owned()].join(" ").trim().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_the_device_can_run_is_chosen() {
        let module = |architecture: &str| DeviceModule { architecture: architecture.into(), ptx: String::new() };
        let modules = [module("sm_80"), module("sm_100"), module("sm_90")];
        let chosen = |device| choose(&modules, device).map(|module| module.architecture.as_str());
        assert_eq!(
            [75, 80, 89, 90, 103, 120].map(chosen),
            [None, Some("sm_80"), Some("sm_80"), Some("sm_90"), Some("sm_100"), Some("sm_100")]
        );
    }
}
