//! GPUs by the name of their architecture or device: NVIDIA's published figures.
//!
//! Limits of a multiprocessor are those of the CUDA programming guide, "Technical specifications per compute capability". Multiprocessors,
//! clocks (boost), sizes, bandwidths of memory and peak rates are those of NVIDIA's data sheets and architecture white papers, without sparsity
//! and with sums in f32. The L2 cache's 5120 bytes a cycle are said of GA100 and GH100 and taken for the others, for which nothing is
//! published; shared memory gives 128 bytes a cycle to each multiprocessor. The time between two launches is nowhere published: `Gpu`'s.

use strata_dialects::target::gpu::{Gpu, L2, Shared, Teraflops};

/// A GPU that there is no description of.
#[derive(Debug, thiserror::Error)]
#[error("there is no description of a GPU '{name}'; there are those of {known}; another one is written as entries that differ")]
pub struct UnknownGpu {
    /// What was asked for.
    name: String,
    /// What there is.
    known: String,
}

/// What all devices of an architecture have.
struct Architecture {
    name: &'static str,
    /// Threads and blocks that a multiprocessor runs at a time.
    threads: i64,
    blocks: i64,
    /// Kibibytes of shared memory of a multiprocessor.
    shared: i64,
}

const fn architecture(name: &'static str, threads: i64, blocks: i64, shared: i64) -> Architecture {
    Architecture { name, threads, blocks, shared }
}

const ARCHITECTURES: [Architecture; 6] = [
    architecture("sm_80", 2048, 32, 164),
    architecture("sm_86", 1536, 16, 100),
    architecture("sm_89", 1536, 24, 100),
    architecture("sm_90", 2048, 32, 228),
    architecture("sm_100", 2048, 32, 228),
    architecture("sm_120", 1536, 24, 100),
];

/// What is a device's own.
struct Device {
    /// As NVIDIA's driver names it.
    name: &'static str,
    architecture: &'static str,
    multiprocessors: i64,
    gigahertz: f64,
    /// Mebibytes of the L2 cache.
    l2: i64,
    /// Gigabytes in a second of the device's memory.
    memory: f64,
    /// Teraflops of ordinary units in f16, f32 and f64.
    fma: [f64; 3],
    /// Teraflops of matrix units in f16 (and bf16), f32 (as tf32), f64 and floats of 8 bits; zero where there are none.
    tensor: [f64; 4],
}

/// The first device of an architecture stands for it.
#[rustfmt::skip]
const DEVICES: [Device; 11] = [
    Device { name: "NVIDIA A100-SXM4-40GB", architecture: "sm_80", multiprocessors: 108, gigahertz: 1.41, l2: 40, memory: 1555.0, fma: [78.0, 19.5, 9.7], tensor: [312.0, 156.0, 19.5, 0.0] },
    Device { name: "NVIDIA A100-SXM4-80GB", architecture: "sm_80", multiprocessors: 108, gigahertz: 1.41, l2: 40, memory: 2039.0, fma: [78.0, 19.5, 9.7], tensor: [312.0, 156.0, 19.5, 0.0] },
    Device { name: "NVIDIA A40", architecture: "sm_86", multiprocessors: 84, gigahertz: 1.74, l2: 6, memory: 696.0, fma: [37.4, 37.4, 0.58], tensor: [149.7, 74.8, 0.0, 0.0] },
    Device { name: "NVIDIA GeForce RTX 3090", architecture: "sm_86", multiprocessors: 82, gigahertz: 1.695, l2: 6, memory: 936.0, fma: [35.6, 35.6, 0.56], tensor: [71.0, 35.6, 0.0, 0.0] },
    Device { name: "NVIDIA L40S", architecture: "sm_89", multiprocessors: 142, gigahertz: 2.52, l2: 96, memory: 864.0, fma: [91.6, 91.6, 1.43], tensor: [362.1, 183.0, 0.0, 733.0] },
    Device { name: "NVIDIA GeForce RTX 4090", architecture: "sm_89", multiprocessors: 128, gigahertz: 2.52, l2: 72, memory: 1008.0, fma: [82.6, 82.6, 1.29], tensor: [165.2, 82.6, 0.0, 330.3] },
    Device { name: "NVIDIA H100 80GB HBM3", architecture: "sm_90", multiprocessors: 132, gigahertz: 1.83, l2: 50, memory: 3350.0, fma: [134.0, 67.0, 34.0], tensor: [989.4, 494.7, 67.0, 1978.9] },
    Device { name: "NVIDIA H100 PCIe", architecture: "sm_90", multiprocessors: 114, gigahertz: 1.755, l2: 50, memory: 2039.0, fma: [102.4, 51.2, 25.6], tensor: [756.4, 378.2, 51.2, 1513.0] },
    Device { name: "NVIDIA H200", architecture: "sm_90", multiprocessors: 132, gigahertz: 1.83, l2: 50, memory: 4800.0, fma: [134.0, 67.0, 34.0], tensor: [989.4, 494.7, 67.0, 1978.9] },
    Device { name: "NVIDIA B200", architecture: "sm_100", multiprocessors: 148, gigahertz: 1.965, l2: 126, memory: 7700.0, fma: [150.0, 75.0, 37.0], tensor: [2250.0, 1125.0, 37.0, 4500.0] },
    Device { name: "NVIDIA GeForce RTX 5090", architecture: "sm_120", multiprocessors: 170, gigahertz: 2.407, l2: 96, memory: 1792.0, fma: [104.8, 104.8, 1.64], tensor: [209.5, 104.8, 0.0, 419.0] },
];

