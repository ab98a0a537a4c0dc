//! The `gpu` level: launches of kernels, executed as a GPU would, block by block, with the threads of a block in lock-step.
//!
//! Shared memory, barriers and exchanges between lanes are real. What a GPU would leave open is an error here: a barrier that not all
//! threads reach, an exchange with a lane that is off, and accesses of one place by two threads of which one writes, with nothing
//! that orders them.

mod code;
mod copies;
mod decode;
mod emulator;
mod matrix;
mod memory;
mod order;
mod run;
mod scalar;
#[cfg(test)]
mod tests;

pub use emulator::Emulator;

use super::affine::Expr;
use super::run::Machine;
use super::value::{InterpError, fail};
use memory::{GLOBAL, Memories, pointer};
use std::collections::HashMap;
use std::rc::Rc;
use strata_core::ir::{Attr, Op};
use strata_core::upstream::gpu;
use strata_dialects::host::{GRID, SYMBOLS};

/// Kernels that were read before.
pub(super) type Known = HashMap<String, Rc<code::Code>>;

/// The device's function of that name, and the device's module.
pub(super) fn find<'c>(module: Op<'c>, name: &str) -> Option<(Op<'c>, Op<'c>)> {
    let devices = module.body(0).ops().into_iter().filter(|op| op.isa::<gpu::Module>());
    devices.filter_map(|device| Some((device, device.lookup_symbol(name)?))).find(|(_, function)| function.isa::<gpu::Func>())
}

/// Runs `host.launch` of a device's function.
pub(super) fn launch<'c>(m: &mut Machine<'c>, op: Op<'c>, (device, function): (Op<'c>, Op<'c>)) -> Result<(), InterpError> {
    let name = function.str("sym_name").unwrap_or_default();
    let code = match m.kernels.get(&name) {
        Some(code) => code.clone(),
        None => {
            let code = Rc::new(decode::decode(device, function)?);
            m.kernels.insert(name, code.clone());
            code
        }
    };
    let mut arguments = Vec::new();
    for operand in op.operands() {
        arguments.push(match operand.ty().is_memref() {
            true => {
                let (block, offset) = super::host::view(m, operand)?.place();
                pointer(GLOBAL, block, offset)
            }
            false => super::host::register(m, operand)?,
        });
    }
    let symbols = function.ints(SYMBOLS).unwrap_or_default();
    let symbols = symbols.into_iter().map(|at| arguments.get(at as usize).map(|&value| value as i64));
    let symbols = symbols.collect::<Option<Vec<_>>>().ok_or_else(|| fail("a symbol is no argument of the launch"))?;
    let grid = function.attr(GRID).and_then(Attr::as_map).ok_or_else(|| fail("the kernel does not say how many blocks it has"))?;
    let blocks = Expr::map(grid).first().map_or(Ok(1), |expr| expr.value(&[], &symbols))?;
    let status = m.memory.add_block(vec![0; 8]);
    arguments.push(pointer(GLOBAL, status, 0));
    let mut memory = Memories::new(m.memory.blocks(), &code.constants, code.shared, (code.threads, code.local), status);
    (0..blocks.max(0) as u64).try_for_each(|block| run::BlockRun::run(&code, &mut memory, &arguments, block))?;
    match m.memory.take_block(status).first() {
        Some(0) => Ok(()),
        _ => Err(fail("index out of bounds")),
    }
}
