//! Gradients that a user registers for her operators.

use strata_core::prelude::*;

use crate::prim::check;

/// The first operands as they are, with a gradient that the region computes. The other operands are the arguments that they were computed
/// from. The region takes these, the results, and a cotangent for each result; it gives a cotangent for each argument that is a tensor of
/// floats or complex numbers. `--differentiate` takes it in the place of the gradient of what computed the results.
///
/// C1: the results have the types of the first operands, and are tensors. C2: the block takes the arguments, the results and the cotangents.
/// C3: it ends in `capture.yield` of tensors of the arguments' element types and ranks. Sizes agree where they are known.
#[op("capture.custom_gradient", traits(IsolatedFromAbove, SingleBlock), effects(Pure), verify)]
pub struct CustomGradient {
    operands: Variadic<AnyType>,
    results: Results<AnyType>,
    backward: Region,
}

impl<'c> CustomGradient<'c> {
    /// The op for these results of these arguments, and the block that takes them and a cotangent of each result. The caller fills the block.
    pub fn begin(builder: &mut Rewriter<'c>, results: &[Value<'c>], arguments: &[Value<'c>]) -> (Op<'c>, Block<'c>) {
        let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
        let (operands, results, arguments) = ([results, arguments].concat(), types(results), types(arguments));
        let made = builder.op(OpSpec { name: Self::NAME, operands: &operands, results: &results, regions: 1, ..OpSpec::default() });
        let block = builder.add_block(made.region(0), &[arguments, results.clone(), results].concat());
        (made, block)
    }

    /// The values that it gives, and the arguments that they were computed from.
    pub fn parts(self) -> (Vec<Value<'c>>, Vec<Value<'c>>) {
        let mut values = self.operands();
        let arguments = values.split_off(self.results().len().min(values.len()));
        (values, arguments)
    }
}

/// Whether a value of this type has a cotangent.
pub fn has_cotangent(ty: Type<'_>) -> bool {
    ty.is_tensor() && ty.element_type().is_some_and(|element| element.is_float() || element.is_complex())
}

impl<'c> Verify for CustomGradient<'c> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
        let list = |types: &[Type<'_>]| format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "));
        let (values, arguments) = self.parts();
        let (values, arguments, results) = (types(&values), types(&arguments), types(&self.results()));
        let tensors = results.iter().all(|ty| ty.is_tensor());
        ensure!(values == results && tensors, 1, "the results are {}, the first operands {}", list(&results), list(&values));
        let Some(block) = self.backward().entry() else { return Err(Violation::new(2, "the region is empty")) };
        let (taken, wanted) = (types(&block.args()), [arguments.as_slice(), &results, &results].concat());
        ensure!(all_agree(&taken, &wanted), 2, "the block takes {}, and is given {}", list(&taken), list(&wanted));
        let given = block.terminator().filter(|op| op.isa::<Yield>()).map(|op| types(&op.operands()));
        let Some(given) = given else { return Err(Violation::new(3, "the block does not end in `capture.yield`")) };
        let wanted: Vec<_> = arguments.into_iter().filter(|ty| has_cotangent(*ty)).collect();
        ensure!(all_agree(&given, &wanted), 3, "it gives {}, and the arguments have cotangents {}", list(&given), list(&wanted));
        Ok(())
    }
}

/// Whether types differ in how many of their sizes are known only.
fn all_agree(a: &[Type<'_>], b: &[Type<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(*a, *b))
}

/// Whether two types differ in how many of their sizes are known only.
pub fn agree(a: Type<'_>, b: Type<'_>) -> bool {
    let tensors = a.is_tensor() && b.is_tensor() && a.element() == b.element();
    a == b || tensors && a.rank() == b.rank() && check::shapes_agree(&a.shape(), &b.shape())
}

/// What the region of a `capture.custom_gradient` gives.
#[op("capture.yield", traits(Terminator, ReturnLike), effects(Pure))]
pub struct Yield {
    values: Variadic<AnyType>,
}
