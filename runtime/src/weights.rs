//! A program's weights: found in their archives, memory-mapped, and copied only where they are strided, unaligned or written to.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fs::File;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Mmap, UncheckedAdvice};
use safetensors::SafeTensors;

use crate::artefact::Artefact;
use crate::call::given_tensor;
use crate::dim_order::DimOrder;
use crate::dlpack::DLTensor;
use crate::dtype::DType;
use crate::manifest::{Manifest, Weight};
use crate::memory::ALIGN;
use crate::packed::Packed;
use crate::strided;
use crate::tensor::{Tensor, TensorError, dense_bytes, dense_strides};

/// The data of every weight of a program.
#[derive(Debug, Default)]
pub struct Weights {
    pointers: Vec<*mut c_void>,
    /// Own copies by weight; the others point into `files` or `packed`.
    owned: HashMap<usize, Tensor>,
    /// First values of the weights that the program changes; nothing for those that begin as zeros.
    initial: HashMap<usize, Option<Tensor>>,
    /// Memory for the next values of weights that a step of training changes.
    next: HashMap<usize, Tensor>,
    files: Vec<Mmap>,
    packed: Option<Packed>,
    /// Tensors of the caller that are read where they are.
    _shared: Vec<Arc<Tensor>>,
}

// SAFETY: the pointers lead into the maps and tensors held here, shared ones included; the session serialises programs that write to them.
unsafe impl Send for Weights {}
// SAFETY: as above.
unsafe impl Sync for Weights {}

