//! Every pass is found: its file has its name, it is in the registry of its crate, and it has a lit test of its name.

use super::{Fault, Tree};

/// Folders of passes, each with its registry and the folder of its tests.
const FOLDERS: [(&str, &str, &str); 2] =
    [("passes/src/", "passes/src/lib.rs", "test/passes/"), ("lowering/src/", "lowering/src/lib.rs", "test/lowering/")];

pub fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (folder, registry, tests) in FOLDERS {
        let listed = tree.get(registry).map_or("", String::as_str);
        for (path, text) in tree.iter().filter(|(path, _)| path.starts_with(folder) && path.ends_with(".rs")) {
            let Some(camel) = pass_type(text) else { continue };
            let name = snake(camel);
            let words = path[folder.len()..].trim_end_matches("/mod.rs").trim_end_matches(".rs").to_string();
            let stem = words.rsplit_once('/').map_or(words.as_str(), |(_, stem)| stem);
            if folder == "passes/src/" && words.replace('/', "_") != name && !name.ends_with(stem) {
                faults.push(Fault::new(path, format!("holds the pass `{camel}`: the file is called {name}.rs")));
            }
            if !listed.contains(&format!("::{camel}>()")) {
                faults.push(Fault::new(path, format!("the pass `{camel}` is not listed in {registry}")));
            }
            if !["mlir", "test"].iter().any(|end| tree.contains_key(&format!("{tests}{name}.{end}"))) {
                faults.push(Fault::new(path, format!("has no test {tests}{name}.mlir")));
            }
        }
    }
    faults
}

/// The type that a file implements the pass trait for, itself or by the macro of a family: `pub struct MyPass: ..;`.
pub fn pass_type(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let by_hand = line.strip_prefix("impl Pass for ").and_then(|rest| rest.split([' ', '<', '{']).next());
        by_hand.or_else(|| line.strip_prefix("    pub struct ")?.strip_suffix(';')?.split_once(": ").map(|(name, _)| name))
    })
}

/// `FuseElementwise` as `fuse_elementwise`.
pub fn snake(camel: &str) -> String {
    let mut name = String::new();
    for c in camel.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_a_name_a_line_and_a_test() {
        let file = |path: &str, text: &str| (path.to_string(), text.to_string());
        let pass = file("passes/src/my/pass.rs", "//! x\npub struct MyPass;\nimpl Pass for MyPass {}\n");
        let bare = check(&[pass.clone(), file("passes/src/lib.rs", "mod my_pass;\n")].into());
        assert_eq!(bare.len(), 2);
        let full = [pass, file("passes/src/lib.rs", "of::<my_pass::MyPass>()\n"), file("test/passes/my_pass.mlir", "")];
        assert!(check(&full.into()).is_empty());
        assert_eq!(pass_type("my_passes! {\n    /// Doc.\n    pub struct MyPass: Rules::default();\n}\n"), Some("MyPass"));
        let misplaced = file("passes/src/other.rs", "impl Pass for MyPass {}\n");
        assert_eq!(check(&[misplaced].into()).len(), 3);
    }
}
