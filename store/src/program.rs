//! What a compiled program is known by.

use crate::Parts;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a compiled program depends on: the hash of its source, the machine, the options as JSON, and the build of the compiler.
pub fn program_parts(source: &str, machine: &str, options: &str, build: &str) -> Parts {
    Parts::new().with("build", build).with("machine", machine).with("options", canonical(options)).with("source", source)
}

/// Values of options that mean what another value means; the default is to say nothing.
fn same() -> [(&'static str, Value, Value); 8] {
    [
        ("autotune_budget", json!(30.0), Value::Null),
        ("cpu", json!(""), Value::Null),
        ("dynamic", json!("auto"), Value::Null),
        ("dynamic", json!("on"), Value::Null),
        ("mode", json!("default"), Value::Null),
        ("numerics", json!("ulp"), Value::Null),
        ("target", json!("cpu"), Value::Null),
        ("target", json!("cuda"), json!("cuda:sm_80")),
    ]
}

/// Options that make no other code.
const NO_MATTER: &[&str] = &["cache", "cache_local", "verify"];

/// The options in the one form that all have which ask for the same code. What is no object of options is left to the compiler.
fn canonical(options: &str) -> String {
    let Ok(mut options) = serde_json::from_str::<BTreeMap<String, Value>>(options) else { return options.to_owned() };
    for (name, value, meaning) in same() {
        if let Some(found) = options.get_mut(name).filter(|found| **found == value) {
            *found = meaning;
        }
    }
    // A device records calls in that mode.
    if options.get("target").is_none_or(Value::is_null) && options.get("mode").is_some_and(|mode| mode == "reduce-overhead") {
        options.remove("mode");
    }
    if let Some(Value::Array(skip)) = options.get_mut("skip") {
        skip.sort_unstable_by_key(Value::to_string);
        skip.dedup();
    }
    let nothing = |value: &Value| [Value::Null, json!(false), json!([]), json!("")].contains(value);
    options.retain(|name, value| !nothing(value) && !NO_MATTER.contains(&name.as_str()));
    json!(options).to_string()
}

#[cfg(test)]
mod tests {
    use super::canonical;

    fn check(options: &str, wanted: &str) {
        assert_eq!(canonical(options), wanted, "{options}");
    }

    #[test]
    fn equal_options_have_one_form() {
        check("{}", "{}");
        check(r#"{"numerics": "ulp", "dynamic": "auto", "mode": "default", "target": "cpu", "cpu": "", "part": ""}"#, "{}");
        check(
            r#"{"mode": "reduce-overhead", "dynamic": "on", "cache": true, "cache_local": true, "verify": true, "profile": false}"#,
            "{}",
        );
        check(r#"{"skip": ["winograd", "cse", "winograd"]}"#, r#"{"skip":["cse","winograd"]}"#);
        check(r#"{"mode": "max-autotune", "autotune_budget": 30.0}"#, r#"{"mode":"max-autotune"}"#);
        check(r#"{"target": "cuda"}"#, r#"{"target":"cuda:sm_80"}"#);
    }

    #[test]
    fn other_options_have_other_forms() {
        check(r#"{"numerics": "fast", "dynamic": "off", "sizes": "4x8"}"#, r#"{"dynamic":"off","numerics":"fast","sizes":"4x8"}"#);
        check(r#"{"mode": "reduce-overhead", "target": "cuda:sm_80"}"#, r#"{"mode":"reduce-overhead","target":"cuda:sm_80"}"#);
        check(r#"{"autotune_budget": 3.0, "mode": "max-autotune"}"#, r#"{"autotune_budget":3.0,"mode":"max-autotune"}"#);
        check("no options", "no options");
    }
}
