//! One kernel as one function over pointers, and the function by which threads run a range of it.

use super::launch::write_task;
use crate::emit::emitter::Emitter;
use crate::emit::{Error, memory, near};
use crate::num::Num;
use strata_core::ir::{Op, OpSpec};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{func, llvm};
use strata_dialects::loops::attention::AttentionView;
use strata_dialects::loops::view::KernelView;
use strata_dialects::target::Target;

/// Writes the kernel as `func.func private @name(arguments.., results.., status, begin, end)` before the kernel op.
pub fn emit<'c>(op: Op<'c>) -> Result<(), Error> {
    let kernel = KernelView::new(op).ok_or_else(|| Error::at(op, "it has no stages or no sizes"))?;
    if let Some(reason) = kernel.refuse() {
        return Err(Error::at(op, reason));
    }
    let cx = op.cx();
    let pointer = memory::pointer(cx);
    let (args, results) = (op.body(0).args(), kernel.results());
    let mut types: Vec<_> = args.iter().map(|arg| if arg.ty().is_tensor() { pointer } else { arg.ty() }).collect();
    types.extend(results.iter().map(|_| pointer));
    types.extend([pointer, cx.index(), cx.index()]);
    let name = op.str("sym_name").unwrap_or_default();
    if !kernel.outer.is_empty() {
        write_task(op, &name, &types[..types.len() - 2]);
    }
    let noalias = cx.dict_attr(&[(llvm::NOALIAS, cx.unit())]);
    let none = cx.dict_attr(&[]);
    let mut arg_attrs: Vec<_> = types.iter().map(|&ty| if ty == pointer { noalias } else { none }).collect();
    for (result, place) in kernel.in_place().into_iter().enumerate() {
        let Some(place) = place else { continue };
        arg_attrs[place] = none;
        arg_attrs[args.len() + result] = none;
    }
    let mut at = Rewriter::before(op);
    let func = at.op(OpSpec {
        name: func::Func::NAME,
        attrs: &[
            ("sym_name", cx.str_attr(&name)),
            ("function_type", cx.type_attr(cx.function(&types, &[]))),
            ("sym_visibility", cx.str_attr("private")),
            ("arg_attrs", cx.array_attr(&arg_attrs)),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let block = func.region(0).append_block(&types, op.location());
    let values = block.args();
    let mut emitter = Emitter::new(kernel, block, &values)?;
    let target = Target::of(op).map_err(|wrong| Error::at(op, wrong.to_string()))?;
    emitter.ignores_nan = target.arch() == "x86_64";
    emitter.permutations = near::permutations(&target);
    let fixed = values.len() - 3;
    let range = (Num::Value(values[fixed + 1]), Num::Value(values[fixed + 2]));
    match AttentionView::of(&emitter.kernel).map_err(|reason| Error::at(op, reason))? {
        Some(view) => emitter.attention(view, range)?,
        None => {
            emitter.make_tiles()?;
            emitter.run(range)?;
        }
    }
    if emitter.kernel.stages.iter().any(|stage| stage.schedule().non_temporal == Some(true)) {
        memory::fence(&mut emitter.b);
    }
    emitter.release_tiles();
    func::ret(&mut emitter.b, &[]);
    at.erase(op);
    Ok(())
}
