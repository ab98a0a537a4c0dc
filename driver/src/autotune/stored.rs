//! Measured schedules: what the database and the store keep of them.

use crate::database::{Db, Unit};
use crate::units::{Code, CodeId};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use strata_core::ir::Op;
use strata_lowering::schedule::cpu::{apply, choice};
use strata_runtime::manifest::Gain;
use strata_runtime::{cpu, pool};
use strata_store::{Kind, Parts, content_hash};

/// A schedule that was measured.
#[derive(Clone, Serialize, Deserialize)]
pub struct Measured {
    /// The choice, as MLIR writes attributes.
    choice: String,
    pub gain: Gain,
}

/// The measured schedule of a kernel. A search takes the time that a compilation has for it, which is no argument of a query; so the
/// answer is a place for a schedule, which is filled once.
#[salsa::tracked(no_eq, returns(ref))]
pub fn schedule<'db>(_db: &'db dyn Db, _kernel: Unit<'db>, _code: CodeId<'db>) -> OnceLock<Measured> {
    OnceLock::new()
}

/// What a measured schedule depends on: the kernel, the compiler, and the machine with the threads that share the work.
pub fn parts(db: &dyn Db, kernel: &str, code: &Code) -> Parts {
    let parts = Parts::new().with("build", db.registry().build()).with("machine", cpu::machine());
    let parts = parts.with("threads", pool::global().threads().to_string()).with("cpu", &*code.target.cpu);
    parts.with("contract", code.options.contract.to_string()).with_content("kernel", kernel.as_bytes())
}

/// The name of an entry.
pub fn key(parts: &Parts) -> String {
    parts.key(Kind::Schedule).to_string()
}

impl Measured {
    /// The schedule that a kernel has, with what its search found.
    pub fn of(kernel: Op<'_>, gain: Gain) -> Measured {
        Measured { choice: choice(kernel).to_string(), gain }
    }

    /// Puts it on a kernel; says whether it is one of this kernel.
    pub fn put_on(&self, kernel: Op<'_>) -> bool {
        kernel.cx().parse_attr(&self.choice).is_some_and(|choice| apply(kernel, choice))
    }

    /// What an entry holds.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The hash of an entry.
    pub fn hash(&self) -> String {
        content_hash(&self.to_bytes())
    }
}
