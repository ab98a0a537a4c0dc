//! Masked stores of one known lane become stores of that element.
//!
//! LLVM's x86 backend does this itself, and wrongly where the vector was truncated on its way: with AVX-512 it first
//! makes trunc and masked store one narrowing store, and then stores the lane as wide as it was before the trunc, over
//! the elements behind it. Two and more lanes it stores right, and loads as well (tested for all widths).

use inkwell::llvm_sys::core::{LLVMGetAggregateElement, LLVMIsConstant};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, BasicValue, InstructionValue, IntValue, PointerValue, VectorValue};

/// Rewrites all masked stores whose mask is a constant with one lane set. Behind LLVM's passes, which fold masks.
pub(super) fn lane_stores(module: &Module<'_>) {
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
            rewrite(module, store);
        }
    }
}

/// Operands of the intrinsic: the vector, the address, the mask.
fn rewrite(module: &Module<'_>, store: InstructionValue<'_>) -> Option<()> {
    let operand = |index| store.get_operand(index)?.value();
    // Vectors whose length only the machine knows (SVE) have other masks.
    let vector = |index| operand(index).filter(|value| value.is_vector_value()).map(|value| value.into_vector_value());
    let (vector, mask) = (vector(0)?, vector(2)?);
    let address: PointerValue<'_> = operand(1)?.into_pointer_value();
    let lane = only_lane(mask)?;
    let context = module.get_context();
    let index = context.i64_type().const_int(lane.into(), false);
    let builder = context.create_builder();
    builder.position_before(&store);
    let element = builder.build_extract_element(vector, index, "").ok()?;
    // SAFETY: the masked store writes this element, so its address lies inside of the object.
    let place = unsafe { builder.build_in_bounds_gep(element.get_type(), address, &[index], "") }.ok()?;
    // The intrinsic may promise less than the element's own alignment, and nothing is gained by more than one byte's.
    builder.build_store(place, element).ok()?.set_alignment(1).ok()?;
    store.erase_from_basic_block();
    Some(())
}

/// The lane that a constant mask sets, if it is one alone.
fn only_lane(mask: VectorValue<'_>) -> Option<u32> {
    // SAFETY: the mask is alive, and a lane is asked of constants only; a null lane is none.
    let bit = |lane| unsafe {
        let element = LLVMGetAggregateElement(mask.as_value_ref(), lane);
        (!element.is_null()).then(|| IntValue::new(element).get_zero_extended_constant()).flatten()
    };
    // SAFETY: as above.
    let constant = unsafe { LLVMIsConstant(mask.as_value_ref()) } != 0;
    let mut set = (0..mask.get_type().get_size()).filter(|&lane| constant && bit(lane) == Some(1));
    set.next().filter(|_| set.next().is_none())
}
