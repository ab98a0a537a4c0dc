//! Writes the methods of Rust's tensors, one for each operator of the `aten` schema table that takes a tensor first and gives tensors.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use crate::cargo::{self, Result};

/// The methods.
pub const METHODS: &str = "jit/src/methods.rs";

/// The table of the operators.
const TABLE: &str = "dialects/src/aten/schemas.tsv";

/// What a tensor has by itself, and Rust's words.
const TAKEN: [&str; 6] = ["clone", "dtype", "rank", "size", "value", "where"];

/// Beginnings of names of operators that stand for one library's kernels, or are no part of PyTorch's interface.
const INTERNAL: [&str; 6] = ["_", "cudnn_", "fbgemm_", "linalg__", "miopen_", "mkldnn_"];

/// Facts of operators that are no functions of tensors.
const NOT: [&str; 4] = ["mutable", "out", "inplace", "dynamic_output_shape"];

/// The text of the methods.
pub fn methods() -> Result<String> {
    let table = fs::read_to_string(cargo::root().join(TABLE))?;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    let mut names = BTreeSet::new();
    let mut text = HEAD.to_owned();
    // An overload without a name has the plain name, and that of tensors where there is none.
    let plain: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    for row in &rows {
        if let Some((name, method)) = method(row, &plain)
            && names.insert(name)
        {
            text += &method;
        }
    }
    Ok(text + "}\n")
}

fn method(row: &[&str], plain: &BTreeSet<&str>) -> Option<(String, String)> {
    let [full, flags, returns, arguments @ ..] = row else { return None };
    let (base, overload) = full.strip_prefix("aten.")?.split_once('.').map_or((full.strip_prefix("aten.")?, ""), |parts| parts);
    let internal = INTERNAL.iter().any(|prefix| base.starts_with(prefix)) || base.ends_with("_backward");
    let is_function = !internal && !flags.split(' ').any(|flag| NOT.contains(&flag));
    if !is_function || arguments.first()?.split([' ', '(']).next() != Some("Tensor") {
        return None;
    }
    let name = match overload {
        "Tensor" if !plain.contains(&*format!("aten.{base}")) => base.to_owned(),
        "" => base.to_owned(),
        overload => format!("{base}_{}", overload.to_lowercase()),
    };
    if TAKEN.contains(&&*name) {
        return None;
    }
    let returns: Vec<&str> = returns.split(' ').map(|ty| ty.split('(').next().unwrap_or(ty)).collect();
    let result = match &returns[..] {
        ["Tensor"] => "Tensor",
        ["Tensor[]"] => "Vec<Tensor>",
        [_, ..] if returns.iter().all(|ty| *ty == "Tensor") => "Vec<Tensor>",
        _ => return None,
    };
    let mut parameters = String::new();
    let mut values = "self.into()".to_owned();
    for argument in &arguments[1..] {
        let (ty, rest) = argument.trim_start_matches('*').split_once(' ')?;
        if rest.contains('=') {
            break;
        }
        // What must be given by name stands behind defaults, which a method does not take.
        let (ty, value) = parameter(ty.split('(').next().unwrap_or(ty))?;
        let name = if rest == "self" { "this" } else { rest };
        write!(parameters, ", {name}: {ty}").ok()?;
        write!(values, ", {}", value.replace('$', name)).ok()?;
    }
    let required = arguments[1..].iter().filter(|argument| !argument.contains('=')).count();
    if required != values.matches(", ").count() {
        return None;
    }
    let constant = full.strip_prefix("aten.")?.replace('.', "_").to_uppercase();
    let called = if result == "Tensor" { "call_one" } else { "call" };
    let list = arguments.join(", ").replace("*", "").replace('[', "\\[").replace(']', "\\]");
    let text = format!(
        "\n    /// `{full}`: {list}.\n    #[track_caller]\n    pub fn {name}(&self{parameters}) -> {result} {{\n        {called}(op::{constant}, &[{values}])\n    }}\n"
    );
    Some((name, text))
}

/// A parameter's type, and what makes an argument of it.
fn parameter(ty: &str) -> Option<(&'static str, &'static str)> {
    let list = |ty: &str| ty.contains('[');
    Some(match ty {
        "Tensor" => ("&Tensor", "$.into()"),
        "Tensor?" => ("Option<&Tensor>", "$.into()"),
        "Tensor[]" => ("&[Tensor]", "$.into()"),
        "Tensor?[]" => ("&[Option<Tensor>]", "$.into()"),
        "int" | "SymInt" => ("impl Into<Size>", "Argument::Size($.into())"),
        "Scalar" | "float" => ("impl Into<HostScalar>", "Argument::Scalar($.into())"),
        "bool" => ("bool", "$.into()"),
        "str" => ("&str", "$.into()"),
        "ScalarType" => ("DType", "$.into()"),
        "float[]" => ("&[f64]", "$.into()"),
        ty if list(ty) && (ty.starts_with("int[") || ty.starts_with("SymInt[")) => ("impl Into<Sizes>", "Argument::Sizes($.into())"),
        _ => return None,
    })
}

const HEAD: &str = "\
//! The operators as methods: the arguments that have no default, in the order of the schema. [`call`](crate::call()) takes all of them.
//!
//! @generated by `cargo xtask aten-table`.

#![allow(clippy::too_many_arguments, clippy::should_implement_trait, non_snake_case, reason = \"the arguments and names are PyTorch's\")]

use strata_dialects::aten::op;
use strata_runtime::DType;

use crate::argument::{Argument, Size, Sizes};
use crate::host_scalar::HostScalar;
use crate::operators::{call, call_one};
use crate::tensor::Tensor;

/// The operators.
impl Tensor {";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_take_what_has_no_default() {
        let text = methods().unwrap();
        for wanted in [
            "pub fn add(&self, other: &Tensor) -> Tensor {\n        call_one(op::ADD_TENSOR, &[self.into(), other.into()])",
            "pub fn softmax_int(&self, dim: impl Into<Size>) -> Tensor {",
            "pub fn chunk(&self, chunks: impl Into<Size>) -> Vec<Tensor> {",
        ] {
            assert!(text.contains(wanted), "{wanted}");
        }
        assert!(!text.contains("pub fn add_("));
    }
}
