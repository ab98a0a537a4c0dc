//! Loops that a decomposition makes.

use strata_core::ir::{OpSpec, Value};
use strata_core::upstream::scf;

use super::builder::Prim;
use super::size::Size;
use super::tensor::Tensor;

impl<'c> Prim<'c> {
    /// A loop of `count` steps, as `scf.for`; gives the state behind the last one. A step gets its number and the state, and gives the next
    /// state: as many tensors of the same element types and sizes.
    pub fn counted(
        &'c self,
        count: Size<'c>,
        state: &[Tensor<'c>],
        step: impl FnOnce(Size<'c>, &[Tensor<'c>]) -> Vec<Tensor<'c>>,
    ) -> Vec<Tensor<'c>> {
        let bounds = [Size::Const(0), count, Size::Const(1)].map(|size| self.index(size));
        let operands: Vec<_> = bounds.into_iter().chain(state.iter().map(|tensor| tensor.value())).collect();
        let types: Vec<_> = state.iter().map(|tensor| tensor.ty()).collect();
        let (op, block, place) = self.build(|builder| {
            let op = builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
            let arguments = [&[builder.cx().index()], types.as_slice()].concat();
            let block = builder.add_block(op.region(0), &arguments);
            (op, block, builder.go_into(block))
        });
        let as_state =
            |values: &[Value<'c>]| -> Vec<_> { values.iter().zip(state).map(|(value, like)| self.as_tensor(*value, *like)).collect() };
        let next = step(self.symbol(block.arg(0)), &as_state(&block.args()[1..]));
        let same = |(tensor, ty): (Tensor<'c>, &_)| if tensor.ty() == *ty { tensor.value() } else { self.retype(tensor, *ty) };
        let next: Vec<_> = next.into_iter().zip(&types).map(same).collect();
        self.build(|builder| {
            scf::yield_(builder, &next);
            builder.go_back(place);
        });
        as_state(&op.results())
    }
}