/// Bytes of the L2 cache in a cycle, and of shared memory in a cycle of each multiprocessor.
const L2_BYTES_PER_CYCLE: f64 = 5120.0;
const SHARED_BYTES_PER_CYCLE: f64 = 128.0;

/// A GPU by its architecture (`sm_90`) or by the name of a device (`NVIDIA A40`).
pub fn gpu(name: &str) -> Result<Gpu, UnknownGpu> {
    let device = DEVICES.iter().find(|device| device.name == name || device.architecture == name);
    let whole = device.and_then(|device| Some((device, ARCHITECTURES.iter().find(|known| known.name == device.architecture)?)));
    let Some((device, architecture)) = whole else {
        let known: Vec<_> = ARCHITECTURES.iter().map(|known| known.name).chain(DEVICES.iter().map(|device| device.name)).collect();
        return Err(UnknownGpu { name: name.to_owned(), known: known.join(", ") });
    };
    Ok(described(device, architecture))
}

fn described(device: &Device, architecture: &Architecture) -> Gpu {
    let tenths = |rate: f64| (rate * 10.0).round() / 10.0;
    let some = |rate: f64| Some(rate).filter(|rate| *rate > 0.0);
    let [f16, f32, f64] = device.fma.map(some);
    let fma = Teraflops { f16, f32, f64, ..Teraflops::default() };
    let [f16, f32, f64, f8] = device.tensor.map(some);
    Gpu {
        architecture: architecture.name.to_owned(),
        blocks: architecture.blocks,
        device: device.name.to_owned(),
        fma,
        gigahertz: device.gigahertz,
        l2: L2 { bytes: device.l2 << 20, gigabytes_per_second: tenths(L2_BYTES_PER_CYCLE * device.gigahertz) },
        memory_gigabytes_per_second: device.memory,
        multiprocessors: device.multiprocessors,
        shared: Shared {
            bytes: architecture.shared << 10,
            gigabytes_per_second: tenths(SHARED_BYTES_PER_CYCLE * device.gigahertz * device.multiprocessors as f64),
            ..Shared::default()
        },
        tensor: Teraflops { bf16: f16, f16, f32, f64, f8 },
        threads: architecture.threads,
        ..Gpu::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::Devices;

    #[test]
    fn the_default_is_the_oldest_architecture() {
        assert_eq!(gpu("sm_80").unwrap(), Gpu::default());
    }

    #[test]
    fn every_architecture_that_has_code_is_described() {
        let all = ARCHITECTURES.iter().map(|known| known.name).collect::<Vec<_>>().join(",");
        let devices: Devices = all.parse().unwrap();
        assert_eq!(devices.iter().count(), ARCHITECTURES.len());
        devices.iter().for_each(|device| assert_eq!(gpu(device.name()).unwrap().architecture, device.name()));
    }

    #[test]
    fn a_device_has_its_own_figures() {
        let [h100, pcie] = ["sm_90", "NVIDIA H100 PCIe"].map(|name| gpu(name).unwrap());
        assert_eq!((h100.multiprocessors, pcie.multiprocessors, h100.threads), (132, 114, pcie.threads));
        assert!(gpu("sm_70").unwrap_err().to_string().contains("sm_80, sm_86"));
    }
}
