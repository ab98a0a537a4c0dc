//! A whole archive, opened: the typed program and where its weights lie.

use std::{collections::HashMap, path::Path};

use serde::de::DeserializeOwned;

use super::{
    archive::Archive,
    check,
    error::{EXPORT_OTHERWISE, Pt2Error},
    guard::Guard,
    kind::Kind,
    pytree::{Key, Tree},
    schema::ExportedProgram,
    weights::{self, Weight},
};

/// The entry that holds the program.
pub const MODEL: &str = "models/model.json";
/// No program's text is larger; weights do not count.
const MAX_JSON: usize = 1 << 30;

/// A program as it lies in an archive.
#[derive(Debug)]
pub struct Program {
    /// The archive, which stays mapped; a program that came as its text alone has none.
    pub archive: Option<Archive>,
    /// The typed program, consistent in itself.
    pub exported: ExportedProgram,
    /// Parameters and buffers by fully qualified name, in file order.
    pub weights: Vec<(String, Weight)>,
    /// Lifted constants (and buffers that are not persistent), in file order.
    pub constants: Vec<(String, Weight)>,
    /// The program's guards.
    pub guards: Vec<Guard>,
    /// The way to each user input, in flattened order; empty when the archive does not say.
    pub inputs: Vec<Vec<Key>>,
}

impl Program {
    /// Opens an archive and checks it.
    pub fn open(path: &Path) -> Result<Self, Pt2Error> {
        let archive = Archive::open(path)?;
        headers(&archive)?;
        let mut program = Self::from_exported(json(&archive, MODEL)?)?;
        program.weights = weights::read(&archive, "weights")?;
        program.constants = weights::read(&archive, "constants")?;
        Ok(Self { archive: Some(archive), ..program })
    }

    /// Reads a program from the text of [`MODEL`] alone. Its weights are the business of who calls it.
    pub fn from_json(text: &[u8]) -> Result<Self, Pt2Error> {
        Self::from_exported(parse(text, MODEL)?)
    }

    fn from_exported(exported: ExportedProgram) -> Result<Self, Pt2Error> {
        check::check(&exported)?;
        let guards = exported.guards_code.iter().enumerate().map(|(place, text)| {
            Guard::parse(text).map_err(|why| Pt2Error::unsupported(MODEL, format!("guards_code[{place}]"), format!("`{text}`: {why}")))
        });
        let guards = guards.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let inputs = inputs(&exported)?;
        Ok(Self { archive: None, exported, weights: Vec::new(), constants: Vec::new(), guards, inputs })
    }

    /// The weights and constants by name; a name of both tables means the weight.
    pub fn tensors(&self) -> HashMap<&str, &Weight> {
        self.constants.iter().chain(&self.weights).map(|(name, weight)| (name.as_str(), weight)).collect()
    }
}

/// Reads a JSON entry after its checksum.
pub(super) fn json<T: DeserializeOwned>(archive: &Archive, entry: &str) -> Result<T, Pt2Error> {
    parse(archive.verified(entry)?, entry)
}

fn parse<T: DeserializeOwned>(bytes: &[u8], entry: &str) -> Result<T, Pt2Error> {
    if bytes.len() > MAX_JSON {
        return Err(Pt2Error::entry(entry, format!("it has {} bytes, more than {MAX_JSON}", bytes.len())));
    }
    // Following the path to every value takes longer than reading it: only what cannot be read is read again for it.
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Pt2Error::field(entry, error.path().to_string(), error.inner().to_string()))?;
    reader.end().map_err(|error| Pt2Error::entry(entry, error.to_string()))?;
    Ok(value)
}

/// The small text entries that say what the archive is.
fn headers(archive: &Archive) -> Result<(), Pt2Error> {
    Kind::Exported.check(archive)?;
    for (entry, wanted) in [("archive_format", "pt2"), ("archive_version", "0"), ("byteorder", "little")] {
        if entry == "byteorder" && !archive.has(entry) {
            continue;
        }
        let found = String::from_utf8_lossy(archive.verified(entry)?).trim().chars().take(40).collect::<String>();
        if found != wanted {
            let why = format!("it says {found:?}, and only {wanted:?} is read");
            return Err(Pt2Error::Entry { entry: entry.to_owned(), why, help: EXPORT_OTHERWISE });
        }
    }
    Ok(())
}

/// How each flattened user input is reached from the call's arguments, by the names of the python function.
fn inputs(exported: &ExportedProgram) -> Result<Vec<Vec<Key>>, Pt2Error> {
    let calls = &exported.graph_module.module_call_graph;
    let Some(signature) = calls.first().filter(|call| call.fqn.is_empty()).and_then(|call| call.signature.as_ref()) else {
        return Ok(Vec::new());
    };
    let field = "graph_module.module_call_graph[0].signature";
    let tree = Tree::parse(&signature.in_spec).map_err(|why| Pt2Error::field(MODEL, format!("{field}.in_spec"), why))?;
    Tree::parse(&signature.out_spec).map_err(|why| Pt2Error::field(MODEL, format!("{field}.out_spec"), why))?;
    let names = signature.forward_arg_names.as_deref().unwrap_or_default();
    let mut paths = tree.leaves();
    for path in &mut paths {
        // A leaf's way starts with 0 (positional arguments) or 1 (arguments by name).
        if path.len() >= 2 {
            let positional = path.remove(0) == Key::Index(0);
            if let (true, Key::Index(place)) = (positional, &path[0])
                && let Some(name) = names.get(*place)
            {
                path[0] = Key::Name(name.clone());
            }
        }
    }
    Ok(paths)
}
