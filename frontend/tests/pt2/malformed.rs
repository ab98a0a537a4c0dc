//! Archives that are wrong, each in its own way: every one ends in an error that says where.

use serde_json::{Value, json};
use strata_frontend::pt2::Program;

use super::maker::{entries, file, pack, with_entry, with_model, with_weights};

fn open(bytes: &[u8]) -> Result<Program, String> {
    let (_folder, path) = file(bytes);
    Program::open(&path).map_err(|error| error.to_string())
}

/// The error must be one, and must mention the place.
fn refused(kind: &str, place: &str, bytes: &[u8]) {
    match open(bytes) {
        Ok(_) => panic!("{kind}: accepted"),
        Err(error) => assert!(error.contains(place), "{kind}: the error does not name {place:?}: {error}"),
    }
}

#[test]
fn the_good_archive_is_good() {
    let program = open(&pack(&entries())).expect("the archive all others are made from");
    assert_eq!(program.weights.len(), 1);
    assert_eq!(program.weights[0].1.dense(program.archive.as_ref().expect("an archive")).expect("dense").len(), 24);
}

/// Wherever the directory lies: a library that looks for the archive's begin found another one in some of these.
#[test]
fn archives_of_any_length_are_read() {
    let mut refused = Vec::new();
    for (count, filler) in (20..60).flat_map(|count| (0..1024).step_by(64).map(move |filler| (count, filler))) {
        let mut all = entries();
        all.extend((0..count).map(|k| (format!("m/data/constants/a_name_of_some_length_{k}"), vec![0; filler])));
        if let Err(error) = open(&pack(&all)) {
            refused.push(format!("{count} entries of {filler} bytes: {error}"));
        }
    }
    assert!(refused.is_empty(), "{} archives refused, {:?}", refused.len(), refused.first());
}

