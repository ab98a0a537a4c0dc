//! Folders that the exporters of Hugging Face's transformers save: programs, each a file, and `export.json`, which names them.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// What lists the programs.
const MANIFEST: &str = "export.json";
/// The versions of that file that are read.
const SCHEMA: u64 = 1;

#[derive(Deserialize)]
struct Manifest {
    schema_version: u64,
    components: serde_json::Map<String, serde_json::Value>,
}

/// The program of a path: of a folder its only one, of anything else the path itself. `FOLDER/NAME` is a program of a folder by its name.
///
/// # Errors
/// When a folder is none that an exporter saved, or holds several programs.
pub fn program(path: PathBuf) -> Result<PathBuf, String> {
    if path.is_dir() {
        return named(&path, None);
    }
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(folder), Some(name)) if !path.exists() && folder.join(MANIFEST).exists() => named(folder, Some(name)),
        _ => Ok(path),
    }
}

fn named(folder: &Path, name: Option<&str>) -> Result<PathBuf, String> {
    let manifest = folder.join(MANIFEST);
    let about = |why: String| format!("{}: {why}", manifest.display());
    let text = std::fs::read_to_string(&manifest).map_err(|error| {
        format!(
            "{}: a folder without a readable {MANIFEST} ({error}); give a file, or a folder saved by an exporter of transformers",
            folder.display()
        )
    })?;
    let read: Manifest = serde_json::from_str(&text).map_err(|error| about(error.to_string()))?;
    if read.schema_version != SCHEMA {
        return Err(about(format!("schema_version {} is not {SCHEMA}, the one that is read", read.schema_version)));
    }
    let known = || read.components.keys().map(|name| folder.join(name).display().to_string()).collect::<Vec<_>>().join(", ");
    let component = match (name, read.components.len()) {
        (Some(name), _) => {
            read.components.get(name).ok_or_else(|| about(format!("there is no program `{name}`; there are {}", known())))?
        }
        (None, 1) => read.components.values().next().ok_or_else(|| about("it names no program".to_owned()))?,
        (None, 0) => return Err(about("it names no program".to_owned())),
        (None, _) => return Err(about(format!("it names several programs; give one of {}", known()))),
    };
    let file = component.get("file").and_then(|file| file.as_str()).ok_or_else(|| about("a program has no `file`".to_owned()))?;
    let below = !file.is_empty() && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    if !below {
        return Err(about(format!("the file {file:?} of a program lies outside of the folder")));
    }
    Ok(folder.join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_for_their_programs() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |components: &str| {
            let text = format!(r#"{{"schema_version": 1, "export_format": "dynamo", "components": {components}}}"#);
            std::fs::write(dir.path().join(MANIFEST), text).expect("a file");
        };
        let at = |name: &str| program(dir.path().join(name));
        write(r#"{"model": {"file": "model.pt2"}}"#);
        assert_eq!(at(""), Ok(dir.path().join("model.pt2")));
        write(r#"{"prefill": {"file": "prefill.pt2"}, "decode": {"file": "decode.pt2"}}"#);
        assert!(at("").is_err_and(|error| error.contains("several programs") && error.contains("decode")));
        assert_eq!(at("decode"), Ok(dir.path().join("decode.pt2")));
        assert!(at("encode").is_err_and(|error| error.contains("no program `encode`")));
        write(r#"{"model": {"file": "../model.pt2"}}"#);
        assert!(at("").is_err_and(|error| error.contains("outside of the folder")));
        std::fs::write(dir.path().join(MANIFEST), "{").expect("a file");
        assert!(at("").is_err());
        std::fs::remove_file(dir.path().join(MANIFEST)).expect("it is there");
        assert!(at("").is_err_and(|error| error.contains("without a readable export.json")));
        assert_eq!(at("model.pt2"), Ok(dir.path().join("model.pt2")));
    }
}
