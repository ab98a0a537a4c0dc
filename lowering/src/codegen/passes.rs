//! Runs a textual pipeline of upstream passes on a module.

use super::{Error, diagnostics};
use mlir_sys::*;
use std::sync::Once;
use strata_core::ir::Op;

/// Runs the passes, for instance `["convert-scf-to-cf", "convert-to-llvm"]`, in order.
pub(super) fn run(module: Op<'_>, passes: &[&str]) -> Result<(), Error> {
    static REGISTER: Once = Once::new();
    // SAFETY: registering touches only MLIR's own table of passes, once.
    REGISTER.call_once(|| unsafe { mlirRegisterAllPasses() });
    let pipeline = passes.join(",");
    let (done, diagnostics) = diagnostics::collect(module.cx(), || {
        // SAFETY: the module is alive, the strings outlive the calls, the manager is destroyed at the end.
        unsafe {
            let manager = mlirPassManagerCreateOnOperation(module.cx().to_raw(), text("builtin.module"));
            mlirPassManagerEnableVerifier(manager, cfg!(debug_assertions));
            let list = mlirPassManagerGetAsOpPassManager(manager);
            let mut problem = String::new();
            let parsed =
                mlirOpPassManagerAddPipeline(list, text(&pipeline), Some(diagnostics::append), (&raw mut problem).cast());
            let done = parsed.value != 0 && mlirPassManagerRunOnOp(manager, module.to_raw()).value != 0;
            mlirPassManagerDestroy(manager);
            if done { Ok(()) } else { Err(problem) }
        }
    });
    done.map_err(|problem| Error::Lower { diagnostics: format!("{problem}{diagnostics}(pipeline: {pipeline})") })
}

fn text(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}
