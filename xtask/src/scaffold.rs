//! `./x new-pass`, `./x new-op` and `./x new-crate`: a working start with its tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::{self, Result};

mod new_crate;
mod words;

pub use new_crate::{new_crate, test as test_new_crate};
use words::Words;

/// Writes `passes/src/prim/NAME.rs`, a pass on tensor operators, its test `test/passes/NAME.mlir` and the line in the registry of passes.
pub fn new_pass(name: &str) -> Result<bool> {
    let words = Words::new(name)?;
    let registry = Path::new("passes/src/lib.rs");
    let room = Path::new("passes/src/prim/mod.rs");
    let modules = add_module(&fs::read_to_string(room)?, &format!("pub mod {};", words.snake));
    let entry = format!("PassEntry::of::<prim::{}::{}>()", words.snake, words.camel);
    let text = add_entry(&fs::read_to_string(registry)?, "PASSES: &[PassEntry]", "&[", &entry)
        .ok_or("passes/src/lib.rs has no list `PASSES: &[PassEntry] = &[..]`")?;
    write(&[
        (format!("passes/src/prim/{}.rs", words.snake).into(), words.fill(PASS)),
        (format!("test/passes/{}.mlir", words.snake).into(), words.fill(PASS_TEST)),
    ])?;
    fs::write(room, modules)?;
    fs::write(registry, text)?;
    done(registry, "passes", &format!("change the pattern, then run `./x test lit docs --filter {}`", words.snake))
}

/// Writes `dialects/src/DIALECT/NAME.rs`, its lit test and the line in the dialect's list of ops.
pub fn new_op(dialect: &str, name: &str) -> Result<bool> {
    let words = Words::new(name)?;
    let folder = if dialect == "loop" { "loops" } else { dialect };
    let candidates = [format!("dialects/src/{folder}/mod.rs"), format!("dialects/src/{folder}.rs")].map(PathBuf::from);
    let registry = candidates.iter().find(|path| path.exists()).ok_or(format!("no dialect `{dialect}` in dialects/src"))?;
    let text = add_module(&fs::read_to_string(registry)?, &format!("pub mod {};", words.snake));
    let entry = format!("{}::{}::DEF", words.snake, words.camel);
    let text = ["vec![", "extend(["].iter().find_map(|open| add_entry(&text, "ops:", open, &entry));
    let text = text.ok_or(format!("{} has no list `ops: || vec![..]`", registry.display()))?;
    let fill = |template: &str| words.fill(template).replace("DIALECT", dialect);
    write(&[
        (format!("dialects/src/{folder}/{}.rs", words.snake).into(), fill(OP)),
        (format!("test/dialects/{dialect}/{}.mlir", words.snake).into(), fill(OP_TEST)),
    ])?;
    fs::write(registry, text)?;
    done(
        registry,
        "dialects",
        &format!(
            "write its meaning and constraints, its interpreter arm and its lowering, then run `./x test lit --filter {}`",
            words.snake
        ),
    )
}

/// Adds a `mod` line among those that are there, in order.
fn add_module(text: &str, module: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let is_module = |line: &str| line.starts_with("pub mod ") && line.ends_with(';');
    let after = lines.iter().rposition(|line| is_module(line) && *line < module);
    let first = lines.iter().position(|line| is_module(line));
    let at = match (after, first) {
        (Some(after), _) => after + 1,
        (None, Some(first)) => first,
        (None, None) => lines.iter().position(|line| !line.starts_with("//!")).map_or(lines.len(), |at| at + 1),
    };
    lines.insert(at, module);
    lines.join("\n") + "\n"
}

/// What lists are sorted by: the name of the type where an entry names one in brackets, else the entry.
fn key(entry: &str) -> &str {
    entry.split_once("::<").map_or(entry, |(_, path)| path.rsplit("::").next().unwrap_or(path))
}

