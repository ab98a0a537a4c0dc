//! How near each kernel comes to what the machine can do.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use strata_runtime::manifest::Kernel;
use strata_runtime::profile::Launches;
use strata_runtime::{Manifest, Measured, limits};

/// The kernels of some calls against the limits of this machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Roofline {
    /// Single-precision operations in a second, measured.
    pub flops: f64,
    /// The kernel that took the longest first; none, where the program was not compiled to tell which runs.
    pub kernels: Vec<Row>,
}

/// A kernel that ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Launches in a call.
    pub per_call: f64,
    /// Microseconds of a launch.
    pub micros: f64,
    /// Its part of the time of all kernels.
    pub part: f64,
    /// Bytes that a launch moves; unknown for symbolic sizes.
    pub bytes: Option<u64>,
    /// Operations of a launch; unknown for symbolic sizes.
    pub flops: Option<u64>,
    /// The least time that the machine needs for its bytes or operations, of the time it took; unknown for symbolic sizes.
    pub share: Option<f64>,
    /// What that least time is spent on: `memory` or `arithmetic`.
    pub limit: Option<String>,
}

impl Roofline {
    /// Of measured calls. The limits are measured now.
    pub fn of(manifest: &Manifest, measured: &Measured) -> Roofline {
        let (profile, calls) = (measured.state.profile().kernels(), measured.calls as f64);
        if profile.is_empty() {
            return Roofline::default();
        }
        let peak = limits::flops();
        let all = profile.iter().map(|launches| launches.time.as_secs_f64()).sum();
        let ran: Vec<_> = manifest.kernels.iter().zip(profile).filter(|(_, launches)| launches.count > 0).collect();
        // Each size is measured once, however many kernels have it.
        let sizes: BTreeSet<u64> = ran.iter().filter_map(|(kernel, _)| kernel.bytes).collect();
        let bandwidth: BTreeMap<u64, f64> = sizes.into_iter().map(|bytes| (bytes, limits::bandwidth(bytes))).collect();
        let limit = |kernel: &Kernel| {
            let (bytes, flops) = kernel.bytes.zip(kernel.flops)?;
            let (memory, arithmetic) = (bytes as f64 / bandwidth[&bytes], flops as f64 / peak);
            Some(if memory > arithmetic { (memory, "memory") } else { (arithmetic, "arithmetic") })
        };
        let mut kernels: Vec<Row> = ran.iter().map(|(kernel, launches)| row(kernel, launches, calls, all, limit(kernel))).collect();
        kernels.sort_by(|a, b| b.part.total_cmp(&a.part));
        Roofline { flops: peak, kernels }
    }
}

fn row(kernel: &Kernel, launches: &Launches, calls: f64, all: f64, limit: Option<(f64, &'static str)>) -> Row {
    let (time, count) = (launches.time.as_secs_f64(), launches.count as f64);
    Row {
        name: kernel.name.clone(),
        per_call: count / calls,
        micros: 1e6 * time / count,
        part: time / all,
        bytes: kernel.bytes,
        flops: kernel.flops,
        share: limit.map(|(least, _)| least * count / time),
        limit: limit.map(|(_, what)| what.to_owned()),
    }
}
