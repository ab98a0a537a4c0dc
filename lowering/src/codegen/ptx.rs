//! PTX of a device's module, by LLVM's own code generator: no tool or library of NVIDIA takes part.

use super::emit::{generate, translate};
use super::{Error, Target, machines, prepare};
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Linkage;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::FileType;
use std::fmt;
use std::str::FromStr;
use strata_core::ir::{Builder, Module, Op};

/// A GPU by its architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device {
    name: &'static str,
    /// The first version of PTX that knows it.
    ptx: &'static str,
}

/// Architectures that code can be made for.
const DEVICES: &[Device] = &[
    Device { name: "sm_80", ptx: "+ptx71" },
    Device { name: "sm_86", ptx: "+ptx71" },
    Device { name: "sm_89", ptx: "+ptx78" },
    Device { name: "sm_90", ptx: "+ptx80" },
    Device { name: "sm_100", ptx: "+ptx86" },
    Device { name: "sm_120", ptx: "+ptx87" },
];

impl Device {
    /// NVIDIA's name of the architecture.
    pub fn name(self) -> &'static str {
        self.name
    }
}

/// GPUs that one program has code for, each once; never none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Devices(u32);

impl Devices {
    /// The devices, the oldest first.
    pub fn iter(self) -> impl Iterator<Item = Device> {
        DEVICES.iter().enumerate().filter(move |(k, _)| self.0 >> k & 1 == 1).map(|(_, device)| *device)
    }
}

impl From<Device> for Devices {
    fn from(device: Device) -> Self {
        Self(DEVICES.iter().position(|known| *known == device).map_or(1, |k| 1 << k))
    }
}

impl fmt::Display for Devices {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.iter().map(Device::name).collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Devices {
    type Err = UnknownDevice;

    /// As in `sm_80,sm_90`.
    fn from_str(names: &str) -> Result<Self, UnknownDevice> {
        names.split(',').try_fold(Self(0), |all, name| Ok(Self(all.0 | Self::from(name.parse::<Device>()?).0)))
    }
}

/// A GPU that there is no code generator for.
#[derive(Debug, thiserror::Error)]
#[error("there is no GPU architecture '{name}'; the known ones are {known}")]
pub struct UnknownDevice {
    /// What was asked for.
    name: String,
    /// What there is.
    known: String,
}

impl FromStr for Device {
    type Err = UnknownDevice;

    fn from_str(name: &str) -> Result<Self, UnknownDevice> {
        let known = || DEVICES.iter().map(|device| device.name).collect::<Vec<_>>().join(", ");
        DEVICES.iter().copied().find(|device| device.name == name).ok_or_else(|| UnknownDevice { name: name.to_owned(), known: known() })
    }
}

/// Our passes for kernels: as on the CPU bodies come in the order that is wanted; what pays is unrolling and knowing which memory a
/// pointer is of.
const PASSES: &str = "always-inline,default<O2>";

/// PTX of a `gpu.module` in the llvm and nvvm dialects. With `contract`, products and sums may share a rounding.
pub fn ptx(device: Op<'_>, target: Device, contract: bool) -> Result<String, Error> {
    let alone = Module::new(device.cx());
    let mut b = Builder::at_end(alone.body(), device.location());
    for op in device.body(0).ops() {
        b.clone_op(op, &[]);
    }
    let context = Context::create();
    let llvm = translate(alone.op(), &context)?;
    let machine = Target {
        triple: "nvptx64-nvidia-cuda".to_owned(),
        cpu: target.name.to_owned(),
        features: target.ptx.to_owned(),
        ..Target::default()
    };
    let machine = machines::take(&machine, OptimizationLevel::Default)?;
    llvm.set_triple(&machine.get_triple());
    llvm.set_data_layout(&machine.get_target_data().get_data_layout());
    const PTX_KERNEL: u32 = 71;
    for function in llvm.get_functions() {
        if function.count_basic_blocks() > 0 && function.get_call_conventions() != PTX_KERNEL {
            function.set_linkage(Linkage::Internal);
        }
    }
    if contract {
        prepare::allow_contraction(&llvm);
    }
    llvm.run_passes(PASSES, &machine, PassBuilderOptions::create())
        .map_err(|message| Error::Llvm { stage: "optimise", message: message.to_string() })?;
    let text = generate(&machine, &llvm, FileType::Assembly)?;
    Ok(String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned())
}
