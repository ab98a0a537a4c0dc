//! `--verify-weights`: the checksums of a weights' file, compared with its bytes. Weights are mapped, not read, when a program is
//! opened, so this costs what reading the whole file costs and is done when asked for.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::path::Path;

use strata_runtime::{Artefact, Manifest};
use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};

/// The weights that a model brings itself.
pub fn of_model(model: &Path) -> Result<(), Box<dyn Error>> {
    match model.extension().and_then(|kind| kind.to_str()) {
        Some("pt2" | "pt") => entries(model),
        Some("onnx") => Err(format!("{}: onnx files have no checksums; leave --verify-weights out", model.display()).into()),
        _ => {
            Err(format!("{}: --verify-weights is for what brings weights: a .pt2 archive, or a program compiled from one", model.display())
                .into())
        }
    }
}

/// The weights that a compiled program has, or takes from other files.
pub fn of_manifest(program: &Path, manifest: &Manifest) -> Result<(), Box<dyn Error>> {
    if manifest.packed.is_some() {
        // Those in a shared library were compared when it was read.
        let strata = program.extension().is_some_and(|kind| kind == "strata");
        let whole = || Artefact::from_bytes(&std::fs::read(program)?).map(drop).map_err(Into::into);
        return if strata { whole() } else { Ok(()) };
    }
    let files: BTreeSet<&str> = manifest.weights.iter().map(|weight| &*weight.source.file).filter(|file| !file.is_empty()).collect();
    if files.is_empty() {
        return Err(format!("{}: it has no weights to verify; leave --verify-weights out", program.display()).into());
    }
    files.into_iter().try_for_each(|file| match Path::new(file).extension().and_then(|kind| kind.to_str()) {
        Some(kind @ ("safetensors" | "onnx")) => {
            Err(format!("{}: its weights are in {file}, and {kind} files have no checksums", program.display()).into())
        }
        _ => entries(Path::new(file)),
    })
}

/// Reads every entry: the library compares its checksum at the end.
fn entries(path: &Path) -> Result<(), Box<dyn Error>> {
    let name = path.display();
    // As the importer reads archives: nothing stands before one.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut archive = ZipArchive::with_config(config, file).map_err(|error| format!("{name}: not a .pt2 archive: {error}"))?;
    for place in 0..archive.len() {
        let mut entry = archive.by_index(place).map_err(|error| format!("{name}: entry {place}: {error}"))?;
        let what = String::from_utf8_lossy(entry.name_raw()).into_owned();
        std::io::copy(&mut entry, &mut std::io::sink()).map_err(|error| {
            format!("{name}: archive entry `{what}`: {error}; the file is damaged: write it again with torch.export.save")
        })?;
    }
    Ok(())
}