/// Adds `entry` to the list that opens with `open` behind `name`, before the first entry that is greater.
fn add_entry(text: &str, name: &str, open: &str, entry: &str) -> Option<String> {
    let from = text.find(name)? + name.len();
    let start = from + text[from..].find(open)? + open.len();
    let end = start + text[start..].find(']')?;
    let mut at = start;
    for piece in text[start..end].split_inclusive(',') {
        let other = piece.trim().trim_end_matches(',');
        if key(other) > key(entry) {
            let blank = &piece[..piece.len() - piece.trim_start().len()];
            at += blank.len();
            let between = if blank.contains('\n') { blank } else { " " };
            return Some(format!("{}{entry},{between}{}", &text[..at], &text[at..]));
        }
        at += piece.len();
    }
    let list = text[start..end].trim_end();
    let comma = if list.is_empty() || list.ends_with(',') { "" } else { "," };
    Some(format!("{}{comma} {entry}{}", &text[..start + list.len()], &text[end..]))
}

/// Writes new files; none may exist.
fn write(files: &[(PathBuf, String)]) -> Result<()> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(format!("{} exists", path.display()).into());
    }
    for (path, text) in files {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        fs::write(path, text)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

fn done(registry: &Path, krate: &str, next: &str) -> Result<bool> {
    println!("listed in {}", registry.display());
    println!("next: {next}");
    cargo::run(&["fmt", "--package", &format!("strata-{krate}")])
}

const PASS: &str = include_str!("scaffold/pass.rs.txt");
const PASS_TEST: &str = include_str!("scaffold/pass.mlir.txt");
const OP: &str = include_str!("scaffold/op.rs.txt");
const OP_TEST: &str = include_str!("scaffold/op.mlir.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_in_order() {
        let text = "//! x\n\npub mod a;\npub mod c;\n\npub const PASSES: &[PassEntry] =\n    &[PassEntry::of::<a::A>(), PassEntry::of::<c::C>()];\n";
        let text = add_module(text, "pub mod b;");
        let text = add_entry(&text, "PASSES: &[PassEntry]", "&[", "PassEntry::of::<b::B>()").unwrap();
        assert!(text.contains("pub mod a;\npub mod b;\npub mod c;\n"), "{text}");
        assert!(text.contains("<a::A>(), PassEntry::of::<b::B>(), PassEntry"), "{text}");
        assert_eq!(add_entry("x: vec![A,\n  C,\n]", "x:", "vec![", "B").unwrap(), "x: vec![A,\n  B,\n  C,\n]");
        assert_eq!(add_entry("x: vec![A,\n]", "x:", "vec![", "B").unwrap(), "x: vec![A, B]");
        assert_eq!(add_entry("x: vec![]", "x:", "vec![", "B").unwrap(), "x: vec![ B]");
    }

    #[test]
    fn finds_the_lists_of_the_tree() {
        let read = |path: &str| fs::read_to_string(cargo::root().join(path)).unwrap();
        let passes = add_entry(&read("passes/src/lib.rs"), "PASSES: &[PassEntry]", "&[", "PassEntry::of::<m::M>()").unwrap();
        assert!(passes.contains("    PassEntry::of::<m::M>(),\n"), "{passes}");
        for dialect in ["capture.rs", "prim/mod.rs", "loops/mod.rs", "host.rs"] {
            let text = read(&format!("dialects/src/{dialect}"));
            let added = ["vec![", "extend(["].iter().find_map(|open| add_entry(&text, "ops:", open, "m::M::DEF")).unwrap();
            assert!(added.contains("m::M::DEF"), "{added}");
        }
    }

    #[test]
    fn refuses_names_that_are_none() {
        assert!(Words::new("Fuse").is_err() && Words::new("a__b").is_err() && Words::new("9x").is_err());
        let words = Words::new("fuse-more").unwrap();
        assert_eq!((words.snake.as_str(), words.camel.as_str(), words.kebab.as_str()), ("fuse_more", "FuseMore", "fuse-more"));
    }
}
