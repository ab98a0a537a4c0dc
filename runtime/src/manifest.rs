//! What an artefact says about itself. The compiler fills these structs; the loader trusts nothing else.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dim_order::DimOrder;
use crate::dtype::DType;
use crate::op_library::OpLibrary;
use crate::origin::Origin;

/// Everything about a compiled program but its code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the program, for messages.
    pub name: String,
    /// Where it came from.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// The machine the code is for.
    pub target: Target,
    /// How the image lies in memory and what it needs.
    pub layout: Layout,
    /// The call's inputs, in flattened order.
    pub inputs: Vec<Input>,
    /// The results: outputs in flattened order, then mutations.
    pub outputs: Vec<Output>,
    /// Parameters, buffers and constants, in the order of `StrataCall::weights`.
    pub weights: Vec<Weight>,
    /// Where their data is in the artefact, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<PackedWeights>,
    /// What `strata_prepare` computes from the weights; in `StrataCall::weights` these come after them.
    #[serde(default)]
    pub prepared: Vec<Output>,
    /// Texts of the entry's status codes: status `k > 0` is message `k - 1`; `{0}`..`{3}` are the details.
    pub messages: Vec<String>,
    /// The libraries of the user whose kernels it calls, sorted by their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub op_libraries: Vec<OpLibrary>,
    /// The conditions that the entry checks, as text.
    #[serde(default)]
    pub guards: Vec<Guard>,
    /// Where the program goes on; the outputs are the inputs of that part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// The kernels of the program.
    #[serde(default)]
    pub kernels: Vec<Kernel>,
    /// Where kernels run that are no code of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceCode>,
    /// Largest workspace of a call in bytes, where the plan knows it.
    #[serde(default)]
    pub workspace_bytes: Option<u64>,
    /// What the backward of a joint program or of a step of training reads of the forward, where it was asked to be less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// How long each stage of the compilation took.
    #[serde(default)]
    pub timings: Vec<StageTime>,
    /// What the program was at each level.
    #[serde(default)]
    pub levels: Vec<LevelSize>,
    /// The kernels whose schedules were to be measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<Tuned>,
}

impl Manifest {
    /// Whether the program gives a weight new values.
    pub fn writes(&self, weight: &Weight) -> bool {
        self.outputs.iter().any(|out| out.kind == OutputKind::Mutation && out.name == weight.name)
    }
}

/// Code for a device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCode {
    /// The same kernels for several architectures.
    pub modules: Vec<DeviceModule>,
    /// The kernels, by the number that the entry starts them with.
    pub kernels: Vec<DeviceKernel>,
    /// The files of the user that some of them are in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ptx_files: Vec<PtxFile>,
    /// Whether calls are recorded and replayed.
    #[serde(default)]
    pub graphs: bool,
}

/// The kernels for one architecture, and what is newer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceModule {
    /// The architecture, as in `sm_90`.
    pub architecture: String,
    /// The kernels as PTX.
    pub ptx: String,
}

/// A file of PTX that the user brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PtxFile {
    /// Its name, without a folder.
    pub file: String,
    /// What it holds.
    pub ptx: String,
}

/// A kernel of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceKernel {
    /// Its name in the modules, or in the file.
    pub name: String,
    /// The file of the user that it is in; nothing for a kernel of the modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Threads of a block, in each dimension.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub shared: u32,
    /// Whether it can find an index out of bounds.
    #[serde(default)]
    pub checks: bool,
    /// The place in the program that it comes from, if known.
    #[serde(default)]
    pub location: String,
}

/// Bytes that live from a forward to its backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Where nothing is computed again.
    pub before: u64,
    /// As it is.
    pub bytes: u64,
}

/// A kernel whose schedule was to be chosen by measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Its name in the program.
    pub kernel: String,
    /// The name of its entry among the stored schedules.
    pub key: String,
    /// The hash of what the entry held when the program was compiled; nothing where there was none.
    #[serde(default)]
    pub entry: String,
    /// What happened.
    pub how: Tuning,
    /// What was measured, now or when the entry was made.
    #[serde(default)]
    pub gain: Option<Gain>,
}

/// Where a kernel's schedule came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tuning {
    /// It was searched for.
    Searched,
    /// It was stored.
    Stored,
    /// It is the one that nobody measured, for this reason.
    Untuned(String),
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Schedules that were compiled and measured.
    pub tried: u64,
    /// Microseconds of the kernel as it was.
    pub before: f64,
    /// Microseconds with the schedule that was chosen.
    pub after: f64,
}

