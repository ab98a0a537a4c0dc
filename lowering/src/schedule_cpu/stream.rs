//! Results that no cache will hold are stored past the caches: memory is then written without being read first.

use super::frame::add;
use crate::kernel_view::KernelView;
use strata_core::ir::Type;

/// Bytes of the last-level cache: what a kernel reads and writes is found there again if it is not more.
const CACHE: i64 = 32 << 20;
/// Bytes of a result that is worth keeping out of it.
const LARGE: i64 = 8 << 20;

/// Adds `stream` to the schedules of the stages that write large results.
pub fn schedule(kernel: &KernelView<'_>) {
    let tensors = kernel.op.body(0).args().into_iter().chain(kernel.results()).map(|tensor| tensor.ty());
    let all: i64 = tensors.filter_map(bytes).fold(0, i64::saturating_add);
    for stage in kernel.stages.iter().filter(|stage| !stage.is_scatter()) {
        let large = bytes(stage.op.result(0).ty()).is_some_and(|bytes| bytes >= LARGE);
        let buffer = !stage.is_register() && !stage.is_tile();
        if all > CACHE && large && buffer && stage.schedule("sweep").is_none() {
            add(stage, "stream", 1);
        }
    }
}

/// The bytes of a tensor whose sizes are known.
fn bytes(ty: Type<'_>) -> Option<i64> {
    Some(ty.num_elements()?.saturating_mul(ty.element_type()?.bytes() as i64))
}
