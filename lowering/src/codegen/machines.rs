//! LLVM's code generators, used again: what one works out of the features of its CPU takes longer than the code of a small
//! kernel.

use super::{Error, Target};
use inkwell::OptimizationLevel;
use inkwell::targets::TargetMachine;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// How many are kept that nobody uses: those of a few threads for a few targets.
const KEPT: usize = 32;

static IDLE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

struct Kept {
    target: Target,
    level: OptimizationLevel,
    machine: TargetMachine,
}

// SAFETY: a code generator belongs to no thread; one that is idle is used by none, and one that is lent only by the borrower's.
unsafe impl Send for Kept {}

/// A code generator that nobody else uses, for as long as it is needed.
pub(super) struct Machine(Option<Kept>);

/// The code generator for a target.
pub(super) fn lend(target: &Target, level: OptimizationLevel) -> Result<Machine, Error> {
    // A push or a removal is done or it is not.
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = idle.iter().rposition(|kept| kept.level == level && kept.target == *target);
    let kept = at.map(|at| idle.swap_remove(at));
    drop(idle);
    let kept = match kept {
        Some(kept) => kept,
        None => Kept { target: target.clone(), level, machine: target.machine(level)? },
    };
    Ok(Machine(Some(kept)))
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
        if idle.len() < KEPT && !std::thread::panicking() {
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
        let target = Target::named("x86-64-v3").unwrap().with_features("-movbe");
        let level = OptimizationLevel::Default;
        let address = |machine: &Machine| machine.as_mut_ptr();
        let (first, second) = (lend(&target, level).unwrap(), lend(&target, level).unwrap());
        let (a, b) = (address(&first), address(&second));
        assert_ne!(a, b, "two at once are two");
        drop(first);
        assert_ne!(address(&lend(&target.clone().with_features("-bmi2"), level).unwrap()), a, "another CPU is another");
        assert_ne!(address(&lend(&target, OptimizationLevel::None).unwrap()), a, "another level is another");
        assert_eq!(address(&lend(&target, level).unwrap()), a);
        drop(second);
    }
}
