//! Kernels in PTX that a user brings for CUDA devices: which calls start them, and what their parameters are.

use strata_core::ir::{Module, Type};
use strata_core::rewrite::Rewriter;
use strata_dialects::capture::CustomCall;

use crate::Error;
use crate::options::{Options, Target};

/// Decides for each call of a kernel whether it is one in PTX that runs: on a CUDA device, where its file is given. The others are calls of C
/// functions from here on.
pub(crate) fn choose(module: &Module<'_>, options: &Options) -> Result<(), Error> {
    let on_device = matches!(options.target, Target::Cuda(_));
    for call in module.op().find_all(CustomCall::NAME).into_iter().filter_map(CustomCall::cast) {
        let (op, symbol) = (call.op(), call.symbol());
        let Some(file) = call.ptx() else { continue };
        let given = options.op_libraries.iter().filter(|_| on_device).find(|library| library.file == file);
        let mut rewriter = Rewriter::before(op);
        let Some(ptx) = given.and_then(|library| library.ptx.as_deref()) else {
            for name in ["ptx", "blocks", "threads", "shared", "unused", "parameters"] {
                rewriter.remove_attr(op, name);
            }
            continue;
        };
        let fail = |why: String| Error::PtxKernel { file: file.clone(), symbol: symbol.clone(), why };
        let parameters = parameters(ptx, &symbol).ok_or_else(|| fail("the file has no `.entry` of this name".into()))?;
        let (tensors, numbers): (Vec<_>, Vec<_>) = op.operands().into_iter().map(|value| value.ty()).partition(|ty| ty.is_tensor());
        let wanted: Vec<_> = tensors.into_iter().chain(numbers).collect();
        let unused = call.unused().unwrap_or_default().try_into().unwrap_or(usize::MAX);
        if wanted.len().saturating_add(unused) != parameters.len() {
            let (has, given) = (parameters.len(), wanted.len());
            return Err(fail(format!(
                "it has {has} parameters, and the call gives {given} tensors and numbers; `unused = N : i64` says that the last N get zero"
            )));
        }
        let bits = wanted.iter().zip(&parameters).enumerate().map(|(k, (ty, declared))| {
            let taken = taken(*ty).iter().find(|(name, _)| name == declared).map(|(_, bits)| *bits);
            taken.ok_or_else(|| {
                let known = taken_names(*ty);
                fail(format!("parameter {k} is declared as .{declared}, and the call gives {ty}, which {known} takes"))
            })
        });
        let mut bits = bits.collect::<Result<Vec<_>, _>>()?;
        bits.resize(parameters.len(), 64);
        rewriter.set_attr(op, "parameters", module.cx().i64s_attr(&bits));
    }
    Ok(())
}

/// The types of PTX that take a value, with their bits.
fn taken(ty: Type<'_>) -> &'static [(&'static str, i64)] {
    const ADDRESS: &[(&str, i64)] = &[("u64", 64), ("b64", 64), ("s64", 64)];
    const SIZE: &[(&str, i64)] = &[("u32", 32), ("s32", 32), ("b32", 32), ("u64", 64), ("s64", 64), ("b64", 64)];
    const FLOAT: &[(&str, i64)] = &[("f32", 32), ("f64", 64)];
    const TRUTH: &[(&str, i64)] = &[("u8", 8), ("s8", 8), ("b8", 8)];
    if ty.is_tensor() {
        ADDRESS
    } else if ty.is_index() {
        SIZE
    } else if ty == ty.cx().f64() {
        FLOAT
    } else {
        TRUTH
    }
}

fn taken_names(ty: Type<'_>) -> String {
    taken(ty).iter().map(|(name, _)| format!(".{name}")).collect::<Vec<_>>().join(" or ")
}

/// The types of a kernel's parameters; nothing where the PTX has no such kernel. A structure is an array of bytes, `b8[16]`.
fn parameters(ptx: &str, kernel: &str) -> Option<Vec<String>> {
    let text = without_comments(ptx);
    let list = text.split(".entry").skip(1).find_map(|rest| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')))?;
        (&rest[..end] == kernel).then(|| rest[end..].trim_start())
    })?;
    let Some(list) = list.strip_prefix('(').and_then(|list| list.split(')').next()) else { return Some(Vec::new()) };
    Some(list.split(',').filter(|parameter| !parameter.trim().is_empty()).map(declared).collect())
}

/// The type of `.param .u64 .ptr .global .align 1 x`, or of `.param .align 8 .b8 x[16]`.
fn declared(parameter: &str) -> String {
    let is_type = |word: &&str| {
        let bits = word.strip_prefix(['b', 'f', 's', 'u']);
        bits.is_some_and(|bits| !bits.is_empty() && bits.chars().all(|c| c.is_ascii_digit()))
    };
    let words = parameter.split_whitespace().filter_map(|word| word.strip_prefix('.'));
    let ty = words.into_iter().find(is_type).unwrap_or_default();
    let array = parameter.find('[').map(|at| parameter[at..].trim()).unwrap_or_default();
    format!("{ty}{array}")
}

/// The text without `// ..` and `/* .. */`.
fn without_comments(ptx: &str) -> String {
    let (mut rest, mut text) = (ptx, String::new());
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        text.push_str(&rest[..at]);
        let end = if rest[at..].starts_with("//") { "\n" } else { "*/" };
        rest = rest[at + 2..].split_once(end).map_or("", |(_, behind)| behind);
        text.push('\n');
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        let ptx = "//\n.version 8.0\n.target sm_80\n.address_size 64\n/* .entry f(.param .u8 x) */\n\
            .visible .entry f(\n  .param .u64 f_param_0, // the input\n  .param .u64 .ptr .global .align 1 f_param_1,\n\
              .param .u32 f_param_2,\n  .param .f32 f_param_3,\n .param .align 8 .b8 f_param_4[16]\n)\n.maxntid 256, 1, 1\n{ ret; }\n\
            .entry g { ret; }\n.entry h() { ret; }\n.entry k(.param .\u{e9}32 x, .param .f16x2 y, .param .u64 z)";
        let read = |kernel| parameters(ptx, kernel);
        assert_eq!(read("f").unwrap(), ["u64", "u64", "u32", "f32", "b8[16]"]);
        assert_eq!(read("k").unwrap(), ["", "", "u64"]);
        assert_eq!([read("g"), read("h"), read("f_param_0")], [Some(Vec::new()), Some(Vec::new()), None]);
    }
}
