//! Stages whose body and sum are one instruction of the CPU: what `instruction` on the stage names.

use super::Error;
use super::emitter::Emitter;
use super::lanes::in_lanes;
use super::nest::Copy;
use strata_core::ir::{ElementType, OpSpec, Value};
use strata_core::upstream::{llvm, vector};
use strata_dialects::loops::view::StageView;
use strata_dialects::loops::{AVX512BF16, INSTRUCTION};

/// Words of a register of the instruction.
const WORDS: i64 = 16;

impl<'c> Emitter<'c> {
    /// Whether the instruction that a stage names can be had with as many lanes as there are.
    pub(super) fn has_instruction(&self, stage: &StageView<'c>) -> bool {
        stage.op.str(INSTRUCTION).as_deref() == Some(AVX512BF16) && self.width == WORDS
    }

    /// The sum of what was there and the products of the two halves of both operands' words.
    pub(super) fn dot(&mut self, stage: &StageView<'c>, copy: &Copy<'c>, before: Value<'c>) -> Result<Value<'c>, Error> {
        let cx = self.cx;
        let ty = cx.vector(&[2 * WORDS], cx.element(ElementType::BF16));
        let mut operands = vec![before];
        for at in 0..2 {
            let words = self.read(stage, at, copy)?;
            let words = in_lanes(&mut self.b, words, WORDS);
            operands.push(vector::bitcast(&mut self.b, words, ty));
        }
        let lists = |text: &str| cx.parse_attr(text).unwrap_or_else(|| unreachable!("upstream's spelling"));
        let attrs = [
            ("intrin", cx.str_attr("llvm.x86.avx512bf16.dpbf16ps.512")),
            ("op_bundle_sizes", lists("array<i32>")),
            ("operandSegmentSizes", lists("array<i32: 3, 0>")),
        ];
        let spec =
            OpSpec { name: llvm::CallIntrinsic::NAME, operands: &operands, results: &[before.ty()], attrs: &attrs, ..OpSpec::default() };
        Ok(self.b.op(spec).result(0))
    }
}
