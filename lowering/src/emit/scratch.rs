//! Scratch memory of a kernel: on the stack of the thread that runs it, so there is little.

use super::Error;
use super::emitter::{Buffer, Emitter};
use super::memory;
use crate::num::Num;
use strata_core::ir::{Builder, ElementType, Op, Value};
use strata_core::upstream::llvm;
use strata_dialects::loops::view::StageView;
use strata_dialects::loops::view::{product, product_of_known};

/// Bytes that all scratch memory of a kernel may take: a thread that calls a program may have a stack of 2 MiB.
const MOST: i64 = 1 << 20;

impl<'c> Emitter<'c> {
    /// Room for so many elements, for as long as the kernel runs.
    pub(crate) fn scratch(&mut self, of: Op<'c>, element: ElementType, elements: i64) -> Result<Value<'c>, Error> {
        let cx = self.cx;
        let bytes = elements.saturating_mul(element.bytes() as i64);
        self.scratch = self.scratch.saturating_add(bytes);
        if self.scratch > MOST {
            return Err(Error::at(of, format!("its scratch memory would take {} bytes, and a stack has room for {MOST}", self.scratch)));
        }
        let mut b = Builder::at_start(self.entry, self.b.location());
        let count = b.const_int(cx.int(64), elements);
        let attrs =
            [("elem_type", cx.type_attr(strata_dialects::loops::elements::memory_type(cx, element))), ("alignment", cx.i64_attr(64))];
        Ok(b.value(llvm::Alloca::NAME, &[count], memory::pointer(cx), &attrs))
    }

    /// Scratch memory for the results of tile stages.
    pub(crate) fn make_tiles(&mut self) -> Result<(), Error> {
        let stages: Vec<_> = self.kernel.stages.iter().filter(|stage| stage.is_tile()).map(|stage| StageView::new(stage.op)).collect();
        for stage in stages {
            let element = self.element(&stage)?;
            let dims = stage.result_dims();
            let kept: Vec<bool> = dims.iter().map(|dim| !self.kernel.outer.contains(dim)).collect();
            let shape: Vec<_> = dims.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(&dim, _)| self.sizes[dim]).collect();
            let known = shape.iter().map(|size| match size {
                Num::Const(size) => Some(*size),
                Num::Value(_) => None,
            });
            let elements = product_of_known(known).ok_or_else(|| Error::at(stage.op, "a tile needs sizes that are known"))?;
            // (Attention has one row tile at a time.)
            let copies = self.kernel.schedule().unroll.map_or(1, product);
            let base = self.scratch(stage.op, element, elements.saturating_mul(copies))?;
            self.buffers.insert(stage.op.result(0), Buffer { base, element, shape, kept: Some(kept) });
        }
        Ok(())
    }
}
