//! Opens extensions: a copy in memory that does not ask for libtorch, whose functions this library has.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::error::said;
use crate::registry::{Operator, operators};

unsafe extern "C" {
    fn strata_torch_guard_open(
        open: unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void,
        path: *const c_char,
        flags: c_int,
        library: *mut *mut c_void,
        text: *mut c_char,
        bytes: u64,
    ) -> i32;
}

/// Where the fields of a 64-bit ELF file are.
mod elf {
    pub const SEGMENTS: usize = 32;
    pub const SEGMENT_COUNT: usize = 56;
    pub const SEGMENT_BYTES: usize = 56;
    pub const LOAD: u32 = 1;
    pub const DYNAMIC: u32 = 2;
    pub const NEEDED: u64 = 1;
    pub const STRING_TABLE: u64 = 5;
    /// An entry that a dynamic linker passes over in a library.
    pub const DEBUG: u64 = 21;
}

/// Takes the needs of PyTorch's libraries out of a library.
fn without_torch(file: &mut [u8]) -> Option<()> {
    let word = |file: &[u8], at: usize| Some(u64::from_le_bytes(file.get(at..at.checked_add(8)?)?.try_into().ok()?));
    let short = |file: &[u8], at: usize| Some(u32::from_le_bytes(file.get(at..at.checked_add(4)?)?.try_into().ok()?));
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let first = usize::try_from(word(file, elf::SEGMENTS)?).ok()?;
    let count = usize::from(u16::from_le_bytes(file.get(elf::SEGMENT_COUNT..elf::SEGMENT_COUNT + 2)?.try_into().ok()?));
    let (mut loads, mut dynamic) = (Vec::new(), None);
    for k in 0..count {
        let at = first.checked_add(k * elf::SEGMENT_BYTES)?;
        let [offset, address, bytes] = [word(file, at + 8)?, word(file, at + 16)?, word(file, at + 32)?];
        match short(file, at)? {
            elf::LOAD => loads.push((offset, address, bytes)),
            elf::DYNAMIC => dynamic = Some((usize::try_from(offset).ok()?, usize::try_from(bytes).ok()?)),
            _ => {}
        }
    }
    let (start, bytes) = dynamic?;
    let entries = (start..start.checked_add(bytes)?).step_by(16);
    let strings = entries.clone().find_map(|at| (word(file, at)? == elf::STRING_TABLE).then(|| word(file, at + 8)).flatten())?;
    let (offset, address, _) =
        loads.into_iter().find(|(_, address, bytes)| (*address..address.saturating_add(*bytes)).contains(&strings))?;
    let strings = usize::try_from(strings - address + offset).ok()?;
    for at in entries {
        if word(file, at)? == elf::NEEDED {
            let name = file.get(strings.checked_add(usize::try_from(word(file, at + 8)?).ok()?)?..)?;
            if name.starts_with(b"libtorch") || name.starts_with(b"libc10") {
                file.get_mut(at..at + 8)?.copy_from_slice(&elf::DEBUG.to_le_bytes());
            }
        }
    }
    Some(())
}

/// Opens an extension for good; it registers what it has.
fn open(mut file: Vec<u8>) -> Result<(), String> {
    without_torch(&mut file).ok_or("it is no library for this machine")?;
    // SAFETY: the name is terminated.
    let copy = unsafe { libc::memfd_create(c"torch-op".as_ptr(), libc::MFD_CLOEXEC) };
    if copy < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: the descriptor is new, and nobody else's.
    let mut copy = unsafe { std::fs::File::from_raw_fd(copy) };
    copy.write_all(&file).map_err(|error| error.to_string())?;
    let place = CString::new(format!("/proc/self/fd/{}", copy.as_raw_fd())).map_err(|error| error.to_string())?;
    let (mut library, mut text) = (std::ptr::null_mut(), [0 as c_char; 512]);
    // SAFETY: the user asks for the library by name: its initialisers are code that she trusts.
    let status = unsafe {
        let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
        strata_torch_guard_open(libc::dlopen, place.as_ptr(), flags, &raw mut library, text.as_mut_ptr(), 512)
    };
    if status != 0 {
        return Err(said(&text));
    }
    if library.is_null() {
        // SAFETY: the text is terminated, and stands until the next failure.
        let why = unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned();
        let missing = why.split("undefined symbol: ").nth(1);
        return Err(missing.map_or(why.clone(), |name| format!("it calls `{name}`, which is not there without PyTorch")));
    }
    Ok(())
}

/// The extensions that are open, by their length and hash: what each one registers.
static OPENED: Mutex<BTreeMap<(usize, u64), String>> = Mutex::new(BTreeMap::new());

/// The operators that an extension registers with a kernel for the CPU, a line each; it is opened if it is not open.
fn registered(path: &Path) -> Result<String, String> {
    let file = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    let key = (file.len(), hasher.finish());
    // One extension registers at a time.
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(lines) = opened.get(&key) {
        return Ok(lines.clone());
    }
    let before = operators().clone();
    open(file)?;
    let new = |name: &str| before.get(name).is_none_or(|known| known.kernel.is_none());
    let of_the_cpu = |(name, operator): (&String, &Operator)| match (&operator.schema, operator.kernel) {
        (Some(schema), Some(_)) if new(name) => Some(format!("{name}{schema}\n")),
        _ => None,
    };
    let lines: String = operators().iter().filter_map(of_the_cpu).collect();
    opened.insert(key, lines.clone());
    Ok(lines)
}

/// Opens an extension for good. `text` gets a line for each operator that it registers with a kernel for the CPU, as in
/// `ns::name(Tensor x) -> Tensor`; or why it does not open, where the result is not 0.
///
/// # Safety
/// `path` is terminated, and `text` takes the pointer and length of a text.
#[unsafe(no_mangle)]
unsafe extern "C" fn strata_torch_open(
    path: *const c_char,
    context: *mut c_void,
    text: unsafe extern "C" fn(*mut c_void, *const u8, usize),
) -> i32 {
    // SAFETY: the runtime's promise.
    let path = unsafe { CStr::from_ptr(path) };
    let (status, said) = match registered(Path::new(OsStr::from_bytes(path.to_bytes()))) {
        Ok(lines) => (0, lines),
        Err(why) => (1, why),
    };
    // SAFETY: as above.
    unsafe { text(context, said.as_ptr(), said.len()) };
    status
}
