//! Ops of other crates: what an op says of its own gradient.

use super::rule::{At, Cotangents};

/// An op that says itself what its gradient is: `#[op("mine.rotate", interfaces(Gradient))]`. `--differentiate` asks it.
pub trait Gradient {
    /// The cotangents of the operands, made of those of the results. [`Prim::fail`](strata_dialects::prim_builder::Prim::fail) refuses,
    /// with the reason, what has none.
    fn gradient<'c>(&self, at: &At<'c>) -> Cotangents<'c>;
}

#[cfg(test)]
mod tests {
    use strata_core::ir::Module;
    use strata_core::prelude::*;
    use strata_core::registry::{Registry, load_dialect};
    use strata_dialects::prim::types::AnyTensor;
    use strata_dialects::{capture, prim};

    use super::{At, Cotangents, Gradient};
    use crate::differentiate::signature::{Seeds, joint};

    static MINE: DialectDef = DialectDef { name: "mine", doc: "An op of a test.", ops: || vec![Triple::DEF], ..DialectDef::NEW };

    /// Three times a number.
    #[op("mine.triple", effects(Pure), interfaces(Gradient))]
    struct Triple {
        x: Operand<AnyTensor>,
        result: Result<AnyTensor>,
    }

    impl Gradient for Triple<'_> {
        fn gradient<'c>(&self, at: &At<'c>) -> Cotangents<'c> {
            vec![Some(at.g() * 3.0)]
        }
    }

    #[test]
    fn ops_bring_their_own_gradient() {
        let context = Registry::new().with_upstream().with_dialects(&[&MINE, &prim::PRIM, &capture::CAPTURE]).context();
        ["func", "arith", "mine", "prim", "capture"].iter().for_each(|dialect| {
            load_dialect(&context, dialect);
        });
        let text = "func.func @main(%x: tensor<3xf32> {capture.requires_grad}) -> tensor<3xf32> attributes {capture.entry} {
            %0 = mine.triple %x : (tensor<3xf32>) -> tensor<3xf32>
            return %0 : tensor<3xf32>
        }";
        let module = Module::parse(&context, text, "test.mlir").expect("the text is valid");
        assert_eq!(joint(module.body().ops()[0], &[], Seeds::Outputs(&[])).ok(), Some(1));
        let text = module.to_string();
        assert!(text.contains("prim.mul %arg1") && text.contains("dense<3.000000e+00>"), "{text}");
        assert!(module.op().check().is_ok(), "{text}");
    }
}
