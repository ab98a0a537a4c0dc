//! Writes the `aten` schema table: one compact row per overload, from the facts that PyTorch publishes.
//!
//! A row is `name  flags  returns  argument  argument ..`, separated by tabs. `flags` is a list of words,
//! `returns` a list of types, an argument is `[*]type name[=default]` where `*` marks a keyword-only one.
//! Types are spelled as in PyTorch's schema text (`SymInt[2]?`, `Tensor(a!)`), defaults as Python text.

use std::{fs, io, path::Path};

use serde::Deserialize;

/// Why the table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The facts could not be read or the table not be written.
    #[error("{path}: {source}")]
    Io {
        /// The file concerned.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The facts are not the JSON that this tool knows.
    #[error("schema facts: {0}")]
    Json(#[from] serde_json::Error),
    /// The text of a schema and its list of arguments disagree.
    #[error("schema `{0}`: its text does not list the arguments that its facts list")]
    Mismatch(String),
}

#[derive(Deserialize)]
struct Fact {
    name: String,
    schema: String,
    args: Vec<Arg>,
    returns: Vec<Return>,
    mutable: bool,
    view: bool,
    tags: Vec<String>,
    core_decomposition: bool,
}

#[derive(Deserialize)]
struct Arg {
    name: String,
    default: Option<String>,
    alias: Option<Alias>,
    #[serde(default)]
    kwarg_only: bool,
}

#[derive(Deserialize)]
struct Return {
    #[serde(rename = "type")]
    ty: String,
    alias: Option<Alias>,
}

#[derive(Deserialize)]
struct Alias {
    set: Vec<String>,
    write: bool,
}

/// Reads the facts in `json` and writes the table to `out`, sorted by name.
pub fn run(json: &Path, out: &Path) -> Result<(), TableError> {
    let io_error = |path: &Path| {
        let path = path.display().to_string();
        move |source| TableError::Io { path, source }
    };
    let facts: Vec<Fact> = serde_json::from_str(&fs::read_to_string(json).map_err(io_error(json))?)?;
    let mut rows = facts.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    rows.sort_by(|a, b| a.split('\t').next().cmp(&b.split('\t').next()));
    fs::write(out, rows.join("\n") + "\n").map_err(io_error(out))
}

fn row(fact: &Fact) -> Result<String, TableError> {
    let types = argument_types(&fact.schema);
    if types.len() != fact.args.len() {
        return Err(TableError::Mismatch(fact.schema.clone()));
    }
    let mut flags: Vec<&str> = Vec::new();
    flags.extend(fact.mutable.then_some("mutable"));
    flags.extend(fact.view.then_some("view"));
    flags.extend(fact.core_decomposition.then_some("decomposes"));
    flags.extend(fact.tags.iter().map(String::as_str).filter(|t| *t != "pt2_compliant_tag" && *t != "generated"));
    let returns: Vec<String> = fact.returns.iter().map(|r| returned(&r.ty) + &alias(&r.alias)).collect();
    let mut cells = vec![op_name(&fact.name).to_owned(), flags.join(" "), returns.join(" ")];
    for (arg, ty) in fact.args.iter().zip(types) {
        let star = if arg.kwarg_only { "*" } else { "" };
        let default = arg.default.as_ref().map(|d| format!("={d}")).unwrap_or_default();
        cells.push(format!("{star}{ty}{} {}{default}", alias(&arg.alias), arg.name));
    }
    Ok(cells.join("\t"))
}

/// `aten.relu.default` is spelled `aten.relu`.
fn op_name(name: &str) -> &str {
    name.strip_suffix(".default").unwrap_or(name)
}

fn alias(alias: &Option<Alias>) -> String {
    match alias {
        Some(a) if !a.set.is_empty() => format!("({}{})", a.set.join("|"), if a.write { "!" } else { "" }),
        _ => String::new(),
    }
}

/// The schema text's spelling of a return type that the facts spell in Python.
fn returned(python: &str) -> String {
    match python {
        "List[Tensor]" => "Tensor[]".to_owned(),
        "number" => "Scalar".to_owned(),
        other => other.replace(", ", ","),
    }
}

/// The argument types of a schema text in order, without alias annotations.
fn argument_types(schema: &str) -> Vec<String> {
    let open = schema.find('(').map_or(schema.len(), |i| i + 1);
    let (mut depth, mut start, mut pieces) = (0usize, open, Vec::new());
    for (i, c) in schema[open..].char_indices().map(|(i, c)| (i + open, c)) {
        match c {
            '(' | '[' => depth += 1,
            ')' if depth == 0 => {
                pieces.push(&schema[start..i]);
                break;
            }
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(&schema[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    pieces.iter().map(|p| p.trim()).filter(|p| !p.is_empty() && *p != "*").map(type_of).collect()
}

fn type_of(piece: &str) -> String {
    match piece.find('(') {
        Some(open) => {
            let close = piece[open..].find(')').map_or(piece.len(), |i| open + i + 1);
            let rest = piece[close..].split(' ').next().unwrap_or_default();
            format!("{}{rest}", &piece[..open])
        }
        None => piece.split(' ').next().unwrap_or_default().to_owned(),
    }
}
