//! Weights made of weights: `strata_prepare` computes them once for a session, or once for all processes where a file keeps them.

use std::ffi::c_void;
use std::fs::File;
use std::sync::Arc;

use memmap2::{Mmap, MmapOptions};

use crate::call::{CallState, OutputMaker};
use crate::device::{Resident, session};
use crate::error::{LoadError, RunError};
use crate::image::LoadedImage;
use crate::manifest::{Manifest, Output};
use crate::memory::{ALIGN, Block, MemoryError};
use crate::tensor::dense_bytes;
use crate::weights::Weights;

/// Files in which prepared weights stay, for the next process that runs the program and for those beside it.
pub trait PreparedFiles {
    /// The file that an earlier session filled with what this program prepares of these weights, and where in it they begin: so many bytes
    /// at a multiple of a page.
    fn find(&self, bytes: u64) -> Option<(File, u64)>;
    /// A new file to fill, and where; nothing where they are not to be kept.
    fn make(&self, bytes: u64) -> Option<(File, u64)>;
    /// The file of the last [`PreparedFiles::make`] is filled.
    fn finish(&self);
}

/// The prepared weights of a session.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// Where each is.
    pub pointers: Vec<usize>,
    /// What they are in.
    pub memory: Memory,
}

/// Memory that is held as long as the session.
#[derive(Debug)]
#[expect(dead_code, reason = "it is only held")]
pub(crate) enum Memory {
    Blocks(Vec<Block>),
    File(Mmap),
}

impl Default for Memory {
    fn default() -> Self {
        Memory::Blocks(Vec::new())
    }
}

/// Computes the prepared weights of a program from the data of its weights, or finds them in a file.
pub(crate) fn run(
    manifest: &Manifest,
    image: &LoadedImage,
    weights: &Weights,
    files: Option<&dyn PreparedFiles>,
) -> Result<Prepared, LoadError> {
    let declared = &manifest.prepared;
    if declared.is_empty() {
        return Ok(Prepared::default());
    }
    let Some(files) = files else { return in_memory(manifest, image, weights) };
    let (places, bytes) = places(declared)?;
    let io = |error: std::io::Error| LoadError::Manifest(format!("the file of its prepared weights cannot be mapped: {error}"));
    if let Some((file, offset)) = files.find(bytes as u64) {
        // SAFETY: the map is read only; like every user of mapped weights we rely on the file not being cut short meanwhile.
        let map = unsafe { MmapOptions::new().offset(offset).len(bytes).map(&file) }.map_err(io)?;
        return Ok(in_file(map, &places));
    }
    let Some((file, offset)) = files.make(bytes as u64) else { return in_memory(manifest, image, weights) };
    // SAFETY: nobody else knows the new file.
    let mut map = unsafe { MmapOptions::new().offset(offset).len(bytes).map_mut(&file) }.map_err(io)?;
    let start = map.as_mut_ptr();
    fill(manifest, image, weights, &mut |k, _| Ok(start.wrapping_add(places[k])))?;
    files.finish();
    Ok(in_file(map.make_read_only().map_err(io)?, &places))
}

/// Offsets of tensors one behind the other, each aligned, and the bytes of all.
fn places(declared: &[Output]) -> Result<(Vec<usize>, usize), LoadError> {
    let (mut places, mut end) = (Vec::new(), 0usize);
    for output in declared {
        let shape: Option<Vec<i64>> = output.shape.iter().copied().collect();
        let bytes = shape.and_then(|shape| dense_bytes(output.dtype, &shape).ok());
        let next = bytes.and_then(|bytes| end.checked_add(bytes)?.checked_next_multiple_of(ALIGN));
        places.push(end);
        end = next.ok_or_else(|| LoadError::Manifest(format!("no size of prepared weight `{}` is known", output.name)))?;
    }
    Ok((places, end))
}

fn in_file(map: Mmap, places: &[usize]) -> Prepared {
    let start = map.as_ptr() as usize;
    Prepared { pointers: places.iter().map(|place| start + place).collect(), memory: Memory::File(map) }
}

