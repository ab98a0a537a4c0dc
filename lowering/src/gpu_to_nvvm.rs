//! `--gpu-to-nvvm`: the device's module becomes LLVM and NVVM ops, ready to be translated.
//!
//! The handful of `gpu` ops that kernels have become NVVM's here; all else is lowered as CPU code is. (Upstream's own conversion would
//! call NVIDIA's library for a square root.)

use crate::codegen;
use crate::target::MathTarget;
use strata_core::ir::{Attr, Op, OpSpec};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, func, gpu, nvvm};

/// Lowers the functions of every `gpu.module`.
#[derive(Pass)]
#[pass(dependents("affine", "arith", "cf", "func", "gpu", "llvm", "math", "memref", "nvvm", "scf", "tensor", "vector"))]
pub struct GpuToNvvm {}

impl Pass for GpuToNvvm {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut rewriter = cx.rewriter();
        for device in op.find_all(gpu::Module::NAME) {
            let kernels: Vec<_> = device.find_all(gpu::Func::NAME).into_iter().map(|op| function(op, &mut rewriter)).collect();
            for op in device.find_all(gpu::Barrier::NAME) {
                rewriter.go_before(op);
                rewriter.effect(nvvm::Barrier0::NAME, &[], &[]);
                rewriter.erase(op);
            }
            device.find_all(gpu::ThreadId::NAME).into_iter().for_each(|op| register(op, nvvm::ThreadIdX::NAME, &mut rewriter));
            device.find_all(gpu::BlockId::NAME).into_iter().for_each(|op| register(op, nvvm::BlockIdX::NAME, &mut rewriter));
            device.find_all(gpu::Shuffle::NAME).into_iter().for_each(|op| shuffle(op, &mut rewriter));
            let mut run =
                |passes: &str| cx.run_pipeline(device, passes).map_err(|error| codegen::Error::Lower { diagnostics: error.to_string() });
            codegen::lower(device, &MathTarget::device(), &mut run).map_err(|error| PassError::new(error.to_string()))?;
            for kernel in kernels {
                let Some(function) = device.lookup_symbol(&kernel.name) else { continue };
                rewriter.set_attr(function, nvvm::KERNEL, function.cx().unit());
                rewriter.set_attr(function, nvvm::REQNTID, function.cx().i32s_attr(&kernel.threads));
            }
        }
        Ok(())
    }
}

struct Kernel {
    name: String,
    threads: Vec<i32>,
}

/// A `gpu.func` as a `func.func`.
fn function<'c>(op: Op<'c>, rewriter: &mut Rewriter<'c>) -> Kernel {
    let cx = op.cx();
    let name = op.str("sym_name").unwrap_or_default();
    let threads = op.ints("known_block_size").unwrap_or_default().into_iter().map(|size| size as i32).collect();
    let mut attrs = vec![("sym_name", cx.str_attr(&name))];
    attrs.extend(["function_type", "arg_attrs"].into_iter().filter_map(|name| Some((name, op.attr(name)?))));
    rewriter.go_before(op);
    let func = rewriter.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
    rewriter.move_body(op.region(0), func.region(0));
    rewriter.erase(op);
    for op in func.find_all(gpu::Return::NAME) {
        rewriter.go_before(op);
        func::ret(rewriter, &[]);
        rewriter.erase(op);
    }
    Kernel { name, threads }
}

/// A special register as an `index`.
fn register<'c>(op: Op<'c>, name: &str, rewriter: &mut Rewriter<'c>) {
    let cx = op.cx();
    rewriter.go_before(op);
    let value = rewriter.value(name, &[], cx.int(32), &[]);
    let value = arith::index_castui(rewriter, value, cx.index());
    rewriter.replace(op, &[value]);
}

/// An exchange across the whole warp; all of its lanes take part.
fn shuffle<'c>(op: Op<'c>, b: &mut Rewriter<'c>) {
    let cx = op.cx();
    b.go_before(op);
    let word = cx.int(32);
    let (all, last, on) = (b.const_int(word, -1), b.const_int(word, 31), b.const_int(cx.int(1), 1));
    let kind: Option<Attr<'_>> = cx.parse_attr("#nvvm<shfl_kind bfly>");
    let attrs: Vec<_> = kind.into_iter().map(|kind| ("kind", kind)).collect();
    let value = b.value(nvvm::ShflSync::NAME, &[all, op.operand(0), op.operand(1), last], op.operand(0).ty(), &attrs);
    b.replace(op, &[value, on]);
}
