//! Programs of StableHLO as text: what regions say, and what is refused and why.

use strata_driver::{Options, SourceFile, compile, lower, standard};
use strata_runtime::{DType, Session, Tensor};

/// A program of one op of two vectors of four floats and one float, whose results are `types`.
fn program(op: &str, types: &str) -> String {
    let results = types.matches("tensor").count();
    let values = (0..results).map(|place| format!("%r#{place}")).collect::<Vec<_>>().join(", ");
    format!(
        r#""builtin.module"() ({{
  "func.func"() <{{function_type = (tensor<4xf32>, tensor<4xi32>, tensor<f32>) -> ({types}), sym_name = "main"}}> ({{
  ^bb0(%x: tensor<4xf32>, %i: tensor<4xi32>, %zero: tensor<f32>):
    %n = "stablehlo.constant"() <{{value = dense<0> : tensor<i32>}}> : () -> tensor<i32>
    %iota = "stablehlo.iota"() <{{iota_dimension = 0 : i64}}> : () -> tensor<4xi32>
    %r:{results} = {op} -> ({types})
    "func.return"({values}) : ({types}) -> ()
  }}) : () -> ()
}}) : () -> ()"#
    )
}

/// What is said of a program that is refused.
fn refused(op: &str, types: &str) -> String {
    let text = program(op, types);
    let file = SourceFile { path: "f.stablehlo.mlir".as_ref(), text: Some(&text) };
    match lower(standard(), file, "capture", &Options::default()) {
        Ok(text) => panic!("it is imported:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// The first result of a program for these floats and integers.
fn called(op: &str, types: &str, x: [f32; 4], i: [i32; 4], first: f32) -> Vec<f32> {
    run(&program(op, types), x, i, first)
}

/// The same of a whole text.
fn run(text: &str, x: [f32; 4], i: [i32; 4], first: f32) -> Vec<f32> {
    let file = SourceFile { path: "f.stablehlo.mlir".as_ref(), text: Some(text) };
    let artefact = compile(standard(), file, &Options::default(), None).unwrap_or_else(|error| panic!("{error}"));
    let session = Session::load(&artefact, None).expect("a session");
    let inputs = [
        Tensor::from_slice(DType::F32, &[4], &x).expect("floats"),
        Tensor::from_slice(DType::I32, &[4], &i).expect("integers"),
        Tensor::from_slice(DType::F32, &[], &[first]).expect("a float"),
    ];
    session.run(&inputs).expect("a call")[0].values::<f32>().expect("floats").to_vec()
}

/// A reduction of two tensors whose region has these lines, `%a` and `%i` in front of `%b` and `%j`.
fn reduction(lines: &str) -> String {
    format!(
        r#""stablehlo.reduce"(%x, %iota, %zero, %n) <{{dimensions = array<i64: 0>}}> ({{
    ^bb1(%a: tensor<f32>, %p: tensor<i32>, %b: tensor<f32>, %q: tensor<i32>):
{lines}
    }}) : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>)"#
    )
}

fn compare(result: &str, x: &str, y: &str, how: &str, ty: &str) -> String {
    format!(
        r#"{result} = "stablehlo.compare"({x}, {y}) <{{comparison_direction = #stablehlo<comparison_direction {how}>}}> : (tensor<{ty}>, tensor<{ty}>) -> tensor<i1>
"#
    )
}

fn select(result: &str, which: &str, x: &str, y: &str, ty: &str) -> String {
    format!(
        r#"{result} = "stablehlo.select"({which}, {x}, {y}) : (tensor<i1>, tensor<{ty}>, tensor<{ty}>) -> tensor<{ty}>
"#
    )
}

/// A sort of a tensor by a comparison.
fn sort(how: &str, kind: &str) -> String {
    format!(
        r#""stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
    ^bb1(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.compare"(%a, %b) <{{compare_type = #stablehlo<comparison_type {kind}>, comparison_direction = #stablehlo<comparison_direction {how}>}}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }}) : (tensor<4xf32>)"#
    )
}

/// A scatter of the floats into themselves whose region has these lines; `%a` is what was there, `%b` what is written.
fn scatter(lines: &str) -> String {
    format!(
        r#""stablehlo.scatter"(%x, %i, %x) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
    ^bb1(%a: tensor<f32>, %b: tensor<f32>):
{lines}
    }}) : (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>)"#
    )
}

/// A reduction of windows of two by an op.
fn windows(op: &str, padding: &str, result: &str) -> (String, String) {
    let text = format!(
        r#""stablehlo.reduce_window"(%x, %zero) <{{padding = dense<{padding}> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}}> ({{
    ^bb1(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.{op}"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
    }}) : (tensor<4xf32>, tensor<f32>)"#
    );
    (text, result.to_owned())
}

