//! `--attach-target`: writes at a module for which machine it is compiled.
//!
//! ```mlir
//! // --attach-target=cpu=x86-64-v3
//! module attributes {target.cpu = {cpu = "x86-64-v3", vector_bits = 256, ...}} {
//! ```
//!
//! The driver does so for the machine at hand, or for `--cpu`. By itself the pass gives other passes a machine: one of LLVM's CPUs by its
//! name, with entries changed as in `--attach-target='entries={vector_registers = 16, l1 = {ways = 12}}'`. What it says wins over what
//! the module says.

use super::named;
use strata_core::ir::Op;
use strata_core::pass::{Pass, PassContext, PassError};
use strata_dialects::target::{TARGET, Target};

/// Writes the target at the module.
#[derive(Pass)]
pub struct AttachTarget {
    /// LLVM's name of the CPU; without it the entries change the target that the module has.
    cpu: String,
    /// Entries that differ, as a dictionary.
    entries: String,
}

impl Pass for AttachTarget {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        if self.cpu.is_empty() && self.entries.is_empty() {
            return Err(PassError::new("it has nothing to attach: name a CPU, `cpu=x86-64-v3`, or entries, `entries={vector_bits = 256}`"));
        }
        let base = match self.cpu.as_str() {
            "" => Target::of(op)?,
            cpu => named(cpu).map_err(|error| PassError::new(error.to_string()))?,
        };
        let entries = self.entries.trim();
        let entries = if entries.starts_with('{') { entries.to_owned() } else { format!("{{{entries}}}") };
        op.set_attr(TARGET, base.with_entries(op.cx(), &entries)?.attr(op.cx()));
        Ok(())
    }
}
