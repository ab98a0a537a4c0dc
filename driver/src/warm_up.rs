//! What the first compilation of a process pays once: a second context with its dialects, LLVM's tables, their pages in memory.
//!
//! It takes about as long as a program needs from its file down to its kernels, so another core does it meanwhile.

use crate::units;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use strata_core::ir::Module;
use strata_core::registry::Registry;
use strata_lowering::codegen::{self, Target};
use strata_lowering::target::MathTarget;

/// A loop over vectors with a masked rest, as kernels are.
const KERNEL: &str = "func.func @strata_entry(%x: !llvm.ptr, %n: index) {
  %from = arith.constant 0 : index
  %step = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.for %i = %from to %n step %step {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<16xi1>
    %at = arith.index_cast %i : index to i64
    %place = llvm.getelementptr inbounds %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.intr.masked.load %place, %mask, %zero {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
    %e = math.exp %v : vector<16xf32>
    %m = arith.maximumf %e, %zero : vector<16xf32>
    llvm.intr.masked.store %m, %place, %mask {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
  }
  return
}";

/// Does the work; where a core is idle and nothing was compiled yet, that core warms up beside it.
pub(crate) fn warmed<R>(registry: &'static Registry, target: &Target, work: impl FnOnce() -> R) -> R {
    static WARM: AtomicBool = AtomicBool::new(false);
    if thread::available_parallelism().map_or(1, usize::from) < 2 || WARM.swap(true, Ordering::Relaxed) {
        return work();
    }
    thread::scope(|scope| {
        scope.spawn(|| warm_up(registry, target));
        work()
    })
}

/// Compiles the kernel. Whatever is wrong is told by the compilation that somebody asked for.
fn warm_up(registry: &'static Registry, target: &Target) -> Option<()> {
    let context = units::loaded(registry);
    let module = Module::parse(&context, KERNEL, "warm-up").ok()?;
    codegen::lower_to_llvm(module.op(), &MathTarget::of(target)).ok()?;
    codegen::emit(module.op(), target, &codegen::Options::default()).ok().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_lowering::target;

    #[test]
    fn the_kernel_compiles() {
        assert_eq!(warm_up(crate::standard(), &target::host()), Some(()));
    }
}
