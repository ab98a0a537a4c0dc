//! What every function must say before LLVM optimises: the machine, and that nothing outside calls or sees it.

use super::{ENTRY, PREPARE, Target};
use crate::expand_math::{EXACT_PREFIX, FAR};
use inkwell::GlobalVisibility;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::core::*;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AsValueRef, BasicValue, FunctionValue, InstructionOpcode};

/// Sets attributes and linkage on all functions and globals.
///
/// Without `target-cpu` and `target-features` LLVM compiles for the first x86-64 ever made. Definitions other than
/// the entries and `exports` become internal, these hidden: then no address goes through a global offset table.
/// `no-builtins` keeps LLVM from turning loops into calls of `memset`: buffers are short or written in parallel.
pub(super) fn prepare(module: &Module<'_>, target: &Target, exports: &[String]) {
    let context = module.get_context();
    let named = |name: &str| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
    let text = |key: &str, value: &str| context.create_string_attribute(key, value);
    let machine = [
        text("target-cpu", &target.cpu),
        text("target-features", &target.features),
        text("prefer-vector-width", &target.vector_bits.to_string()),
        text("no-builtins", ""),
        named("nounwind"),
    ];
    let pure = [named("nounwind"), named("willreturn"), named("nocallback"), named("memory")];
    for function in module.get_functions() {
        let name = function.get_name().to_string_lossy().into_owned();
        let defined = function.count_basic_blocks() > 0;
        let attributes: &[Attribute] = match () {
            () if defined => &machine,
            () if is_pure(&name) => &pure,
            () => &pure[..1],
        };
        if name.starts_with("llvm.") {
            continue;
        }
        for attribute in attributes {
            function.add_attribute(AttributeLoc::Function, *attribute);
        }
        if !defined {
            continue;
        }
        if name == ENTRY || name == PREPARE || exports.contains(&name) {
            function.as_global_value().set_visibility(GlobalVisibility::Hidden);
        } else {
            function.set_linkage(Linkage::Internal);
        }
    }
    for global in module.get_globals() {
        if !global.is_declaration() {
            global.set_linkage(Linkage::Internal);
        }
    }
}

/// `preserve_allcc`: the callee saves what it uses of nearly all registers.
const PRESERVE_ALL: u32 = 15;

/// Has functions that are hardly ever called save the registers, in place of the loops that call them.
///
/// On x86-64 only those that return 256 bits: behind a shorter result LLVM clears the upper halves of all registers, the saved ones too,
/// and longer registers are not saved whole.
pub(super) fn preserve_registers(module: &Module<'_>, target: &Target) {
    let prefix = format!("{EXACT_PREFIX}{FAR}");
    let fits = |function: &FunctionValue<'_>| match function.get_type().get_return_type() {
        Some(BasicTypeEnum::VectorType(ty)) => {
            let double = ty.get_element_type() == BasicTypeEnum::FloatType(module.get_context().f64_type());
            target.arch() != "x86_64" || ty.get_size() * (if double { 64 } else { 32 }) == 256
        }
        _ => false,
    };
    let far = module.get_functions().filter(|function| function.get_name().to_string_lossy().starts_with(&prefix));
    for function in far.filter(fits) {
        function.set_call_conventions(PRESERVE_ALL);
        let mut next = function.as_global_value().as_pointer_value().get_first_use();
        while let Some(at) = next {
            let user = at.get_user().as_value_ref();
            // SAFETY: users of a function are alive; the convention is set on calls only.
            unsafe {
                if !LLVMIsACallInst(user).is_null() {
                    LLVMSetInstructionCallConv(user, PRESERVE_ALL);
                }
            }
            next = at.get_next_use();
        }
    }
}

/// Lets LLVM fuse a product and a sum everywhere but in functions whose rounding is designed.
pub(super) fn allow_contraction(module: &Module<'_>) {
    for function in module.get_functions() {
        if !function.get_name().to_string_lossy().starts_with(EXACT_PREFIX) {
            contract(function);
        }
    }
}

fn contract(function: FunctionValue<'_>) {
    for block in function.get_basic_blocks() {
        for instruction in block.get_instructions() {
            let raw = inkwell::values::AsValueRef::as_value_ref(&instruction);
            // On a conversion the flag would let LLVM merge two roundings into one, which PyTorch does not.
            let fuses = matches!(
                instruction.get_opcode(),
                InstructionOpcode::FAdd | InstructionOpcode::FMul | InstructionOpcode::FSub | InstructionOpcode::FNeg
            );
            // SAFETY: the instruction is alive, and flags are only set where LLVM allows them.
            unsafe {
                if fuses && LLVMCanValueUseFastMathFlags(raw) != 0 {
                    LLVMSetFastMathFlags(raw, LLVMGetFastMathFlags(raw) | inkwell::llvm_sys::LLVMFastMathAllowContract);
                }
            }
        }
    }
}

/// Functions of the C maths libraries: nothing reads the `errno` that some of them set.
fn is_pure(name: &str) -> bool {
    name.starts_with("_ZGV") || name.starts_with("strata_math_") || crate::expand_math::is_libm(name)
}
