//! Every numbered constraint of an op has a test that breaks it: a case `@OP_cN` in the folder of its dialect's tests, which expects
//! an error that begins with `CN`.

use std::collections::BTreeSet;

use super::{Fault, Tree};

/// The dialects whose constraints are numbered; their reference pages list them.
const DIALECTS: [&str; 4] = ["capture", "host", "loop", "prim"];

pub fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for dialect in DIALECTS {
        let folder = format!("test/dialects/{dialect}/");
        let files = tree.iter().filter(|(path, _)| path.starts_with(&folder) && path.ends_with(".mlir"));
        let cases: Vec<&str> = files.flat_map(|(_, text)| text.split("// -----")).collect();
        let reference = format!("docs/src/reference/{dialect}.md");
        for (op, number) in constraints(tree.get(&reference).map_or("", String::as_str)) {
            if !cases.iter().any(|case| breaks(case, &op, number)) {
                let message = format!("no test breaks C{number} of `{dialect}.{op}`; write a case `@{op}_c{number}` in {folder}");
                faults.push(Fault::new(&reference, message));
            }
        }
    }
    faults
}

/// The numbered constraints that a reference page states: `C2:`, and `C1 to C4:` for those of another op.
fn constraints(page: &str) -> BTreeSet<(String, usize)> {
    let (mut found, mut op) = (BTreeSet::new(), "");
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## `") {
            op = heading.trim_end_matches('`').split('.').nth(1).unwrap_or_default();
        }
        let words: Vec<&str> = line.split(' ').collect();
        for (at, word) in words.iter().enumerate() {
            let Some(last) = word.strip_suffix(':').and_then(number) else { continue };
            let first = match words[..at] {
                [.., from, "to"] => number(from).unwrap_or(last),
                _ => last,
            };
            found.extend((first..=last).map(|number| (op.to_owned(), number)));
        }
    }
    found
}

/// 2 of `C2`.
fn number(word: &str) -> Option<usize> {
    word.strip_prefix('C')?.parse().ok()
}

/// Whether a case of a lit test is named after a constraint, and expects it.
fn breaks(case: &str, op: &str, number: usize) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    let named = case.split(&format!("@{op}_c{number}")).skip(1).any(ends);
    let expected = |line: &str| line.contains("expected-error") && line.split(&format!("{{{{C{number}")).skip(1).any(ends);
    named && case.lines().any(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_a_case_for_each_constraint() {
        let page = "## `prim.linear_transform`\n\nC1: `dims` are different. C2: they\nare known.\n\n## `prim.dot`\n\nC1 to C2: as `linear_transform`.\n";
        let all: Vec<_> = constraints(page).into_iter().map(|(op, number)| format!("{op} {number}")).collect();
        assert_eq!(all, ["dot 1", "dot 2", "linear_transform 1", "linear_transform 2"]);
        let case = |name: &str, text: &str| format!("func.func @{name}() {{\n  // expected-error @+1 {{{{{text}}}}}\n}}\n// -----\n");
        let mut tree = Tree::from([("docs/src/reference/prim.md".to_owned(), page.to_owned())]);
        assert_eq!(check(&tree).len(), 4);
        let cases = [case("mix_c1_unknown", "C1: unknown"), case("mix_c2", "C1"), case("dot_c1", "C1"), case("dot_c22", "C2")];
        tree.insert("test/dialects/prim/linear_transform.mlir".to_owned(), cases.concat());
        let left: Vec<_> = check(&tree).into_iter().map(|fault| fault.message).collect();
        assert!(
            matches!(&left[..], [dot, linear] if dot.contains("C2 of `prim.dot`") && linear.contains("C2 of `prim.linear_transform`")),
            "{left:?}"
        );
    }
}
