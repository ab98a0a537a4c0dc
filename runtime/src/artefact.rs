//! The file of a compiled program: a header, the manifest as JSON, the code image at a page boundary, and at the next one the weights'
//! data where they were [packed](crate::packed), so that loading is one mapping. Checksums make a damaged or foreign file an error, never a crash.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::manifest::Manifest;
use crate::op_library::OpLibraries;
use crate::packed::Packed;
use crate::replace::replace;

const MAGIC: [u8; 8] = *b"STRATA\x1a\n";
const VERSION: u32 = 7;
const HEADER: usize = 64;
/// Alignment of the image in the file and of its segments in memory.
pub const PAGE: usize = 4096;

/// A compiled program: what it says about itself and its code.
#[derive(Debug, Clone)]
pub struct Artefact {
    /// The description.
    pub manifest: Manifest,
    /// The code.
    pub image: Image,
    /// The weights' data, where `Manifest::packed` says that it is here.
    pub packed: Option<Packed>,
    /// The libraries that have been opened for it: see [`Artefact::with_op_libraries`].
    pub op_libraries: OpLibraries,
}

/// The bytes of a code image; `Manifest::layout` says what they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    /// The image from offset 0; shorter than `layout.memory_bytes` when it ends in zeros.
    pub bytes: Vec<u8>,
}

/// Why an artefact cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArtefactError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// It does not become a shared library.
    #[error("cannot be written as a shared library: {0}")]
    Library(String),
    /// Not one of our files.
    #[error("not a Strata artefact (it does not begin with the artefact mark); compile a model with `rs-compile --emit=strata`")]
    Foreign,
    /// Written by another version.
    #[error("artefact format {found}, this library reads format {VERSION}; compile the model again")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// Damaged.
    #[error("damaged artefact: {what}; compile the model again")]
    Corrupt {
        /// What is wrong.
        what: String,
    },
}

fn corrupt(what: impl Into<String>) -> ArtefactError {
    ArtefactError::Corrupt { what: what.into() }
}

impl Artefact {
    /// The same program for a source that differs in nothing that was compiled: under its name, with its weights.
    pub fn of_source(mut self, source: &Path) -> Artefact {
        let file = source.canonicalize().unwrap_or_else(|_| source.to_owned()).display().to_string();
        self.manifest.name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(origin) = &mut self.manifest.origin {
            origin.file.clone_from(&file);
        }
        // Weights that whoever loads the program brings are in no file.
        for weight in self.manifest.weights.iter_mut().filter(|weight| !weight.source.file.is_empty()) {
            weight.source.file.clone_from(&file);
        }
        self
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.head();
        out.extend_from_slice(self.packed.as_deref().unwrap_or_default());
        out
    }

    /// The file's bytes before the packed weights.
    fn head(&self) -> Vec<u8> {
        let manifest = serde_json::to_vec(&self.manifest).expect("a manifest has only string keys");
        let image_at = (HEADER + manifest.len()).next_multiple_of(PAGE);
        let mut out = Vec::with_capacity(image_at + self.image.bytes.len());
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(&manifest).to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(&self.image.bytes).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for value in [HEADER, manifest.len(), image_at, self.image.bytes.len()] {
            out.extend_from_slice(&(value as u64).to_le_bytes());
        }
        let own = crc32fast::hash(&out);
        out.extend_from_slice(&own.to_le_bytes());
        out.resize(HEADER, 0);
        out.extend_from_slice(&manifest);
        out.resize(image_at, 0);
        out.extend_from_slice(&self.image.bytes);
        if self.packed.is_some() {
            out.resize(out.len().next_multiple_of(PAGE), 0);
        }
        out
    }