#[test]
fn first_values_are_joined_once_with_each_window_and_stand_around() {
    let (op, types) = windows("add", "[[1, 0]]", "tensor<4xf32>");
    assert_eq!(called(&op, &types, [1.0, 2.0, 4.0, 8.0], [0; 4], 10.0), [21.0, 13.0, 16.0, 22.0]);
    let (op, types) = windows("multiply", "[[0, 0]]", "tensor<3xf32>");
    assert_eq!(called(&op, &types, [1.0, 2.0, 4.0, 8.0], [0; 4], 10.0), [20.0, 80.0, 320.0]);
}

#[test]
fn regions_of_comparisons_are_told_by_what_they_choose() {
    let types = "tensor<f32>, tensor<i32>";
    let argmax = |how: &str| {
        let mut lines = compare("%more", "%a", "%b", how, "f32") + &compare("%nan", "%a", "%a", "NE", "f32");
        lines += "%first = \"stablehlo.or\"(%more, %nan) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n";
        lines += &(compare("%same", "%a", "%b", "EQ", "f32") + &compare("%before", "%p", "%q", "LT", "i32"));
        lines += "%tie = \"stablehlo.and\"(%same, %before) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n";
        lines += "%left = \"stablehlo.or\"(%first, %tie) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n";
        lines += &(select("%number", "%first", "%a", "%b", "f32") + &select("%place", "%left", "%p", "%q", "i32"));
        lines + "\"stablehlo.return\"(%number, %place) : (tensor<f32>, tensor<i32>) -> ()"
    };
    let lowered = |how: &str| {
        let text = program(&reduction(&argmax(how)), types);
        let file = SourceFile { path: "f.stablehlo.mlir".as_ref(), text: Some(&text) };
        lower(standard(), file, "capture", &Options::default()).unwrap_or_else(|error| panic!("{error}"))
    };
    assert!(lowered("GT").contains("aten.argmax"), "{}", lowered("GT"));
    assert!(lowered("LT").contains("aten.argmin"));
    // What chooses neither the greatest nor the least is done pair by pair.
    assert!(!lowered("NE").contains("aten.arg"));
}

#[test]
fn sorts_by_an_order_that_aten_does_not_have_are_refused() {
    assert!(refused(&sort("LT", "FLOAT"), "tensor<4xf32>").contains("its NaNs do not come last"));
    assert!(refused(&sort("LT", "TOTALORDER"), "tensor<4xf32>").contains("it tells zeros apart"));
    assert!(refused(&sort("EQ", "FLOAT"), "tensor<4xf32>").contains("its region is no order that is known"));
}

#[test]
fn the_total_order_tells_zeros_apart() {
    let compared = r#""stablehlo.compare"(%x, %x2) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %s = "stablehlo.sign"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %r:1 = "stablehlo.select"(%c, %x2, %s) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>)"#;
    let reversed = r#"%x2 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>
    %c = "#;
    // Of each pair the other one where that is more, else the sign.
    let text = program("", "tensor<4xf32>").replace("%r:1 =  ->", &format!("{reversed}{compared} ->"));
    let results = run(&text, [-0.0, f32::NAN, f32::INFINITY, 0.0], [0; 4], 0.0);
    assert_eq!(results.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0.0f32, f32::NAN, f32::NAN, 0.0].map(f32::to_bits));
}

