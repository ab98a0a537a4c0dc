//! The file of a compiled program: a header, the manifest as JSON, and the code image at a page boundary,
//! so that loading is one mapping. Checksums make a damaged or foreign file an error, never a crash.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::manifest::Manifest;

const MAGIC: [u8; 8] = *b"STRATA\x1a\n";
const VERSION: u32 = 5;
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
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
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
        out
    }

    /// Reads the file's bytes and checks all of them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Artefact, ArtefactError> {
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
        Ok(Artefact { manifest, image: Image { bytes: image.to_vec() } })
    }

    /// Reads an artefact from a file.
    pub fn read(path: &Path) -> Result<Artefact, ArtefactError> {
        let bytes = std::fs::read(path).map_err(|source| ArtefactError::Io { path: path.into(), source })?;
        Artefact::from_bytes(&bytes)
    }

    /// Writes the artefact to a file: beside it first, then renamed, so that a reader never sees half of it.
    pub fn write(&self, path: &Path) -> Result<(), ArtefactError> {
        let wrap = |source| ArtefactError::Io { path: path.into(), source };
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let written = File::create(&part).and_then(|mut f| f.write_all(&self.to_bytes()));
        written.and_then(|()| std::fs::rename(&part, path)).map_err(|source| {
            // The partial file is ours; failing to remove it adds nothing to the error.
            let _ = std::fs::remove_file(&part);
            wrap(source)
        })
    }
}

impl Manifest {
    /// A manifest that says nothing yet: the start of every builder and test.
    pub fn new(name: impl Into<String>, target: crate::manifest::Target) -> Manifest {
        Manifest {
            name: name.into(),
            target,
            layout: Default::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            weights: Vec::new(),
            prepared: Vec::new(),
            messages: Vec::new(),
            guards: Vec::new(),
            resume: None,
            kernels: Vec::new(),
            device: None,
            workspace_bytes: None,
            timings: Vec::new(),
            levels: Vec::new(),
            tuned: Vec::new(),
        }
    }
}
