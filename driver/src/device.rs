//! A program's code for a device: its kernels with their numbers, and their PTX.

use crate::Error;
use crate::levels::Level;
use crate::options::{Mode, Numerics, Options, Target};
use crate::pipelines::pipeline_to;
use strata_core::ir::{Builder, Module, Op};
use strata_core::pass::PassManager;
use strata_core::registry::Registry;
use strata_core::upstream::llvm;
use strata_lowering::codegen::{self, Device};
use strata_lowering::loop_to_cpu::device::{custom_kernels, kernels};
use strata_lowering::loop_to_gpu::DEVICE;
use strata_runtime::manifest::{DeviceCode, DeviceKernel, DeviceModule, PtxFile};

/// The kernels of a module at the level `gpu`, without their code.
pub(crate) fn described(module: &Module<'_>, options: &Options) -> DeviceCode {
    let describe = |op: Op<'_>| DeviceKernel {
        name: op.str("sym_name").unwrap_or_default(),
        threads: dims(&op.ints("known_block_size").unwrap_or_default()),
        // (Blocks that meet count themselves behind it.)
        checks: op.body(0).args().last().is_some_and(|status| status.uses().iter().any(|using| using.op.isa::<llvm::Store>())),
        location: op.location().short(),
        ..DeviceKernel::default()
    };
    let graphs = options.mode == Mode::ReduceOverhead;
    let custom = custom_kernels(module.op());
    let brought = |file: &str| options.op_libraries.iter().find(|library| library.file == file)?.ptx.clone();
    let mut files: Vec<_> = custom.iter().map(|kernel| kernel.ptx.clone()).collect();
    files.sort_unstable();
    files.dedup();
    let ptx_files = files.into_iter().filter_map(|file| Some(PtxFile { ptx: brought(&file)?, file })).collect();
    let custom = custom.into_iter().map(|kernel| DeviceKernel {
        name: kernel.name,
        file: Some(kernel.ptx),
        threads: dims(&kernel.threads),
        shared: kernel.shared as u32,
        checks: false,
        location: kernel.location,
    });
    let kernels = kernels(module.op()).into_iter().map(describe).chain(custom).collect();
    DeviceCode { modules: Vec::new(), kernels, ptx_files, graphs }
}

/// Threads in each of three dimensions.
fn dims(threads: &[i64]) -> [u32; 3] {
    [0, 1, 2].map(|dim| threads.get(dim).copied().unwrap_or(1) as u32)
}

/// The kernels of a module at the level `gpu` with their PTX for all devices.
pub(crate) fn code(registry: &Registry, module: &Module<'_>, options: &Options) -> Result<DeviceCode, Error> {
    Ok(DeviceCode { modules: modules(registry, module, options)?, ..described(module, options) })
}

/// PTX for each device of the kernels of a module at the level `gpu`, if it has any. The module stays as it is.
pub(crate) fn modules(registry: &Registry, module: &Module<'_>, options: &Options) -> Result<Vec<DeviceModule>, Error> {
    let Target::Cuda(devices) = options.target else { return Err(Error::NoDevice) };
    let Some(kernels) = module.op().lookup_symbol(DEVICE) else { return Ok(Vec::new()) };
    let alone = Module::empty_like(module);
    Builder::at_end(alone.body(), kernels.location()).clone_op(kernels, &[]);
    let pipeline = pipeline_to(Level::Nvvm, options.target).ok_or(Error::NoDevice)?;
    let failed = |source| Error::Level { level: pipeline.level, source };
    PassManager::parse(alone.cx(), "builtin.module", &pipeline.text(registry, options)).map_err(failed)?.run(alone.op()).map_err(failed)?;
    let Some(kernels) = alone.op().lookup_symbol(DEVICE) else { return Ok(Vec::new()) };
    let contract = options.numerics != Numerics::Strict;
    let made = |device: Device| Ok(DeviceModule { architecture: device.name().to_owned(), ptx: codegen::ptx(kernels, device, contract)? });
    devices.iter().map(made).collect()
}
