//! Every pass is found: its file is in the registry of its crate and has a lit test of its name.

use super::{Fault, Tree};

/// Folders of passes, each with the folder of their tests; a folder's `lib.rs` or `mod.rs` is its registry.
const FOLDERS: [(&str, &str, &str); 1] = [("passes/src/", "passes/src/lib.rs", "test/passes/")];

pub fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (folder, registry, tests) in FOLDERS {
        let listed = tree.get(registry).map_or("", String::as_str);
        for (path, text) in tree.iter().filter(|(path, text)| path.starts_with(folder) && path.ends_with(".rs") && is_pass(text)) {
            let stem = path.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit('/').next().unwrap_or(path);
            let wanted = camel(stem);
            if !text.contains(&format!("struct {wanted}")) {
                faults.push(Fault::new(path, format!("holds a pass, so it defines `struct {wanted}`, the name of the file")));
            }
            if !listed.contains(&wanted) {
                faults.push(Fault::new(path, format!("the pass `{wanted}` is not listed in {registry}")));
            }
            if !["mlir", "test"].iter().any(|end| tree.contains_key(&format!("{tests}{stem}.{end}"))) {
                faults.push(Fault::new(path, format!("has no test {tests}{stem}.mlir")));
            }
        }
    }
    faults
}

/// True for a file that implements the pass trait.
fn is_pass(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("impl") && (line.contains(" Pass for ") || line.contains("::Pass for ")))
}

/// `fuse_elementwise` as `FuseElementwise`.
fn camel(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_a_name_a_line_and_a_test() {
        let file = |path: &str, text: &str| (path.to_string(), text.to_string());
        let pass = file("passes/src/my_pass.rs", "//! x\npub struct MyPass;\nimpl Pass for MyPass {}\n");
        let bare = check(&[pass.clone(), file("passes/src/lib.rs", "mod my_pass;\n")].into());
        assert_eq!(bare.len(), 2);
        let full = [pass, file("passes/src/lib.rs", "pass::<my_pass::MyPass>()\n"), file("test/passes/my_pass.mlir", "")];
        assert!(check(&full.into()).is_empty());
    }
}
