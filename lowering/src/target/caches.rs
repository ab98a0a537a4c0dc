//! Caches and datapaths of CPUs: what the system says of the machine at hand, and what the makers say of others.

use std::fs;
use std::path::Path;
use strata_dialects::target::{Cache, Target};

/// What the makers say of a family of CPUs.
struct Family {
    /// LLVM's names.
    cpus: &'static [&'static str],
    /// The first-level data cache: kibibytes and ways.
    l1: (i64, i64),
    /// The second-level cache of a core, the same.
    l2: (i64, i64),
    /// The last-level cache of a common model, the same.
    l3: (i64, i64),
    /// Whether non-temporal stores wait in the buffers of loads.
    shared_fill_buffers: bool,
    /// Bits of a vector that a unit works on at once, where they are fewer than those of a register.
    datapath: Option<i64>,
}

const fn intel(cpus: &'static [&'static str], l1: (i64, i64), l2: (i64, i64), l3: (i64, i64)) -> Family {
    Family { cpus, l1, l2, l3, shared_fill_buffers: true, datapath: None }
}

const fn other(cpus: &'static [&'static str], l1: (i64, i64), l2: (i64, i64), l3: (i64, i64)) -> Family {
    Family { cpus, l1, l2, l3, shared_fill_buffers: false, datapath: None }
}

/// Wider vectors go through its units in several turns.
const fn pumped(family: Family, bits: i64) -> Family {
    Family { datapath: Some(bits), ..family }
}

/// From Intel's, AMD's and Arm's optimisation guides. A CPU that is not listed has the caches of [`Target::default`].
const FAMILIES: &[Family] = &[
    intel(&["core2", "penryn", "nehalem", "westmere", "corei7"], (32, 8), (256, 8), (8 << 10, 16)),
    intel(&["sandybridge", "ivybridge", "corei7-avx", "core-avx-i", "haswell", "core-avx2", "broadwell"], (32, 8), (256, 8), (8 << 10, 16)),
    intel(&["skylake"], (32, 8), (256, 4), (8 << 10, 16)),
    intel(&["skylake-avx512", "skx", "cascadelake", "cooperlake", "cannonlake"], (32, 8), (1 << 10, 16), (32 << 10, 11)),
    intel(&["icelake-client", "rocketlake"], (48, 12), (512, 8), (16 << 10, 16)),
    intel(&["tigerlake"], (48, 12), (1280, 20), (24 << 10, 12)),
    intel(&["icelake-server"], (48, 12), (1280, 20), (48 << 10, 12)),
    intel(&["alderlake", "raptorlake", "meteorlake", "arrowlake", "arrowlake-s"], (48, 12), (2 << 10, 16), (30 << 10, 12)),
    intel(&["lunarlake", "pantherlake"], (48, 12), (2560, 10), (12 << 10, 12)),
    intel(&["sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d"], (48, 12), (2 << 10, 16), (105 << 10, 15)),
    intel(&["gracemont", "sierraforest", "grandridge", "clearwaterforest"], (32, 8), (4 << 10, 16), (96 << 10, 12)),
    pumped(other(&["bdver1", "bdver2", "bdver3", "bdver4"], (16, 4), (2 << 10, 16), (8 << 10, 64)), 128),
    pumped(other(&["znver1"], (32, 8), (512, 8), (16 << 10, 16)), 128),
    other(&["znver2"], (32, 8), (512, 8), (16 << 10, 16)),
    other(&["znver3"], (32, 8), (512, 8), (32 << 10, 16)),
    pumped(other(&["znver4"], (32, 8), (1 << 10, 8), (32 << 10, 16)), 256),
    other(&["znver5"], (48, 12), (1 << 10, 16), (32 << 10, 16)),
    other(&["cortex-a72", "cortex-a76", "neoverse-n1"], (64, 4), (1 << 10, 8), (32 << 10, 16)),
    other(&["neoverse-v1", "neoverse-n2"], (64, 4), (1 << 10, 8), (32 << 10, 16)),
    other(&["neoverse-v2", "grace"], (64, 4), (1 << 10, 8), (114 << 10, 12)),
    other(&["apple-m1", "apple-m2", "apple-m3", "apple-m4"], (128, 8), (12 << 10, 12), (12 << 10, 12)),
];

/// Fills in what the makers say of the CPU.
pub fn look_up(target: &mut Target) {
    let Some(family) = FAMILIES.iter().find(|family| family.cpus.contains(&target.cpu.as_str())) else { return };
    let levels = [(&mut target.l1, family.l1), (&mut target.l2, family.l2), (&mut target.l3, family.l3)];
    for (level, (kibibytes, ways)) in levels {
        (level.bytes, level.ways) = (kibibytes << 10, ways);
    }
    target.shared_fill_buffers = family.shared_fill_buffers;
    target.datapath_bits = family.datapath.unwrap_or(target.vector_bits).min(target.vector_bits);
}

/// Fills in what Linux says of the first core's caches; where it says nothing, what is there stays.
pub fn measure(target: &mut Target) {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    for index in 0..8 {
        let read = |file: &str| fs::read_to_string(folder.join(format!("index{index}")).join(file)).ok();
        let number = |file: &str| read(file)?.trim().parse::<i64>().ok().filter(|number| *number > 0);
        let of_data = read("type").is_some_and(|kind| kind.trim() != "Instruction");
        let level = match number("level").filter(|_| of_data) {
            Some(1) => &mut target.l1,
            Some(2) => &mut target.l2,
            Some(3) => &mut target.l3,
            _ => continue,
        };
        let bytes = read("size").and_then(|size| size.trim().strip_suffix('K')?.parse::<i64>().ok());
        *level = Cache {
            bytes: bytes.map_or(level.bytes, |kibibytes| kibibytes << 10),
            line: number("coherency_line_size").unwrap_or(level.line),
            ways: number("ways_of_associativity").unwrap_or(level.ways),
            ..level.clone()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::named;

    #[test]
    fn llvm_knows_every_cpu_of_the_table() {
        for cpu in FAMILIES.iter().flat_map(|family| family.cpus) {
            assert!(named(cpu).is_ok(), "{cpu}");
        }
    }

    #[test]
    fn a_listed_cpu_has_its_caches() {
        let target = named("icelake-server").unwrap();
        assert_eq!((target.l1.bytes, target.l1.ways, target.l2.bytes), (48 << 10, 12, 1280 << 10));
        assert!(target.shared_fill_buffers && !named("znver4").unwrap().shared_fill_buffers);
        assert_eq!((target.datapath_bits, named("znver4").unwrap().datapath_bits), (512, 256));
    }
}