/// Where the program goes on after its last result, when it was captured in parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The function that takes this part's outputs.
    pub part: String,
    /// Why the program was interrupted.
    pub reason: String,
}

/// The size of the program at one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelSize {
    /// The level.
    pub name: String,
    /// Ops of the level's own dialect.
    pub ops: u64,
    /// What they are of: `aten`, `prim`, `loop`...
    pub dialect: String,
}

/// The machine that code was made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Architecture, as in `x86_64`.
    pub arch: String,
    /// LLVM's name of the CPU, for information.
    pub cpu: String,
    /// CPU features (LLVM's names, without `+`) that the code needs.
    pub features: Vec<String>,
}

impl Target {
    /// The architecture this library runs on, with no feature asked for.
    pub fn host() -> Target {
        Target { arch: std::env::consts::ARCH.into(), cpu: "generic".into(), features: Vec::new() }
    }
}

/// The memory layout of an image. Offsets are from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Offset of `strata_entry`.
    pub entry: u64,
    /// Offset of `strata_prepare`, where weights are prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<u64>,
    /// What the code takes and gives: see [`Manifest::signature`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<u32>,
    /// Size in memory; what the image's bytes do not cover is zero.
    pub memory_bytes: u64,
    /// Page-aligned, ascending ranges with one protection each. Memory in no segment is inaccessible.
    pub segments: Vec<Segment>,
    /// Runtime functions and where their addresses go.
    #[serde(default)]
    pub imports: Vec<Import>,
    /// Eight-byte slots that hold an address inside the image.
    #[serde(default)]
    pub relocations: Vec<Relocation>,
}

/// A page-aligned range of the image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Start, a multiple of 4096.
    pub offset: u64,
    /// Size in bytes; the protection covers whole pages.
    pub bytes: u64,
    /// What the loaded program may do with it.
    pub access: Access,
}

/// Protection of a loaded segment. Nothing is ever writable and executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Constants, tables, import slots.
    Read,
    /// Variables.
    Write,
    /// Code.
    Execute,
}

/// A runtime function that the code calls through a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Its C name.
    pub name: String,
    /// Offset of the 8-byte slot for its address.
    pub offset: u64,
}

/// A slot that receives the image's base address plus `target`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocation {
    /// Offset of the 8-byte slot.
    pub offset: u64,
    /// Offset of the thing pointed at.
    pub target: u64,
}

/// One input of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Name in the captured program.
    pub name: String,
    /// Tensor or scalar; a scalar travels as a tensor of rank 0 (`i64`, `f64`, `bool`).
    pub kind: InputKind,
    /// Element type.
    pub dtype: DType,
    /// Sizes; `None` is symbolic.
    pub shape: Vec<Option<i64>>,
    /// Sizes of it in a call that the program takes; none where they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sample: Vec<i64>,
    /// How its dims lie in memory. The code takes and gives it so; the sizes above stay as they are.
    #[serde(default, skip_serializing_if = "DimOrder::is_row_major")]
    pub dim_order: DimOrder,
    /// A scalar fixed at capture: the session compares it and the image does not get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Scalar>,
}

/// Kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// A tensor.
    Tensor,
    /// A python int, passed as i64.
    Int,
    /// A python float, passed as f64.
    Float,
    /// A python bool.
    Bool,
}

/// A scalar value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scalar {
    /// A python int.
    Int(i64),
    /// A python float, as text because JSON has no infinities.
    #[serde(with = "float_text")]
    Float(f64),
    /// A python bool.
    Bool(bool),
}

/// One result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Output or new value of something.
    pub kind: OutputKind,
    /// Name of the output; for a mutation the name of the weight or input that changed.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Sizes; `None` is symbolic.
    pub shape: Vec<Option<i64>>,
    /// How its dims lie in memory. The code takes and gives it so; the sizes above stay as they are.
    #[serde(default, skip_serializing_if = "DimOrder::is_row_major")]
    pub dim_order: DimOrder,
    /// Whether the code may write it over the old value of what changed. Nothing fails from the first such write on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
}

/// Kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// A result of the call.
    Output,
    /// The new value of a buffer or input.
    Mutation,
    /// A weight made of weights: a result of `strata_prepare`.
    Prepared,
}

/// A tensor that belongs to the program and not to the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Fully qualified name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Sizes, all known.
    pub shape: Vec<i64>,
    /// Where its data is.
    pub source: WeightSource,
}

