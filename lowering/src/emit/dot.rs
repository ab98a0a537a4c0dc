//! Stages whose body and sum are one instruction of the CPU: what `instruction` on the stage names.

use super::Error;
use super::emitter::Emitter;
use super::lanes::in_lanes;
use super::nest::Copy;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::{llvm, vector};
use strata_dialects::loops::view::StageView;
use strata_dialects::loops::{AVX512BF16, INSTRUCTION, VNNI};

/// An instruction: its name on a stage, the 32-bit words of its registers, what it takes them for, and LLVM's name.
struct Dot(&'static str, i64, ElementType, &'static str);

const DOTS: &[Dot] = &[
    Dot(AVX512BF16, 8, ElementType::BF16, "llvm.x86.avx512bf16.dpbf16ps.256"),
    Dot(AVX512BF16, 16, ElementType::BF16, "llvm.x86.avx512bf16.dpbf16ps.512"),
    Dot(VNNI, 8, ElementType::I8, "llvm.x86.avx512.vpdpbusd.256"),
    Dot(VNNI, 16, ElementType::I8, "llvm.x86.avx512.vpdpbusd.512"),
];

impl<'c> Emitter<'c> {
    /// The instruction that a stage names, where it can be had with as many lanes as there are.
    fn instruction(&self, stage: &StageView<'c>) -> Option<&'static Dot> {
        let name = stage.op.str(INSTRUCTION)?;
        DOTS.iter().find(|Dot(known, words, ..)| *known == name && *words == self.width)
    }

    /// Whether a stage has one.
    pub(super) fn has_instruction(&self, stage: &StageView<'c>) -> bool {
        self.instruction(stage).is_some()
    }

    /// The sum of what was there and the products of the parts of both operands' words.
    pub(super) fn dot(&mut self, stage: &StageView<'c>, copy: &Copy<'c>, before: Value<'c>) -> Result<Value<'c>, Error> {
        let cx = self.cx;
        let Some(&Dot(_, words, element, intrinsic)) = self.instruction(stage) else { return Ok(before) };
        let ty = cx.vector(&[words * 32 / i64::from(element.bits())], cx.element(element));
        let mut operands = vec![before];
        for at in 0..2 {
            let read = self.read(stage, at, copy)?;
            let read = in_lanes(&mut self.b, read, words);
            operands.push(vector::bitcast(&mut self.b, read, ty));
        }
        Ok(llvm::call_intrinsic(&mut self.b, intrinsic, &operands, before.ty()))
    }
}
