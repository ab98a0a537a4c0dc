//! LLVM IR, assembly and object bytes of a module in the llvm dialect.

use super::lane_stores::lane_stores;
use super::{Error, Target, machines, prepare};
use inkwell::OptimizationLevel;
use inkwell::context::{AsContextRef, Context};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{FileType, TargetMachine};
use std::ops::AddAssign;
use std::time::{Duration, Instant};
use strata_core::diagnostic::collect_errors;
use strata_core::ir::Op;

/// What to make, and how freely.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Products and sums may fuse to one rounding; off for `strict` numerics.
    pub contract: bool,
    /// Also give LLVM IR, as optimised.
    pub ir: bool,
    /// Also give assembly text.
    pub assembly: bool,
    /// Functions that other objects of the same image call, beside the entries.
    pub exports: Vec<String>,
    /// Generate code quickly rather than well: for a program, which only calls its kernels.
    pub quick: bool,
    /// An LLVM pass pipeline in place of our own, in the syntax of `opt -passes`.
    pub passes: Option<String>,
}

/// Machine code and what was asked for beside it.
#[derive(Debug, Clone)]
pub struct Emitted {
    /// A relocatable ELF object.
    pub object: Vec<u8>,
    /// LLVM IR after optimisation.
    pub ir: Option<String>,
    /// Assembly.
    pub assembly: Option<String>,
    /// Where the time went.
    pub timings: Timings,
}

/// How long each stage took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timings {
    /// MLIR to LLVM IR.
    pub translate: Duration,
    /// LLVM's passes.
    pub optimise: Duration,
    /// LLVM IR to the object.
    pub generate: Duration,
}

impl AddAssign for Timings {
    fn add_assign(&mut self, other: Timings) {
        self.translate += other.translate;
        self.optimise += other.optimise;
        self.generate += other.generate;
    }
}

/// Our passes, in the place of `default<O3>`.
///
/// Kernels come vectorised and unrolled, and bodies of mathematics say themselves whether they want to be inlined. What
/// is left is to clean up, to rotate loops and to move constants out of them, and to vectorise what scalar loops there
/// are. On a chain of 40 operators this takes 1.4 ms where `default<O3>` takes 5.8, for the same inner loop.
pub const PASSES: &str = "always-inline,function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
    loop-mssa(loop-rotate,licm),loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify),globaldce";

/// Translates, optimises and compiles a module in the llvm dialect.
pub fn emit(module: Op<'_>, target: &Target, options: &Options) -> Result<Emitted, Error> {
    let mut timings = Timings::default();
    let start = Instant::now();
    let machine = machines::take(target, if options.quick { OptimizationLevel::None } else { OptimizationLevel::Default })?;
    let context = Context::create();
    let llvm = translate(module, &context)?;
    llvm.set_triple(&machine.get_triple());
    llvm.set_data_layout(&machine.get_target_data().get_data_layout());
    prepare::prepare(&llvm, target, &options.exports);
    prepare::preserve_registers(&llvm, target);
    if options.contract {
        prepare::allow_contraction(&llvm);
    }
    timings.translate = start.elapsed();

    let start = Instant::now();
    let passes = options.passes.as_deref().unwrap_or(PASSES);
    llvm.run_passes(passes, &machine, PassBuilderOptions::create())
        .map_err(|message| Error::Llvm { stage: "optimise", message: message.to_string() })?;
    lane_stores(&llvm, target);
    timings.optimise = start.elapsed();

    let ir = options.ir.then(|| llvm.print_to_string().to_string());
    // Generating code changes the module, so a second output needs a copy.
    let assembly = match options.assembly {
        true => {
            let text = generate(&machine, &llvm.clone(), FileType::Assembly)?;
            Some(String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned())
        }
        false => None,
    };
    let start = Instant::now();
    let object = generate(&machine, &llvm, FileType::Object)?;
    timings.generate = start.elapsed();
    Ok(Emitted { object, ir, assembly, timings })
}

pub(super) fn translate<'a>(module: Op<'_>, context: &'a Context) -> Result<Module<'a>, Error> {
    let (raw, errors) = collect_errors(module.cx(), || {
        // SAFETY: module and contexts are alive; registering the same translations again does nothing.
        unsafe {
            mlir_sys::mlirRegisterAllLLVMTranslations(module.cx().to_raw());
            mlir_sys::mlirTranslateModuleToLLVMIR(module.to_raw(), context.as_ctx_ref().cast())
        }
    });
    if raw.is_null() {
        return Err(Error::Translate { diagnostics: errors.join("\n") });
    }
    // SAFETY: the module was made just now in `context` and belongs to nobody else.
    Ok(unsafe { Module::new(raw.cast()) })
}

pub(super) fn generate(machine: &TargetMachine, module: &Module<'_>, kind: FileType) -> Result<Vec<u8>, Error> {
    let buffer = machine
        .write_to_memory_buffer(module, kind)
        .map_err(|message| Error::Llvm { stage: "generate code", message: message.to_string() })?;
    Ok(buffer.as_slice().to_vec())
}
