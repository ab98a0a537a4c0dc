//! Builds small archives, good ones and ones that are wrong in a chosen way.

use std::{
    io::{Cursor, Write},
    path::PathBuf,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// A program `y = relu(x + w)` of one input and one parameter.
pub fn model() -> Value {
    let meta = |name: &str| {
        json!({"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "requires_grad": false,
        "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}],
        "storage_offset": {"as_int": 0}, "layout": 7, "comment": name})
    };
    let tensor = |name: &str| json!({"as_tensor": {"name": name}});
    let node = |name: &str, target: &str, inputs: Value| json!({"target": target, "inputs": inputs, "outputs": [tensor(name)], "metadata": {}, "is_hop_single_tensor_return": null, "name": name});
    json!({
        "graph_module": {
            "graph": {
                "inputs": [tensor("p_w"), tensor("x")],
                "outputs": [tensor("relu")],
                "nodes": [
                    node("add", "torch.ops.aten.add.Tensor", json!([
                        {"name": "self", "arg": tensor("x"), "kind": 1}, {"name": "other", "arg": tensor("p_w"), "kind": 1}])),
                    node("relu", "torch.ops.aten.relu.default", json!([{"name": "self", "arg": tensor("add"), "kind": 1}])),
                ],
                "tensor_values": {"p_w": meta("p_w"), "x": meta("x"), "add": meta("add"), "relu": meta("relu")},
                "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {}, "sym_float_values": {}
            },
            "signature": {
                "input_specs": [
                    {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                    {"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor("relu")}}]
            },
            "module_call_graph": [], "metadata": {}, "treespec_namedtuple_fields": {}
        },
        "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 20},
        "verifiers": ["TRAINING"], "torch_version": "2.15.0", "guards_code": []
    })
}

/// The weights' table for [`model`].
pub fn weights() -> Value {
    json!({"config": {"w": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta": {
        "dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "requires_grad": true, "device": {"type": "cpu", "index": null},
        "strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}}})
}

/// The entries of a good archive.
pub fn entries() -> Vec<(String, Vec<u8>)> {
    let entry = |name: &str, bytes: &[u8]| (format!("m/{name}"), bytes.to_vec());
    vec![
        entry("archive_format", b"pt2"),
        entry("archive_version", b"0"),
        entry("byteorder", b"little"),
        entry("models/model.json", model().to_string().as_bytes()),
        entry("data/weights/model_weights_config.json", weights().to_string().as_bytes()),
        entry("data/weights/weight_0", &[0; 24]),
        entry("data/constants/model_constants_config.json", br#"{"config": {}}"#),
    ]
}

/// Packs entries as they are.
pub fn pack(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(name.as_str(), options).expect("a new entry");
        zip.write_all(bytes).expect("memory takes all");
    }
    zip.finish().expect("memory takes all").into_inner()
}

/// A good archive with one entry replaced.
pub fn with_entry(name: &str, bytes: impl Into<Vec<u8>>) -> Vec<u8> {
    let mut entries = entries();
    let name = format!("m/{name}");
    entries.retain(|(known, _)| *known != name);
    entries.push((name, bytes.into()));
    pack(&entries)
}

/// A good archive whose program is edited.
pub fn with_model(edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut model = model();
    edit(&mut model);
    with_entry("models/model.json", model.to_string())
}

/// A good archive whose weights' table is edited.
pub fn with_weights(edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut weights = weights();
    edit(&mut weights["config"]["w"]);
    with_entry("data/weights/model_weights_config.json", weights.to_string())
}

/// Writes bytes to a file that lives as long as the folder.
pub fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("m.pt2");
    std::fs::write(&path, bytes).expect("a file in the folder");
    (folder, path)
}
