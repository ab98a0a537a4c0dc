//! What this CPU can do, under LLVM's feature names: code for a newer machine is refused with a reason instead of a SIGILL.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::manifest::Target;

/// Why code cannot run here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Another architecture.
    #[error("the program was compiled for {wanted}, this machine is {found}; compile it here")]
    Architecture {
        /// The code's architecture.
        wanted: String,
        /// The machine's.
        found: &'static str,
    },
    /// Instructions this CPU lacks.
    #[error("the program was compiled for the CPU {cpu} and needs {missing}, which this CPU lacks; compile it on this machine or for a lesser CPU", missing = missing.join(", "))]
    Features {
        /// The CPU named in the artefact.
        cpu: String,
        /// The missing features.
        missing: Vec<String>,
    },
}

/// Checks that code for `target` can run on this machine.
pub fn check(target: &Target) -> Result<(), TargetError> {
    if target.arch != std::env::consts::ARCH {
        return Err(TargetError::Architecture { wanted: target.arch.clone(), found: std::env::consts::ARCH });
    }
    let missing: Vec<String> = target.features.iter().filter(|name| !has(name)).cloned().collect();
    if missing.is_empty() { Ok(()) } else { Err(TargetError::Features { cpu: target.cpu.clone(), missing }) }
}

/// Whether this CPU has a feature. A name nobody knows counts as missing.
pub fn has(feature: &str) -> bool {
    detected(feature).unwrap_or_else(|| listed(feature)) && (!feature.starts_with("amx-") || may_use_tiles())
}

/// Whether the system lets this process use the tiles of matrix units, which it saves for threads that asked for it only. All threads may from then on.
fn may_use_tiles() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        {
            // From Linux's asm/prctl.h and asm/fpu/types.h.
            const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
            const XFEATURE_XTILE_DATA: libc::c_long = 18;
            // SAFETY: the call takes two numbers, and only widens what the process may do.
            return unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA) } == 0;
        }
        #[allow(unreachable_code)]
        false
    })
}

macro_rules! detect {
    ($is_detected:ident, $feature:expr, $($llvm:literal = $name:tt,)*) => {
        match $feature {
            $($llvm => Some(std::arch::$is_detected!($name)),)*
            _ => None,
        }
    };
}

/// The features that the standard library knows: where the system must save registers, it asks that too.
#[cfg(target_arch = "x86_64")]
fn detected(feature: &str) -> Option<bool> {
    let known = detect!(
        is_x86_feature_detected,
        feature,
        "sse" = "sse",
        "sse2" = "sse2",
        "sse3" = "sse3",
        "ssse3" = "ssse3",
        "sse4.1" = "sse4.1",
        "sse4.2" = "sse4.2",
        "crc32" = "sse4.2",
        "sse4a" = "sse4a",
        "avx" = "avx",
        "avx2" = "avx2",
        "fma" = "fma",
        "f16c" = "f16c",
        "bmi" = "bmi1",
        "bmi2" = "bmi2",
        "lzcnt" = "lzcnt",
        "popcnt" = "popcnt",
        "aes" = "aes",
        "pclmul" = "pclmulqdq",
        "vaes" = "vaes",
        "vpclmulqdq" = "vpclmulqdq",
        "gfni" = "gfni",
        "sha" = "sha",
        "adx" = "adx",
        "rdrnd" = "rdrand",
        "rdseed" = "rdseed",
        "tbm" = "tbm",
        "fxsr" = "fxsr",
        "xsave" = "xsave",
        "xsaveopt" = "xsaveopt",
        "xsavec" = "xsavec",
        "xsaves" = "xsaves",
        "movbe" = "movbe",
        "cx16" = "cmpxchg16b",
        "avx512f" = "avx512f",
        "avx512cd" = "avx512cd",
        "avx512bw" = "avx512bw",
        "avx512dq" = "avx512dq",
        "avx512vl" = "avx512vl",
        "avx512ifma" = "avx512ifma",
        "avx512vbmi" = "avx512vbmi",
        "avx512vbmi2" = "avx512vbmi2",
        "avx512vnni" = "avx512vnni",
        "avx512bitalg" = "avx512bitalg",
        "avx512vpopcntdq" = "avx512vpopcntdq",
        "avx512bf16" = "avx512bf16",
        "avx512fp16" = "avx512fp16",
        "avx512vp2intersect" = "avx512vp2intersect",
        "avxvnni" = "avxvnni",
        "avxifma" = "avxifma",
        "avxneconvert" = "avxneconvert",
        "avxvnniint8" = "avxvnniint8",
        "avxvnniint16" = "avxvnniint16",
    );
    known.or_else(|| {
        let &(_, leaf, register, bit) = CPUID.iter().find(|(name, ..)| *name == feature)?;
        // Leaf 7 has the sub-leaf 0; the others have none.
        let found = std::arch::x86_64::__cpuid_count(leaf, 0);
        let value = match register {
            'b' => found.ebx,
            'c' => found.ecx,
            _ => found.edx,
        };
        Some(value >> bit & 1 == 1)
    })
}

