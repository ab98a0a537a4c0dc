//! One case per rule that fires, and one for each that must not.

use crate::testing::{outline, with_function};
use expect_test::{Expect, expect};
use strata_core::ir::Op;

fn check(pass: fn(Op<'_>) -> usize, signature: &str, body: &str, expected: Expect) {
    let text = with_function(signature, body, |function| {
        pass(function);
        outline(function)
    });
    expected.assert_eq(&text);
}

/// The body of `%x -> ..` with a scalar constant `%c` broadcast to `%b`.
fn with_constant(constant: &str, line: &str) -> String {
    format!(
        "%c = prim.constant {{value = dense<{constant}> : tensor<f32>}} : () -> tensor<f32>
         %b = prim.broadcast %c {{dims = array<i64>}} : (tensor<f32>) -> tensor<4xf32>
         {line} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
         return %0 : tensor<4xf32>"
    )
}

#[test]
fn neutral_elements() {
    let check = |constant: &str, line: &str, expected: Expect| {
        check(super::algebra::run, "(%x: tensor<4xf32>) -> tensor<4xf32>", &with_constant(constant, line), expected);
    };
    check("1.0", "%0 = prim.mul %x, %b", expect!["func.return"]);
    check("1.0", "%0 = prim.div %x, %b", expect!["func.return"]);
    check("-0.0", "%0 = prim.add %b, %x", expect!["func.return"]);
    check("0.0", "%0 = prim.sub %x, %b", expect!["func.return"]);
    check(
        "2.0",
        "%0 = prim.pow %x, %b",
        expect![[r#"
        mul
        func.return"#]],
    );
    check(
        "4.0",
        "%0 = prim.div %x, %b",
        expect![[r#"
        constant
        broadcast
        mul
        func.return"#]],
    );
    // Not exact: the sign of zero, infinities and NaN, rounding.
    check(
        "0.0",
        "%0 = prim.add %x, %b",
        expect![[r#"
        constant
        broadcast
        add
        func.return"#]],
    );
    check(
        "-0.0",
        "%0 = prim.sub %x, %b",
        expect![[r#"
        constant
        broadcast
        sub
        func.return"#]],
    );
    check(
        "0.0",
        "%0 = prim.mul %x, %b",
        expect![[r#"
        constant
        broadcast
        mul
        func.return"#]],
    );
    check(
        "3.0",
        "%0 = prim.div %x, %b",
        expect![[r#"
        constant
        broadcast
        div
        func.return"#]],
    );
}

#[test]
fn signs() {
    let check = |body: &str, expected: Expect| {
        check(super::algebra::run, "(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>", body, expected)
    };
    check(
        "%n = prim.neg %y : (tensor<4xf32>) -> tensor<4xf32>
         %0 = prim.add %x, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
         return %0 : tensor<4xf32>",
        expect![[r#"
            sub
            func.return"#]],
    );
    check(
        "%0 = prim.sub %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
         return %0 : tensor<4xf32>",
        expect![[r#"
            sub
            func.return"#]],
    );
}

#[test]
fn conversions() {
    let chain = |types: [&str; 3]| {
        let [a, b, c] = types;
        with_function(
            &format!("(%x: tensor<4x{a}>) -> tensor<4x{c}>"),
            &format!(
                "%0 = prim.convert %x : (tensor<4x{a}>) -> tensor<4x{b}>
                 %1 = prim.convert %0 : (tensor<4x{b}>) -> tensor<4x{c}>
                 return %1 : tensor<4x{c}>"
            ),
            |function| {
                super::converts::run(function);
                outline(function).lines().count() - 1
            },
        )
    };
    assert_eq!(chain(["f16", "f32", "f64"]), 1);
    assert_eq!(chain(["f16", "f32", "f16"]), 0);
    assert_eq!(chain(["i8", "i64", "i8"]), 0);
    assert_eq!(chain(["i1", "f32", "i64"]), 1);
    assert_eq!(chain(["i64", "i32", "i64"]), 2);
    assert_eq!(chain(["f32", "f16", "f32"]), 2);
    assert_eq!(chain(["bf16", "f16", "f32"]), 2);
    assert_eq!(chain(["f32", "i1", "f32"]), 2);
    assert_eq!(chain(["i16", "f32", "i8"]), 2);
    assert_eq!(chain(["ui8", "i8", "i32"]), 2);
    assert_eq!(chain(["ui8", "i16", "i32"]), 1);
}

#[test]
fn views() {
    let check = |signature: &str, body: &str, expected: Expect| check(super::views::run, signature, body, expected);
    check(
        "(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
        "%0 = prim.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
         %1 = prim.transpose %0 {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
         return %1 : tensor<2x3x4xf32>",
        expect!["func.return"],
    );
    check(
        "(%x: tensor<1x3x4xf32>) -> tensor<3x1x4xf32>",
        "%0 = prim.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
         return %0 : tensor<3x1x4xf32>",
        expect![[r#"
            reshape
            func.return"#]],
    );
    check(
        "(%x: tensor<?x3xf32>, %n: index) -> tensor<?x3xf32>",
        "%0 = prim.reshape %x, %n : (tensor<?x3xf32>, index) -> tensor<?xf32>
         %d = prim.dim %x {dim = 0 : i64} : (tensor<?x3xf32>) -> index
         %1 = prim.reshape %0, %d : (tensor<?xf32>, index) -> tensor<?x3xf32>
         return %1 : tensor<?x3xf32>",
        expect!["func.return"],
    );
    check(
        "(%x: tensor<10xf32>) -> tensor<2xf32>",
        "%0 = prim.slice %x {offsets = array<i64: 1>, sizes = array<i64: 4>, strides = array<i64: 2>} : (tensor<10xf32>) -> tensor<4xf32>
         %1 = prim.slice %0 {offsets = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>
         return %1 : tensor<2xf32>",
        expect![[r#"
            slice
            func.return"#]],
    );
    check(
        "(%x: tensor<3xf32>) -> tensor<2x3x4xf32>",
        "%0 = prim.reshape %x : (tensor<3xf32>) -> tensor<3x1xf32>
         %1 = prim.broadcast %0 {dims = array<i64: 1, 2>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
         return %1 : tensor<2x3x4xf32>",
        expect![[r#"
            broadcast
            func.return"#]],
    );
    // Elements move, or are repeated: these stay.
    check(
        "(%x: tensor<4x4xf32>) -> tensor<4x4xf32>",
        "%0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
         %1 = prim.broadcast %0 {dims = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
         %2 = prim.reverse %1 {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
         return %2 : tensor<4x4xf32>",
        expect![[r#"
            reverse
            func.return"#]],
    );
}

#[test]
fn dimensions_of_size_one_do_not_hide_a_layernorm() {
    let body = "
        %c = prim.constant {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
        %c4 = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<4x1xf32>
        %s = prim.reduce %x {dims = array<i64: 1>, kind = \"sum\"} : (tensor<4x8xf32>) -> tensor<4xf32>
        %s1 = prim.reshape %s : (tensor<4xf32>) -> tensor<4x1xf32>
        %mean = prim.div %s1, %c4 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
        %mb = prim.broadcast %mean {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
        %d = prim.sub %x, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %q = prim.mul %d, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %v = prim.reduce %q {dims = array<i64: 1>, kind = \"sum\"} : (tensor<4x8xf32>) -> tensor<4xf32>
        %v1 = prim.reshape %v : (tensor<4xf32>) -> tensor<4x1xf32>
        %r = prim.rsqrt %v1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
        %rb = prim.broadcast %r {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
        %y = prim.mul %d, %rb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
        return %y, %mean, %r : tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>";
    let text = with_function("(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)", body, |function| {
        super::views::run(function);
        crate::prim::fuse_elementwise::run(function);
        crate::prim::fuse_reductions::run(function);
        outline(function)
    });
    expect![[r#"
        fusion[reduce constant broadcast div broadcast sub mul reduce rsqrt broadcast mul]
        reshape
        reshape
        func.return"#]]
    .assert_eq(&text);
}

#[test]
fn sizes() {
    check(
        super::sizes::run,
        "(%x: tensor<?x4xf32>, %n: index) -> (index, index, index)",
        "%0 = prim.sin %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
         %a = prim.dim %0 {dim = 0 : i64} : (tensor<?x4xf32>) -> index
         %b = prim.dim %0 {dim = 1 : i64} : (tensor<?x4xf32>) -> index
         %1 = prim.reshape %0, %n : (tensor<?x4xf32>, index) -> tensor<?xf32>
         %2 = prim.concat %1, %1 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
         %c = prim.dim %2 {dim = 0 : i64} : (tensor<?xf32>) -> index
         return %a, %b, %c : index, index, index",
        expect![[r#"
            dim
            arith.constant
            arith.constant
            arith.muli
            func.return"#]],
    );
}

#[test]
fn constants() {
    let check = |body: &str, expected: Expect| check(super::constants::run, "() -> tensor<2xf32>", body, expected);
    check(
        "%a = prim.constant {value = dense<[1.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
         %b = prim.constant {value = dense<2.0> : tensor<2xf32>} : () -> tensor<2xf32>
         %0 = prim.div %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
         %1 = prim.sqrt %0 : (tensor<2xf32>) -> tensor<2xf32>
         return %1 : tensor<2xf32>",
        expect![[r#"
            constant
            func.return"#]],
    );
    check(
        "%b = prim.constant {value = dense<2.0> : tensor<2xf32>} : () -> tensor<2xf32>
         %1 = prim.exp %b : (tensor<2xf32>) -> tensor<2xf32>
         return %1 : tensor<2xf32>",
        expect![[r#"
            constant
            exp
            func.return"#]],
    );
}

#[test]
fn absolute_values() {
    let check = |element: &str, inner: &str, expected: Expect| {
        let ty = format!("tensor<4x{element}>");
        let body = format!("%0 = prim.{inner} %x : ({ty}) -> {ty} %1 = prim.abs %0 : ({ty}) -> {ty} return %1 : {ty}");
        check(super::algebra::run, &format!("(%x: {ty}) -> {ty}"), &body, expected);
    };
    for element in ["f32", "i32"] {
        let once = || {
            expect![[r#"
            abs
            func.return"#]]
        };
        check(element, "neg", once());
        check(element, "abs", once());
    }
    // The negative of an unsigned number is another one, and is its own absolute value.
    check(
        "ui8",
        "neg",
        expect![[r#"
            neg
            abs
            func.return"#]],
    );
}
