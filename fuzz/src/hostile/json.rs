//! Broken JSON: a value that parses and says something else, or text that does not parse.

use serde_json::Value;

use crate::rng::Rng;

/// Numbers at which something changes: signs, widths, products that overflow.
pub const NUMBERS: [i64; 20] = [
    0,
    1,
    -1,
    2,
    3,
    -2,
    7,
    63,
    65,
    255,
    4096,
    1 << 20,
    i32::MAX as i64,
    1 << 31,
    1 << 32,
    1 << 53,
    1 << 62,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

/// Texts at which something changes.
const TEXTS: &[&str] = &["", "\0", "..", "/etc/passwd", "%s%n", "é\u{202e}", "NaN", "Infinity", "1e999", "-", "aten.add.Tensor", "()"];

/// Changes a document in a few places.
pub fn edit(document: &mut Value, rng: &mut Rng) {
    for _ in 0..1 + rng.below(2) {
        change(document, rng);
    }
}

/// The text of a document; now and then one that no parser takes.
pub fn text(document: &Value, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = document.to_string().into_bytes();
    match rng.below(60) {
        0 => super::break_bytes(&mut bytes, rng),
        1 => bytes = "[".repeat(100_000).into_bytes(),
        2 => bytes.extend_from_slice(b" {}"),
        _ => {}
    }
    bytes
}

fn change(document: &mut Value, rng: &mut Rng) {
    let count = size(document);
    let other = node(document, &mut rng.below(count)).cloned().unwrap_or_default();
    // Numbers are few among the nodes and say most.
    let wanted: fn(&Value) -> bool = match rng.below(6) {
        0..=3 => Value::is_number,
        4 => |value| value.is_array() || value.is_object(),
        _ => |_| true,
    };
    let mut at = rng.below(count);
    for _ in 0..200 {
        if node(document, &mut at.clone()).is_some_and(|value| wanted(value)) {
            break;
        }
        at = rng.below(count);
    }
    let Some(value) = node(document, &mut at) else { return };
    match (value, rng.below(6)) {
        (value @ Value::Number(_), 0..=4) => {
            *value = match rng.below(20) {
                0 => u64::MAX.into(),
                1 => 0.5.into(),
                2 => 1e308.into(),
                3..=8 => rng.below(12).into(),
                _ => rng.pick(&NUMBERS).into(),
            }
        }
        (Value::Bool(value), 0..=2) => *value = !*value,
        (value @ Value::String(_), 0..=1) => *value = rng.pick(TEXTS).into(),
        (value @ Value::String(_), 2..=4) if other.is_string() => *value = other,
        (Value::Array(values), 0) if !values.is_empty() => drop(values.remove(rng.below(values.len()))),
        (Value::Array(values), 1) if !values.is_empty() => {
            let copy = values[rng.below(values.len())].clone();
            values.insert(rng.below(values.len() + 1), copy);
        }
        (Value::Array(values), 2) => rng.shuffle(values),
        (Value::Array(values), 3) => values.clear(),
        (Value::Object(fields), 0..=1) if !fields.is_empty() => {
            let name = fields.keys().nth(rng.below(fields.len())).cloned().unwrap_or_default();
            fields.shift_remove(&name);
        }
        (Value::Object(fields), 2) if !fields.is_empty() => {
            let name = fields.keys().nth(rng.below(fields.len())).cloned().unwrap_or_default();
            let value = fields.shift_remove(&name).unwrap_or_default();
            fields.insert(rng.pick(&["as_int", "as_tensor", "as_ints", "as_sym_int", "as_none", "name", "extra"]).into(), value);
        }
        (value, 5) => *value = [Value::Null, true.into(), "".into(), Value::Array(Vec::new()), serde_json::json!({})][rng.below(5)].clone(),
        (value, _) => *value = other,
    }
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(size).sum::<usize>(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// The node of this number, in the order of the text.
fn node<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(values) => values.iter_mut().find_map(|value| node(value, at)),
        Value::Object(fields) => fields.values_mut().find_map(|value| node(value, at)),
        _ => None,
    }
}