/// Why weights cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum WeightError {
    /// The file cannot be opened.
    #[error("weights file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is not an archive we read.
    #[error("weights file {path}: neither a readable zip archive nor safetensors: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The caller brings the weights, and not all of them or too many.
    #[error("the program has {wanted} weights, {found} are given")]
    Count {
        /// Weights of the program.
        wanted: usize,
        /// Weights of the caller.
        found: usize,
    },
    /// A weight that the caller brings does not fit.
    #[error("weight `{name}` {reason}")]
    Given {
        /// The weight.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no memory to pack them.
    #[error("the weights' {bytes} bytes cannot be packed: {source}")]
    Pack {
        /// Bytes of all of them.
        bytes: usize,
        /// The reason.
        source: std::io::Error,
    },
    /// The weight is not in the file as the program expects it.
    #[error("weight `{name}` (entry `{entry}` of {path}): {reason}")]
    Weight {
        /// The weight.
        name: String,
        /// Where it was looked for.
        entry: String,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl Weights {
    /// The weights of a program: those packed in it, or those of the files that it names. With `archive`, that file stands in for all.
    pub fn of(program: &Artefact, archive: Option<&Path>) -> Result<Weights, WeightError> {
        match (&program.manifest.packed, &program.packed) {
            (Some(places), Some(packed)) if archive.is_none() => Weights::packed(&program.manifest, &places.offsets, packed),
            _ => Weights::open(&program.manifest, archive),
        }
    }

    fn packed(manifest: &Manifest, offsets: &[u64], packed: &Packed) -> Result<Weights, WeightError> {
        let mut weights = Weights { packed: Some(packed.clone()), ..Weights::default() };
        for (k, (weight, &offset)) in manifest.weights.iter().zip(offsets).enumerate() {
            weights.add(k, weight, (packed, &[], offset), manifest.writes(weight)).map_err(|reason| WeightError::Given {
                name: weight.name.clone(),
                reason: format!("is not among the packed ones: {reason}"),
            })?;
        }
        Ok(weights)
    }

    /// Opens the weights of a program in the files that its manifest names. With `archive`, that file stands in for every one of them.
    pub fn open(manifest: &Manifest, archive: Option<&Path>) -> Result<Weights, WeightError> {
        let mut archives: HashMap<PathBuf, Archive> = HashMap::new();
        let mut weights = Weights::default();
        let begun =
            archive.map(|path| Archive::open(path, false).map(|archive| archive.has_state(manifest))).transpose()?.unwrap_or_default();
        for (k, weight) in manifest.weights.iter().enumerate() {
            if !weight.source.inline.is_empty() {
                let own = Tensor::from_bytes(weight.dtype, &weight.shape, &weight.source.inline);
                let kept = own.and_then(|own| weights.keep(k, own, manifest.writes(weight)));
                kept.map_err(|error| WeightError::Given { name: weight.name.clone(), reason: error.to_string() })?;
                continue;
            }
            if weight.source.zeros && !begun {
                weights
                    .keep_zeros(k, weight, manifest.writes(weight))
                    .map_err(|error| WeightError::Given { name: weight.name.clone(), reason: error.to_string() })?;
                continue;
            }
            if archive.is_none() && weight.source.file.is_empty() {
                return Err(WeightError::Given {
                    name: weight.name.clone(),
                    reason: "is not in a file; say in which one (--weights)".into(),
                });
            }
            let path = archive.map_or_else(|| weight.source.path(), Path::to_path_buf);
            if !archives.contains_key(&path) {
                let raw = archive.is_none() && weight.source.entry.is_empty();
                archives.insert(path.clone(), Archive { given: archive.is_some(), ..Archive::open(&path, raw)? });
            }
            let found = &archives[&path];
            let added = found.place(weight).and_then(|place| weights.add(k, weight, place, manifest.writes(weight)));
            added.map_err(|reason| WeightError::Weight {
                name: weight.name.clone(),
                entry: weight.source.entry.clone(),
                path: path.clone(),
                reason,
            })?;
        }
        weights.files = archives.into_values().map(|archive| archive.map).collect();
        Ok(weights)
    }

    /// The weights that the caller has, in manifest order: read where they are if they are dense, aligned and not written to.
    ///
    /// # Safety
    /// The tensors describe readable memory of the host, which stays as long as what is given here.
    pub unsafe fn given(manifest: &Manifest, tensors: &[*const DLTensor]) -> Result<Weights, WeightError> {
        let wanted = manifest.weights.len();
        if tensors.len() != wanted {
            return Err(WeightError::Count { wanted, found: tensors.len() });
        }
        let mut weights = Weights::default();
        for (k, (weight, &tensor)) in manifest.weights.iter().zip(tensors).enumerate() {
            let fail = |reason: String| WeightError::Given { name: weight.name.clone(), reason };
            // SAFETY: the caller's promise.
            let tensor = unsafe { given_tensor(tensor) }.ok_or_else(|| fail("is not given".into()))?;
            if tensor.dtype != weight.dtype.dlpack() {
                let found = DType::from_dlpack(tensor.dtype).map_or("an unknown type", DType::name);
                return Err(fail(format!("has element type {found}, the program wants {}", weight.dtype)));
            }
            if !tensor.device.is_host() {
                return Err(fail(format!("lives on device type {}, the program wants host memory", tensor.device.device_type)));
            }
            // SAFETY: as above.
            let (sizes, _) = unsafe { tensor.checked(weight.dtype, weight.shape.len()) }.map_err(fail)?;
            if sizes != weight.shape {
                return Err(fail(format!("has the sizes {sizes:?}, the program wants {:?}", weight.shape)));
            }
            // SAFETY: as above.
            let dense = unsafe { tensor.is_dense(&DimOrder::ROW_MAJOR) };
            let start = tensor.first_element();
            if dense && !manifest.writes(weight) && (start as usize).is_multiple_of(ALIGN) {
                weights.pointers.push(start.cast());
                continue;
            }
            // SAFETY: as above.
            let own = unsafe { Tensor::from_dlpack(tensor) }.map_err(|e| fail(e.to_string()))?;
            weights.keep(k, own, manifest.writes(weight)).map_err(|e| fail(e.to_string()))?;
        }
        Ok(weights)
    }

    /// Weights that are shared with the caller, in manifest order.
    pub fn sharing(manifest: &Manifest, tensors: Vec<Arc<Tensor>>) -> Result<Weights, WeightError> {
        let described: Vec<DLTensor> = tensors.iter().map(|tensor| tensor.dlpack()).collect();
        let pointers: Vec<*const DLTensor> = described.iter().map(|tensor| &raw const *tensor).collect();
        // SAFETY: the descriptions are of tensors of ours, which the result holds.
        let weights = unsafe { Weights::given(manifest, &pointers) }?;
        Ok(Weights { _shared: tensors, ..weights })
    }

    /// Keeps zeros for a weight.
    fn keep_zeros(&mut self, k: usize, weight: &Weight, written: bool) -> Result<(), TensorError> {
        let mut zeros = Tensor::uninit(weight.dtype, &weight.shape)?;
        zeros.bytes_mut().fill(0);
        self.keep(k, zeros, false)?;
        if written {
            self.initial.insert(k, None);
        }
        Ok(())
    }

    /// Keeps a copy of a weight, and its first value where the program writes to it.
    fn keep(&mut self, k: usize, mut own: Tensor, written: bool) -> Result<(), TensorError> {
        self.pointers.push(own.bytes_mut().as_mut_ptr().cast());
        if written {
            self.initial.insert(k, Some(own.try_clone()?));
        }
        self.owned.insert(k, own);
        Ok(())
    }

    fn add(&mut self, k: usize, weight: &Weight, (bytes, strides, byte_offset): Place<'_>, written: bool) -> Result<(), String> {
        let size = weight.dtype.size();
        let dense_size = dense_bytes(weight.dtype, &weight.shape).map_err(|e| e.to_string())?;
        let dense = dense_strides(&weight.shape);
        let strides = if strides.is_empty() { &*dense } else { strides };
        let reach = reach(&weight.shape, strides, size)?;
        let end = reach.checked_add(byte_offset).filter(|&end| end <= bytes.len() as u64);
        if end.is_none() {
            return Err(format!("needs {reach} bytes at offset {byte_offset}, the entry has {}", bytes.len()));
        }
        let start = bytes.as_ptr().wrapping_add(byte_offset as usize);
        if *strides == *dense && !written && (start as usize).is_multiple_of(ALIGN) && dense_size > 0 {
            self.pointers.push(start.cast_mut().cast());
            return Ok(());
        }
        let mut own = Tensor::uninit(weight.dtype, &weight.shape).map_err(|e| e.to_string())?;
        // SAFETY: `reach` says that all elements lie inside the entry.
        unsafe { strided::copy(&weight.shape, (start, strides), (own.bytes_mut().as_mut_ptr(), &dense_strides(&weight.shape)), size) };
        self.keep(k, own, written).map_err(|e| e.to_string())
    }

    /// Data pointers in manifest order.
    pub fn pointers(&self) -> &[*mut c_void] {
        &self.pointers
    }

    /// Gives the pages of mapped files back to the system; who reads a weight again has them from its file again.
    pub(crate) fn let_go(&self) {
        for file in self.files.iter().chain(self.packed.iter().filter_map(Packed::file)) {
            // SAFETY: the map is of a file and never written to, so its pages hold nothing that the file has not.
            // That advice is not taken costs memory alone.
            let _ = unsafe { file.unchecked_advise(UncheckedAdvice::DontNeed) };
        }
    }

    /// A copy of a weight's data, as it was declared.
    pub fn copy(&self, k: usize, weight: &Weight) -> Result<Tensor, TensorError> {
        let mut tensor = Tensor::uninit(weight.dtype, &weight.shape)?;
        let bytes = tensor.bytes_mut();
        if let Some(&start) = self.pointers.get(k) {
            // SAFETY: `add` left as many readable bytes there as the declaration has; the copy is new memory.
            unsafe { start.cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        }
        Ok(tensor)
    }

    /// Memory for the next value of a weight that is changed.
    pub fn next(&mut self, k: usize, weight: &Weight) -> Result<*mut u8, TensorError> {
        if let Some(next) = self.next.get_mut(&k) {
            return Ok(next.bytes_mut().as_mut_ptr());
        }
        let mut next = Tensor::uninit(weight.dtype, &weight.shape)?;
        let start = next.bytes_mut().as_mut_ptr();
        self.next.insert(k, next);
        Ok(start)
    }

    /// Makes the next value of a weight its value; its memory is the next one's from now on.
    pub fn exchange(&mut self, k: usize) {
        if let (Some(own), Some(next)) = (self.owned.get_mut(&k), self.next.get_mut(&k)) {
            std::mem::swap(own, next);
            self.pointers[k] = own.bytes_mut().as_mut_ptr().cast();
        }
    }

    /// Gives every weight that is changed the value that it has there, in weights of the same program.
    pub fn take_values(&mut self, other: &Weights) {
        for k in self.initial.keys() {
            if let (Some(own), Some(new)) = (self.owned.get_mut(k), other.owned.get(k)) {
                own.bytes_mut().copy_from_slice(new.bytes());
            }
        }
    }

    /// Gives every changed weight its first value back.
    pub fn reset(&mut self) {
        for (k, first) in &self.initial {
            if let Some(own) = self.owned.get_mut(k) {
                match first {
                    Some(first) => own.bytes_mut().copy_from_slice(first.bytes()),
                    None => own.bytes_mut().fill(0),
                }
            }
        }
    }
}

/// Bytes from the first element to the end of the last.
fn reach(shape: &[i64], strides: &[i64], size: usize) -> Result<u64, String> {
    if shape.len() != strides.len() {
        return Err(format!("{} sizes but {} strides", shape.len(), strides.len()));
    }
    if shape.contains(&0) {
        return Ok(0);
    }
    let last = shape.iter().zip(strides).try_fold(0i64, |sum, (&extent, &stride)| {
        (stride >= 0).then_some(())?;
        sum.checked_add((extent - 1).checked_mul(stride)?)
    });
    let bytes = last.and_then(|last| last.checked_add(1)?.checked_mul(size as i64));
    bytes.map(|bytes| bytes as u64).ok_or_else(|| format!("strides {strides:?} of shape {shape:?} make no sense"))
}

/// The bytes that a weight is in, its strides (dense if there are none), and the offset of its first element.
type Place<'a> = (&'a [u8], &'a [i64], u64);

/// A mapped file and the byte ranges of its entries.
struct Archive {
    map: Mmap,
    entries: HashMap<String, (usize, usize)>,
    /// It stands in for the file that the program names.
    given: bool,
}

impl Archive {
    /// Maps a file; a `raw` one has one entry without a name, all of it.
    fn open(path: &Path, raw: bool) -> Result<Archive, WeightError> {
        let io = |source| WeightError::Io { path: path.into(), source };
        let file = File::open(path).map_err(io)?;
        // SAFETY: the map is read only; like every user of mapped weights we rely on the file not being cut short meanwhile.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let entries = match () {
            () if raw => Ok(HashMap::from([(String::new(), (0, map.len()))])),
            () if map.starts_with(b"PK") => zip_entries(&map),
            () => tensor_entries(&map),
        };
        let entries = entries.map_err(|reason| WeightError::Format { path: path.into(), reason })?;
        Ok(Archive { map, entries, given: false })
    }

    /// Whether it has anything of the state that begins as zeros; then it must have all of it.
    fn has_state(&self, manifest: &Manifest) -> bool {
        manifest.weights.iter().any(|weight| weight.source.zeros && self.entry(&weight.name).is_ok())
    }

    fn place<'a>(&'a self, weight: &'a Weight) -> Result<Place<'a>, String> {
        let source = &weight.source;
        match self.entry(&source.entry) {
            Ok(bytes) => Ok((bytes, &*source.strides, source.byte_offset)),
            // A file that the caller gives may know a weight by its name, as safetensors do.
            Err(missing) if self.given => Ok((self.entry(&weight.name).map_err(|_| missing)?, &[], 0)),
            Err(missing) => Err(missing),
        }
    }

    fn entry(&self, name: &str) -> Result<&[u8], String> {
        let &(start, len) = self.entries.get(name).ok_or("there is no such entry")?;
        self.map.get(start..start + len).ok_or_else(|| "the entry lies outside the file".into())
    }
}

/// Entries by name and by name without the root folder. Compressed ones are left out: they cannot be mapped.
fn zip_entries(map: &[u8]) -> Result<HashMap<String, (usize, usize)>, String> {
    // Nothing stands before the archive; looking for something, the library takes some archives for damaged ones.
    let config = zip::read::Config { archive_offset: zip::read::ArchiveOffset::Known(0) };
    let mut zip = zip::ZipArchive::with_config(config, Cursor::new(map)).map_err(|e| e.to_string())?;
    let mut entries = HashMap::new();
    for k in 0..zip.len() {
        let file = zip.by_index_raw(k).map_err(|e| e.to_string())?;
        let name = file.name().map_err(|e| e.to_string())?.into_owned();
        let Some(start) = file.data_start().filter(|_| file.compression() == zip::CompressionMethod::Stored) else {
            continue;
        };
        let range = (start as usize, file.size() as usize);
        if range.0.checked_add(range.1).is_none_or(|end| end > map.len()) {
            return Err(format!("entry `{name}` lies outside the file"));
        }
        if let Some((_, inner)) = name.split_once('/') {
            entries.insert(inner.to_string(), range);
        }
        entries.insert(name, range);
    }
    Ok(entries)
}

fn tensor_entries(map: &[u8]) -> Result<HashMap<String, (usize, usize)>, String> {
    let (header, metadata) = SafeTensors::read_metadata(map).map_err(|e| e.to_string())?;
    let data = header + 8;
    Ok(metadata
        .tensors()
        .into_iter()
        .map(|(name, info)| (name, (data + info.data_offsets.0, info.data_offsets.1 - info.data_offsets.0)))
        .collect())
}