impl Output {
    /// Bytes of its data; nothing where a size is symbolic or no memory holds them.
    pub fn bytes(&self) -> Option<u64> {
        let sizes = self.shape.iter().map(|size| u64::try_from((*size)?).ok());
        sizes.into_iter().try_fold(self.dtype.size() as u64, |bytes, size| bytes.checked_mul(size?))
    }
}

impl Weight {
    /// Bytes of its data; the largest number where a manifest that nobody vouches for names more.
    pub fn bytes(&self) -> u64 {
        let size = |size: &i64| u64::try_from(*size).unwrap_or(0);
        self.shape.iter().map(size).fold(self.dtype.size() as u64, u64::saturating_mul)
    }
}

/// Where a weight's data is found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightSource {
    /// The file: a `.pt2` archive, safetensors, or an ONNX model; empty where whoever loads the program brings the data.
    pub file: String,
    /// Entry of the archive (the root folder may be left out), or tensor name in a safetensors file; empty where the file is read as it is.
    pub entry: String,
    /// The file in the folder of `file` that is read as it is in its place; empty where `file` has the data itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beside: String,
    /// The data, where no file has them as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "base16")]
    pub inline: Vec<u8>,
    /// Offset of the first element from the start of the entry, in bytes.
    #[serde(default)]
    pub byte_offset: u64,
    /// Strides in elements; empty means dense row-major.
    #[serde(default)]
    pub strides: Vec<i64>,
    /// Whether it begins as zeros where no file has it: the state of an optimizer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zeros: bool,
}

impl WeightSource {
    /// The file that has the data.
    pub fn path(&self) -> PathBuf {
        if self.beside.is_empty() { PathBuf::from(&self.file) } else { Path::new(&self.file).with_file_name(&self.beside) }
    }

    /// Of a weight that whoever loads the program brings, under its name.
    pub fn given(name: &str) -> WeightSource {
        WeightSource { entry: name.to_owned(), ..WeightSource::default() }
    }
}

/// Bytes as text, two digits each.
mod base16 {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half & 15)]);
        let text: String = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect();
        serializer.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pairs = text.as_bytes().chunks(2);
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let byte = |pair: &[u8]| if let [high, low] = pair { Some((digit(*high)? << 4 | digit(*low)?) as u8) } else { None };
        pairs.map(|pair| byte(pair).ok_or_else(|| D::Error::custom("bytes are pairs of hexadecimal digits"))).collect()
    }
}

/// The section of an artefact that has the data of its weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedWeights {
    /// Its length.
    pub bytes: u64,
    /// Its checksum.
    pub crc32: u32,
    /// Where each weight begins in it, dense.
    pub offsets: Vec<u64>,
}

/// A condition that the entry checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// The condition as text.
    pub text: String,
    /// Where it comes from, if known.
    #[serde(default)]
    pub source: String,
}

/// A kernel, for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its name in the program.
    pub name: String,
    /// Places of the program that launch it.
    #[serde(default = "once")]
    pub launches: u64,
    /// Bytes read and written by one launch, if static.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Floating-point operations of one launch, if static.
    #[serde(default)]
    pub flops: Option<u64>,
    /// Nanoseconds of one launch as the cost model predicts them, if static.
    #[serde(default)]
    pub predicted_nanos: Option<u64>,
}

fn once() -> u64 {
    1
}

/// Time spent in one stage of a compilation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageTime {
    /// The stage.
    pub name: String,
    /// Microseconds.
    pub micros: u64,
}

mod float_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:?}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom(format!("`{text}` is not a float")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_in_the_manifest_are_hexadecimal() {
        let source = WeightSource { inline: vec![0, 0x1f, 0xff], ..WeightSource::default() };
        let text = serde_json::to_string(&source).expect("it is JSON");
        assert!(text.contains("\"001fff\""), "{text}");
        assert_eq!(serde_json::from_str::<WeightSource>(&text).expect("it is read back"), source);
        for wrong in ["0", "0g", "é"] {
            assert!(serde_json::from_str::<WeightSource>(&text.replace("001fff", wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_of_a_weight_that_no_memory_holds_are_the_largest_number() {
        let source = WeightSource::given("w");
        let weight = |shape: &[i64]| Weight { name: "w".into(), dtype: DType::F32, shape: shape.to_vec(), source: source.clone() };
        assert_eq!(weight(&[3, 5]).bytes(), 60);
        assert_eq!(weight(&[i64::MAX, 4]).bytes(), u64::MAX);
        assert_eq!(weight(&[-1, 4]).bytes(), 0);
    }
}
