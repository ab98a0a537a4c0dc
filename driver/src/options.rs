//! What a user may choose.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::str::FromStr;
pub use strata_dialects::numerics::Numerics;
use strata_lowering::codegen::{Devices, UnknownDevice};
use strata_runtime::op_library::{OpLibrary, OpLibraryFile};

/// How much time compilation may take for how much speed.
///
/// `reduce-overhead` asks for calls without allocations and for code that is entered directly. On the CPU that is how every
/// program is called (into the caller's outputs: no allocation, no lock, guards in the code itself), so it changes nothing.
/// `max-autotune` measures schedules of the program's kernels on this machine and keeps the fastest; see [`Options::autotune_budget`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names are PyTorch's")]
pub enum Mode {
    #[default]
    Default,
    ReduceOverhead,
    MaxAutotune,
}

/// Which sizes stay symbolic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dynamic {
    /// Those that the program declares symbolic.
    #[default]
    Auto,
    /// The same: an exported program has no others.
    On,
    /// None: the program is compiled for the sizes of a call, which must be told.
    Off,
}

/// A value by its printed name.
mod spelled {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The machine that kernels run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// The CPU that `cpu` names.
    #[default]
    Cpu,
    /// GPUs of NVIDIA.
    Cuda(Devices),
}

impl FromStr for Target {
    type Err = String;

    /// `cpu`, `cuda`, `cuda:sm_90` or `cuda:sm_80,sm_90`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("cpu", "") => Ok(Self::Cpu),
            ("cuda", "") => "sm_80".parse().map(Self::Cuda).map_err(|error: UnknownDevice| error.to_string()),
            ("cuda", device) => device.parse().map(Self::Cuda).map_err(|error: UnknownDevice| error.to_string()),
            _ => Err(format!("there is no target '{text}'; write cpu, cuda, cuda:sm_90 or cuda:sm_80,sm_90")),
        }
    }
}

impl TryFrom<String> for Target {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> String {
        match target {
            Target::Cpu => "cpu".to_owned(),
            Target::Cuda(devices) => format!("cuda:{devices}"),
        }
    }
}

/// Seconds that a search for schedules takes at most if nobody says otherwise.
pub const BUDGET: f64 = 30.0;

/// The gradients of a joint program: see `--differentiate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gradient {
    /// The arguments to differentiate by; those that require a gradient where none is named.
    pub wrt: Vec<String>,
    /// The outputs that have a cotangent; all of floats where none is named.
    pub cotangents: Vec<i64>,
    /// 2 for the gradients of the gradients too: each gradient has a cotangent then, behind those of the outputs.
    pub order: Order,
    /// Forward mode: tangents of the arguments in the place of the cotangents, and of the outputs in that of the gradients.
    pub forward: bool,
    /// One program of the pair that an outer autograd wants, in the place of the joint program: see `--split-joint`.
    pub half: Option<Half>,
}

/// A program of the pair that `--split-joint` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// It gives the outputs, and what the backward reads of it.
    Forward,
    /// It gives the gradients.
    Backward,
}

impl Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        })
    }
}

/// How often a program is differentiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum Order {
    /// Once.
    #[default]
    First,
    /// The gradients once more.
    Second,
}

impl TryFrom<u32> for Order {
    type Error = String;

    fn try_from(order: u32) -> Result<Self, String> {
        match order {
            1 => Ok(Self::First),
            2 => Ok(Self::Second),
            _ => Err(format!("gradients of order {order} are not computed; there are 1 and 2")),
        }
    }
}

impl From<Order> for u32 {
    fn from(order: Order) -> u32 {
        match order {
            Order::First => 1,
            Order::Second => 2,
        }
    }
}

impl Gradient {
    /// The options of the pass that goes on from the joint program, where it runs.
    pub(crate) fn again(&self) -> Option<String> {
        let wrt = if self.wrt.is_empty() { String::new() } else { format!("wrt={} ", self.wrt.join(",")) };
        match (self.forward, self.order) {
            (true, _) => Some("mode=jvp".to_owned()),
            (false, Order::Second) => Some(format!("{wrt}gradients")),
            (false, Order::First) => None,
        }
    }

