//! Rules for single files: headers, lengths, blanks, `unsafe`, names of machines, and what an emitter may know.

use super::{Fault, Tree};

/// Lines at which a file is called long, and too long.
const LONG: usize = 500;
const TOO_LONG: usize = 1000;

/// Where `unsafe` may stand: around MLIR, around machine code, at the C borders, where an archive is mapped, and where a
/// compiled program is called the way an embedding C program would.
const UNSAFE: [&str; 10] = [
    "core/",
    "python/src/",
    "runtime/",
    "lowering/src/codegen",
    "lowering/src/expand_math/tests.rs",
    "driver/tests/it/calls.rs",
    "tools/compiler/",
    "bench/",
    "frontend/src/pt2/map.rs",
    "tools/src/run/benchmark.rs",
];

/// What makes kernels: it turns stages and schedules into code and knows no operator. (The host program around the kernels
/// may still hold the few `prim` ops that need none: free views, sizes, scalars.)
const EMITTERS: [&str; 5] = [
    "lowering/src/loop_to_cpu",
    "lowering/src/loop_to_gpu",
    "lowering/src/gpu_to_nvvm",
    "lowering/src/expand_math",
    "lowering/src/codegen",
];

/// Paths that exist on one machine only. (Cut in two, so that this file may name them.)
const MACHINE: [&str; 4] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/tmp", "/t/")];

pub fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree {
        if path.ends_with(".lock") || path == "LICENSE" {
            continue;
        }
        text_rules(path, text, &mut faults);
        if path.ends_with(".rs") {
            rust_rules(path, text, &mut faults);
        }
    }
    faults
}

fn text_rules(path: &str, text: &str, faults: &mut Vec<Fault>) {
    let data = [".tsv", ".json", ".safetensors"].iter().any(|kind| path.ends_with(kind));
    for (index, line) in text.lines().enumerate() {
        let place = || format!("{path}:{}", index + 1);
        if line.ends_with([' ', '\t', '\r']) && !data {
            faults.push(Fault::new(place(), "blanks at the end of the line"));
        }
        if let Some(name) = MACHINE.iter().find(|name| line.contains(**name)) {
            faults.push(Fault::new(place(), format!("`{name}` is a path of one machine; name places relative to the root")));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') && !data {
        faults.push(Fault::new(path, "the last line has no end of line"));
    }
}

fn rust_rules(path: &str, text: &str, faults: &mut Vec<Fault>) {
    let generated = text.lines().take(3).any(|line| line.contains("@generated"));
    if !text.starts_with("//!") {
        faults.push(Fault::new(path, "starts without a `//!` line that says what the module is and why"));
    }
    let lines = text.lines().count();
    if lines > TOO_LONG && !generated {
        faults.push(Fault::new(path, format!("{lines} lines, allowed are {TOO_LONG}: split it by topic")));
    } else if lines > LONG && !generated {
        println!("{path}: {lines} lines; more than {LONG} is worth a split by topic");
    }
    unsafe_rules(path, text, faults);
    if EMITTERS.iter().any(|folder| path.starts_with(folder)) {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for level in ["aten", "prim"] {
                if [format!("{level}::"), format!("\"{level}.")].iter().any(|name| line.contains(name)) {
                    faults.push(Fault::new(
                        format!("{path}:{}", index + 1),
                        format!("an emitter names `{level}`; what it must know is said in stages and schedules"),
                    ));
                }
            }
        }
    }
}

/// `unsafe` stands in few folders, and each use has a reason above it.
fn unsafe_rules(path: &str, text: &str, faults: &mut Vec<Fault>) {
    let allowed = UNSAFE.iter().any(|folder| path.starts_with(folder));
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| has_unsafe(line)) {
        let place = || format!("{path}:{}", index + 1);
        if !allowed {
            faults.push(Fault::new(place(), format!("`unsafe` is allowed in {} only", UNSAFE.join(", "))));
        }
        let block = line.contains("unsafe {") || line.contains("unsafe impl");
        let reasoned = lines[index.saturating_sub(8)..=index].iter().any(|line| line.contains("SAFETY:"));
        if block && !reasoned {
            faults.push(Fault::new(place(), "no `// SAFETY:` comment above this `unsafe` says why it is sound"));
        }
    }
}

/// True if the line's code, comments and strings aside, has the word `unsafe`.
fn has_unsafe(line: &str) -> bool {
    let mut code = String::new();
    for (index, piece) in line.replace("\\\"", "").split('"').enumerate() {
        if index % 2 == 0 {
            code.push_str(piece.split("//").next().unwrap_or(""));
            if piece.contains("//") {
                break;
            }
        }
    }
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&[(path.to_string(), text.to_string())].into()).into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn a_good_file_passes() {
        assert!(messages("core/src/a.rs", "//! What.\n// SAFETY: fine.\nunsafe { f() }\n").is_empty());
        assert!(messages("passes/src/a.rs", "//! What about unsafe.\nlet x = \"unsafe\"; // unsafe\n").is_empty());
    }

    #[test]
    fn each_rule_fires() {
        assert!(messages("a.rs", "fn f() {}\n")[0].contains("//!"));
        assert!(messages("a.md", "x \n")[0].contains("blanks"));
        assert!(messages("a.md", "x")[0].contains("end of line"));
        assert!(messages("a.md", concat!("see /ro", "ot/x\n"))[0].contains("machine"));
        assert!(messages("a.rs", &format!("//! x\n{}", "\n".repeat(TOO_LONG)))[0].contains("split"));
        let found = messages("passes/src/a.rs", "//! x\nunsafe { f() }\n");
        assert!(found[0].contains("only") && found[1].contains("SAFETY"));
        assert!(messages("lowering/src/loop_to_cpu/a.rs", "//! x\nlet op = \"prim.add\";\n")[0].contains("emitter"));
    }
}
