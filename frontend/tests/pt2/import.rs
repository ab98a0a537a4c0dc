//! What an import makes of a program, and what it refuses.

use serde_json::{Value, json};
use strata_frontend::{Imported, InputKind, Output, Source, import};

use super::{
    corpus::context,
    maker::{file, with_model, with_weights},
};

/// The module's text, or the error's.
fn imported(bytes: &[u8]) -> Result<String, String> {
    let (_folder, path) = file(bytes);
    import(&path, None, &context()).map(|imported| imported.module.to_string()).map_err(|error| error.to_string())
}

fn shows(bytes: &[u8], parts: &[&str]) {
    let text = imported(bytes).expect("an import");
    let mut rest = text.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part} does not follow in\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

fn refuses(bytes: &[u8], parts: &[&str]) {
    let error = imported(bytes).expect_err("a refusal");
    for part in parts {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
}

fn graph(model: &mut Value) -> &mut Value {
    &mut model["graph_module"]["graph"]
}

#[test]
fn a_small_program() {
    let (_folder, path) = file(&with_model(|_| ()));
    let context = context();
    let Imported { inputs, outputs, weights, entry, .. } = import(&path, None, &context).expect("an import");
    assert_eq!(entry, "main");
    assert_eq!(
        inputs.iter().map(|input| (&*input.name, input.kind)).collect::<Vec<_>>(),
        [("w", InputKind::Parameter), ("x", InputKind::Input)]
    );
    assert_eq!(outputs, [Output::Value]);
    let weights = weights.expect("an archive brings its weights");
    let (name, stored) = &weights.table[0];
    assert_eq!((name.as_str(), &stored.sizes[..], stored.offset), ("w", &[2, 3][..], 0));
    assert!(matches!(&stored.source, Source::Entry(entry) if entry.starts_with("data/weights/")), "{stored:?}");
    shows(
        &with_model(|_| ()),
        &[
            r#"func.func @main(%arg0: tensor<2x3xf32> {capture.kind = "parameter", capture.name = "w"}, %arg1: tensor<2x3xf32> {capture.kind = "input", capture.name = "x"})"#,
            r#"-> (tensor<2x3xf32> {capture.kind = "output"}) attributes {capture.entry}"#,
            "aten.add.Tensor %arg1, %arg0",
            "aten.relu",
            "return",
        ],
    );
}

#[test]
fn strides_of_the_call_are_orders_of_dims() {
    let lies = |names: &[&str], strides: [i64; 2]| {
        with_model(|m| {
            for name in names {
                graph(m)["tensor_values"][name]["strides"] = strides.iter().map(|stride| json!({"as_int": stride})).collect();
            }
        })
    };
    let order = "capture.dim_order = array<i64: 1, 0>";
    shows(
        &lies(&["x"], [1, 2]),
        &[&format!(r#"%arg1: tensor<2x3xf32> {{{order}, capture.kind = "input""#), r#"{capture.kind = "output"}"#],
    );
    shows(&lies(&["relu"], [1, 2]), &[r#"{capture.kind = "input""#, &format!(r#"{{{order}, capture.kind = "output"}}"#)]);
    // Weights are brought into row-major order when they are loaded; what lies apart or repeats has no order.
    for (name, strides) in [("p_w", [1, 2]), ("add", [1, 2]), ("x", [1, 4]), ("relu", [0, 1])] {
        let text = imported(&lies(&[name], strides)).expect("an import");
        assert!(!text.contains("dim_order"), "{text}");
    }
}

/// Makes the first dimension of `x` and of all that follows symbolic, `times * s0` in `x`.
fn symbolic(model: &mut Value, times: i64) {
    let symbol = "Symbol('s0', positive=True, integer=True)";
    let text = if times == 1 { symbol.to_owned() } else { format!("Mul(Integer({times}), {symbol})") };
    for name in ["x", "add", "relu"] {
        graph(model)["tensor_values"][name]["sizes"][0] = json!({"as_expr": {"expr_str": text, "hint": null}});
    }
    model["range_constraints"] = json!({"s0": {"min_val": 2, "max_val": 64}});
}

#[test]
fn symbols_come_from_sizes() {
    shows(&with_model(|m| symbolic(m, 1)), &["capture.dim %arg1 {dim = 0", "max = 64", "min = 0", "symbol = \"s0\""]);
    shows(
        &with_model(|m| symbolic(m, 4)),
        &["capture.dim %arg1", "arith.floordivsi", "capture.guard", "s0 <= 64", "capture.bind_dims %arg1"],
    );
    let squared = with_model(|m| {
        symbolic(m, 1);
        graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_expr": {"expr_str": "Pow(Symbol('s0'), Integer(2))", "hint": null}});
    });
    refuses(&squared, &["the sizes of the inputs", "no symbol can be found"]);
}

#[test]
fn guards_become_conditions() {
    let guarded = |text: &'static str| {
        with_model(move |m| {
            symbolic(m, 1);
            m["guards_code"] = json!([text]);
        })
    };
    shows(&guarded("L['x'].size()[0] % 4 == 0"), &["capture.dim", "arith.cmpi eq", "capture.guard", "L['x'].size()[0] % 4 == 0"]);
    shows(&guarded("8 // L['x'].size()[0] >= 1"), &["division by zero", "arith.select", "arith.floordivsi"]);
    assert!(!imported(&guarded("L['x'].size()[0] == L['x'].size()[0]")).expect("an import").contains("capture.guard"));
    refuses(&guarded("L['y'].size()[0] == 1"), &["guard `L['y'].size()[0] == 1`", "no input is reached by y"]);
    refuses(&guarded("L['x'].size()[9] == 1"), &["no dimension 9"]);
    refuses(&guarded("L['x'].size()[0]"), &["not a condition"]);
    refuses(&guarded("L['x'].size()[0] ** L['x'].size()[0] == 4"), &["no arithmetic on numbers"]);
}

#[test]
fn numbers_select_overloads() {
    let with_args = |args: Value| with_model(move |m| graph(m)["nodes"][0]["inputs"] = args);
    let x = json!({"as_tensor": {"name": "x"}});
    shows(
        &with_args(json!([{"name": "self", "arg": x, "kind": 1}, {"name": "other", "arg": {"as_float": 0.5}, "kind": 1}])),
        &["aten.add.Scalar", "other = 5.0"],
    );
    shows(
        &with_args(json!([{"name": "self", "arg": {"as_int": 2}, "kind": 1}, {"name": "other", "arg": x, "kind": 1}])),
        &["aten.add.Scalar", "%arg1", "other = 2 : i64"],
    );
    let subtracted = with_model(|m| {
        graph(m)["nodes"][0]["target"] = json!("torch.ops.aten.sub.Tensor");
        graph(m)["nodes"][0]["inputs"] = json!([
            {"name": "self", "arg": {"as_int": 2}, "kind": 1}, {"name": "other", "arg": x, "kind": 1}, {"name": "alpha", "arg": {"as_int": 3}, "kind": 2}]);
    });
    shows(&subtracted, &["aten.rsub.Scalar", "alpha = 3", "other = 2"]);
    let divided = with_model(|m| {
        graph(m)["nodes"][0]["target"] = json!("torch.ops.aten.div.Tensor");
        graph(m)["nodes"][0]["inputs"] = json!([{"name": "self", "arg": {"as_int": 2}, "kind": 1}, {"name": "other", "arg": x, "kind": 1}]);
    });
    shows(&divided, &["aten.scalar_tensor", "dtype = f32", "aten.div.Tensor"]);
}

#[test]
fn calls_that_give_nothing_are_left_out() {
    for outputs in [json!([]), json!([{"as_none": true}])] {
        let unused = with_model(|m| {
            let mut call = graph(m)["nodes"][0].clone();
            call["target"] = json!("torch.ops.aten.size.int");
            call["inputs"] =
                json!([{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}, {"name": "dim", "arg": {"as_int": 0}, "kind": 1}]);
            call["outputs"] = outputs;
            graph(m)["nodes"].as_array_mut().expect("a list").insert(0, call);
        });
        shows(&unused, &["aten.add.Tensor"]);
    }
}

/// A change of a node.
type Edit = fn(&mut Value);

#[test]
fn bad_calls_are_refused() {
    let cases: &[(&str, Edit)] = &[
        ("`my.op.default` is no operator of PyTorch", |n| n["target"] = json!("torch.ops.my.op.default")),
        ("takes a file of such functions", |n| n["target"] = json!("torch.ops.my.op.default")),
        ("has no argument `shelf`", |n| n["inputs"][0]["name"] = json!("shelf")),
        ("given twice", |n| n["inputs"][1]["name"] = json!("self")),
        ("`other` is missing", |n| drop(n["inputs"].as_array_mut().unwrap().pop())),
        ("cannot be given as `as_string`", |n| n["inputs"][1]["arg"] = json!({"as_string": "x"})),
        ("cannot be given as `as_tensors`", |n| n["inputs"][0]["arg"] = json!({"as_tensors": [{"name": "x"}]})),
        ("cannot be given as `as_none`", |n| n["inputs"][1]["arg"] = json!({"as_none": true})),
        ("stands for symbolic values", |n| n["inputs"][1]["arg"] = json!({"as_int": i64::MIN})),
        ("higher-order operator `teleport`", |n| n["target"] = json!("torch.ops.higher_order.teleport")),
        ("other arguments than graphs", |n| n["target"] = json!("torch.ops.higher_order.cond")),
        ("returns 1 values, and the node has 0", |n| {
            n["outputs"] = json!([]);
            n["name"] = json!("add");
        }),
    ];
    for (part, edit) in cases {
        let bytes = with_model(|m| {
            edit(&mut graph(m)["nodes"][0]);
            if graph(m)["nodes"][0]["outputs"] == json!([]) {
                graph(m)["nodes"][1]["inputs"][0]["arg"]["as_tensor"]["name"] = json!("x");
            }
        });
        refuses(&bytes, &["node `add`", part]);
    }
}

#[test]
fn bad_entries_are_refused() {
    refuses(&with_weights(|w| w["tensor_meta"]["dtype"] = json!(4)), &["input `w`", "is stored"]);
    refuses(&with_weights(|w| w["tensor_meta"]["sizes"][0] = json!({"as_int": 1})), &["input `w`", "the graph expects"]);
    let renamed = |m: &mut Value| m["graph_module"]["signature"]["input_specs"][0]["parameter"]["parameter_name"] = json!("v");
    refuses(&with_model(renamed), &["input `v`", "not in the archive"]);
    refuses(&with_model(|m| graph(m)["tensor_values"]["x"]["dtype"] = json!(31)), &["F8E4M3Fnuz"]);
    refuses(&with_model(|m| graph(m)["tensor_values"]["x"]["layout"] = json!(1)), &["sparse_coo"]);
}

#[test]
fn constants_of_the_call_are_guarded() {
    let bytes = with_model(|m| {
        graph(m)["inputs"].as_array_mut().unwrap().push(json!({"as_int": 3}));
        let specs = m["graph_module"]["signature"]["input_specs"].as_array_mut().unwrap();
        specs.push(json!({"constant_input": {"name": "n", "value": {"as_int": 3}}}));
    });
    shows(&bytes, &["%arg2: index {capture.kind = \"input\", capture.name = \"n\"}", "arith.cmpi eq, %arg2", "n == 3"]);
}

/// A node with another target, its second argument replaced, and the element type of its result.
fn declares(target: &str, second: Option<Value>, dtype: i64) -> Vec<u8> {
    with_model(|m| {
        let node = &mut graph(m)["nodes"][0];
        node["target"] = json!(format!("torch.ops.aten.{target}"));
        match second {
            Some(value) => node["inputs"][1]["arg"] = value,
            None => drop(node["inputs"].as_array_mut().expect("inputs").pop()),
        }
        graph(m)["tensor_values"]["add"]["dtype"] = json!(dtype);
        graph(m)["tensor_values"]["relu"]["dtype"] = json!(dtype);
    })
}

#[test]
fn element_types_that_aten_does_not_give() {
    let (f16, f32, f64, i64, bool) = (6, 7, 8, 5, 12);
    let (tensor, number) = (Some(json!({"as_tensor": {"name": "p_w"}})), Some(json!({"as_int": 2})));
    let wrong = [
        ("add.Tensor", tensor.clone(), f64, "f32"),
        ("mul.Scalar", number.clone(), i64, "f32"),
        ("lt.Tensor", tensor.clone(), f32, "i1"),
        ("add_.Tensor", tensor.clone(), f16, "f32"),
        ("exp.default", None, f16, "f32"),
        ("clone.default", None, bool, "f32"),
        ("argmax.default", None, f32, "i64"),
    ];
    for (target, second, dtype, wanted) in wrong {
        let place = format!("and ATen gives {wanted} for these arguments");
        refuses(&declares(target, second, dtype), &["node `add`", target, "`tensor_values.add.dtype` says", &place]);
    }
    for (target, second, dtype) in [("add.Tensor", tensor, f32), ("mul.Scalar", number, f32), ("exp.default", None, f32)] {
        assert!(imported(&declares(target, second, dtype)).is_ok(), "{target}");
    }
}