#[test]
fn every_truncation_is_refused() {
    let good = pack(&entries());
    for length in (0..good.len()).step_by(37).chain(good.len() - 30..good.len()) {
        assert!(open(&good[..length]).is_err(), "cut to {length} of {} bytes: accepted", good.len());
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let good = pack(&entries());
    let mut accepted = 0;
    for place in (0..good.len()).step_by(11) {
        for value in [0x00, 0xff, good[place] ^ 0x80] {
            let mut bad = good.clone();
            bad[place] = value;
            accepted += usize::from(open(&bad).is_ok());
        }
    }
    assert!(accepted < good.len() / 11 * 2, "{accepted} damaged archives were accepted");
}

/// Every value of a program's JSON, replaced by values that do not belong there: the import may succeed (not every
/// field matters), but it never panics, and the contexts stay usable.
#[test]
fn no_edit_of_a_program_panics() {
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!(""),
        json!("x"),
        json!("relu"),
        json!([]),
        json!({}),
        json!([[]]),
        json!({"as_int": -5}),
        json!({"as_tensor": {"name": "add"}}),
        json!({"as_none": true}),
        json!({"as_ints": [1, 2]}),
        json!({"as_sym_int": {"as_name": "x"}}),
        json!([{"as_int": 0}, {"as_int": 9_999_999_999_i64}]),
    ];
    let model = super::maker::model();
    let mut paths = Vec::new();
    collect_paths(&model, &mut String::new(), &mut paths);
    let context = super::corpus::context();
    let (folder, path) = file(b"");
    let (mut accepted, mut refused) = (0, 0);
    for (place, pointer) in paths.iter().enumerate() {
        // Each path meets a third of the values, so that the test stays short; neighbours meet the others.
        for value in odd.iter().skip(place % 3).step_by(3) {
            let bytes = with_model(|model| *model.pointer_mut(pointer).expect("a path of the model") = value.clone());
            std::fs::write(&path, bytes).expect("the file is ours");
            match strata_frontend::import(&path, None, &context) {
                Ok(_) => accepted += 1,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
    }
    drop(folder);
    assert!(refused > 2 * accepted, "{accepted} edits were accepted, {refused} refused");
}

fn collect_paths(value: &Value, path: &mut String, paths: &mut Vec<String>) {
    let length = path.len();
    let mut child = |step: &str, value: &Value| {
        path.push_str(&format!("/{step}"));
        paths.push(path.clone());
        collect_paths(value, path, paths);
        path.truncate(length);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| child(name, value)),
        Value::Array(values) => values.iter().enumerate().for_each(|(place, value)| child(&place.to_string(), value)),
        _ => {}
    }
}

/// Offset of the `n`-th occurrence of a signature.
fn find(bytes: &[u8], signature: &[u8; 4], n: usize) -> usize {
    bytes.windows(4).enumerate().filter(|(_, window)| window == signature).nth(n).expect("the signature").0
}

#[test]
fn bad_containers_are_refused() {
    let good = pack(&entries());
    let edit = |signature: &[u8; 4], n: usize, offset: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        let at = find(&bad, signature, n) + offset;
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        bad
    };
    let (central, end) = (b"PK\x01\x02", b"PK\x05\x06");
    let cases = [
        ("no zip at all", b"not a zip".to_vec()),
        ("only zeros", vec![0; 4096]),
        ("a pickle", b"\x80\x02}q\x00.".to_vec()),
        ("entry count too large", edit(end, 0, 8, &[0xff, 0xff, 0xff, 0xff])),
        ("directory behind the end", edit(end, 0, 16, &[0xff, 0xff, 0xff, 0x7f])),
        ("entry size behind the end", edit(central, 3, 20, &[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f])),
        ("sizes that differ", edit(central, 3, 24, &[1, 0, 0, 0])),
        ("a compressed entry", edit(central, 3, 10, &[8, 0])),
        ("an encrypted entry", edit(central, 3, 8, &[1, 0])),
        ("entry offset behind the end", edit(central, 3, 42, &[0xf0, 0xff, 0xff, 0x7f])),
        ("entry offset into another entry", edit(central, 3, 42, &[9, 0, 0, 0])),
        ("name length too large", edit(central, 3, 28, &[0xff, 0xff])),
        ("a wrong checksum", edit(central, 3, 16, &[1, 2, 3, 4])),
        ("a name that is not UTF-8", edit(central, 3, 46, &[0xff])),
        ("a path upwards", edit(central, 3, 46, b"m/../")),
        ("an absolute path", edit(central, 3, 46, b"/")),
        ("a backslash", edit(central, 3, 46, b"m/mod\\")),
        ("a zero in a name", edit(central, 3, 46, b"m/\0")),
        ("another root folder", edit(central, 3, 46, b"n/")),
        ("no root folder", edit(central, 0, 46, b"m_")),
    ];
    for (kind, bytes) in cases {
        refused(kind, "", &bytes);
    }
}

#[test]
fn missing_and_foreign_entries_are_refused() {
    for name in ["archive_format", "archive_version", "models/model.json", "data/weights/weight_0"] {
        let mut entries = entries();
        entries.retain(|(entry, _)| entry != &format!("m/{name}"));
        refused("a missing entry", name, &pack(&entries));
    }
    refused("another format", "archive_format", &with_entry("archive_format", "pt3"));
    refused("another version", "archive_version", &with_entry("archive_version", "99"));
    refused("big endian", "byteorder", &with_entry("byteorder", "big"));
    let deep = format!("m/{}x", "a/".repeat(40));
    refused("a deep path", "name", &pack(&[entries(), vec![(deep, Vec::new())]].concat()));
    refused("a long name", "name", &pack(&[entries(), vec![(format!("m/{}", "a".repeat(5000)), Vec::new())]].concat()));
}

