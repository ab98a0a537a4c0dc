//! What calls take, and where their time goes.

use serde::{Deserialize, Serialize};
use strata_runtime::{Measured, Session};

use crate::roofline::Roofline;

/// A measured call, for a page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Call {
    /// The inputs, as in `x: f32[4, 16]`.
    pub inputs: Vec<String>,
    /// Nanoseconds of a call, in the median.
    pub median: u64,
    /// Nanoseconds that 99 of 100 calls stay below.
    pub p99: u64,
    /// How many times were measured.
    pub samples: usize,
    /// Scratch memory of a call in bytes.
    pub workspace: u64,
    /// The kernels.
    pub roofline: Roofline,
    /// The launches of one call, in order.
    pub launches: Vec<Launch>,
}

/// A launch of a kernel in a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// The kernel.
    pub kernel: String,
    /// Nanoseconds from the beginning of the call.
    pub start: u64,
    /// How many nanoseconds it took.
    pub nanos: u64,
}

impl Call {
    /// Of measured calls of a program.
    pub fn of(session: &Session, measured: &Measured) -> Call {
        let manifest = session.manifest();
        let described =
            measured.inputs.iter().zip(&manifest.inputs).map(|(sizes, declared)| format!("{}: {}{sizes:?}", declared.name, declared.dtype));
        let launches = measured.launches.iter().map(|launch| Launch {
            kernel: manifest.kernels.get(launch.kernel).map_or_else(|| "?".to_owned(), |kernel| kernel.name.clone()),
            start: launch.start.as_nanos() as u64,
            nanos: launch.time.as_nanos() as u64,
        });
        Call {
            inputs: described.collect(),
            median: measured.at(0.5).as_nanos() as u64,
            p99: measured.at(0.99).as_nanos() as u64,
            samples: measured.samples.len(),
            workspace: measured.state.peak_workspace() as u64,
            roofline: Roofline::of(manifest, measured),
            launches: launches.collect(),
        }
    }
}
