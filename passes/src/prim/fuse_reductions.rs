//! `--fuse-reductions`: reductions and contractions take in what stands before and after them.
//!
//! Exactly when, beyond what `--fuse-elementwise` does:
//! - **reductions** (`reduce`, `arg_reduce`) share a kernel with pointwise work and with each other when all of them drop the same
//!   dimensions and keep the same outer ones, and what follows reads their results at the outer index: by broadcasting back along
//!   the row, or pointwise. So softmax, layernorm and batch statistics are one kernel each, whose stages compute the row anew.
//! - a **contraction** (`dot`, `conv`) takes in views and conversions of its operands, and the pointwise work that reads its result
//!   at the same index (bias, activation, residual). It shares its kernel with no other contraction or reduction.
//!
//! Refused, with a remark each: see [`crate::prim::fusion::Refusal`]. Existing fusions are opened and may grow.
//!
//! ```mlir
//! func.func @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {
//!   %0 = prim.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
//!   %1 = prim.reduce %0 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
//!   return %1 : tensor<4xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {
//!   %0 = prim.fusion %x : (tensor<4x8xf32>) -> tensor<4xf32> {
//!   ^bb0(%a: tensor<4x8xf32>):
//!     %1 = prim.sin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
//!     %2 = prim.reduce %1 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
//!     prim.yield %2 : (tensor<4xf32>) -> ()
//!   }
//!   return %0 : tensor<4xf32>
//! }
//! ```

use crate::prim::fusion::{Rules, fusion_pass};
use strata_core::pass::{Counter, Pass, PassContext, PassError};

fusion_pass! {
    /// Lets reductions and contractions take in what stands before and after them.
    pub struct FuseReductions: Rules { reductions: true, ..Rules::default() };
}

#[cfg(test)]
mod tests {
    use crate::prim::fusion::Remark;
    use crate::testing::check_fusion;
    use expect_test::{Expect, expect};
    use strata_core::ir::Op;

