//! Weights in the artefact itself: one section behind the code, each weight dense and aligned in it, so that a mapped file is read where
//! it is.

use std::io;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use crate::artefact::Artefact;
use crate::dlpack::DLTensor;
use crate::manifest::{PackedWeights, Weight};
use crate::memory::ALIGN;
use crate::tensor::dense_bytes;
use crate::weights::{WeightError, Weights};

/// The section: a part of a mapped file, or memory of its own.
#[derive(Debug, Clone)]
pub struct Packed {
    map: Arc<Mmap>,
    range: Range<usize>,
    /// Whether the map is of a file, which still has what the memory forgets.
    of_file: bool,
}

impl Deref for Packed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map[self.range.clone()]
    }
}

impl Packed {
    /// A part of a mapped file, which has it.
    pub(crate) fn mapped(map: Mmap, range: Range<usize>) -> Packed {
        Packed { map: Arc::new(map), range, of_file: true }
    }

    /// A copy.
    pub(crate) fn copy(bytes: &[u8]) -> io::Result<Packed> {
        let mut map = MmapMut::map_anon(bytes.len())?;
        map.copy_from_slice(bytes);
        Packed::whole(map)
    }

    fn whole(map: MmapMut) -> io::Result<Packed> {
        let range = 0..map.len();
        Ok(Packed { map: Arc::new(map.make_read_only()?), range, of_file: false })
    }

    /// The map of the file that it is in.
    pub(crate) fn file(&self) -> Option<&Mmap> {
        self.of_file.then_some(&*self.map)
    }
}

impl Artefact {
    /// The program with its weights, which need no other file then. With `weights`, that file is read instead of the ones named in the
    /// manifest.
    pub fn pack(self, weights: Option<&Path>) -> Result<Artefact, WeightError> {
        let found = Weights::of(&self, weights)?;
        self.pack_found(&found)
    }

    /// The program with copies of the caller's weights, in the manifest's order.
    ///
    /// # Safety
    /// The tensors describe readable memory of the host.
    pub unsafe fn pack_given(self, weights: &[*const DLTensor]) -> Result<Artefact, WeightError> {
        // SAFETY: the caller's promise.
        let found = unsafe { Weights::given(&self.manifest, weights) }?;
        self.pack_found(&found)
    }

    fn pack_found(mut self, found: &Weights) -> Result<Artefact, WeightError> {
        let fail = |weight: &Weight, reason: String| WeightError::Given { name: weight.name.clone(), reason };
        let (mut offsets, mut end) = (Vec::new(), 0usize);
        for weight in &self.manifest.weights {
            let bytes = dense_bytes(weight.dtype, &weight.shape).map_err(|e| fail(weight, e.to_string()))?;
            let place = end.checked_next_multiple_of(ALIGN).and_then(|start| Some((start, start.checked_add(bytes)?)));
            let (start, behind) = place.ok_or_else(|| fail(weight, "does not fit into a file with the others".into()))?;
            offsets.push(start as u64);
            end = behind;
        }
        let no_memory = |source| WeightError::Pack { bytes: end, source };
        let mut map = MmapMut::map_anon(end).map_err(no_memory)?;
        for (k, (weight, &offset)) in self.manifest.weights.iter().zip(&offsets).enumerate() {
            let tensor = found.copy(k, weight).map_err(|e| fail(weight, e.to_string()))?;
            map[offset as usize..][..tensor.bytes().len()].copy_from_slice(tensor.bytes());
        }
        self.manifest.packed = Some(PackedWeights { bytes: end as u64, crc32: crc32fast::hash(&map), offsets });
        self.packed = Some(Packed::whole(map).map_err(no_memory)?);
        Ok(self)
    }
}
