//! Targets by name, and the one at hand: descriptions filled in from LLVM's tables, from the system, and from tables of caches and GPUs.

pub mod attach_target;
mod caches;
mod gpus;

pub use gpus::{UnknownGpu, gpu};
use inkwell::targets::{self, InitializationConfig, TargetMachine};
use std::sync::Once;
use strata_core::subtarget::{cpu_features, may_use_tiles, resolve_cpu};
pub use strata_dialects::target::{Gpu, Target};

/// A machine that this build of LLVM does not know.
#[derive(Debug, thiserror::Error)]
#[error("no code generator for {triple} with CPU {cpu}: {message}; name a CPU as `llc -mcpu=help` lists them")]
pub struct UnknownTarget {
    /// The triple.
    pub triple: String,
    /// The CPU.
    pub cpu: String,
    /// LLVM's reason.
    pub message: String,
}

/// Makes LLVM's targets known to the process.
pub(crate) fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        targets::Target::initialize_x86(&InitializationConfig::default());
        targets::Target::initialize_aarch64(&InitializationConfig::default());
        targets::Target::initialize_nvptx(&InitializationConfig::default());
    });
}

/// The machine this process runs on.
pub fn host() -> Target {
    initialise();
    let triple = TargetMachine::get_default_triple().as_str().to_string_lossy().into_owned();
    let cpu = TargetMachine::get_host_cpu_name().to_string();
    // What is lacking is worth a word only where the name promises it: a virtual machine may hide instructions.
    let promised = cpu_features(&triple, &cpu).unwrap_or_default();
    let is_promised = |feature: &&str| feature.strip_prefix('-').is_none_or(|name| promised.iter().any(|promised| promised == name));
    let all = TargetMachine::get_host_cpu_features().to_string();
    let tiles = all.contains("+amx-tile") && may_use_tiles();
    let is_there = |feature: &&str| tiles || !feature.starts_with("+amx-");
    let features = all.split(',').filter(|feature| is_promised(feature) && is_there(feature)).collect::<Vec<_>>().join(",");
    let mut target = described(Target { triple, cpu, features, ..Target::default() });
    caches::measure(&mut target);
    target
}

/// A CPU by LLVM's name (`x86-64-v3`, `skylake-avx512`, `neoverse-n1`) with its own features, under Linux. A name of several architectures
/// (`generic`) is x86-64's; an alias (`cobalt-100`) stands for another name.
pub fn named(cpu: &str) -> Result<Target, UnknownTarget> {
    initialise();
    let cpu = &resolve_cpu(cpu);
    for arch in ["x86_64", "aarch64"] {
        let triple = format!("{arch}-unknown-linux-gnu");
        if let Some(features) = cpu_features(&triple, cpu) {
            let features = features.iter().map(|name| format!("+{name}")).collect::<Vec<_>>().join(",");
            return Ok(described(Target { triple, cpu: cpu.to_owned(), features, ..Target::default() }));
        }
    }
    let message = "LLVM knows no CPU of this name".to_owned();
    Err(UnknownTarget { triple: "x86_64-unknown-linux-gnu".to_owned(), cpu: cpu.to_owned(), message })
}

/// A CPU by name, or the machine at hand when the name is empty.
pub fn or_host(cpu: &str) -> Result<Target, UnknownTarget> {
    if cpu.is_empty() { Ok(host()) } else { named(cpu) }
}

/// A target whose name and features are known, with what follows from them.
fn described(target: Target) -> Target {
    let arm = target.arch() == "aarch64";
    let vector_bits = match () {
        () if target.has("avx512f") => 512,
        () if target.has("avx") => 256,
        () => 128,
    };
    let vector_registers = if arm || target.has("avx512f") { 32 } else { 16 };
    let mut target = Target { datapath_bits: vector_bits, vector_bits, vector_registers, ..target };
    caches::look_up(&mut target);
    target
}

/// What the expansion must know of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MathTarget {
    /// Bits of the widest vector register: 128, 256 or 512.
    pub vector_bits: u32,
    /// Whether fused multiply-add is an instruction.
    pub fma: bool,
    /// Whether f32 is rounded to bf16 by an instruction.
    pub bf16: bool,
    /// Whether an instruction of AVX-512 multiplies by a power of two.
    pub scalef: bool,
    /// Whether the larger of two numbers, or NaN, is an instruction.
    pub maximum: bool,
    /// Whether an instruction makes the least integer of 32 bits of a float that none is equal to when it is rounded towards zero.
    pub least: bool,
    /// Whether floats divide vectors of integers: no instruction of x86 does, nor is there one for scalars that is as fast.
    pub quotients: bool,
    /// Whether the C library's vector functions may be called where we have no expansion of our own.
    pub libmvec: bool,
    /// Whether our own expansions are used (they want fused multiply-add).
    pub own: bool,
    /// Whether the C library is there at all.
    pub library: bool,
}

impl MathTarget {
    /// What the expansion of mathematics asks of a CPU.
    pub fn of(target: &Target) -> Self {
        let arm = target.arch() == "aarch64";
        Self {
            vector_bits: target.vector_bits as u32,
            fma: arm || target.has("fma"),
            bf16: target.has("avx512bf16"),
            scalef: target.has("avx512f"),
            maximum: arm,
            least: target.arch() == "x86_64",
            quotients: target.arch() == "x86_64",
            libmvec: !arm,
            ..Self::default()
        }
    }

    /// A GPU: one element at a time, and no library.
    pub fn device() -> Self {
        Self { vector_bits: 0, bf16: true, libmvec: false, library: false, ..Self::default() }
    }
}

impl Default for MathTarget {
    fn default() -> Self {
        let no = false;
        Self {
            vector_bits: 128,
            fma: true,
            bf16: no,
            scalef: no,
            maximum: no,
            least: no,
            quotients: no,
            libmvec: true,
            own: true,
            library: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_has_what_llvm_says() {
        let v3 = named("x86-64-v3").unwrap();
        assert!(v3.has("avx2") && v3.has("fma") && v3.has("sse4.2") && !v3.has("avx512f"), "{}", v3.features);
        assert_eq!((v3.vector_bits, v3.vector_registers), (256, 16));
        let arm = named("neoverse-v1").unwrap();
        assert!(arm.has("neon") && arm.has("sve") && arm.has("bf16"), "{}", arm.features);
        assert_eq!((arm.arch(), arm.vector_bits, arm.vector_registers), ("aarch64", 128, 32));
        assert_eq!(named("generic").unwrap().arch(), "x86_64");
        assert_eq!(named("cobalt-100").unwrap().cpu, "neoverse-n2");
    }

    #[test]
    fn the_machine_at_hand_is_known_by_its_name() {
        let host = host();
        assert_eq!(named(&host.cpu).unwrap().cpu, host.cpu);
    }

    #[test]
    fn a_cpu_that_llvm_does_not_know_is_refused() {
        let refused = named("zen3").unwrap_err();
        assert!(matches!(&refused, UnknownTarget { cpu, .. } if cpu == "zen3"), "{refused}");
    }
}
