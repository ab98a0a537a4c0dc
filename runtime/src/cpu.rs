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
    detected(feature).unwrap_or_else(|| listed(feature))
}

macro_rules! detect {
    ($feature:expr, $($name:tt)*) => {
        match $feature {
            $($name => Some(std::arch::is_x86_feature_detected!($name)),)*
            _ => None,
        }
    };
}

/// The features whose names LLVM and the standard library share; this path reads no file.
#[cfg(target_arch = "x86_64")]
fn detected(feature: &str) -> Option<bool> {
    detect!(feature,
        "sse" "sse2" "sse3" "ssse3" "sse4.1" "sse4.2" "sse4a" "avx" "avx2" "fma" "f16c" "bmi1" "bmi2" "lzcnt"
        "popcnt" "aes" "pclmulqdq" "vaes" "vpclmulqdq" "gfni" "sha" "adx" "rdrand" "rdseed" "tbm" "fxsr" "xsave"
        "xsaveopt" "xsavec" "xsaves" "avx512f" "avx512cd" "avx512bw" "avx512dq" "avx512vl" "avx512ifma" "avx512vbmi"
        "avx512vbmi2" "avx512vnni" "avx512bitalg" "avx512vpopcntdq" "avx512bf16" "avx512fp16" "avx512vp2intersect"
        "avxvnni" "avxifma" "avxneconvert" "avxvnniint8" "avxvnniint16"
    )
}

#[cfg(not(target_arch = "x86_64"))]
fn detected(_feature: &str) -> Option<bool> {
    None
}

/// LLVM's names of features that the kernel lists under another name.
const KERNEL_NAMES: &[(&str, &str)] = &[
    ("64bit", "lm"),
    ("bmi", "bmi1"),
    ("cmov", "cmov"),
    ("crc32", "sse4_2"),
    ("fsgsbase", "fsgsbase"),
    ("lzcnt", "abm"),
    ("mwaitx", "mwaitx"),
    ("prfchw", "3dnowprefetch"),
    ("rdrnd", "rdrand"),
    ("sahf", "lahf_lm"),
    ("sha", "sha_ni"),
    ("shstk", "user_shstk"),
];

/// Whether the kernel lists the feature.
fn listed(feature: &str) -> bool {
    static FLAGS: OnceLock<HashSet<String>> = OnceLock::new();
    let flags = FLAGS.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("flags") || line.starts_with("Features"));
        line.and_then(|line| line.split_once(':')).map(|(_, list)| list.split_whitespace().map(String::from).collect()).unwrap_or_default()
    });
    let renamed = KERNEL_NAMES.iter().find(|(llvm, _)| *llvm == feature).map(|(_, kernel)| kernel.to_string());
    flags.contains(&renamed.unwrap_or_else(|| feature.replace(['-', '.'], "_")))
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
    #[cfg(target_arch = "x86_64")]
    fn common_names_are_known() {
        assert!(has("sse2") && has("64bit") && has("cmov") && has("cx8"));
    }
}