#[test]
fn bad_json_is_refused() {
    let cases: [(&str, Vec<u8>); 9] = [
        ("empty", Vec::new()),
        ("not JSON", b"hello".to_vec()),
        ("cut", super::maker::model().to_string().as_bytes()[..200].to_vec()),
        ("not UTF-8", b"{\"graph_module\": \"\xff\xfe\"}".to_vec()),
        ("an array", b"[]".to_vec()),
        ("deep arrays", [vec![b'['; 200_000], vec![b']'; 200_000]].concat()),
        ("deep unknown field", format!("{{\"zzz\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes()),
        ("two documents", format!("{}{{}}", super::maker::model()).into_bytes()),
        ("NaN", super::maker::model().to_string().replace("\"as_int\":2", "\"as_int\":NaN").into_bytes()),
    ];
    for (kind, bytes) in cases {
        refused(kind, "models/model.json", &with_entry("models/model.json", bytes));
    }
    let twice = super::maker::model().to_string().replace("\"tensor_values\":{", "\"tensor_values\":{\"x\":{},\"x\":{},");
    refused("a name twice in a table", "tensor_values", &with_entry("models/model.json", twice));
}

/// A change of the program, the place the error must name, and what it is.
type Case = (&'static str, &'static str, fn(&mut Value));

#[test]
fn bad_programs_are_refused() {
    let cases: &[Case] = &[
        ("no graph", "graph", |m| drop(m["graph_module"].as_object_mut().unwrap().remove("graph"))),
        ("no signature", "signature", |m| drop(m["graph_module"].as_object_mut().unwrap().remove("signature"))),
        ("another schema", "schema_version.major", |m| m["schema_version"]["major"] = json!(3)),
        ("a schema that is text", "schema_version.major", |m| m["schema_version"]["major"] = json!("8")),
        ("an empty range", "range_constraints.s0", |m| m["range_constraints"] = json!({"s0": {"min_val": 9, "max_val": 2}})),
        ("a range that is a float", "range_constraints.s0", |m| m["range_constraints"] = json!({"s0": {"min_val": 0.5, "max_val": 2}})),
        ("an unknown dtype", "tensor_values.x.dtype", |m| graph(m)["tensor_values"]["x"]["dtype"] = json!(99)),
        ("a dtype that is text", "tensor_values.x.dtype", |m| graph(m)["tensor_values"]["x"]["dtype"] = json!("f32")),
        ("an unknown layout", "tensor_values.x.layout", |m| graph(m)["tensor_values"]["x"]["layout"] = json!(0)),
        ("a negative size", "tensor_values.x", |m| graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_int": -2})),
        ("more bytes than can be counted", "tensor_values.x", |m| {
            graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_int": 1i64 << 61})
        }),
        ("a fractional size", "tensor_values.x.sizes[0]", |m| graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_int": 1.5})),
        ("a size that overflows", "tensor_values.x.sizes[0]", |m| {
            graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_int": 18446744073709551615u64})
        }),
        ("a size of unknown kind", "tensor_values.x.sizes[0]", |m| graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_wish": 1})),
        ("sizes without strides", "tensor_values.x", |m| graph(m)["tensor_values"]["x"]["strides"] = json!([])),
        ("too many dimensions", "tensor_values.x", |m| {
            graph(m)["tensor_values"]["x"]["sizes"] = json!(vec![json!({"as_int": 1}); 1000]);
            graph(m)["tensor_values"]["x"]["strides"] = json!(vec![json!({"as_int": 1}); 1000]);
        }),
        ("a bad size expression", "sizes[0]", |m| {
            graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_expr": {"expr_str": "__import__('os')", "hint": null}})
        }),
        ("a deep size expression", "sizes[0]", |m| {
            let text = format!("{}Integer(1){}", "Max(".repeat(1000), ")".repeat(1000));
            graph(m)["tensor_values"]["x"]["sizes"][0] = json!({"as_expr": {"expr_str": text, "hint": null}})
        }),
        ("an unknown argument kind", "nodes[0].inputs[0].arg", |m| graph(m)["nodes"][0]["inputs"][0]["arg"] = json!({"as_magic": 1})),
        ("two argument kinds", "nodes[0].inputs[0].arg", |m| {
            graph(m)["nodes"][0]["inputs"][0]["arg"] = json!({"as_int": 1, "as_bool": true})
        }),
        ("an argument without kind", "nodes[0].inputs[0].arg", |m| graph(m)["nodes"][0]["inputs"][0]["arg"] = json!({})),
        ("an argument of wrong type", "nodes[0].inputs[0].arg", |m| graph(m)["nodes"][0]["inputs"][0]["arg"] = json!({"as_int": "1"})),
        ("a wrong passing kind", "nodes[0].inputs[0].kind", |m| graph(m)["nodes"][0]["inputs"][0]["kind"] = json!(7)),
        ("an undefined name", "nodes[0].inputs[0]", |m| graph(m)["nodes"][0]["inputs"][0]["arg"]["as_tensor"]["name"] = json!("ghost")),
        ("a cycle", "nodes[0].inputs[0]", |m| graph(m)["nodes"][0]["inputs"][0]["arg"]["as_tensor"]["name"] = json!("relu")),
        ("a node that uses itself", "nodes[0].inputs[1]", |m| graph(m)["nodes"][0]["inputs"][1]["arg"]["as_tensor"]["name"] = json!("add")),
        ("a name defined twice", "nodes[1].outputs[0]", |m| graph(m)["nodes"][1]["outputs"][0]["as_tensor"]["name"] = json!("add")),
        ("a value without description", "nodes[1].outputs[0]", |m| {
            graph(m)["nodes"][1]["outputs"][0]["as_tensor"]["name"] = json!("nobody")
        }),
        ("an undefined output", "graph.outputs[0]", |m| graph(m)["outputs"][0]["as_tensor"]["name"] = json!("ghost")),
        ("a missing input spec", "input_specs", |m| m["graph_module"]["signature"]["input_specs"] = json!([])),
        ("a missing output spec", "output_specs", |m| m["graph_module"]["signature"]["output_specs"] = json!([])),
        ("an input spec of another value", "input_specs[0]", |m| {
            m["graph_module"]["signature"]["input_specs"][0]["parameter"]["arg"]["name"] = json!("x")
        }),
        ("an output spec of another value", "output_specs[0]", |m| {
            m["graph_module"]["signature"]["output_specs"][0]["user_output"]["arg"]["as_tensor"]["name"] = json!("add")
        }),
        ("an unknown input spec", "input_specs[0]", |m| m["graph_module"]["signature"]["input_specs"][0] = json!({"wish": {}})),
        ("a bad guard", "guards_code[0]", |m| m["guards_code"] = json!(["__import__('os').system('true')"])),
        ("a bad tree", "in_spec", |m| {
            m["graph_module"]["module_call_graph"] =
                json!([{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "[1, 2]", "out_spec": ""}}])
        }),
        ("a nested graph that uses outer names", "as_graph.graph.nodes[0].inputs[0]", |m| {
            let mut inner = graph(m).clone();
            inner["inputs"] = json!([]);
            graph(m)["nodes"][0]["inputs"][0]["arg"] = json!({"as_graph": {"name": "g", "graph": inner}});
        }),
        ("graphs nested without end", "as_graph", |m| {
            let plain = graph(m).clone();
            let mut inner = plain.clone();
            for _ in 0..60 {
                let mut outer = plain.clone();
                outer["nodes"][0]["inputs"][0]["arg"] = json!({"as_graph": {"name": "g", "graph": inner}});
                inner = outer;
            }
            graph(m)["nodes"] = inner["nodes"].take();
        }),
    ];
    for (kind, place, edit) in cases {
        refused(kind, place, &with_model(edit));
    }
}

fn graph(model: &mut Value) -> &mut Value {
    &mut model["graph_module"]["graph"]
}

#[test]
fn bad_weights_are_refused() {
    let cases: &[Case] = &[
        ("offset behind the storage", "config.w", |w| w["tensor_meta"]["storage_offset"] = json!({"as_int": 1})),
        ("sizes beyond the storage", "config.w", |w| w["tensor_meta"]["sizes"][0] = json!({"as_int": 3})),
        ("sizes that overflow", "config.w", |w| w["tensor_meta"]["sizes"][0] = json!({"as_int": i64::MAX})),
        ("strides beyond the storage", "config.w", |w| w["tensor_meta"]["strides"][1] = json!({"as_int": 9})),
        ("strides that overflow", "config.w", |w| w["tensor_meta"]["strides"][0] = json!({"as_int": i64::MAX})),
        ("a negative size", "config.w", |w| w["tensor_meta"]["sizes"][0] = json!({"as_int": -1})),
        ("a negative stride", "config.w", |w| w["tensor_meta"]["strides"][0] = json!({"as_int": -3})),
        ("a negative offset", "config.w", |w| w["tensor_meta"]["storage_offset"] = json!({"as_int": -1})),
        ("an expansion bomb", "config.w", |w| {
            w["tensor_meta"]["sizes"] = json!([{"as_int": 1i64 << 40}, {"as_int": 1}]);
            w["tensor_meta"]["strides"] = json!([{"as_int": 0}, {"as_int": 1}]);
        }),
        ("a symbolic size", "config.w", |w| w["tensor_meta"]["sizes"][0] = json!({"as_expr": {"expr_str": "Symbol('s0')", "hint": null}})),
        ("a stride too few", "config.w", |w| w["tensor_meta"]["strides"] = json!([{"as_int": 1}])),
        ("a pickle", "config.w", |w| w["use_pickle"] = json!(true)),
        ("no description", "config.w", |w| w["tensor_meta"] = json!(null)),
        ("a path upwards", "../../", |w| w["path_name"] = json!("../../../etc/passwd")),
        ("an absolute path", "/etc", |w| w["path_name"] = json!("/etc/passwd")),
        ("a path that is a number", "path_name", |w| w["path_name"] = json!(7)),
    ];
    for (kind, place, edit) in cases {
        refused(kind, place, &with_weights(edit));
    }
}

/// What PyTorch's own reader needs, one field after the other.
#[test]
fn programs_that_pytorch_refuses_are_refused() {
    let fields = [
        ("graph_module.graph.nodes[0]", "/graph_module/graph/nodes/0", "metadata"),
        ("graph_module.graph.nodes[0]", "/graph_module/graph/nodes/0", "target"),
        ("graph_module.graph.tensor_values.x", "/graph_module/graph/tensor_values/x", "requires_grad"),
        ("graph_module.graph.tensor_values.x", "/graph_module/graph/tensor_values/x", "storage_offset"),
        ("graph_module.graph.tensor_values.x", "/graph_module/graph/tensor_values/x", "device"),
        ("graph_module.graph", "/graph_module/graph", "sym_bool_values"),
        ("graph_module.graph", "/graph_module/graph", "sym_int_values"),
        ("graph_module", "/graph_module", "module_call_graph"),
        ("graph_module.signature.input_specs[0]", "/graph_module/signature/input_specs/0/parameter", "parameter_name"),
        (".", "", "opset_version"),
        (".", "", "range_constraints"),
    ];
    for (place, pointer, field) in fields {
        let bytes = with_model(|m| drop(m.pointer_mut(pointer).expect("a place").as_object_mut().expect("fields").remove(field)));
        refused(field, place, &bytes);
        refused(field, &format!("`{field}`"), &bytes);
    }
    refused("a range without its bound", "`max_val`", &with_model(|m| m["range_constraints"] = json!({"s0": {"min_val": 0}})));
    refused(
        "a buffer that may be kept or not",
        "`persistent`",
        &with_model(|m| m["graph_module"]["signature"]["input_specs"][0] = json!({"buffer": {"arg": {"name": "p_w"}, "buffer_name": "w"}})),
    );
    for field in ["is_param", "use_pickle", "tensor_meta", "path_name"] {
        refused(field, &format!("`{field}`"), &with_weights(|w| drop(w.as_object_mut().expect("fields").remove(field))));
    }
}