    /// Both passes, as pipelines run them.
    fn check(signature: &str, body: &str, expected: Expect) {
        fn both(function: Op<'_>) -> Vec<Remark<'_>> {
            crate::prim::fuse_elementwise::run(function);
            super::run(function)
        }
        check_fusion(both, signature, body, expected);
    }

    /// The chain of statements whose cost per statement must not show: one pool of 20, 30 statements, then the sum.
    fn chain(statements: usize) -> String {
        let mut body = String::new();
        let mut value = "%x".to_owned();
        let mut next = 0;
        let mut emit = |op: &str, value: &str, constant: Option<f64>| {
            next += 1;
            match constant {
                Some(constant) => body.push_str(&format!(
                    "%c{next} = prim.constant {{value = dense<{constant:?}> : tensor<f32>}} : () -> tensor<f32>
                     %b{next} = prim.broadcast %c{next}, %n {{dims = array<i64>}} : (tensor<f32>, index) -> tensor<?x16xf32>
                     %v{next} = prim.{op} {value}, %b{next} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>\n"
                )),
                None => body.push_str(&format!("%v{next} = prim.{op} {value} : (tensor<?x16xf32>) -> tensor<?x16xf32>\n")),
            }
            format!("%v{next}")
        };
        for statement in 0..statements {
            let constant =
                [0.1, 0.0, 1.1, 0.0, 0.2, 0.0, 0.1, 0.5, 0.3, 0.0, 1.2, 0.0, 0.4, 0.0, 0.2, 0.0, 0.5, 0.4, 1.3, 0.0][statement % 20];
            value = match statement % 20 {
                0 | 4 | 8 | 12 | 16 => emit("add", &value, Some(constant)),
                1 | 11 => emit("sin", &value, None),
                3 | 13 => emit("cos", &value, None),
                2 | 10 | 18 => emit("mul", &value, Some(constant)),
                5 | 15 => emit("maximum", &value, Some(0.0)),
                6 | 14 => emit("sub", &value, Some(constant)),
                7 | 17 => {
                    let scaled = emit("mul", &value, Some(constant));
                    emit("exp", &scaled, None)
                }
                _ => {
                    let negative = emit("neg", &value, None);
                    let exp = emit("exp", &negative, None);
                    let sum = emit("add", &exp, Some(1.0));
                    let log = emit("log", &sum, None);
                    let negative = emit("neg", &log, None);
                    emit("exp", &negative, None)
                }
            };
        }
        body.push_str(&format!(
            "%sum = prim.reduce {value} {{dims = array<i64: 0, 1>, kind = \"sum\"}} : (tensor<?x16xf32>) -> tensor<f32>
             return %sum : tensor<f32>"
        ));
        body
    }

    #[test]
    fn a_chain_and_its_sum_are_one_kernel_at_any_length() {
        for statements in [1, 30, 300] {
            let text = crate::testing::with_function("(%x: tensor<?x16xf32>, %n: index) -> tensor<f32>", &chain(statements), |function| {
                crate::prim::fuse_elementwise::run(function);
                super::run(function);
                crate::testing::outline(function)
            });
            assert!(text.starts_with("fusion[") && text.ends_with("reduce]\nfunc.return"), "{text}");
        }
    }

    #[test]
    fn softmax_is_one_kernel() {
        check(
            "(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32>",
            "%max = prim.reduce %x {dims = array<i64: 1>, kind = \"max\"} : (tensor<?x?xf32>) -> tensor<?xf32>
             %n0 = prim.dim %x {dim = 0 : i64} : (tensor<?x?xf32>) -> index
             %n1 = prim.dim %x {dim = 1 : i64} : (tensor<?x?xf32>) -> index
             %0 = prim.broadcast %max, %n0, %n1 {dims = array<i64: 0>} : (tensor<?xf32>, index, index) -> tensor<?x?xf32>
             %1 = prim.sub %x, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
             %2 = prim.exp %1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
             %sum = prim.reduce %2 {dims = array<i64: 1>, kind = \"sum\"} : (tensor<?x?xf32>) -> tensor<?xf32>
             %3 = prim.broadcast %sum, %n0, %n1 {dims = array<i64: 0>} : (tensor<?xf32>, index, index) -> tensor<?x?xf32>
             %4 = prim.div %2, %3 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
             return %4 : tensor<?x?xf32>",
            expect![[r#"
                dim
                dim
                fusion[reduce broadcast sub exp reduce broadcast div]
                func.return"#]],
        );
    }

    /// Layernorm over the last dimension as it is decomposed, with the sums kept as dimensions of size 1.
    const LAYERNORM: &str = "
        %c = prim.constant {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
        %c4 = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<4x1xf32>
        %e = prim.constant {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
        %e4 = prim.broadcast %e {dims = array<i64>} : (tensor<f32>) -> tensor<4x1xf32>
        %s = prim.reduce %x {dims = array<i64: 1>, kind = \"sum\"} : (tensor<4x8xf32>) -> tensor<4xf32>
        %s1 = prim.reshape %s : (tensor<4xf32>) -> tensor<4x1xf32>
        %mean = prim.div %s1, %c4 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
        %mb = prim.broadcast %mean {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
        %d = prim.sub %x, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %q = prim.mul %d, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %v = prim.reduce %q {dims = array<i64: 1>, kind = \"sum\"} : (tensor<4x8xf32>) -> tensor<4xf32>
        %v1 = prim.reshape %v : (tensor<4xf32>) -> tensor<4x1xf32>
        %var = prim.div %v1, %c4 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
        %ve = prim.add %var, %e4 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
        %r = prim.rsqrt %ve : (tensor<4x1xf32>) -> tensor<4x1xf32>
        %rb = prim.broadcast %r {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
        %y = prim.mul %d, %rb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %wb = prim.broadcast %w {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
        %z = prim.mul %y, %wb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>";

    #[test]
    fn layernorm_is_one_kernel() {
        check(
            "(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32>",
            &format!("{LAYERNORM}\nreturn %z : tensor<4x8xf32>"),
            expect![[r#"
                fusion[reduce reshape constant broadcast div broadcast sub mul reduce]
                reshape
                fusion[constant constant broadcast broadcast div add rsqrt]
                fusion[broadcast mul broadcast mul]
                func.return
                'prim.sub' is not fused into 'prim.mul': legality: an op outside of both depends on the one and feeds the other
                'prim.reduce' is not fused into 'prim.reshape': legality: a value is used outside of the kernel and has another shape than its results
                'prim.rsqrt' is not fused into 'prim.broadcast': profit: 'prim.div' is expensive and would be computed again for every repeated element"#]],
        );
        // With mean and 1/deviation as results, as training wants them.
        check(
            "(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)",
            &format!("{LAYERNORM}\nreturn %z, %mean, %r : tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>"),
            expect![[r#"
                reduce
                reshape
                fusion[constant broadcast div]
                fusion[broadcast sub mul reduce]
                reshape
                fusion[constant constant broadcast broadcast div add rsqrt]
                fusion[broadcast mul broadcast mul]
                func.return
                'prim.reduce' is not fused into 'prim.reshape': legality: a value is used outside of the kernel and has another shape than its results
                'prim.div' is not fused into 'prim.broadcast': legality: a value is used outside of the kernel and has another shape than its results
                'prim.sub' is not fused into 'prim.mul': legality: an op outside of both depends on the one and feeds the other
                'prim.reduce' is not fused into 'prim.reshape': legality: a value is used outside of the kernel and has another shape than its results
                'prim.rsqrt' is not fused into 'prim.broadcast': legality: a value is used outside of the kernel and has another shape than its results"#]],
        );
    }

    #[test]
    fn siblings_over_one_tensor_share_a_kernel() {
        check(
            "(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)",
            "%0 = prim.reduce %x {dims = array<i64: 1>, kind = \"max\"} : (tensor<4x8xf32>) -> tensor<4xf32>
             %1 = prim.arg_reduce %x {dim = 1 : i64, kind = \"max\"} : (tensor<4x8xf32>) -> tensor<4xi64>
             return %0, %1 : tensor<4xf32>, tensor<4xi64>",
            expect![[r#"
                fusion[reduce arg_reduce]
                func.return"#]],
        );
        check(
            "(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>)",
            "%0 = prim.reduce %x {dims = array<i64: 1>, kind = \"max\"} : (tensor<4x8xf32>) -> tensor<4xf32>
             %1 = prim.reduce %x {dims = array<i64: 0>, kind = \"max\"} : (tensor<4x8xf32>) -> tensor<8xf32>
             return %0, %1 : tensor<4xf32>, tensor<8xf32>",
            expect![[r#"
                reduce
                reduce
                func.return"#]],
        );
    }

    #[test]
    fn matmul_bias_gelu() {
        check(
            "(%x: tensor<?x16xf32>, %w: tensor<32x16xf32>, %b: tensor<32xf32>, %u: tensor<8x32xf32>) -> tensor<?x8xf32>",
            "%n = prim.dim %x {dim = 0 : i64} : (tensor<?x16xf32>) -> index
             %t = prim.transpose %w {perm = array<i64: 1, 0>} : (tensor<32x16xf32>) -> tensor<16x32xf32>
             %0 = prim.dot %x, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x16xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>
             %bb = prim.broadcast %b, %n {dims = array<i64: 1>} : (tensor<32xf32>, index) -> tensor<?x32xf32>
             %1 = prim.add %0, %bb : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
             %2 = prim.erf %1 : (tensor<?x32xf32>) -> tensor<?x32xf32>
             %3 = prim.mul %1, %2 : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
             %t2 = prim.transpose %u {perm = array<i64: 1, 0>} : (tensor<8x32xf32>) -> tensor<32x8xf32>
             %4 = prim.dot %3, %t2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x32xf32>, tensor<32x8xf32>) -> tensor<?x8xf32>
             return %4 : tensor<?x8xf32>",
            expect![[r#"
                dim
                fusion[transpose dot broadcast add erf mul]
                fusion[transpose dot]
                func.return
                'prim.mul' is not fused into 'prim.dot': legality: a contraction shares its kernel with no other contraction or reduction"#]],
        );
    }

    #[test]
    fn convolution_norm_relu_residual() {
        check(
            "(%x: tensor<2x4x8x8xf32>, %k: tensor<4x4x3x3xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<2x4x8x8xf32>",
            "%c = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
             %0 = prim.conv %x, %k {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x8x8xf32>
             %gb = prim.broadcast %g {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4x8x8xf32>
             %hb = prim.broadcast %h {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4x8x8xf32>
             %1 = prim.mul %0, %gb : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
             %2 = prim.add %1, %hb : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
             %3 = prim.add %2, %x : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
             %z = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<2x4x8x8xf32>
             %4 = prim.maximum %3, %z : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
             return %4 : tensor<2x4x8x8xf32>",
            expect![[r#"
                fusion[conv constant broadcast broadcast mul add add broadcast maximum]
                func.return"#]],
        );
    }

    #[test]
    fn batch_statistics_are_one_kernel() {
        check(
            "(%x: tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>",
            "%s = prim.reduce %x {dims = array<i64: 0, 2, 3>, kind = \"sum\"} : (tensor<2x3x4x4xf32>) -> tensor<3xf32>
             %q = prim.mul %x, %x : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
             %v = prim.reduce %q {dims = array<i64: 0, 2, 3>, kind = \"sum\"} : (tensor<2x3x4x4xf32>) -> tensor<3xf32>
             %r = prim.rsqrt %v : (tensor<3xf32>) -> tensor<3xf32>
             %sb = prim.broadcast %s {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4x4xf32>
             %rb = prim.broadcast %r {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4x4xf32>
             %d = prim.sub %x, %sb : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
             %y = prim.mul %d, %rb : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
             return %y : tensor<2x3x4x4xf32>",
            expect![[r#"
                fusion[reduce mul reduce rsqrt broadcast broadcast sub mul]
                func.return"#]],
        );
    }

    #[test]
    fn a_row_result_is_not_read_at_another_row() {
        check(
            "(%x: tensor<4x4xf32>) -> tensor<4x4xf32>",
            "%s = prim.reduce %x {dims = array<i64: 1>, kind = \"sum\"} : (tensor<4x4xf32>) -> tensor<4xf32>
             %b = prim.broadcast %s {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
             %y = prim.mul %x, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
             return %y : tensor<4x4xf32>",
            expect![[r#"
                reduce
                fusion[broadcast mul]
                func.return
                'prim.reduce' is not fused into 'prim.broadcast': legality: the result of a reduction is read at another outer index"#]],
        );
    }

    #[test]
    fn a_contraction_does_not_compute_its_operands() {
        check(
            "(%x: tensor<4x4xf32>, %y: tensor<4x4xbf16>) -> tensor<4xf32>",
            "%e = prim.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
             %c = prim.convert %y : (tensor<4x4xbf16>) -> tensor<4x4xf32>
             %d = prim.dot %e, %c {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
             %s = prim.reduce %d {dims = array<i64: 1>, kind = \"sum\"} : (tensor<4x4xf32>) -> tensor<4xf32>
             return %s : tensor<4xf32>",
            expect![[r#"
                exp
                fusion[convert dot]
                reduce
                func.return
                'prim.exp' is not fused into 'prim.dot': profit: a contraction would compute its operand again for every output element
                'prim.dot' is not fused into 'prim.reduce': legality: a contraction shares its kernel with no other contraction or reduction"#]],
        );
    }
}