/// What a window of all four floats chooses gets the first of them; the region compares so.
fn chosen(how: &str) -> String {
    let one = r#""stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1xf32>"#;
    let compared = compare("%c", "%a", "%b", how, "f32");
    format!(
        r#"{one}
    %r:1 = "stablehlo.select_and_scatter"(%x, %one, %zero) <{{window_dimensions = array<i64: 4>}}> ({{
    ^bb1(%a: tensor<f32>, %b: tensor<f32>):
      {compared}      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }}, {{
    ^bb2(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
    }}) : (tensor<4xf32>, tensor<1xf32>, tensor<f32>)"#
    )
}

#[test]
fn windows_choose_the_first_of_equal_numbers() {
    let text = |how: &str| program("", "tensor<4xf32>").replace("%r:1 =  ->", &format!("%one = {} ->", chosen(how)));
    assert_eq!(run(&text("GE"), [3.0, 7.0, 7.0, 1.0], [0; 4], 0.5), [0.5, 3.5, 0.5, 0.5]);
    let text = text("GT");
    let file = SourceFile { path: "f.stablehlo.mlir".as_ref(), text: Some(&text) };
    let error = lower(standard(), file, "capture", &Options::default()).expect_err("refused").to_string();
    assert!(error.contains("its region chooses the last of equal numbers"), "{error}");
}

#[test]
fn slices_that_lie_outside_are_not_written() {
    let add = r#"%c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
"stablehlo.return"(%c) : (tensor<f32>) -> ()"#;
    let (x, places) = ([1.0, 2.0, 4.0, 8.0], [3, -1, 4, 3]);
    assert_eq!(called(&scatter(add), "tensor<4xf32>", x, places, 0.0), [1.0, 2.0, 4.0, 17.0]);
    let set = r#""stablehlo.return"(%b) : (tensor<f32>) -> ()"#;
    assert_eq!(called(&scatter(set), "tensor<4xf32>", x, [2, 7, 0, 1], 0.0), [4.0, 8.0, 1.0, 8.0]);
}

#[test]
fn what_is_refused_is_named_with_its_reason() {
    let said = |op: &str, types: &str, why: &str| {
        let error = refused(op, types);
        assert!(error.contains(why), "{error}");
        assert!(error.starts_with("f.stablehlo.mlir: line 6: "), "{error}");
    };
    let cosine = r#"%c = "stablehlo.cosine"(%b) : (tensor<f32>) -> tensor<f32>
"stablehlo.return"(%c) : (tensor<f32>) -> ()"#;
    said(&scatter(cosine), "tensor<4xf32>", "its region is no single op, and its places are not told to be different");
    let shaped = r#"%c = "stablehlo.reshape"(%a) : (tensor<f32>) -> tensor<f32>
"stablehlo.return"(%c, %p) : (tensor<f32>, tensor<i32>) -> ()"#;
    said(&reduction(shaped), "tensor<f32>, tensor<i32>", "`stablehlo.reshape`: it stands in a region that is applied to whole tensors");
    said(
        r#""stablehlo.custom_call"(%x) <{call_target_name = "mine"}> : (tensor<4xf32>)"#,
        "tensor<4xf32>",
        "there is no routine `mine` here",
    );
    said(r#""stablehlo.frobnicate"(%x) : (tensor<4xf32>)"#, "tensor<4xf32>", "`stablehlo.frobnicate`: it has no counterpart here");
    said(r#""chlo.top_k"(%x) <{k = 5 : i64}> : (tensor<4xf32>)"#, "tensor<5xf32>, tensor<5xi32>", "it takes 5 of 4 numbers");
    let pad = |low: i64, inside: i64| {
        format!(
            r#""stablehlo.pad"(%x, %zero) <{{edge_padding_low = array<i64: {low}>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: {inside}>}}> : (tensor<4xf32>, tensor<f32>)"#
        )
    };
    said(&pad(-5, 0), "tensor<0xf32>", "it cuts off more than there is");
    said(&pad(0, i64::MAX), "tensor<0xf32>", "more bytes than can be counted");
    let precision = r#""stablehlo.reduce_precision"(%x) <{exponent_bits = 4 : i32, mantissa_bits = 3 : i32}> : (tensor<4xf32>)"#;
    said(precision, "tensor<4xf32>", "there are no numbers of 4 bits of exponent and 3 of mantissa");
    let dims = r#""stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb1(%a: tensor<f32>, %b: tensor<f32>):
      "stablehlo.return"(%a) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>)"#;
    said(dims, "tensor<f32>", "its dimensions are none of its operands");
}

/// What a program whose argument has sizes with names says of a call.
fn for_a_call(signature: Option<&str>) -> Result<String, String> {
    let text = r#""builtin.module"() ({
  "func.func"() <{function_type = (tensor<?x3xf32>) -> tensor<?xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<?x3xf32>):
    %n = "stablehlo.get_dimension_size"(%x) <{dimension = 0 : i64}> : (tensor<?x3xf32>) -> tensor<i32>
    %two = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %large = "stablehlo.compare"(%n, %two) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%large, %n) <{call_target_name = "shape_assertion"}> {error_message = "at least two rows, not {0}"} : (tensor<i1>, tensor<i32>) -> ()
    %three = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %all = "stablehlo.multiply"(%n, %three) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %shape = "stablehlo.reshape"(%all) : (tensor<i32>) -> tensor<1xi32>
    %flat = "stablehlo.dynamic_reshape"(%x, %shape) : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
    "func.return"(%flat) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()"#;
    let options = Options { signature: signature.map(str::to_owned), ..Options::default() };
    let file = SourceFile { path: "f.stablehlo.mlir".as_ref(), text: Some(text) };
    lower(standard(), file, "capture", &options).map_err(|error| error.to_string())
}

#[test]
fn sizes_with_names_are_those_of_a_call() {
    let made = for_a_call(Some("f32[5x3]")).unwrap();
    assert!(made.contains("tensor<5x3xf32>") && made.contains("tensor<15xf32>") && !made.contains('?'), "{made}");
    let refused = [
        (None, "the sizes of argument 0, tensor<?x3xf32>, must be known when the model is imported; give those of a call"),
        (Some("f32[1x3]"), "at least two rows, not 1"),
        (Some("f32[5x4]"), "argument 0 is tensor<?x3xf32>, and the call gives tensor<5x4xf32>"),
        (Some("f64[5x3]"), "argument 0 is tensor<?x3xf32>, and the call gives tensor<5x3xf64>"),
        (Some("f32[?x3]"), "argument 0 is tensor<?x3xf32>, and the call gives f32[?x3]"),
        (Some("f32[5x3],int=1"), "the program has 1 arguments, and the call 2"),
    ];
    for (signature, said) in refused {
        let error = for_a_call(signature).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}
