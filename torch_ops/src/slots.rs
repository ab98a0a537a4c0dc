//! An address for each operator that a program calls: kernels of `strata_ops.h` are told apart by their addresses alone.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use crate::kernel::{Callable, OpCall, run};
use crate::registry::operators;
use crate::schema::signature;

/// A kernel of `strata_ops.h`.
type OpKernel = unsafe extern "C" fn(*const OpCall) -> i32;

/// How many operators a process can call.
const SLOTS: usize = 256;

/// The operators that have an address, that of [`KERNELS`] in the same place.
static CALLED: [OnceLock<Callable>; SLOTS] = [const { OnceLock::new() }; SLOTS];

/// # Safety
/// Called by the runtime with a call of `strata_ops.h`.
unsafe extern "C" fn slot<const N: usize>(call: *const OpCall) -> i32 {
    // (Whoever has the address has it from `strata_torch_kernel`, which fills the place first.)
    let Some(operator) = CALLED[N].get() else { return 1 };
    // SAFETY: the runtime's promise.
    unsafe { run(operator, call) }
}

macro_rules! sixteen {
    ($($high:literal)*) => {
        [$(
            slot::<{ $high * 16 }>, slot::<{ $high * 16 + 1 }>, slot::<{ $high * 16 + 2 }>, slot::<{ $high * 16 + 3 }>,
            slot::<{ $high * 16 + 4 }>, slot::<{ $high * 16 + 5 }>, slot::<{ $high * 16 + 6 }>, slot::<{ $high * 16 + 7 }>,
            slot::<{ $high * 16 + 8 }>, slot::<{ $high * 16 + 9 }>, slot::<{ $high * 16 + 10 }>, slot::<{ $high * 16 + 11 }>,
            slot::<{ $high * 16 + 12 }>, slot::<{ $high * 16 + 13 }>, slot::<{ $high * 16 + 14 }>, slot::<{ $high * 16 + 15 }>,
        )*]
    };
}

static KERNELS: [OpKernel; SLOTS] = sixteen!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);

/// The kernel of an operator by its name, as in `ns::name.overload`; null where no extension has one, or where no address is left.
///
/// # Safety
/// `name` is terminated.
#[unsafe(no_mangle)]
unsafe extern "C" fn strata_torch_kernel(name: *const c_char) -> Option<OpKernel> {
    // SAFETY: the runtime's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let operator = operators().get(&*name)?.clone();
    let (kernel, schema) = (operator.kernel?, operator.schema?);
    let callable = || Callable { name: name.clone().into_owned(), kernel, signature: signature(&schema) };
    CALLED.iter().zip(KERNELS).find(|(place, _)| place.get_or_init(callable).name == name).map(|(_, kernel)| kernel)
}
