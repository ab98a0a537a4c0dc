//! Writes the check lines of a test anew from what the tool prints.
//!
//! The lines of one prefix are taken out; each function (or other symbol) of the output is then checked line by line
//! above the function of that name in the test. SSA names become FileCheck variables, so that renaming is no change.

use std::collections::BTreeMap;

use crate::script::is_check;

/// The test `text` with its lines under `prefix` replaced by checks for `output`.
pub fn rewrite(text: &str, prefix: &str, output: &str) -> String {
    let mut lines: Vec<String> = text.lines().filter(|line| !is_check_line(line, prefix)).map(str::to_string).collect();
    let mut from = 0;
    for chunk in chunks(output) {
        let checks = chunk.checks(prefix);
        let at = chunk.name.as_ref().and_then(|name| (from..lines.len()).find(|&index| defines(&lines[index], name)));
        let at = at.unwrap_or_else(|| end_of_part(&lines, from));
        from = at + checks.len();
        lines.splice(at..at, checks);
    }
    let mut result = lines.join("\n");
    result.push('\n');
    result
}

/// A symbol of the output, or the lines outside of all symbols.
struct Chunk<'a> {
    name: Option<String>,
    lines: Vec<&'a str>,
}

/// Cuts the printed module at its symbol operations; the `module` line, closing braces and empty lines are of no interest.
fn chunks(output: &str) -> Vec<Chunk<'_>> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for line in output.lines() {
        let plain = line.trim();
        let outer = line.len() - line.trim_start().len() <= 2;
        if plain.is_empty()
            || plain == "// -----"
            || (outer && (plain == "}" || plain == "module {" || plain.starts_with("module attributes")))
        {
            continue;
        }
        match symbol(plain).filter(|_| outer) {
            Some(name) => chunks.push(Chunk { name: Some(name), lines: vec![plain] }),
            None => match chunks.last_mut() {
                Some(chunk) => chunk.lines.push(plain),
                None => chunks.push(Chunk { name: None, lines: vec![plain] }),
            },
        }
    }
    chunks
}

/// The name that a line such as `func.func private @name(` defines.
fn symbol(line: &str) -> Option<String> {
    let (op, rest) = line.split_once('@')?;
    let op = op.trim_end();
    let words = !op.is_empty() && op.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == ' ');
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || "_$.-".contains(*c)).collect();
    (words && op.contains('.') && !op.ends_with("call") && !name.is_empty()).then_some(name)
}

fn defines(line: &str, name: &str) -> bool {
    symbol(line.trim()).as_deref() == Some(name)
}

/// Where the part of the test around line `from` ends: at the next `// -----` or at the end of the file.
fn end_of_part(lines: &[String], from: usize) -> usize {
    (from..lines.len()).find(|&index| lines[index].trim() == "// -----").unwrap_or(lines.len())
}

fn is_check_line(line: &str, prefix: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    comment.split_once(':').is_some_and(|(word, _)| is_check(word.trim(), prefix))
}

impl Chunk<'_> {
    fn checks(&self, prefix: &str) -> Vec<String> {
        let mut names = BTreeMap::new();
        let mut checks = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            match (index, line.split_once('(')) {
                (0, Some((head, tail))) if self.name.is_some() => {
                    checks.push(format!("// {prefix}-LABEL: {head}("));
                    checks.push(format!("// {prefix}-SAME:  {}", pattern(tail, &mut names)));
                }
                (0, _) => checks.push(format!("// {prefix}: {}", pattern(line, &mut names))),
                _ => checks.push(format!("// {prefix}-NEXT:  {}", pattern(line, &mut names))),
            }
        }
        checks
    }
}

/// `line` as a FileCheck pattern: `%name` becomes `[[NAME:%.+]]` where first seen and `[[NAME]]` afterwards.
fn pattern(line: &str, names: &mut BTreeMap<String, String>) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let name: String = match c {
            '%' => rest[1..].chars().take_while(|c| c.is_ascii_alphanumeric() || "_$.-".contains(*c)).collect(),
            _ => String::new(),
        };
        if !name.is_empty() {
            rest = &rest[1 + name.len()..];
            match names.get(&name) {
                Some(variable) => text.push_str(&format!("[[{variable}]]")),
                None => {
                    let variable = variable(&name, names);
                    text.push_str(&format!("[[{variable}:%[A-Za-z0-9_$.-]+]]"));
                    names.insert(name, variable);
                }
            }
        } else if rest.starts_with("{{") || rest.starts_with("[[") {
            text.push_str(if c == '{' { "{{[{][{]}}" } else { "{{[[][[]}}" });
            rest = &rest[2..];
        } else {
            text.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    text
}

/// A variable name in capitals that no other SSA name has taken.
fn variable(name: &str, names: &BTreeMap<String, String>) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let base = if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("V{plain}") } else { plain };
    let taken = |candidate: &String| names.values().any(|value| value == candidate);
    (0..).map(|n| if n == 0 { base.clone() } else { format!("{base}_{n}") }).find(|candidate| !taken(candidate)).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_checks_above_the_function_and_keeps_the_rest() {
        let test = "// RUN: rs-opt %s | FileCheck %s\n// A comment.\n\n// CHECK-LABEL: @old\n// OTHER: stays\nfunc.func @f(%x: i32) -> i32 {\n  return %x : i32\n}\n";
        let output = "module {\n  func.func @f(%arg0: i32) -> i32 {\n    %0 = a.b %arg0 {{x}} : i32\n    return %0 : i32\n  }\n}\n";
        let want = "// RUN: rs-opt %s | FileCheck %s\n// A comment.\n\n// OTHER: stays\n\
            // CHECK-LABEL: func.func @f(\n// CHECK-SAME:  [[ARG0:%[A-Za-z0-9_$.-]+]]: i32) -> i32 {\n\
            // CHECK-NEXT:  [[V0:%[A-Za-z0-9_$.-]+]] = a.b [[ARG0]] {{[{][{]}}x}} : i32\n// CHECK-NEXT:  return [[V0]] : i32\n\
            func.func @f(%x: i32) -> i32 {\n  return %x : i32\n}\n";
        assert_eq!(rewrite(test, "CHECK", output), want);
    }

    #[test]
    fn is_stable() {
        let test = "// RUN: x\nfunc.func @f() {\n}\n// -----\nfunc.func @g() {\n}\n";
        let output = "func.func @f() {\n  return\n}\n// -----\nfunc.func @new() {\n  return\n}\nfunc.func @g() {\n  return\n}\n";
        let once = rewrite(test, "CHECK", output);
        assert_eq!(rewrite(&once, "CHECK", output), once);
        assert!(once.contains("// CHECK-LABEL: func.func @new("));
    }
}
