//! The machine that code is made for.

mod cpus;

use inkwell::targets::TargetMachine;

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

/// Triple, CPU and features, in LLVM's spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// For instance `x86_64-unknown-linux-gnu`.
    pub triple: String,
    /// For instance `znver5`.
    pub cpu: String,
    /// `+avx2,-avx512f,...`; empty means what the CPU has.
    pub features: String,
}

impl Target {
    /// The machine this process runs on.
    pub fn host() -> Self {
        Self {
            triple: TargetMachine::get_default_triple().as_str().to_string_lossy().into_owned(),
            cpu: TargetMachine::get_host_cpu_name().to_string(),
            features: TargetMachine::get_host_cpu_features().to_string(),
        }
    }

    /// A CPU by LLVM's name (`x86-64-v3`, `skylake-avx512`, `neoverse-n1`) with its own features, under Linux.
    pub fn named(cpu: &str) -> Result<Self, UnknownTarget> {
        let arch = cpus::arch(cpu);
        let triple = format!("{}-unknown-linux-gnu", arch.unwrap_or("x86_64"));
        let cpu = cpu.to_owned();
        match arch {
            Some(_) => Ok(Self { triple, cpu, features: String::new() }),
            None => Err(UnknownTarget { triple, cpu, message: "LLVM knows no CPU of this name".to_owned() }),
        }
    }

    /// A CPU by name, or the machine at hand when the name is empty.
    pub fn or_host(cpu: &str) -> Result<Self, UnknownTarget> {
        if cpu.is_empty() { Ok(Self::host()) } else { Self::named(cpu) }
    }

    /// The same machine with features added or taken away, for instance `-avx512f`.
    pub fn with_features(mut self, features: &str) -> Self {
        if !self.features.is_empty() && !features.is_empty() {
            self.features.push(',');
        }
        self.features.push_str(features);
        self
    }

    /// The architecture, as Rust and the manifest of a program name it: `x86_64`, `aarch64`.
    pub fn arch(&self) -> &str {
        self.triple.split('-').next().unwrap_or_default()
    }

    fn is_arm(&self) -> bool {
        self.arch() == "aarch64"
    }

    /// The features that code for this target may use, without their `+`.
    pub fn feature_list(&self) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        for feature in self.features.split(',').filter(|feature| !feature.is_empty()) {
            let (on, name) = match feature.strip_prefix('-') {
                Some(name) => (false, name),
                None => (true, feature.trim_start_matches('+')),
            };
            list.retain(|known| known != name);
            if on {
                list.push(name.to_owned());
            }
        }
        if self.features.is_empty() {
            list.extend(implied(&self.cpu).iter().map(|&name| name.to_owned()));
        }
        list
    }

    /// Whether code may use a feature.
    pub fn has(&self, feature: &str) -> bool {
        if self.features.is_empty() {
            return implied(&self.cpu).contains(&feature);
        }
        // What is said last counts.
        self.features.rsplit(',').find(|said| said.trim_start_matches(['+', '-']) == feature).is_some_and(|said| !said.starts_with('-'))
    }

    /// Bits of the widest vector register.
    pub fn vector_bits(&self) -> u32 {
        match () {
            () if self.has("avx512f") => 512,
            () if self.has("avx") => 256,
            () => 128,
        }
    }

    /// Ways of the first-level data cache, as its makers give them; CPUs that are not known are taken for those with few.
    pub fn cache_ways(&self) -> u32 {
        match self.cpu.as_str() {
            "icelake-client" | "icelake-server" | "tigerlake" | "rocketlake" | "alderlake" | "raptorlake" | "sapphirerapids"
            | "emeraldrapids" | "graniterapids" | "graniterapids-d" | "znver5" => 12,
            _ => 8,
        }
    }

    /// How many vector registers there are.
    pub fn vector_registers(&self) -> u32 {
        if self.is_arm() || self.has("avx512f") { 32 } else { 16 }
    }

    /// Whether stores past the caches wait in the buffers that loads of other lines wait in, as on Intel's CPUs.
    pub fn shares_fill_buffers(&self) -> bool {
        const OTHERS: [&str; 4] = ["bdver", "btver", "x86-64", "znver"];
        !self.is_arm() && !self.cpu.is_empty() && !OTHERS.iter().any(|others| self.cpu.starts_with(others))
    }

    /// What the expansion of mathematics asks of the machine.
    pub fn math(&self) -> MathTarget {
        MathTarget {
            vector_bits: self.vector_bits(),
            fma: self.is_arm() || self.has("fma"),
            bf16: self.has("avx512bf16"),
            scalef: self.has("avx512f"),
            maximum: self.is_arm(),
            libmvec: !self.is_arm(),
            ..MathTarget::default()
        }
    }
}

/// What the micro-architecture levels and common servers have, for targets given by name alone.
fn implied(cpu: &str) -> &'static [&'static str] {
    const V3: &[&str] = &["sse4.2", "avx", "avx2", "fma", "f16c", "bmi", "bmi2"];
    const V4: &[&str] = &["sse4.2", "avx", "avx2", "fma", "f16c", "bmi", "bmi2", "avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512cd"];
    const ARMV8_2: &[&str] = &["neon", "crc", "dotprod", "fullfp16", "lse", "rcpc", "rdm"];
    const SVE: &[&str] = &["neon", "bf16", "crc", "dotprod", "fullfp16", "i8mm", "lse", "rcpc", "rdm", "sve"];
    const SVE2: &[&str] = &["neon", "bf16", "crc", "dotprod", "fullfp16", "i8mm", "lse", "rcpc", "rdm", "sve", "sve2"];
    const AVX: &[&str] = &["sse4.2", "avx"];
    match cpu {
        "neoverse-v2" | "neoverse-n2" | "grace" | "cobalt-100" => SVE2,
        "neoverse-v1" => SVE,
        "neoverse-n1" | "apple-m1" => ARMV8_2,
        "x86-64-v4" | "znver4" | "znver5" => V4,
        "skylake-avx512" | "skx" | "cascadelake" | "cannonlake" | "cooperlake" | "tigerlake" | "rocketlake" => V4,
        "icelake-client" | "icelake-server" | "sapphirerapids" | "emeraldrapids" | "graniterapids" | "graniterapids-d" => V4,
        "x86-64-v3" | "znver1" | "znver2" | "znver3" | "bdver4" => V3,
        "haswell" | "core-avx2" | "broadwell" | "skylake" | "alderlake" | "raptorlake" | "meteorlake" | "arrowlake" | "arrowlake-s" => V3,
        "lunarlake" | "pantherlake" | "gracemont" | "sierraforest" | "grandridge" | "clearwaterforest" => V3,
        "sandybridge" | "ivybridge" | "corei7-avx" | "core-avx-i" | "btver2" | "bdver1" | "bdver2" | "bdver3" => AVX,
        "x86-64-v2" => &["sse4.2"],
        _ => &[],
    }
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
    /// Whether the C library's vector functions may be called where we have no expansion of our own.
    pub libmvec: bool,
    /// Whether our own expansions are used (they want fused multiply-add).
    pub own: bool,
    /// Whether the C library is there at all.
    pub library: bool,
}

impl MathTarget {
    /// A GPU: one element at a time, and no library.
    pub fn device() -> Self {
        Self { vector_bits: 0, bf16: true, libmvec: false, library: false, ..Self::default() }
    }
}

impl Default for MathTarget {
    fn default() -> Self {
        let no = false;
        Self { vector_bits: 128, fma: true, bf16: no, scalef: no, maximum: no, libmvec: true, own: true, library: true }
    }
}
