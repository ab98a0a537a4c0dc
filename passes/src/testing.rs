//! What the unit tests of the passes share: text in, a pass, text out.

use crate::prim::fusion::Remark;
use strata_core::ir::{Context, Module, Op};
use strata_core::registry::Registry;
use strata_dialects::capture::CAPTURE;
use strata_dialects::prim::PRIM;

/// A context with the dialects that the tests write, and MLIR's.
pub fn context() -> Context {
    Registry::new().with_upstream().with_dialects(&[&CAPTURE, &PRIM]).context()
}

/// Wraps `body` into a function `@f` and runs `test` on it; the module must still verify after it.
pub fn with_function<R>(signature: &str, body: &str, test: impl for<'c> FnOnce(Op<'c>) -> R) -> R {
    let context = context();
    let text = format!("module {{\nfunc.func @f{signature} {{\n{}\n}}\n}}", expand(body));
    let module = Module::parse(&context, &text, "test").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let function = module.op().lookup_symbol("f").expect("the function is there");
    let result = test(function);
    assert!(module.op().verify(), "{module}");
    result
}

/// Lines `%a = prim.x %b : types` in generic form, so that tests are short whether or not `prim` is registered.
fn expand(body: &str) -> String {
    body.lines().map(|line| line.trim()).map(expand_line).collect::<Vec<_>>().join("\n")
}

fn expand_line(line: &str) -> String {
    let (start, rest) = match line.split_once(" = ") {
        Some((start, rest)) if start.starts_with('%') => (format!("{start} = "), rest),
        _ => (String::new(), line),
    };
    if !(rest.starts_with("prim.") || rest.starts_with("capture.")) {
        return line.to_owned();
    }
    let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let split = rest.find('{').unwrap_or(rest.len()).min(rest.find(" :").unwrap_or(rest.len()));
    let (operands, rest) = rest.split_at(split);
    format!("{start}\"{name}\"({}) {rest}", operands.trim())
}

/// The ops of a block as one line each: names, with the content of fusions in brackets.
pub fn outline(function: Op<'_>) -> String {
    fn of(op: Op<'_>, out: &mut Vec<String>) {
        let name = op.name().strip_prefix("prim.").unwrap_or(op.name()).to_owned();
        if op.regions().is_empty() {
            out.push(name);
            return;
        }
        for region in op.regions() {
            let mut inner = Vec::new();
            region.blocks().into_iter().flat_map(|block| block.ops()).for_each(|op| of(op, &mut inner));
            inner.retain(|name| name != "yield");
            out.push(format!("{name}[{}]", inner.join(" ")));
        }
    }
    let mut out = Vec::new();
    function.body(0).ops().into_iter().for_each(|op| of(op, &mut out));
    out.join("\n")
}

/// Runs a fusion pass on the body of a function; compares what is left of it, then the refusals.
pub fn check_fusion(pass: fn(Op<'_>) -> Vec<Remark<'_>>, signature: &str, body: &str, expected: expect_test::Expect) {
    let text = with_function(signature, body, |function| {
        let remarks = pass(function);
        let mut text = outline(function);
        for remark in remarks {
            text.push_str(&format!("\n{remark}"));
        }
        text
    });
    expected.assert_eq(&text);
}

/// A small generator: tests must not depend on a crate's stream of numbers.
pub struct Random(pub u64);

impl Random {
    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}
