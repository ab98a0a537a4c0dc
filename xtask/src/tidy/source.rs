//! Rules for single files: headers, lengths, blanks, `unsafe`, names of machines, and what an emitter may know.

use super::{Fault, Tree};

/// Lines at which a file is called long, and too long.
const LONG: usize = 500;
const TOO_LONG: usize = 1000;

/// Where `unsafe` may stand: around MLIR, around machine code, at the C borders, where an archive is mapped, and where a
/// compiled program is called the way an embedding C program would.
const UNSAFE: [&str; 11] = [
    "core/",
    "python/src/",
    "runtime/",
    "torch_ops/",
    "lowering/src/codegen",
    "lowering/src/expand_math/tests.rs",
    "driver/tests/it/calls.rs",
    "tools/toolbox/src/library.rs",
    "bench/",
    "frontend/src/pt2/map.rs",
    "tools/src/run/benchmark.rs",
];

/// What makes kernels: it turns stages and schedules into code and knows no operator. (The host program around the kernels
/// may still hold the few `prim` ops that need none: free views, sizes, scalars.)
const EMITTERS: [&str; 6] = [
    "lowering/src/emit",
    "lowering/src/loop_to_cpu",
    "lowering/src/loop_to_gpu",
    "lowering/src/gpu_to_nvvm",
    "lowering/src/expand_math",
    "lowering/src/codegen",
];

/// Crates that read and build ops: they name them by their Rust items.
const TYPED: [&str; 10] = [
    "dialects/src",
    "interp/src",
    "passes/src",
    "lowering/src",
    "driver/src",
    "frontend/src",
    "jit/src",
    "tools/src",
    "tools/toolbox/src",
    "report/src",
];

/// Dialects whose ops have Rust items.
const DIALECTS: [&str; 19] = [
    "arith",
    "aten",
    "capture",
    "cf",
    "complex",
    "func",
    "gpu",
    "host",
    "llvm",
    "loop",
    "math",
    "nvvm",
    "prim",
    "prims",
    "quantized_decomposed",
    "scf",
    "torchao",
    "torchvision",
    "vector",
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
    if let Some(odd) = path.chars().find(|letter| !letter.is_ascii_alphanumeric() && !"/._-".contains(*letter)) {
        faults.push(Fault::new(path, format!("`{odd}` in a file's name: what a command left behind, or a name to change")));
    }
    let data = [".tsv", ".json", ".safetensors", ".onnx"].iter().any(|kind| path.ends_with(kind));
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
    op_name_rules(path, text, faults);
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

/// Ops are named by their Rust items, so that a misspelt name does not compile. Quoted names stand where an op, an attribute or a pass
/// is defined, and in tests.
fn op_name_rules(path: &str, text: &str, faults: &mut Vec<Fault>) {
    let tests = path.ends_with("tests.rs") || path.ends_with("testing.rs") || path.contains("/tests/");
    if tests || !TYPED.iter().any(|folder| path.starts_with(folder)) {
        return;
    }
    let mut attribute = false;
    for (index, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with("#[cfg(test)]")
            && text.lines().nth(index + 1).is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'))
        {
            return;
        }
        attribute |= code.starts_with("#[");
        let defines = attribute || code.starts_with("//") || code.contains("const ") || is_row(code);
        attribute &= !code.ends_with(']');
        if defines {
            continue;
        }
        // (The operators of PyTorch come from tables, whose names are data.)
        let mut typed = DIALECTS.iter().filter(|dialect| !matches!(**dialect, "aten" | "prims"));
        if let Some(dialect) = typed.find(|dialect| line.contains(&format!("strip_prefix(\"{dialect}.\")"))) {
            let message = format!("names of `{dialect}` without their dialect; name the op by its Rust item (`arith::AddI::NAME`)");
            faults.push(Fault::new(format!("{path}:{}", index + 1), message));
        }
        for name in line.split('"').skip(1).step_by(2).filter(|text| is_op_name(text)) {
            let message = format!(
                "\"{name}\" is quoted; name the op by its Rust item (`op.isa::<arith::AddI>()`, `arith::addi(..)`, `op::ADD_TENSOR`)"
            );
            faults.push(Fault::new(format!("{path}:{}", index + 1), message));
        }
    }
}

/// A row of a macro that defines ops: `Neg "prim.neg" ..`.
fn is_row(code: &str) -> bool {
    let mut words = code.split(' ');
    words.next().is_some_and(|word| word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphanumeric))
        && words.next().is_some_and(|word| word.starts_with('"'))
}

/// The full name of an op. (LLVM's intrinsics of one machine have no items.)
fn is_op_name(text: &str) -> bool {
    let Some((dialect, op)) = text.split_once('.') else { return false };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    DIALECTS.contains(&dialect)
        && op.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && op.chars().all(word)
        && !op.starts_with("x86.")
        && !op.starts_with("masked.")
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
        assert!(messages("passes/src/a.rs", "//! x\nlet op = \"arith.addi\";\n")[0].contains("Rust item"));
        assert!(messages("passes/src/a.rs", "//! x\n#[pass(anchor = \"func.func\")]\n").is_empty());
        assert!(messages("passes/src/tests.rs", "//! x\nlet op = \"arith.addi\";\n").is_empty());
        let emitter = messages("lowering/src/loop_to_cpu/a.rs", "//! x\nlet op = \"prim.add\";\n");
        assert!(emitter.iter().any(|message| message.contains("emitter")), "{emitter:?}");
        assert!(messages("frontend/src/a.rs", "//! x\nlet op = \"aten.add.Tensor\";\n")[0].contains("ADD_TENSOR"));
    }
}
