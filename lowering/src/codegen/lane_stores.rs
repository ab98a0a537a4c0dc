//! Masked stores of known lanes become stores of those elements: of one lane everywhere, of several side by side where masks are vectors.
//!
//! One lane LLVM's x86 backend does itself, and wrongly where the vector was truncated on its way: with AVX-512 it first
//! makes trunc and masked store one narrowing store, and then stores the lane as wide as it was before the trunc, over
//! the elements behind it. Two and more lanes it stores right, and loads as well (tested for all widths).
//!
//! Where masks are no registers, a store with lanes that are off takes twenty times as long as a whole one, and bytes and halves are stored
//! one by one. The end of a row is known, so it is stored in pieces of 2^n lanes.

use inkwell::llvm_sys::core::{LLVMGetAggregateElement, LLVMIsConstant};
use inkwell::module::Module;
use inkwell::types::VectorType;
use inkwell::values::{AsValueRef, BasicValue, BasicValueEnum, InstructionValue, IntValue, PointerValue, VectorValue};
use std::ops::Range;
use strata_dialects::target::Target;

/// Rewrites the masked stores whose mask is such a constant. Behind LLVM's passes, which fold masks.
pub(super) fn lane_stores(module: &Module<'_>, target: &Target) {
    let most = if target.has_mask_registers() { 1 } else { u32::MAX };
    for function in module.get_functions() {
        if !function.get_name().to_bytes().starts_with(b"llvm.masked.store.") {
            continue;
        }
        let mut stores = Vec::new();
        let mut next = function.as_global_value().as_pointer_value().get_first_use();
        while let Some(at) = next {
            stores.extend(InstructionValue::try_from(at.get_user()).ok());
            next = at.get_next_use();
        }
        for store in stores {
            rewrite(module, store, most);
        }
    }
}

/// Operands of the intrinsic: the vector, the address, the mask. At most so many lanes are stored by themselves.
fn rewrite(module: &Module<'_>, store: InstructionValue<'_>, most: u32) -> Option<()> {
    let operand = |index| store.get_operand(index)?.value();
    // Vectors whose length only the machine knows (SVE) have other masks.
    let vector = |index| operand(index).filter(|value| value.is_vector_value()).map(|value| value.into_vector_value());
    let (vector, mask) = (vector(0)?, vector(2)?);
    let address: PointerValue<'_> = operand(1)?.into_pointer_value();
    let lanes = lanes_in_a_row(mask).filter(|lanes| lanes.len() <= most as usize)?;
    let context = module.get_context();
    let builder = context.create_builder();
    builder.position_before(&store);
    let number = |lane: u32| context.i32_type().const_int(lane.into(), false);
    let mut first = lanes.start;
    while first < lanes.end {
        let count = 1 << (lanes.end - first).ilog2();
        let piece: BasicValueEnum<'_> = match count {
            1 => builder.build_extract_element(vector, number(first), "").ok()?,
            _ => {
                let picked: Vec<_> = (first..first + count).map(number).collect();
                builder.build_shuffle_vector(vector, vector, VectorType::const_vector(&picked), "").ok()?.into()
            }
        };
        let element = vector.get_type().get_element_type();
        // SAFETY: the masked store writes this element, so its address lies inside of the object.
        let place = unsafe { builder.build_in_bounds_gep(element, address, &[number(first)], "") }.ok()?;
        // The intrinsic may promise less than the element's own alignment, and nothing is gained by more than one byte's.
        builder.build_store(place, piece).ok()?.set_alignment(1).ok()?;
        first += count;
    }
    store.erase_from_basic_block();
    Some(())
}

/// The lanes that a constant mask sets, if there are some, and they lie side by side.
fn lanes_in_a_row(mask: VectorValue<'_>) -> Option<Range<u32>> {
    // SAFETY: the mask is alive.
    if unsafe { LLVMIsConstant(mask.as_value_ref()) } == 0 {
        return None;
    }
    // SAFETY: the mask is alive and a constant; a null lane is none.
    let bit = |lane| unsafe {
        let element = LLVMGetAggregateElement(mask.as_value_ref(), lane);
        (!element.is_null()).then(|| IntValue::new(element).get_zero_extended_constant()).flatten()
    };
    let bits: Vec<_> = (0..mask.get_type().get_size()).map(bit).collect::<Option<_>>()?;
    let first = bits.iter().position(|bit| *bit == 1)?;
    let count = bits[first..].iter().take_while(|bit| **bit == 1).count();
    let all = bits.iter().filter(|bit| **bit == 1).count();
    (count == all).then_some(first as u32..(first + count) as u32)
}
