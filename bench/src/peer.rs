//! One prepared program and the tensor descriptions it is called with.

use std::error::Error;
use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use strata_runtime::compiler::{Compiler, LIBRARY};
use strata_runtime::dlpack::{DLDevice, DLTensor};
use strata_runtime::{CallState, DType, Session, pool};

/// The element types of the harness, in the order of their numbers.
const TYPES: [DType; 12] = [
    DType::F32,
    DType::F64,
    DType::I32,
    DType::I64,
    DType::Bool,
    DType::BF16,
    DType::F16,
    DType::I16,
    DType::I8,
    DType::U8,
    DType::C64,
    DType::C128,
];

/// Most dimensions of a tensor of the harness.
const RANK: usize = 8;

/// A tensor of the harness; strides count elements.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BenchTensor {
    /// First element.
    pub data: *mut c_void,
    /// 0 f32, 1 f64, 2 i32, 3 i64, 4 bool, 5 bf16, 6 f16, 7 i16, 8 i8, 9 u8, 10 complex of f32, 11 complex of f64.
    pub dtype: i32,
    /// Dimensions in use.
    pub rank: i32,
    /// Sizes.
    pub shape: [i64; RANK],
    /// Strides in elements.
    pub strides: [i64; RANK],
}

/// A compiled program with everything its calls need.
pub struct Peer {
    session: Session,
    state: CallState,
    inputs: Vec<DLTensor>,
    outputs: Vec<DLTensor>,
}

impl Peer {
    /// Compiles `bundle/model.pt2`, in the mode that the name of this library says. `threads` counts if nothing of this process has used the thread pool yet.
    pub fn prepare(bundle: &Path, threads: usize) -> Result<Peer, Box<dyn Error>> {
        pool::limit(threads);
        let compiler = match own_folder().map(|folder| folder.join(LIBRARY)).filter(|path| path.exists()) {
            Some(path) if std::env::var_os(strata_runtime::compiler::OVERRIDE).is_none() => Compiler::open_at(&path)?,
            _ => Compiler::open()?,
        };
        let artefact = compiler.compile(&bundle.join("model.pt2"), &options(own_library().as_deref()))?;
        let session = Session::load(&artefact, None)?;
        let state = session.caller();
        Ok(Peer { session, state, inputs: Vec::new(), outputs: Vec::new() })
    }

    /// Calls the program `times` times.
    ///
    /// # Safety
    /// The tensors describe readable (for outputs writable) memory.
    pub unsafe fn run(&mut self, inputs: &[BenchTensor], outputs: &[BenchTensor], times: i64) -> Result<(), String> {
        describe(inputs, &mut self.inputs)?;
        describe(outputs, &mut self.outputs)?;
        let pointers = |tensors: &[DLTensor]| tensors.iter().map(|tensor| &raw const *tensor).collect::<Vec<_>>();
        let (inputs, outputs) = (pointers(&self.inputs), pointers(&self.outputs));
        for _ in 0..times {
            // SAFETY: the caller's promise; the descriptions stay as they are during the loop.
            unsafe { self.session.run_dlpack(&mut self.state, &inputs, &outputs) }.map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

/// The harness's tensors as DLPack's; sizes and strides stay in the harness's structs.
fn describe(tensors: &[BenchTensor], into: &mut Vec<DLTensor>) -> Result<(), String> {
    into.clear();
    for (k, tensor) in tensors.iter().enumerate() {
        let dtype = usize::try_from(tensor.dtype).ok().and_then(|code| TYPES.get(code));
        let dtype = dtype.ok_or_else(|| format!("tensor {k} has the unknown element type {}", tensor.dtype))?;
        if !usize::try_from(tensor.rank).is_ok_and(|rank| rank <= RANK) {
            return Err(format!("tensor {k} has rank {}", tensor.rank));
        }
        into.push(DLTensor {
            data: tensor.data,
            device: DLDevice::CPU,
            ndim: tensor.rank,
            dtype: dtype.dlpack(),
            shape: tensor.shape.as_ptr().cast_mut(),
            strides: tensor.strides.as_ptr().cast_mut(),
            byte_offset: 0,
        });
    }
    Ok(())
}

/// The folder of the library that this function is in: the executable is the harness's.
fn own_folder() -> Option<PathBuf> {
    Some(own_library()?.parent()?.to_path_buf())
}

/// The compiler's options: a harness names a peer by its library alone, so a copy `libstrata_bench-MODE.so` is Strata in that mode.
fn options(library: Option<&Path>) -> String {
    let name = library.and_then(Path::file_stem).unwrap_or_default().to_string_lossy();
    match name.split_once('-') {
        // Measured schedules come from the store where they are there.
        Some((_, mode)) => format!(r#"{{"mode":"{mode}","cache":{}}}"#, mode == "max-autotune"),
        None => "{}".to_owned(),
    }
}

/// The file of the library that this function is in.
fn own_library() -> Option<PathBuf> {
    // SAFETY: a struct of pointers may be all zero; `dladdr` fills it from the address of our own function.
    let info = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(own_library as *const c_void, &raw mut info) != 0).then_some(info)
    }?;
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own text, which lives as long as the library.
    Some(PathBuf::from(OsStr::from_bytes(unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_says_its_mode() {
        let of = |name: &str| options(Some(Path::new(name)));
        assert_eq!(of("/there/libstrata_bench.so"), "{}");
        assert_eq!(of("libstrata_bench-reduce-overhead.so"), r#"{"mode":"reduce-overhead","cache":false}"#);
        assert_eq!(of("libstrata_bench-max-autotune.so"), r#"{"mode":"max-autotune","cache":true}"#);
    }
}