    /// The options of the pass.
    pub(crate) fn text(&self) -> String {
        let cotangents: Vec<_> = self.cotangents.iter().map(i64::to_string).collect();
        let lists = [("wrt", self.wrt.join(",")), ("cotangents", cotangents.join(","))];
        lists.iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| format!("{name}={list}")).collect::<Vec<_>>().join(" ")
    }
}

/// The type that a program computes in where that gains: see `--autocast`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are MLIR's")]
pub enum Autocast {
    Bf16,
    F16,
}

impl Display for Autocast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        })
    }
}

/// Options of a compilation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The machine that kernels run on.
    pub target: Target,
    /// Effort.
    pub mode: Mode,
    /// Seconds that the search for schedules may take with `max-autotune`; [`BUDGET`] when nobody says.
    pub autotune_budget: Option<f64>,
    /// Symbolic sizes.
    pub dynamic: Dynamic,
    /// The sizes of the call's inputs in order, as in `4x8:3`; a scalar's are empty.
    pub sizes: Option<String>,
    /// The types of a call of a TorchScript archive, as in `f32[?x3x224x224],i64[]`; those that it was traced with if nobody says.
    pub signature: Option<String>,
    /// Operators that the user registers: a module of functions, each named after an operator, whose bodies are of `aten`.
    pub operators: Option<String>,
    /// The libraries of the user whose kernels the program may call.
    pub op_libraries: Vec<OpLibrary>,
    /// Their files, which the interpreter opens.
    pub op_library_files: Vec<OpLibraryFile>,
    /// Arithmetic.
    #[serde(with = "spelled")]
    pub numerics: Numerics,
    /// Optimisation passes to leave out, by flag. Results stay right without any of them.
    pub skip: Vec<String>,
    /// LLVM's name of the CPU to compile for; the host's when empty.
    pub cpu: String,
    /// Entries of the target that differ from those of the CPU, or of the GPU where kernels are made for one, as an MLIR dictionary; none
    /// when empty.
    pub target_entries: String,
    /// Verify the IR after every pass.
    pub verify: bool,
    /// Tell the runtime when a kernel begins and ends.
    pub profile: bool,
    /// Take pieces of code that were compiled before from the store on disk, and put new ones there.
    pub cache: bool,
    /// Keep to the disk: the cache that a team shares has failed in this process.
    pub cache_local: bool,
    /// The gradients that the program computes too, if any.
    pub gradient: Option<Gradient>,
    /// The optimizer and its settings as in `adamw,lr=1e-3`, where the program becomes a step of training: see `--train-step`. What it is
    /// differentiated by says `gradient`; without it the loss is output 0.
    pub train: Option<String>,
    /// The type to compute in as under `torch.autocast`, if any.
    pub autocast: Option<Autocast>,
    /// What is saved for a backward, where less is to be: the options of `--rematerialise`, as in `budget=0.5`; empty for its defaults.
    pub rematerialise: Option<String>,
    /// The function to compile, of a program that graph breaks divide; the entry when empty.
    pub part: String,
}

impl Options {
    /// The gradients that are asked for, those of a step of training too.
    pub(crate) fn gradient(&self) -> Option<Cow<'_, Gradient>> {
        let of_loss = || self.train.is_some().then(|| Cow::Owned(Gradient { cotangents: vec![0], ..Gradient::default() }));
        self.gradient.as_ref().map(Cow::Borrowed).or_else(of_loss)
    }

    /// The options of `--train-step`, where a step is asked for.
    pub(crate) fn train_step(&self) -> Option<String> {
        let text = self.train.as_deref()?;
        Some(format!("optimizer={}", text.split_whitespace().collect::<String>()))
    }

    /// Entries of the target that differ from the CPU's.
    pub(crate) fn cpu_entries(&self) -> &str {
        if self.target == Target::Cpu { &self.target_entries } else { "" }
    }
}
