//! The contract of each level as a function: it walks a module and names everything that may not be there any more.

use crate::aten;
use crate::{capture, loops, prim};
use strata_core::ir::{Attr, Op};

/// What breaks a level's contract.
#[derive(Debug)]
pub struct Breach<'c> {
    /// The op that may not be there.
    pub op: Op<'c>,
    /// Why not.
    pub reason: String,
    /// The pass that should have removed it.
    pub pass: &'static str,
}

/// The contract of one level.
pub struct Contract {
    /// The level that a program has reached.
    pub level: &'static str,
    /// Dialects whose ops may be there.
    dialects: &'static [&'static str],
    /// Ops of other dialects that may be there.
    ops: &'static [&'static str],
    /// The pass that should have removed the others.
    pass: &'static str,
    /// What else must hold.
    also: for<'c> fn(Op<'c>) -> Option<String>,
}

/// Tensor ops that the host program does itself.
const HOST_PRIMS: &[&str] =
    &[prim::Constant::NAME, prim::Dim::NAME, prim::Item::NAME, prim::Library::NAME, prim::Reshape::NAME, prim::Sort::NAME];

/// Dialects of programs as they are captured: PyTorch's operators, those of its libraries, and arithmetic on sizes.
const CAPTURED: &[&str] =
    &["aten", "arith", "builtin", "capture", "func", "math", "prims", "quantized_decomposed", "scf", "torchao", "torchvision"];

/// All contracts, from the top.
pub const CONTRACTS: &[Contract] = &[
    Contract { level: "capture", dialects: CAPTURED, ops: &[], pass: "import", also: |_| None },
    Contract { level: "aten", dialects: CAPTURED, ops: &[], pass: "functionalise", also: functional },
    Contract {
        level: "prim",
        dialects: &["arith", "builtin", "capture", "func", "math", "prim", "scf"],
        ops: &[],
        pass: "decompose-aten",
        also: |_| None,
    },
    Contract {
        level: "prim-fused",
        dialects: &["arith", "builtin", "capture", "func", "math", "prim", "scf"],
        ops: &[],
        pass: "decompose-aten",
        also: |_| None,
    },
    Contract {
        level: "loop",
        dialects: &["arith", "builtin", "capture", "complex", "func", "loop", "math", "scf"],
        ops: HOST_PRIMS,
        pass: "prim-to-loop",
        also: |_| None,
    },
    Contract {
        level: "loop-scheduled",
        dialects: &["arith", "builtin", "capture", "complex", "func", "loop", "math", "scf"],
        ops: HOST_PRIMS,
        pass: "prim-to-loop",
        also: scheduled,
    },
    Contract {
        level: "host",
        dialects: &["arith", "builtin", "complex", "func", "host", "loop", "math", "scf"],
        ops: &[],
        pass: "loop-to-host",
        also: no_calls,
    },
    Contract {
        level: "cpu",
        dialects: &["arith", "builtin", "cf", "complex", "func", "llvm", "math", "scf", "vector"],
        ops: &[],
        pass: "loop-to-cpu",
        also: |_| None,
    },
];

/// No operator writes to its arguments.
fn functional(op: Op<'_>) -> Option<String> {
    if op.isa::<capture::GraphBreak>() {
        return Some("a captured function ends in a graph break (--split-breaks makes it a return)".to_owned());
    }
    let schema = aten::schema(op.name())?;
    schema.is_mutable().then(|| "it writes to one of its arguments".to_owned())
}

/// Every kernel has a schedule.
fn scheduled(op: Op<'_>) -> Option<String> {
    let bare = op.isa::<loops::Kernel>() && op.attr("schedule").and_then(Attr::as_dict).is_none();
    bare.then(|| "the kernel has no schedule (--schedule-cpu writes one)".to_owned())
}

/// Kernels are launched on buffers.
fn no_calls(op: Op<'_>) -> Option<String> {
    op.isa::<loops::Call>().then(|| "it calls a kernel on tensors".to_owned())
}

impl Contract {
    /// The contract of a level.
    pub fn of(level: &str) -> Option<&'static Self> {
        CONTRACTS.iter().find(|contract| contract.level == level)
    }

    /// Everything in a module that breaks the contract, in order.
    pub fn breaches<'c>(&self, module: Op<'c>) -> Vec<Breach<'c>> {
        let mut breaches = Vec::new();
        module.walk(&mut |op| {
            let allowed = self.dialects.contains(&op.dialect()) || self.ops.contains(&op.name());
            let reason =
                if allowed { (self.also)(op) } else { Some(format!("there are no ops of '{}' at level '{}'", op.dialect(), self.level)) };
            if let Some(reason) = reason {
                breaches.push(Breach { op, reason, pass: self.pass });
            }
        });
        breaches
    }
}
