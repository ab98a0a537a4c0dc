//! The target: the machine that code is made for, as data.
//!
//! The CPU is the attribute `target.cpu` of a module, a dictionary of the entries below; the GPU that kernels run on, if there is one, is
//! [`target.gpu`](gpu). The driver writes them once, for the machines at hand or those that were named; a person may write them for a machine
//! that she does not have. Passes and cost models read them here and ask nothing else about the machine. What the attribute leaves out, or a
//! module without it, is as in [`Target::default`].

pub mod gpu;

pub use gpu::Gpu;

use crate::entry::{Count, Described, Entry, Flag, entries, nested, number};
use std::fmt::Display;
use strata_core::ir::{Attr, Cx, ElementType, Op};
use strata_core::pass::PassError;
use strata_core::rewrite::Rewriter;

/// The attribute of a module.
pub const TARGET: &str = "target.cpu";

/// Bytes of a cache: up to a tebibyte.
const MAX_BYTES: i64 = 1 << 40;

entries! {
    /// A CPU. The defaults are those of a server of today with AVX-512.
    pub struct Target of "target" {
        /// LLVM's name of the CPU.
        cpu: Text = "x86-64-v4".to_owned(),
        /// Cycles of the operations that cost models count.
        cycles: CyclesOf = Cycles::default(),
        /// Bits of a vector that its units work on at once: a wider vector takes several turns (double pumping).
        datapath_bits: Bits = 512,
        /// What its instructions need, as LLVM spells it: `+avx2,-avx512f`. What is said last counts.
        features: Text = "+avx,+avx2,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+bmi,+bmi2,+f16c,+fma,+sse4.2".to_owned(),
        /// Billions of cycles in a second.
        gigahertz: Rate = 4.0,
        /// The first-level data cache of a core.
        l1: CacheOf = Cache { bytes: 32 << 10, gigabytes_per_second: 1000.0, line: 64, ways: 8 },
        /// The second-level cache of a core.
        l2: CacheOf = Cache { bytes: 1 << 20, gigabytes_per_second: 300.0, line: 64, ways: 8 },
        /// The last-level cache, which cores share.
        l3: CacheOf = Cache { bytes: 32 << 20, gigabytes_per_second: 120.0, line: 64, ways: 16 },
        /// Nanoseconds from one launch of a kernel to the next.
        launch_nanoseconds: Rate = 50.0,
        /// Billions of bytes in a second that all cores together move to and from memory.
        memory_gigabytes_per_second: Rate = 60.0,
        /// Whether non-temporal stores wait in the buffers that loads of other lines wait in, as on Intel's CPUs.
        shared_fill_buffers: Flag = false,
        /// Nanoseconds until another thread takes part in a kernel.
        thread_wake_nanoseconds: Rate = 2000.0,
        /// LLVM's name of the platform.
        triple: Text = "x86_64-unknown-linux-gnu".to_owned(),
        /// Bits of the widest vector register.
        vector_bits: Bits = 512,
        /// Vector registers.
        vector_registers: Count = 32,
    }
}

entries! {
    /// A cache.
    pub struct Cache of "cache" {
        /// What it holds.
        bytes: Bytes = 1 << 20,
        /// Billions of bytes in a second that all cores together move to and from it.
        gigabytes_per_second: Rate = 100.0,
        /// Bytes of a line.
        line: Count = 64,
        /// Lines for one place: its associativity.
        ways: Count = 8,
    }
}

entries! {
    /// Cycles between two operations on whole vectors (reciprocal throughput), if not said otherwise. Measured on a Zen 5.
    pub struct Cycles of "cycles" {
        /// From the lanes of a vector to one number.
        across: Rate = 20.0,
        /// A call of a scalar function, for each lane.
        call: Rate = 40.0,
        /// A quotient of floats.
        divide: Rate = 6.0,
        /// The error function.
        erf: Rate = 19.0,
        /// `e^x` and `2^x`.
        exp: Rate = 6.0,
        /// `e^x - 1`.
        expm1: Rate = 9.0,
        /// A function without an entry of its own.
        function: Rate = 14.0,
        /// A quotient or remainder of integers, or a remainder of floats, for each lane.
        integer_divide: Rate = 2.0,
        /// Until a sum can be added to (latency).
        latency: Rate = 4.0,
        /// A logarithm.
        log: Rate = 12.0,
        /// A power.
        pow: Rate = 60.0,
        /// A sum, a product, a comparison, a conversion, a load.
        simple: Rate = 0.5,
        /// The sine or cosine.
        sin: Rate = 9.0,
        /// A square root.
        sqrt: Rate = 10.0,
        /// The hyperbolic tangent.
        tanh: Rate = 13.0,
    }
}

/// A text.
pub struct Text;
/// A positive number.
pub struct Rate;
/// Bytes of a cache.
pub struct Bytes;
/// Bits of a vector register.
pub struct Bits;
/// The entries of [`Cache`].
pub struct CacheOf;
/// The entries of [`Cycles`].
pub struct CyclesOf;

number!(Bytes, i64, 1 << 10, MAX_BYTES, |_, _| true, dims => "a number of bytes from a kibibyte to a tebibyte".to_owned());
number!(Bits, i64, 64, 2048, |bits, _| bits & (bits - 1) == 0, dims => "a power of two from 64 to 2048".to_owned());
nested!(CacheOf, Cache);
nested!(CyclesOf, Cycles);

impl Entry for Text {
    type Value = String;
    fn read(attr: Attr<'_>) -> Option<String> {
        attr.as_str()
    }
    fn attr<'c>(value: &String, cx: Cx<'c>) -> Attr<'c> {
        cx.str_attr(value)
    }
    fn wanted(_: impl Display) -> String {
        "a string".to_owned()
    }
}