fn in_memory(manifest: &Manifest, image: &LoadedImage, weights: &Weights) -> Result<Prepared, LoadError> {
    let mut blocks: Vec<Option<Block>> = manifest.prepared.iter().map(|_| None).collect();
    fill(manifest, image, weights, &mut |k, bytes| {
        let block = Block::new(bytes)?;
        let start = block.as_ptr();
        blocks[k] = Some(block);
        Ok(start)
    })?;
    let none = || LoadError::Manifest("its preparation leaves a weight out".into());
    let blocks: Vec<Block> = blocks.into_iter().collect::<Option<_>>().ok_or_else(none)?;
    Ok(Prepared { pointers: blocks.iter().map(|block| block.as_ptr() as usize).collect(), memory: Memory::Blocks(blocks) })
}

/// Memory for an output of so many bytes.
type Room<'a> = &'a mut dyn FnMut(usize, usize) -> Result<*mut u8, MemoryError>;

/// Makes room for what is prepared, while the pages of files that were read for what is before it are let go: the process holds a weight
/// as it was or as it is read, and not both.
struct Maker<'a> {
    declared: &'a [Output],
    weights: &'a Weights,
    room: Room<'a>,
    failed: Option<LoadError>,
}

impl OutputMaker for Maker<'_> {
    fn output(&mut self, k: usize, _: &[i64], bytes: usize) -> *mut c_void {
        self.weights.let_go();
        // The place follows from the declaration, and not from what the call asks for.
        let (declared, wrong) = (&self.declared[k], |bytes| format!("prepared weight `{}` takes {bytes} bytes", self.declared[k].name));
        let room = match declared.bytes().and_then(|bytes| usize::try_from(bytes).ok()) {
            Some(room) if bytes <= room => (self.room)(k, room).map_err(LoadError::from),
            _ => Err(RunError::Program(wrong(bytes)).into()),
        };
        match room {
            Ok(start) => start.cast(),
            Err(error) => {
                self.failed = Some(error);
                std::ptr::null_mut()
            }
        }
    }
}

/// Calls `strata_prepare`.
fn fill(manifest: &Manifest, image: &LoadedImage, weights: &Weights, room: Room<'_>) -> Result<(), LoadError> {
    let prepare = image.prepare().ok_or_else(missing)?;
    let pointers: Vec<usize> = weights.pointers().iter().map(|&pointer| pointer as usize).collect();
    let mut maker = Maker { declared: &manifest.prepared, weights, room, failed: None };
    let mut state = CallState::new(&manifest.prepared, 0);
    // SAFETY: the maker lives longer than the call, and the state is used for nothing else.
    unsafe { state.set_maker(Some(&mut maker)) };
    let mut call = state.call(&pointers);
    // SAFETY: the image was made for this ABI and its checksum holds; its weights are all there, of the declared sizes.
    let status = unsafe { prepare(&raw mut call) };
    weights.let_go();
    if let Some(error) = maker.failed {
        return Err(error);
    }
    if status != 0 || state.refused.is_some() {
        return Err(state.failure(status, &manifest.messages, &call.detail).into());
    }
    let fits = |(k, declared): &(usize, &Output)| state.shape(*k).iter().map(|&size| Some(size)).eq(declared.shape.iter().copied());
    match manifest.prepared.iter().enumerate().find(|pair| !fits(pair)) {
        None => Ok(()),
        Some((k, declared)) => {
            Err(RunError::Program(format!("prepared weight `{}` has the shape {:?}", declared.name, state.shape(k))).into())
        }
    }
}

fn missing() -> LoadError {
    LoadError::Manifest("it wants prepared weights and has no function that prepares them".into())
}

/// [`run`] on a device, which keeps what it has prepared.
pub(crate) fn run_on(resident: &Arc<Resident>, manifest: &Manifest, image: &LoadedImage) -> Result<(), LoadError> {
    match image.prepare() {
        _ if manifest.prepared.is_empty() => Ok(()),
        None => Err(missing()),
        Some(prepare) => {
            resident.keep_prepared(session::prepare(resident, resident.call(), manifest, prepare, &resident.weight_pointers())?);
            Ok(())
        }
    }
}
