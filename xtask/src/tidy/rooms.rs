//! Rules between the modules of a crate: data flows one way, so no two of them need each other, and some never meet.
//! In `passes/` the folder of a level is a room of modules, which are looked at one by one; so is `lowering/src/schedule`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, Tree};

/// Crates whose modules must not form cycles.
const CRATES: [&str; 8] = ["dialects", "driver", "frontend", "interp", "lowering", "passes", "report", "store"];

/// Modules that must not use others: the crate, the module, the others.
const NEVER: [(&str, &str, &[&str]); 6] = [
    ("lowering", "emit", &["loop_to_cpu", "loop_to_gpu", "schedule/cpu", "schedule/gpu"]),
    ("lowering", "loop_to_cpu", &["loop_to_gpu", "schedule/cpu", "schedule/gpu"]),
    ("lowering", "loop_to_gpu", &["loop_to_cpu", "schedule/cpu", "schedule/gpu"]),
    ("lowering", "schedule/cost", &["loop_to_cpu", "loop_to_gpu", "schedule/cpu", "schedule/gpu"]),
    ("lowering", "schedule/cpu", &["loop_to_cpu", "loop_to_gpu", "schedule/gpu"]),
    ("lowering", "schedule/gpu", &["loop_to_cpu", "schedule/cpu"]),
];

/// What each module of a crate uses, with the first place where it does.
type Uses<'t> = BTreeMap<&'t str, BTreeMap<&'t str, String>>;

pub fn check(tree: &Tree) -> Vec<Fault> {
    CRATES.iter().flat_map(|name| check_crate(name, tree)).collect()
}

fn check_crate(name: &str, tree: &Tree) -> Vec<Fault> {
    let uses = uses(name, tree);
    let mut faults = Vec::new();
    for (_, module, others) in NEVER.iter().filter(|(of, ..)| *of == name) {
        for other in *others {
            if let Some(place) = uses.get(module).and_then(|used| used.get(other)) {
                faults.push(Fault::new(place, format!("`{module}` uses `{other}`, which it never should: what both need lies below both")));
            }
        }
    }
    for (module, used) in &uses {
        for (other, place) in used {
            if reaches(&uses, other, module) {
                faults
                    .push(Fault::new(place, format!("`{module}` uses `{other}`, which needs `{module}`: move what both need below both")));
            }
        }
    }
    faults
}

/// Whether a module needs another one, directly or by way of others.
fn reaches(uses: &Uses<'_>, from: &str, to: &str) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            open.extend(uses.get(module).into_iter().flat_map(|used| used.keys().copied()));
        }
    }
    false
}

/// Reads `crate::other` in the files of each module, tests aside.
fn uses<'t>(name: &str, tree: &'t Tree) -> Uses<'t> {
    let folder = format!("{name}/src/");
    let module_of = |path: &'t str| {
        let inside = path.strip_prefix(&folder)?;
        let depth = if name == "passes" || inside.starts_with("schedule/") { 2 } else { 1 };
        let end = inside.match_indices('/').nth(depth - 1).map_or(inside.len(), |(at, _)| at);
        let module = inside[..end].trim_end_matches(".rs").trim_end_matches("/mod");
        Some(module).filter(|module| !matches!(*module, "lib" | "main"))
    };
    let sources: Vec<_> = tree.iter().filter(|(path, _)| path.ends_with(".rs") && !path.contains("tests")).collect();
    let modules: BTreeSet<&str> = sources.iter().filter_map(|(path, _)| module_of(path)).collect();
    let mut uses = Uses::new();
    for (path, text) in sources {
        let Some(module) = module_of(path) else { continue };
        let own = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
        for (index, line) in own.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for rest in line.split("crate::").skip(1) {
                let used = modules.iter().filter(|other| names(rest, other)).max_by_key(|other| other.len());
                if let Some(other) = used.filter(|other| **other != module) {
                    uses.entry(module).or_default().entry(other).or_insert_with(|| format!("{path}:{}", index + 1));
                }
            }
        }
    }
    uses
}

/// Whether the path that a text begins with leads into a module, which is given by its folders.
fn names(text: &str, module: &str) -> bool {
    let mut path = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':')).next().unwrap_or(text).split("::");
    module.split('/').all(|part| path.next() == Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let tree = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        check(&tree).into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn one_way_is_fine() {
        assert!(messages(&[("passes/src/a.rs", "use crate::b::X;\n"), ("passes/src/b/mod.rs", "// see crate::a\n")]).is_empty());
        let tested = "struct X;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::Y;\n}\n";
        assert!(messages(&[("passes/src/a.rs", "use crate::b::X;\n"), ("passes/src/b.rs", tested)]).is_empty());
    }

    #[test]
    fn a_cycle_is_told_at_each_of_its_uses() {
        let files =
            [("store/src/a.rs", "use crate::b::X;\n"), ("store/src/b.rs", "use crate::c;\n"), ("store/src/c.rs", "crate::a::f();\n")];
        assert_eq!(messages(&files).len(), 3);
    }

    #[test]
    fn passes_of_a_level_are_rooms_of_their_own() {
        let both = [("passes/src/prim/a.rs", "use crate::prim::b::X;\n"), ("passes/src/prim/b/c.rs", "use crate::prim::a;\n")];
        assert_eq!(messages(&both).len(), 2);
        assert!(messages(&[("passes/src/prim/a.rs", "use crate::prim::b::X;\n"), ("passes/src/prim/b.rs", "//! x\n")]).is_empty());
    }

    #[test]
    fn emitters_do_not_meet() {
        let found = messages(&[("lowering/src/emit/a.rs", "use crate::loop_to_cpu::X;\n"), ("lowering/src/loop_to_cpu/mod.rs", "//! x\n")]);
        assert!(found[0].contains("never"));
    }
}
