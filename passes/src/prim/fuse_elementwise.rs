//! `--fuse-elementwise`: pointwise ops and views that feed each other become one `prim.fusion`.
//!
//! Exactly when: two groups that a value connects merge when one kernel can compute both (legality), no expensive value is computed
//! more than twice per element and no overlapping read repeats work (profit), and the target has room (veto).
//! A value that others use as well becomes a second result, when it has the kernel's shape. Constants and views are copied to each
//! reader, so each kernel reads memory as it wants. Refused, with a remark each: see [`crate::prim::fusion::Refusal`].
//! Reductions and contractions are left to `--fuse-reductions`.
//!
//! ```mlir
//! func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
//!   %0 = prim.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
//!   %1 = prim.mul %0, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
//!   return %1 : tensor<4x8xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
//!   %0 = prim.fusion %x : (tensor<4x8xf32>) -> tensor<4x8xf32> {
//!   ^bb0(%a: tensor<4x8xf32>):
//!     %1 = prim.sin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
//!     %2 = prim.mul %1, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
//!     prim.yield %2 : (tensor<4x8xf32>) -> ()
//!   }
//!   return %0 : tensor<4x8xf32>
//! }
//! ```

use crate::prim::fusion::{Rules, fusion_pass};
use strata_core::pass::{Counter, Pass, PassContext, PassError};

fusion_pass! {
    /// Groups pointwise ops and views that feed each other into one kernel each.
    pub struct FuseElementwise: Rules::default();
}

#[cfg(test)]
mod tests {
    use crate::testing::check_fusion;
    use expect_test::{Expect, expect};

    fn check(signature: &str, body: &str, expected: Expect) {
        check_fusion(super::run, signature, body, expected);
    }

    #[test]
    fn a_chain_with_constants_is_one_kernel() {
        check(
            "(%x: tensor<4x8xf32>) -> tensor<4x8xf32>",
            "%c = prim.constant {value = dense<1.5> : tensor<f32>} : () -> tensor<f32>
             %b = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
             %0 = prim.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
             %1 = prim.mul %0, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
             %2 = prim.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
             %3 = prim.add %2, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
             return %3 : tensor<4x8xf32>",
            expect![[r#"
                fusion[constant broadcast sin mul exp add]
                func.return"#]],
        );
    }

    #[test]
    fn a_value_used_twice_is_a_second_result() {
        check(
            "(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)",
            "%0 = prim.sin %x : (tensor<?xf32>) -> tensor<?xf32>
             %1 = prim.neg %0 : (tensor<?xf32>) -> tensor<?xf32>
             return %0, %1 : tensor<?xf32>, tensor<?xf32>",
            expect![[r#"
                fusion[sin neg]
                func.return"#]],
        );
    }

    #[test]
    fn an_expensive_value_is_not_repeated() {
        check(
            "(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>",
            "%0 = prim.exp %x : (tensor<8xf32>) -> tensor<8xf32>
             %1 = prim.broadcast %0 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
             %2 = prim.mul %1, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
             return %2 : tensor<4x8xf32>",
            expect![[r#"
                exp
                fusion[broadcast mul]
                func.return
                'prim.exp' is not fused into 'prim.broadcast': profit: 'prim.exp' is expensive and would be computed again for every repeated element"#]],
        );
        check(
            "(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>",
            "%0 = prim.neg %x : (tensor<8xf32>) -> tensor<8xf32>
             %1 = prim.broadcast %0 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
             %2 = prim.mul %1, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
             return %2 : tensor<4x8xf32>",
            expect![[r#"
                fusion[neg broadcast mul]
                func.return"#]],
        );
    }

    #[test]
    fn what_a_third_op_needs_in_between_stays_apart() {
        check(
            "(%x: tensor<4xf32>) -> tensor<4xf32>",
            "%0 = prim.sin %x : (tensor<4xf32>) -> tensor<4xf32>
             %s, %i = prim.sort %0 {dim = 0 : i64, descending = false} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
             %1 = prim.add %0, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
             return %1 : tensor<4xf32>",
            expect![[r#"
                sin
                sort
                add
                func.return
                'prim.sin' is not fused into 'prim.add': legality: an op outside of both depends on the one and feeds the other"#]],
        );
    }

    #[test]
    fn reads_that_overlap_take_little_work_in() {
        let body = |op: &str| {
            format!(
                "%c = prim.constant {{value = dense<0.0> : tensor<f32>}} : () -> tensor<f32>
                 %0 = prim.{op} %x : (tensor<4xf32>) -> tensor<4xf32>
                 %1 = prim.pad %0, %c {{low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>}} : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
                 %2 = prim.neg %1 : (tensor<6xf32>) -> tensor<6xf32>
                 return %2 : tensor<6xf32>"
            )
        };
        check(
            "(%x: tensor<4xf32>) -> tensor<6xf32>",
            &body("neg"),
            expect![[r#"
            fusion[constant neg pad neg]
            func.return"#]],
        );
        check(
            "(%x: tensor<4xf32>) -> tensor<6xf32>",
            &body("exp"),
            expect![[r#"
            exp
            fusion[constant pad neg]
            func.return
            'prim.exp' is not fused into 'prim.pad': profit: 'prim.pad' would compute what it reads several times or for nothing"#]],
        );
    }

    #[test]
    fn gathers_read_memory() {
        check(
            "(%x: tensor<9x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32>",
            "%0 = prim.neg %x : (tensor<9x8xf32>) -> tensor<9x8xf32>
             %1 = prim.abs %i : (tensor<4xi64>) -> tensor<4xi64>
             %2 = prim.gather %0, %1 {dims = array<i64: 0>} : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
             %3 = prim.neg %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
             return %3 : tensor<4x8xf32>",
            expect![[r#"
                neg
                fusion[abs gather neg]
                func.return
                'prim.neg' is not fused into 'prim.gather': legality: the gathered tensor must be in memory"#]],
        );
    }

    #[test]
    fn reshapes_stay_between_kernels_unless_only_ones_come_and_go() {
        check(
            "(%x: tensor<4x8xf32>) -> tensor<32xf32>",
            "%0 = prim.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
             %1 = prim.reshape %0 : (tensor<4x8xf32>) -> tensor<32xf32>
             %2 = prim.neg %1 : (tensor<32xf32>) -> tensor<32xf32>
             return %2 : tensor<32xf32>",
            expect![[r#"
                sin
                reshape
                neg
                func.return
                'prim.sin' is not fused into 'prim.reshape': profit: a reshape at the edge of a kernel is free
                'prim.reshape' is not fused into 'prim.neg': legality: the reshape moves elements across dimensions and is free between kernels"#]],
        );
        check(
            "(%x: tensor<4x8xf32>, %w: tensor<4xf32>) -> tensor<4x1x8x1xf32>",
            "%v = prim.reshape %w : (tensor<4xf32>) -> tensor<4x1xf32>
             %b = prim.broadcast %v {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
             %0 = prim.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
             %1 = prim.mul %0, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
             %2 = prim.reshape %1 : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
             %3 = prim.neg %2 : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
             %4 = prim.reshape %3 : (tensor<4x1x8xf32>) -> tensor<4x1x8x1xf32>
             return %4 : tensor<4x1x8x1xf32>",
            expect![[r#"
                reshape
                fusion[broadcast sin mul reshape neg]
                reshape
                func.return
                'prim.neg' is not fused into 'prim.reshape': profit: a reshape at the edge of a kernel is free"#]],
        );
    }
}
