//! The levels of the compiler, from PyTorch's operators down to the last form before LLVM.

use std::fmt;
use std::str::FromStr;

/// A level: what a program says at it, and no more. The order is that of lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The program as it was captured.
    Capture,
    /// Functional PyTorch operators.
    Aten,
    /// A small closed set of tensor operators.
    Prim,
    /// One fusion per kernel.
    PrimFused,
    /// Kernels of stages.
    Loop,
    /// Kernels with schedules for the target.
    LoopScheduled,
    /// Buffers and launches.
    Host,
    /// Vector loops and the native entry.
    Cpu,
    /// Kernels of blocks and threads.
    Gpu,
    /// Kernels in LLVM's form, ready for PTX.
    Nvvm,
}

/// A name that no level has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no level '{0}'; the levels are {known}", known = list(Level::ALL))]
pub struct UnknownLevel(pub String);

impl Level {
    /// All of them.
    pub const ALL: [Level; 10] = [
        Level::Capture,
        Level::Aten,
        Level::Prim,
        Level::PrimFused,
        Level::Loop,
        Level::LoopScheduled,
        Level::Host,
        Level::Cpu,
        Level::Gpu,
        Level::Nvvm,
    ];

    /// Its name, as in `--to=LEVEL`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Capture => "capture",
            Level::Aten => "aten",
            Level::Prim => "prim",
            Level::PrimFused => "prim-fused",
            Level::Loop => "loop",
            Level::LoopScheduled => "loop-scheduled",
            Level::Host => "host",
            Level::Cpu => "cpu",
            Level::Gpu => "gpu",
            Level::Nvvm => "nvvm",
        }
    }

    /// What holds at it.
    pub const fn description(self) -> &'static str {
        match self {
            Level::Capture => "the program as it was captured",
            Level::Aten => "functional PyTorch operators",
            Level::Prim => "a small closed set of tensor operators",
            Level::PrimFused => "one fusion per kernel",
            Level::Loop => "kernels of stages",
            Level::LoopScheduled => "kernels with schedules for the target",
            Level::Host => "buffers and launches",
            Level::Cpu => "vector loops and the native entry",
            Level::Gpu => "kernels of blocks and threads",
            Level::Nvvm => "kernels in LLVM's form, ready for PTX",
        }
    }

    /// The dialect that most of its ops are of.
    pub const fn dialect(self) -> &'static str {
        match self {
            Level::Capture | Level::Aten => "aten",
            Level::Prim | Level::PrimFused => "prim",
            Level::Loop | Level::LoopScheduled => "loop",
            Level::Host => "host",
            Level::Cpu | Level::Gpu | Level::Nvvm => "llvm",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Level, UnknownLevel> {
        Level::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}

/// Levels by name, for a message.
pub(crate) fn list(levels: impl IntoIterator<Item = Level>) -> String {
    levels.into_iter().map(Level::name).collect::<Vec<_>>().join(", ")
}
