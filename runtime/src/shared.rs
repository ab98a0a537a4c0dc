//! A program as a shared library, for C: the code with its imports left to the dynamic linker, and the artefact as data.
//!
//! The artefact has all that is needed, so no compiler or linker takes part. The file ends in a trailer by which
//! [`read`] finds the artefact without running anything.

use std::collections::HashMap;
use std::path::Path;

use crate::artefact::{Artefact, ArtefactError};
use crate::elf::{Library, Load, Machine};
use crate::manifest::{Access, Layout};
use crate::op_library::OpLibraryKind;

/// The symbol of the artefact's first byte.
pub const ARTEFACT_SYMBOL: &str = "strata_artefact";
/// The symbol of the artefact's length, a `uint64_t`.
pub const LENGTH_SYMBOL: &str = "strata_artefact_bytes";

const TRAILER: &[u8; 8] = b"STRATASO";

/// The bytes of a shared library with the program; `name` is its `SONAME`.
pub fn library(artefact: &Artefact, name: &str) -> Result<Vec<u8>, ArtefactError> {
    let layout = &artefact.manifest.layout;
    let bytes = artefact.to_bytes();
    let machine = Machine::named(&artefact.manifest.target.arch);
    let mut library = Library::new(name, machine);
    library.needed = vec!["libstrata.so".into(), "libm.so.6".into(), "libc.so.6".into()];
    if layout.imports.iter().any(|import| import.name.starts_with("_ZGV")) {
        library.needed.insert(1, "libmvec.so.1".into());
    }
    // The image first, one page up because dynamic linkers take a function at address 0 for a missing one;
    // behind it the length and the artefact.
    let base = machine.page;
    for segment in &layout.segments {
        let (start, end) = (segment.offset as usize, (segment.offset + segment.bytes) as usize);
        let image = &artefact.image.bytes;
        let filled = image.get(start..end.min(image.len())).unwrap_or_default().to_vec();
        library.loads.push(Load { address: base + segment.offset, bytes: filled, size: segment.bytes, access: segment.access });
    }
    let data_at = base + layout.memory_bytes.next_multiple_of(machine.page);
    let mut data = (bytes.len() as u64).to_le_bytes().to_vec();
    data.extend_from_slice(&bytes);
    let size = data.len() as u64;
    library.loads.push(Load { address: data_at, bytes: data, size, access: Access::Read });
    if let Some(extension) = artefact.manifest.op_libraries.iter().find(|library| library.kind() == OpLibraryKind::Torch) {
        let reason = format!("it calls operators of {}, which the dynamic linker does not know; write a .strata file", extension.file);
        return Err(ArtefactError::Library(reason));
    }
    // A kernel of a user's library is a symbol like any other, and the library is needed under its own name.
    library.needed.splice(0..0, artefact.manifest.op_libraries.iter().map(|library| library.file.clone()));
    let symbol = |name: &str| name.split_once(':').map_or(name, |(_, symbol)| symbol).to_owned();
    library.imports = layout.imports.iter().map(|import| (symbol(&import.name), base + import.offset)).collect();
    if let Some(twice) = ambiguous(layout) {
        let reason = format!("it calls `{twice}` of two libraries, which the dynamic linker does not tell apart; write a .strata file");
        return Err(ArtefactError::Library(reason));
    }
    library.relocations = layout.relocations.iter().map(|relocation| (base + relocation.offset, base + relocation.target)).collect();
    library.functions.push(("strata_entry".into(), base + layout.entry));
    library.functions.extend(layout.prepare.map(|prepare| ("strata_prepare".into(), base + prepare)));
    library.objects.push((LENGTH_SYMBOL.into(), data_at, 8));
    library.objects.push((ARTEFACT_SYMBOL.into(), data_at + 8, bytes.len() as u64));
    let (mut file, places) = library.write().map_err(|error| ArtefactError::Library(error.to_string()))?;
    let artefact_at = places.last().map_or(0, |at| at + 8);
    file.extend_from_slice(&artefact_at.to_le_bytes());
    file.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    file.extend_from_slice(TRAILER);
    Ok(file)
}

/// A function that is imported under one name from two places.
fn ambiguous(layout: &Layout) -> Option<&str> {
    let mut names = HashMap::new();
    layout.imports.iter().find_map(|import| {
        let (file, symbol) = import.name.split_once(':').unwrap_or(("", &import.name));
        (names.insert(symbol, file).is_some_and(|known| known != file)).then_some(symbol)
    })
}

/// The artefact inside a shared library.
pub fn read(path: &Path) -> Result<Artefact, ArtefactError> {
    let file = std::fs::read(path).map_err(|source| ArtefactError::Io { path: path.into(), source })?;
    let trailer = file.len().checked_sub(24).map(|at| &file[at..]).filter(|trailer| trailer.ends_with(TRAILER));
    let trailer = trailer.ok_or(ArtefactError::Foreign)?;
    let number = |at: usize| u64::from_le_bytes(trailer[at..at + 8].try_into().expect("eight bytes"));
    let range = number(0).checked_add(number(8)).and_then(|end| file.get(number(0) as usize..end as usize));
    Artefact::from_bytes(range.ok_or_else(|| ArtefactError::Corrupt { what: "its artefact lies outside the library".into() })?)
}
