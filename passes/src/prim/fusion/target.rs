//! The third question: does the machine allow a kernel of this size?

use super::Refusal;
use super::kernel::Kernel;

/// Limits of a machine, as data.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Operands and results of a kernel.
    pub max_operands: usize,
    /// Ops in a kernel; bounds compile time as well.
    pub max_ops: usize,
}

impl Default for Target {
    /// A CPU: operands live in memory, so only registers for their addresses and compile time count.
    fn default() -> Self {
        Self { max_operands: 64, max_ops: 512 }
    }
}

impl Target {
    /// Whether the machine takes the kernel.
    pub fn veto(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let operands = kernel.inputs.len() + kernel.outputs;
        if operands > self.max_operands {
            return Err(Refusal::TooManyOperands(operands, self.max_operands));
        }
        if kernel.ops > self.max_ops {
            return Err(Refusal::TooManyOps(kernel.ops, self.max_ops));
        }
        Ok(())
    }
}
