//! What `Dims` says of the last result before the return, in the symbols of the function.

use super::Dims;
use crate::testing::with_function;
use strata_core::ir::Op;

/// The sizes of the first operand of the return, and what the test asks of them.
fn sizes(signature: &str, body: &str) -> String {
    with_function(signature, body, |function| {
        let mut dims = Dims::of(function);
        let value = function.body(0).terminator().map(|end| end.operand(0)).expect("the function returns something");
        let sizes: Vec<_> = dims.sizes(value).iter().map(|size| dims.resolve(size).to_string()).collect();
        sizes.join(" x ")
    })
}

#[test]
fn sizes_of_views() {
    let signature = "(%x: tensor<?x4xf32>, %n: index) -> tensor<?x?xf32>";
    assert_eq!(
        sizes(
            "(%x: tensor<?x4xf32>) -> tensor<4x?xf32>",
            "%0 = prim.concat %x, %x {dim = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
             %1 = prim.transpose %0 {perm = array<i64: 1, 0>} : (tensor<?x4xf32>) -> tensor<4x?xf32>
             return %1 : tensor<4x?xf32>"
        ),
        "4 x 2*s0"
    );
    assert_eq!(
        sizes(
            signature,
            "%c = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
             %0 = prim.pad %x, %c {low = array<i64: 1, 0>, high = array<i64: 2, 0>, interior = array<i64: 0, 0>} : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x?xf32>
             return %0 : tensor<?x?xf32>"
        ),
        "3 + s0 x 4"
    );
    assert_eq!(
        sizes(
            signature,
            "%0 = prim.slice %x, %n {offsets = array<i64: 0, 0>, sizes = array<i64: -9223372036854775808, 4>, strides = array<i64: 1, 1>} : (tensor<?x4xf32>, index) -> tensor<?x?xf32>
             return %0 : tensor<?x?xf32>"
        ),
        "s0 x 4"
    );
}

#[test]
fn a_reshape_there_and_back_is_the_same_shape() {
    assert_eq!(
        sizes(
            "(%x: tensor<?x4xf32>) -> tensor<?x4xf32>",
            "%c4 = arith.constant 4 : index
             %n = prim.dim %x {dim = 0 : i64} : (tensor<?x4xf32>) -> index
             %m = arith.muli %n, %c4 : index
             %0 = prim.reshape %x, %m : (tensor<?x4xf32>, index) -> tensor<?xf32>
             %q = arith.floordivsi %m, %c4 : index
             %1 = prim.reshape %0, %q : (tensor<?xf32>, index) -> tensor<?x4xf32>
             return %1 : tensor<?x4xf32>"
        ),
        "s0 x 4"
    );
}

#[test]
fn sizes_of_contractions() {
    assert_eq!(
        sizes(
            "(%x: tensor<?x3x?x8xf32>, %k: tensor<4x3x3x3xf32>) -> tensor<?x4x?x4xf32>",
            "%0 = prim.conv %x, %k {strides = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x4xf32>
             return %0 : tensor<?x4x?x4xf32>"
        ),
        "s0 x 4 x 1 + floordiv(-1 + s1, 2) x 4"
    );
}

#[test]
fn pointwise_operands_have_one_shape() {
    // The second argument's size is a symbol of its own until the sum says that both are equal.
    let equal = |body: &str| {
        with_function("(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32>", body, |function: Op<'_>| {
            let arguments = function.body(0).args();
            Dims::of(function).same_shape(arguments[0], arguments[1])
        })
    };
    assert!(equal("%0 = prim.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>\nreturn %0 : tensor<?xf32>"));
    assert!(!equal("return %x : tensor<?xf32>"));
}

#[test]
fn declared_ranges_answer_questions() {
    with_function(
        "(%x: tensor<?x?xf32>) -> tensor<?x?xf32>",
        "%s = capture.dim %x {dim = 0 : i64, symbol = \"s0\", min = 2 : i64, max = 64 : i64} : (tensor<?x?xf32>) -> index
         capture.bind_dims %x, %s {shape = affine_map<()[s0] -> (s0, s0 * 4)>} : (tensor<?x?xf32>, index) -> ()
         return %x : tensor<?x?xf32>",
        |function| {
            let mut dims = Dims::of(function);
            let sizes = dims.sizes(function.body(0).arg(0));
            assert_eq!(dims.bounds(&sizes[1]).high, Some(256));
            assert_eq!(dims.less_or_equal(&sizes[0], &sizes[1]), Some(true));
            assert_eq!(dims.less_or_equal(&100.into(), &sizes[0]), Some(false));
            assert_eq!(dims.less_or_equal(&10.into(), &sizes[0]), None);
            assert!(dims.is_multiple_of(&sizes[1], 4) && !dims.is_multiple_of(&sizes[0], 4));
            assert_eq!(dims.min(&sizes[0], &sizes[1]), sizes[0]);
            assert_eq!(dims.elements(function.body(0).arg(0)).map(|n| n.to_string()).as_deref(), Some("4*s0*s0"));
        },
    );
}

/// Whether it is shown that the returned number is not negative.
fn not_negative(body: &str) -> bool {
    with_function("(%i: index, %x: tensor<?xf32>) -> index", body, |function| {
        let mut dims = Dims::of(function);
        let value = function.body(0).terminator().map(|end| end.operand(0)).expect("the function returns something");
        let value = dims.index(value);
        dims.is_not_negative(&value)
    })
}

#[test]
fn minima_and_maxima_are_told_apart() {
    // n - clamp(i), with `clamp` to 0..n, and what is left of it in steps of 2.
    let room = "%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %n = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
        %a = arith.maxsi %i, %c0 : index
        %from = arith.minsi %a, %n : index
        %room = arith.subi %n, %from : index";
    assert!(not_negative(&format!("{room}\nreturn %room : index")));
    assert!(!not_negative(&format!("{room}\n%less = arith.subi %room, %c1 : index\nreturn %less : index")));
    let steps = "%more = arith.addi %room, %c1 : index
        %steps = arith.floordivsi %more, %c2 : index
        %twice = arith.muli %steps, %c2 : index
        %last = arith.subi %twice, %c1 : index
        %rest = arith.subi %room, %last : index";
    assert!(not_negative(&format!("{room}\n{steps}\nreturn %rest : index")));
    assert!(!not_negative(&format!("{room}\n{steps}\n%less = arith.subi %rest, %c1 : index\nreturn %less : index")));
    // -i where i < 0, else 0.
    let wrapped = "%c0 = arith.constant 0 : index
        %negated = arith.subi %c0, %i : index
        %lack = arith.maxsi %negated, %c0 : index
        %place = arith.addi %i, %lack : index";
    assert!(not_negative(&format!("{wrapped}\nreturn %place : index")));
    assert!(!not_negative("return %i : index"));
}
