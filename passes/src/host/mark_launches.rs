//! `--mark-launches`: the runtime is told when a kernel begins and ends, so that it can say where the time of a call goes.
//!
//! Exactly around every launch of the entry. A mark carries the number of the kernel among those that the entry launches, in the
//! order in which they stand in the module (as in the manifest), or -1 where none runs. `rs-run --benchmark --roofline` compiles so.
//!
//! ```mlir
//! host.launch %x, %y {callee = @k0, outputs = 1 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
//! // becomes
//! %c0 = arith.constant 0 : index
//! host.extern %c0 {name = "strata_mark"} : (index) -> ()
//! host.launch %x, %y {callee = @k0, outputs = 1 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
//! %c-1 = arith.constant -1 : index
//! host.extern %c-1 {name = "strata_mark"} : (index) -> ()
//! ```

use strata_core::ir::{Builder, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_dialects::host::{Launch, MARK};
use strata_dialects::{host, loops};

/// Marks the begin and the end of every launch.
#[derive(Pass)]
#[pass(dependents("host", "arith"))]
pub struct MarkLaunches {
    /// Launches.
    launches: Counter,
}

impl Pass for MarkLaunches {
    fn run<'c>(&self, module: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let Some(entry) = module.body(0).ops().into_iter().find(|op| op.attr(host::ENTRY).is_some()) else { return Ok(()) };
        let launches: Vec<_> = entry.find_all(Launch::NAME).into_iter().filter_map(Launch::cast).collect();
        let mut kernels: Vec<_> = module.find_all(loops::Kernel::NAME).into_iter().filter_map(|kernel| kernel.str("sym_name")).collect();
        kernels.retain(|name| launches.iter().any(|launch| launch.callee() == *name));
        for launch in launches {
            let number = kernels.iter().position(|name| launch.callee() == *name);
            mark(Builder::after(launch.op()), -1);
            mark(Builder::before(launch.op()), number.map_or(-1, |number| number as i64));
            self.launches.add(1);
        }
        Ok(())
    }
}

fn mark(mut b: Builder<'_>, kernel: i64) {
    let number = b.const_index(kernel);
    let name = number.ty().cx().str_attr(MARK);
    b.effect(host::Extern::NAME, &[number], &[("name", name)]);
}