    /// Reads the file's bytes and checks all of them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Artefact, ArtefactError> {
        let (mut artefact, packed) = Artefact::parse(bytes)?;
        if let (Some(range), Some(known)) = (packed, &artefact.manifest.packed) {
            if crc32fast::hash(&bytes[range.clone()]) != known.crc32 {
                return Err(corrupt("the checksum of the packed weights does not match"));
            }
            let copied = Packed::copy(&bytes[range]);
            artefact.packed = Some(copied.map_err(|error| corrupt(format!("no memory for the packed weights: {error}")))?);
        }
        Ok(artefact)
    }

    /// The artefact without its packed weights, and where in the bytes they are.
    fn parse(bytes: &[u8]) -> Result<(Artefact, Option<Range<usize>>), ArtefactError> {
        if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
            return Err(ArtefactError::Foreign);
        }
        if bytes.len() < HEADER {
            return Err(corrupt(format!("the header needs {HEADER} bytes, the file has {}", bytes.len())));
        }
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if u32_at(8) != VERSION {
            return Err(ArtefactError::Version { found: u32_at(8) });
        }
        if u32_at(56) != crc32fast::hash(&bytes[..56]) {
            return Err(corrupt("the header's checksum does not match"));
        }
        let section = |at: usize, crc: u32, what: &str| {
            let (start, len) = (u64_at(at), u64_at(at + 8));
            let end = start.checked_add(len).filter(|&end| end <= bytes.len() as u64);
            let Some(end) = end else {
                return Err(corrupt(format!("the {what} needs {len} bytes at {start}, the file has {}", bytes.len())));
            };
            let section = &bytes[start as usize..end as usize];
            if crc32fast::hash(section) != crc {
                return Err(corrupt(format!("the checksum of the {what} does not match")));
            }
            Ok(section)
        };
        let manifest = section(24, u32_at(12), "manifest")?;
        let image = section(40, u32_at(16), "code image")?;
        let manifest: Manifest = serde_json::from_slice(manifest).map_err(|e| corrupt(format!("the manifest is not readable: {e}")))?;
        if manifest.layout.signature.is_some_and(|signature| signature != manifest.signature()) {
            return Err(corrupt("the code is of a program with other inputs, outputs or weights than the manifest says"));
        }
        let packed = match &manifest.packed {
            Some(packed) if packed.offsets.len() != manifest.weights.len() => {
                let (places, weights) = (packed.offsets.len(), manifest.weights.len());
                return Err(corrupt(format!("{places} places of packed weights for {weights} weights")));
            }
            Some(packed) => {
                let start = (u64_at(40) + u64_at(48)).checked_next_multiple_of(PAGE as u64);
                let range =
                    start.and_then(|start| Some(start..start.checked_add(packed.bytes)?)).filter(|range| range.end <= bytes.len() as u64);
                let missing = || corrupt(format!("the packed weights need {} bytes, the file ends before", packed.bytes));
                range.map(|range| Some(range.start as usize..range.end as usize)).ok_or_else(missing)?
            }
            None => None,
        };
        Ok((Artefact { manifest, image: Image { bytes: image.to_vec() }, packed: None, op_libraries: OpLibraries::default() }, packed))
    }

    /// Reads an artefact from a file. Packed weights stay mapped: their checksum is not compared.
    pub fn read(path: &Path) -> Result<Artefact, ArtefactError> {
        let io = |source| ArtefactError::Io { path: path.into(), source };
        let file = File::open(path).map_err(io)?;
        // SAFETY: the map is read only; like every user of mapped weights we rely on the file not being cut short meanwhile.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let (artefact, packed) = Artefact::parse(&map)?;
        Ok(Artefact { packed: packed.map(|range| Packed::mapped(map, range)), ..artefact })
    }

    /// Writes the artefact to a file, of which a reader never sees half.
    pub fn write(&self, path: &Path) -> Result<(), ArtefactError> {
        let failed = |source| ArtefactError::Io { path: path.into(), source };
        replace(path, failed, |part| {
            let written = File::create(part).and_then(|mut file| {
                file.write_all(&self.head())?;
                file.write_all(self.packed.as_deref().unwrap_or_default())
            });
            written.map_err(failed)
        })
    }
}

impl Manifest {
    /// A manifest that says nothing yet: the start of every builder and test.
    pub fn new(name: impl Into<String>, target: crate::manifest::Target) -> Manifest {
        Manifest {
            name: name.into(),
            origin: None,
            target,
            layout: Default::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            weights: Vec::new(),
            packed: None,
            prepared: Vec::new(),
            messages: Vec::new(),
            op_libraries: Vec::new(),
            guards: Vec::new(),
            resume: None,
            kernels: Vec::new(),
            device: None,
            workspace_bytes: None,
            saved: None,
            timings: Vec::new(),
            levels: Vec::new(),
            tuned: Vec::new(),
        }
    }
}