impl Entry for Rate {
    type Value = f64;
    fn read(attr: Attr<'_>) -> Option<f64> {
        attr.as_float().filter(|rate| *rate > 0.0 && rate.is_finite())
    }
    fn attr<'c>(value: &f64, cx: Cx<'c>) -> Attr<'c> {
        cx.f64_attr(*value)
    }
    fn wanted(_: impl Display) -> String {
        "a positive number with a point, as in 4.0".to_owned()
    }
}

/// A dictionary with the entries of another in the place of its own; dictionaries in it are merged, too.
fn merge<'c>(base: Attr<'c>, other: Attr<'c>) -> Attr<'c> {
    let (Some(mut merged), Some(others)) = (base.as_dict(), other.as_dict()) else { return other };
    for (name, value) in others {
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = merge(*known, value),
            None => merged.push((name, value)),
        }
    }
    let merged: Vec<_> = merged.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    base.cx().dict_attr(&merged)
}

/// A description of a target that says something that is no description.
#[derive(Debug, thiserror::Error)]
#[error("{0}; docs/src/reference/target.md lists the entries, and `rs-compile --print-target` prints a whole description")]
pub struct WrongTarget(String);

impl From<WrongTarget> for PassError {
    fn from(wrong: WrongTarget) -> Self {
        Self::new(wrong.to_string())
    }
}

/// The attribute of the module that an op is part of.
fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attr<'c>> {
    let mut around = op;
    while let Some(parent) = around.parent() {
        around = parent;
    }
    around.attr(name)
}

/// How a description is read from an attribute of a module, and written to it.
macro_rules! at_module {
    ($description:ident, $attribute:expr) => {
        impl $description {
            /// The description of the program that an op is part of.
            pub fn of(op: Op<'_>) -> Result<Self, WrongTarget> {
                Ok(Self::written(op)?.unwrap_or_default())
            }

            /// The description that is written at the program that an op is part of, if one is.
            pub fn written(op: Op<'_>) -> Result<Option<Self>, WrongTarget> {
                crate::target::attribute(op, $attribute).map(|attr| Self::default().with(attr)).transpose()
            }

            /// The same machine with other entries, a dictionary as `--print-target` prints it or a part of one.
            pub fn with_entries(&self, cx: Cx<'_>, text: &str) -> Result<Self, WrongTarget> {
                self.with(cx.parse_attr(text).ok_or_else(|| WrongTarget(format!("`{text}` is no dictionary of MLIR")))?)
            }

            fn with(&self, entries: Attr<'_>) -> Result<Self, WrongTarget> {
                let dictionary = entries.as_dict().is_some();
                let wrong = if dictionary { Self::refuse(entries, 0) } else { Some(format!("`{}` is no dictionary", $attribute)) };
                match wrong {
                    Some(message) => Err(WrongTarget(message)),
                    None => Ok(Self::read(crate::target::merge(self.attr(entries.cx()), entries))),
                }
            }

            /// Writes the description at a module.
            pub fn write<'c>(&self, rewriter: &mut Rewriter<'c>, module: Op<'c>) {
                rewriter.set_attr(module, $attribute, self.attr(module.cx()));
            }
        }
    };
}
use at_module;

at_module!(Target, TARGET);

impl Target {
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

    /// The features that code for this target may use, without their `+`.
    pub fn feature_list(&self) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        for feature in self.features.split(',').filter(|feature| !feature.is_empty()) {
            let name = feature.trim_start_matches(['+', '-']);
            list.retain(|known| known != name);
            if !feature.starts_with('-') {
                list.push(name.to_owned());
            }
        }
        list
    }

    /// Whether code may use a feature.
    pub fn has(&self, feature: &str) -> bool {
        // What is said last counts.
        self.features.rsplit(',').find(|said| said.trim_start_matches(['+', '-']) == feature).is_some_and(|said| !said.starts_with('-'))
    }

    /// Lanes of a vector of elements of so many bits; one at least.
    pub fn lanes(&self, bits: u32) -> i64 {
        (self.vector_bits / i64::from(bits.max(1))).max(1)
    }

    /// Turns in which its units take a vector of so many bits.
    pub fn turns(&self, bits: i64) -> i64 {
        (bits / self.datapath_bits).max(1)
    }

    /// Bytes of what stays in a core's second-level cache while other data passes by: half of it.
    pub fn resident_bytes(&self) -> i64 {
        self.l2.bytes / 2
    }

    /// Bytes of a row that stays in a core's second-level cache, with the rows that come next and what is made of them: a sixteenth of it.
    pub fn row_bytes(&self) -> i64 {
        self.l2.bytes / 16
    }

    /// Whether loads and stores with lanes that are off cost what whole ones do: AVX-512 has registers of masks.
    pub fn has_mask_registers(&self) -> bool {
        self.has("avx512f")
    }

    /// Whether an instruction multiplies `bf16` in pairs and sums the products, in the registers that kernels use.
    pub fn has_bf16_dots(&self) -> bool {
        self.has("avx512bf16") && self.vector_bits == 512
    }

    /// Whether matrix units (AMX) multiply elements of a type: `bf16`, or bytes.
    pub fn has_matrix_units(&self, element: ElementType) -> bool {
        let feature = match element {
            ElementType::BF16 => "amx-bf16",
            ElementType::I8 => "amx-int8",
            _ => return false,
        };
        self.has(feature) && self.vector_bits == 512
    }

    /// Whether an instruction multiplies unsigned bytes with signed ones in fours and sums the products, in the registers that kernels use.
    pub fn has_byte_dots(&self) -> bool {
        self.has("avx512vnni") && self.vector_bits == 512 || self.has("avxvnni") && self.vector_bits == 256
    }
}
