//! Results that no cache will hold are stored past the caches: memory is then written without being read first.
//!
//! Where such stores wait in the buffers that loads wait in (Intel's line fill buffers; AMD has others for them), kernels that fetch rows
//! ahead store through the caches: on a Cascade Lake a softmax of 4096x1024 takes 1.5 ms so, and 1.9 past them; a GELU, which
//! fetches nothing ahead, 2.2 and 2.0.

use super::Cpu;
use super::frame::add;
use crate::kernel_view::KernelView;

/// Bytes of a result that will not be found in a cache when it is next read.
const BEYOND: i64 = 16 << 20;

/// Bytes of a result that tiles write, a line each in many places: reading each line first would wait for memory every time.
const SCATTERED: i64 = 2 << 20;

/// Adds `stream` to the schedules of the stages that write large results.
pub fn schedule(kernel: &KernelView<'_>, cpu: Cpu) {
    if cpu.shared_fill_buffers && kernel.stages.iter().any(|stage| stage.schedule("ahead").is_some()) {
        return;
    }
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
