//! Kernels without a reduction.

use super::cost::side_by_side;
use super::frame::Frame;

/// Writes the schedule of a kernel of maps, scans and scatters.
pub fn schedule(frame: &Frame<'_, '_>) {
    let Some(vector) = frame.vector else { return frame.write_own(None) };
    let wanted = frame.kernel.stages.iter().map(side_by_side).min().unwrap_or(1);
    let enough = frame.size(vector) >= wanted * frame.width_along(vector);
    frame.write_outer(vector, |dim| if dim == vector && enough { wanted } else { 1 });
}