/// Features by CPUID leaf, register and bit, where the standard library has no name for them.
#[cfg(target_arch = "x86_64")]
const CPUID: &[(&str, u32, char, u32)] = &[
    ("64bit", 0x8000_0001, 'd', 29),
    ("cldemote", 7, 'c', 25),
    ("clflushopt", 7, 'b', 23),
    ("clwb", 7, 'b', 24),
    ("clzero", 0x8000_0008, 'b', 0),
    ("cmov", 1, 'd', 15),
    ("cx8", 1, 'd', 8),
    ("fsgsbase", 7, 'b', 0),
    ("invpcid", 7, 'b', 10),
    ("mmx", 1, 'd', 23),
    ("movdir64b", 7, 'c', 28),
    ("movdiri", 7, 'c', 27),
    ("mwaitx", 0x8000_0001, 'c', 29),
    // No bit says so: whatever has long mode has it.
    ("nopl", 0x8000_0001, 'd', 29),
    ("prfchw", 0x8000_0001, 'c', 8),
    ("rdpid", 7, 'c', 22),
    ("rdpru", 0x8000_0008, 'b', 4),
    ("sahf", 0x8000_0001, 'c', 0),
    ("serialize", 7, 'd', 14),
    ("shstk", 7, 'c', 7),
    ("waitpkg", 7, 'c', 5),
    ("wbnoinvd", 0x8000_0008, 'b', 9),
    ("x87", 1, 'd', 0),
];

/// The features that the standard library knows, and those that no compiled program uses.
#[cfg(target_arch = "aarch64")]
fn detected(feature: &str) -> Option<bool> {
    let known = detect!(
        is_aarch64_feature_detected,
        feature,
        "aes" = "aes",
        "bf16" = "bf16",
        "bti" = "bti",
        "ccdp" = "dpb2",
        "ccpp" = "dpb",
        "complxnum" = "fcma",
        "crc" = "crc",
        "dotprod" = "dotprod",
        "f32mm" = "f32mm",
        "f64mm" = "f64mm",
        "flagm" = "flagm",
        "fp-armv8" = "fp",
        "fp16fml" = "fhm",
        "fptoint" = "frintts",
        "fullfp16" = "fp16",
        "i8mm" = "i8mm",
        "jsconv" = "jsconv",
        "lse" = "lse",
        "lse2" = "lse2",
        "mte" = "mte",
        "neon" = "neon",
        "pauth" = "paca",
        "rand" = "rand",
        "rcpc" = "rcpc",
        "rcpc-immo" = "rcpc2",
        "rdm" = "rdm",
        "sb" = "sb",
        "sha2" = "sha2",
        "sha3" = "sha3",
        "sm4" = "sm4",
        "sve" = "sve",
        "sve2" = "sve2",
    );
    let version = || feature.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    known.or_else(|| (OF_SYSTEMS.binary_search(&feature).is_ok() || version()).then_some(true))
}

/// What no compiler chooses by itself: registers of operating systems, exception levels, counters, traces, guards against side channels. LLVM's
/// tables of CPUs list them too, and versions of the architecture, which stand for features that are named beside them.
#[cfg(target_arch = "aarch64")]
const OF_SYSTEMS: &[&str] = &[
    "CONTEXTIDREL2",
    "am",
    "amvs",
    "ccidx",
    "dit",
    "ecv",
    "el2vmsa",
    "el3",
    "ete",
    "fgt",
    "hcx",
    "lor",
    "mpam",
    "nmi",
    "nv",
    "pan",
    "pan-rwv",
    "perfmon",
    "predres",
    "ras",
    "rasv2",
    "rme",
    "sel2",
    "spe",
    "spe-eef",
    "specres2",
    "ssbs",
    "tlb-rmi",
    "tracev8.4",
    "trbe",
    "uaops",
    "vh",
    "xs",
];

#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
fn detected(_feature: &str) -> Option<bool> {
    None
}

/// This machine's CPU as far as code for it may differ: maker, family, model, and a checksum of its features.
pub fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or("unknown", |(_, value)| value.trim())
    };
    // What Linux calls the maker, the model and the features differs between architectures.
    let names = match std::env::consts::ARCH {
        "aarch64" => ["CPU implementer", "CPU architecture", "CPU part", "Features"],
        _ => ["vendor_id", "cpu family", "model", "flags"],
    };
    let [maker, family, model, features] = names.map(field);
    let features = crc32fast::hash(features.as_bytes());
    format!("{} {maker} family {family} model {model} features {features:08x}", std::env::consts::ARCH)
}

/// Whether the kernel lists the feature under the same name.
fn listed(feature: &str) -> bool {
    static FLAGS: OnceLock<HashSet<String>> = OnceLock::new();
    let flags = FLAGS.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("flags") || line.starts_with("Features"));
        let list = line.and_then(|line| line.split_once(':')).map(|(_, list)| list.split_whitespace().map(String::from).collect());
        list.unwrap_or_default()
    });
    flags.contains(&feature.replace(['-', '.'], "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_feature_is_named() {
        let mut target = Target { cpu: "dreamt".into(), ..Target::host() };
        assert_eq!(check(&target), Ok(()));
        target.features = vec!["time-travel".into()];
        assert!(check(&target).unwrap_err().to_string().contains("needs time-travel"));
        target.arch = "z80".into();
        assert!(check(&target).unwrap_err().to_string().contains("compiled for z80"));
    }

    #[test]
    #[cfg(target_arch = "aarch64")]
    fn what_systems_use_is_no_reason() {
        assert!(OF_SYSTEMS.is_sorted());
        assert!(["neon", "el3", "perfmon", "v8a", "v8.4a"].iter().all(|name| has(name)));
        assert!(!has("vanished"));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn common_names_are_known() {
        assert!(["sse2", "64bit", "cmov", "cx8", "fxsr", "mmx"].iter().all(|name| has(name)));
    }
}
