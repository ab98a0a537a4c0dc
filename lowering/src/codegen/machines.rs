//! LLVM's code generators, used again: what one works out of the features of its CPU takes longer than the code of a small
//! kernel.

use super::{Error, Target};
use crate::target::{self, UnknownTarget};
use inkwell::OptimizationLevel;
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use inkwell::targets::{self, CodeModel, RelocMode, TargetMachine, TargetTriple};
use std::ffi::CStr;
use std::ops::Deref;
use std::sync::{Mutex, Once, PoisonError};

/// How many are kept that nobody uses: those of a few threads for a few targets.
const MAX_IDLE: usize = 32;

static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

struct Idle {
    target: Target,
    level: OptimizationLevel,
    machine: TargetMachine,
}

// SAFETY: a code generator belongs to no thread; an idle one is used by none, and one that was handed out only by its holder's.
unsafe impl Send for Idle {}

/// A code generator that nobody else uses, for as long as it is needed.
pub(super) struct Machine(Option<Idle>);

/// The code generator for a target.
pub(super) fn take(target: &Target, level: OptimizationLevel) -> Result<Machine, Error> {
    // A push or a removal is done or it is not.
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = idle.iter().rposition(|kept| kept.level == level && kept.target == *target);
    let kept = at.map(|at| idle.swap_remove(at));
    drop(idle);
    let kept = match kept {
        Some(kept) => kept,
        None => Idle { target: target.clone(), level, machine: create(target, level)? },
    };
    Ok(Machine(Some(kept)))
}

/// LLVM's code generator for a target: position-independent, small code model.
fn create(target: &Target, level: OptimizationLevel) -> Result<TargetMachine, Error> {
    initialise();
    let error = |message: String| UnknownTarget { triple: target.triple.clone(), cpu: target.cpu.clone(), message };
    let triple = TargetTriple::create(&target.triple);
    let known = targets::Target::from_triple(&triple).map_err(|message| error(message.to_string()))?;
    let made = known.create_target_machine(&triple, &target.cpu, &target.features, level, RelocMode::PIC, CodeModel::Small);
    Ok(made.ok_or_else(|| error("LLVM made no target machine".to_owned()))?)
}

/// LLVM's settings for the process, which it takes as a command line only.
///
/// Loop strength reduction is off: our loops come with the addresses and steps they are to have, and in bodies of many loads it took
/// 70% of the time of code generation. On AVX-512 and AVX2, kernels and networks take the same time with and without it (within 2%);
/// on plain SSE, which has few registers, a product of 1024x1024x1024 took 25.9 ms without it and 23.0 with it, ResNet-50 2% longer.
const SETTINGS: [&CStr; 2] = [c"strata", c"-disable-lsr"];

fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let arguments = SETTINGS.map(CStr::as_ptr);
        // SAFETY: the pointers are to constants with their zero byte; LLVM copies what it keeps, and only `ONCE` comes here.
        unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), std::ptr::null()) };
        target::initialise();
    });
}

impl Deref for Machine {
    type Target = TargetMachine;

    fn deref(&self) -> &TargetMachine {
        match &self.0 {
            Some(kept) => &kept.machine,
            None => unreachable!("it is given back when it is dropped"),
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let Some(kept) = self.0.take() else { return };
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody knows what a panic left behind.
        if idle.len() < MAX_IDLE && !std::thread::panicking() {
            idle.push(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_comes_back_to_those_who_ask_for_its_target() {
        // A target of no other test.
        let target = target::named("x86-64-v3").unwrap().with_features("-movbe");
        let level = OptimizationLevel::Default;
        let address = |machine: &Machine| machine.as_mut_ptr();
        let (first, second) = (take(&target, level).unwrap(), take(&target, level).unwrap());
        let (a, b) = (address(&first), address(&second));
        assert_ne!(a, b, "two at once are two");
        drop(first);
        assert_ne!(address(&take(&target.clone().with_features("-bmi2"), level).unwrap()), a, "another CPU is another");
        assert_ne!(address(&take(&target, OptimizationLevel::None).unwrap()), a, "another level is another");
        assert_eq!(address(&take(&target, level).unwrap()), a);
        drop(second);
    }
}
