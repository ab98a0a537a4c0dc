//! `--verify-level=level=NAME`: reports every op that breaks the contract of a level, and the pass that should have removed it.
//!
//! It changes nothing. `rs-opt --from=A --to=B --verify-levels` runs it between levels.

use strata_core::ir::Op;
use strata_core::pass::{Pass, PassContext, PassError};
use strata_dialects::contract::{CONTRACTS, Contract};

/// Checks that a program has reached a level.
#[derive(Pass)]
pub struct VerifyLevel {
    /// The level: capture, aten, prim, prim-fused, loop, loop-scheduled, host, cpu.
    #[option(default = "prim")]
    level: String,
}

impl Pass for VerifyLevel {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        cx.preserve_all();
        let contract = Contract::of(&self.level).ok_or_else(|| {
            let known: Vec<_> = CONTRACTS.iter().map(|contract| contract.level).collect();
            PassError::new(format!("there is no level '{}'; the levels are {}", self.level, known.join(", ")))
        })?;
        let breaches = contract.breaches(op);
        for breach in &breaches {
            let _ = PassError::at(
                breach.op,
                &format!("breaks the contract of level '{}': {}; '{}' should have removed it", self.level, breach.reason, breach.pass),
            );
        }
        if breaches.is_empty() { Ok(()) } else { Err(PassError::Reported) }
    }
}
