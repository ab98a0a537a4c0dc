//! Groups of operators that become one kernel.

use strata_core::prelude::*;

use super::check::Checked;

/// The ops of its region, as one kernel. The operands are the arguments of the region's block, the results are what it yields.
///
/// C1: the block has the operands as arguments. C2: it ends in `prim.yield` of the result types.
#[op("prim.fusion", traits(IsolatedFromAbove, SingleBlock), effects(Pure), verify)]
pub struct Fusion {
    inputs: Variadic<AnyType>,
    outputs: Results<AnyType>,
    body: Region,
}

impl<'c> Verify for Fusion<'c> {
    fn verify(self) -> Checked {
        let Some(block) = self.body().entry() else { return Err(Violation::new(1, "the region is empty")) };
        let types = |values: Vec<Value<'c>>| values.into_iter().map(|value| value.ty()).collect::<Vec<_>>();
        let list = |types: &[Type<'_>]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        let (inputs, args) = (types(self.inputs()), types(block.args()));
        ensure!(inputs == args, 1, "the operands are ({}), the block's arguments ({})", list(&inputs), list(&args));
        let yielded = block.terminator().filter(|op| op.isa::<Yield>()).map(|op| types(op.operands()));
        ensure!(yielded == Some(types(self.outputs())), 2, "the region does not yield the results");
        Ok(())
    }
}

/// What a fusion gives.
#[op("prim.yield", traits(Terminator, ReturnLike), effects(Pure))]
pub struct Yield {
    values: Variadic<AnyType>,
}
