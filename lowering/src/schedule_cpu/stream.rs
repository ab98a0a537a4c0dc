//! Results that no cache will hold are stored past the caches: memory is then written without being read first.

use super::frame::add;
use crate::kernel_view::KernelView;

/// Bytes of a result that will not be found in a cache when it is next read.
const BEYOND: i64 = 16 << 20;

/// Bytes of a result that tiles write, a line each in many places: reading each line first would wait for memory every time.
const SCATTERED: i64 = 2 << 20;

/// Adds `stream` to the schedules of the stages that write large results.
pub fn schedule(kernel: &KernelView<'_>) {
    let scattered = kernel.stages.iter().any(|stage| !stage.spread.is_empty());
    let beyond = if scattered { SCATTERED } else { BEYOND };
    for stage in kernel.stages.iter().filter(|stage| !stage.is_scatter()) {
        let ty = stage.op.result(0).ty();
        let bytes = ty.num_elements().zip(ty.element_type()).map(|(count, element)| count * element.bytes() as i64);
        let buffer = !stage.is_register() && !stage.is_tile();
        if buffer && stage.schedule("sweep").is_none() && bytes.is_some_and(|bytes| bytes >= beyond) {
            add(stage, "stream", 1);
        }
    }
}
