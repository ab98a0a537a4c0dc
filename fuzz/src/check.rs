//! One case: interpreted, compiled twice, compared.

use std::path::{Path, PathBuf};

use half::{bf16, f16};
use strata_driver::{Numerics, Options};
use strata_runtime::{DType, Session, Tensor};

use crate::case::Case;
use crate::data::inputs;
use crate::emit::{Style, emit};
use crate::graph::{Def, Graph, is_float};
use crate::rng::Rng;

/// How many noisy interpretations tell an ill-conditioned element from a wrong one.
const NOISES: u64 = 8;

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Same,
    /// A change made no program, or the interpreter refuses it.
    Invalid(String),
    /// What is wrong: a kind, then a text on one line.
    Wrong(String, String),
}

/// Where the worker puts the program's text.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(std::env::temp_dir().join(format!("strata-fuzz-{}.mlir", std::process::id())))
    }

    fn write(&self, text: &str) -> Result<&Path, Verdict> {
        std::fs::write(&self.0, text).map_err(|e| Verdict::Invalid(format!("{}: {e}", self.0.display())))?;
        Ok(&self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Checks a case.
pub fn check(case: &Case, scratch: &Scratch) -> Verdict {
    match case.graph() {
        None => Verdict::Invalid("a change makes no sense".into()),
        Some(graph) => {
            let verdict = compare(case, &graph, scratch).and_then(|()| compare_other_sizes(case, &graph, scratch));
            verdict.err().unwrap_or(Verdict::Same)
        }
    }
}

/// How many calls with other sizes a program gets.
const OTHER_CALLS: u64 = 4;

/// Calls the program with sizes that need not fit each other, where it says nothing of them: a call that the interpreter refuses fails, and
/// the results of the others have the interpreter's shapes.
fn compare_other_sizes(case: &Case, graph: &Graph, scratch: &Scratch) -> Result<(), Verdict> {
    if !graph.defs.iter().any(|def| matches!(def, Def::Arg(ty, ..) if ty.is_dynamic())) {
        return Ok(());
    }
    let wrong = |kind: &str, text: String| Verdict::Wrong(format!("{kind} with other sizes"), one_line(text));
    let text = emit(graph, Style { loose: true, ..Style::default() });
    let path = scratch.write(&text)?;
    let compiled = strata_driver::compile(strata_driver::standard(), path, &Options::default(), None);
    let compiled = compiled.map_err(|e| wrong(&format!("compile [{}]", fault(&e.to_string())), e.to_string()))?;
    let session = Session::load(&compiled, None).map_err(|e| wrong("load", e.to_string()))?;
    for call in 0..OTHER_CALLS {
        let inputs = inputs(&other_sizes(graph, case.seed, call), case.seed).map_err(|e| Verdict::Invalid(one_line(e)))?;
        let sizes = || inputs.iter().map(|input| format!("{:?}", input.shape())).collect::<Vec<_>>().join(" ");
        let expected = strata_driver::interpret(strata_driver::standard(), path, &Options::default(), inputs.clone());
        match (session.run(&inputs), expected) {
            (Ok(_), Err(why)) if graph.reads_for_sizes() && why.to_string().contains("index out of bounds") => {}
            (Ok(_), Err(why)) => return Err(wrong("accepted", format!("inputs of {}: the interpreter says {why}", sizes()))),
            (Err(why), Ok(_)) => return Err(wrong("refused", format!("inputs of {}: {why}", sizes()))),
            (Ok(found), Ok(expected)) => {
                for (k, (found, want)) in found.iter().zip(&expected).enumerate() {
                    if found.shape() != want.tensor.shape() {
                        let (found, want) = (found.shape(), want.tensor.shape());
                        return Err(wrong("shape", format!("inputs of {}: result {k} has {found:?}, not {want:?}", sizes())));
                    }
                }
            }
            (Err(_), Err(_)) => {}
        }
    }
    Ok(())
}

/// The program with some of the sizes of its arguments that are symbolic being others.
fn other_sizes(graph: &Graph, seed: u64, call: u64) -> Graph {
    let (mut other, mut rng) = (graph.clone(), Rng::new(seed, 500 + call));
    for def in &mut other.defs {
        let Def::Arg(ty, ..) = def else { continue };
        for dim in ty.dims.iter_mut().filter(|dim| dim.dynamic) {
            if rng.chance(30) {
                dim.n = rng.range(0, 9);
            }
        }
    }
    other
}

fn one_line(text: impl ToString) -> String {
    let text = text.to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.take(3).collect::<Vec<_>>().join(" | ").chars().take(400).collect()
}

/// The message without numbers and names: the same fault in another program.
fn fault(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphabetic() && c != '.' && c != '_').filter(|w| w.len() > 2 && !w.starts_with("strata"));
    words.filter(|word| !word.ends_with(".mlir")).take(8).collect::<Vec<_>>().join(" ")
}

fn compare(case: &Case, graph: &Graph, scratch: &Scratch) -> Result<(), Verdict> {
    let inputs = inputs(graph, case.seed).map_err(|e| Verdict::Invalid(one_line(e)))?;
    let interpret = |style: Style| -> Result<Vec<Tensor>, Verdict> {
        let path = scratch.write(&emit(graph, style))?;
        let results = strata_driver::interpret(strata_driver::standard(), path, &Options::default(), inputs.clone());
        Ok(results.map_err(|e| Verdict::Invalid(one_line(e)))?.into_iter().map(|named| named.tensor).collect())
    };
    let expected = interpret(Style::default())?;
    let text = emit(graph, Style::default());
    let numerics = if graph.strict { Numerics::Strict } else { Numerics::Ulp };
    let plans: &[(&str, &[String])] = &[("", &[]), (" with passes left out", &graph.skip)];
    let overflow_is_open = graph.overflow_is_open();
    let mut noisy: Option<Vec<Vec<Tensor>>> = None;
    for (name, skip) in plans {
        if !name.is_empty() && skip.is_empty() {
            continue;
        }
        let wrong = |kind: &str, text: String| Verdict::Wrong(format!("{kind}{name}"), one_line(text));
        let options = Options { numerics, skip: skip.to_vec(), ..Options::default() };
        // (Noisy programs were written there too.)
        let path = scratch.write(&text)?;
        let compiled = strata_driver::compile(strata_driver::standard(), path, &options, None);
        let compiled = compiled.map_err(|e| wrong(&format!("compile [{}]", fault(&e.to_string())), e.to_string()))?;
        let session = Session::load(&compiled, None).map_err(|e| wrong("load", e.to_string()))?;
        let found = session.run(&inputs).map_err(|e| wrong("run", e.to_string()))?;
        if found.len() != expected.len() {
            return Err(wrong("results", format!("{} results, expected {}", found.len(), expected.len())));
        }
        for k in 0..found.len() {
            let (found, want) = (found[k].row_major().map_err(|e| wrong("run", e.to_string()))?, &expected[k]);
            let found = &*found;
            strata_runtime::compare::same_type(found, want).map_err(|e| wrong("type", format!("result {k} {e}")))?;
            let far: Vec<usize> = (0..want.len()).filter(|&i| !close(number(found, i), number(want, i), want.dtype(), 0.0)).collect();
            if far.is_empty() {
                continue;
            }
            if noisy.is_none() {
                noisy =
                    Some((1..=NOISES).map(|noise| interpret(Style { noise: Some(noise), ..Style::default() })).collect::<Result<_, _>>()?);
            }
            let noisy = noisy.as_deref().unwrap_or_default();
            let open = |i: usize| overflow_is_open && !(number(found, i).value().is_finite() && number(want, i).value().is_finite());
            let bad = far.into_iter().filter(|&i| !open(i) && !excused(found, want, noisy.iter().map(|all| &all[k]), i));
            let bad: Vec<usize> = bad.collect();
            if let Some(&i) = bad.first() {
                let (got, wanted) = (number(found, i), number(want, i));
                return Err(wrong(
                    "differ",
                    format!("result {k} at {i}: {got:?}, expected {wanted:?}; {} of {} elements", bad.len(), want.len()),
                ));
            }
        }
    }
    Ok(())
}

/// Whether rounding explains the difference: rounded values that are a little off change the element as much.
fn excused<'a>(found: &Tensor, want: &Tensor, noisy: impl Iterator<Item = &'a Tensor>, i: usize) -> bool {
    let (found, want, dtype) = (number(found, i), number(want, i), want.dtype());
    let mut spread = 0f64;
    for other in noisy {
        let other = number(other, i);
        let moved = (other.value() - want.value()).abs();
        if !is_float(dtype) && other != want || want.value().is_finite() != other.value().is_finite() {
            return true;
        }
        if moved.is_finite() {
            spread = spread.max(moved);
        }
    }
    is_float(dtype) && close(found, want, dtype, 20.0 * spread)
}

/// An element.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn value(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(v) => v,
        }
    }
}

fn number(tensor: &Tensor, i: usize) -> Number {
    let size = tensor.dtype().size();
    let bytes = &tensor.bytes()[i * size..][..size];
    fn read<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> T {
        bytemuck::pod_read_unaligned(&bytes[..size_of::<T>()])
    }
    match tensor.dtype() {
        DType::F64 => Number::Float(read(bytes)),
        DType::F32 => Number::Float(read::<f32>(bytes).into()),
        DType::F16 => Number::Float(read::<f16>(bytes).into()),
        DType::BF16 => Number::Float(read::<bf16>(bytes).into()),
        DType::I64 => Number::Int(read(bytes)),
        DType::I32 => Number::Int(read::<i32>(bytes).into()),
        _ => Number::Int(bytes[0].into()),
    }
}

fn close(found: Number, want: Number, dtype: DType, slack: f64) -> bool {
    let (Number::Float(found), Number::Float(want)) = (found, want) else { return found == want };
    let (relative, tiny) = match dtype {
        DType::F64 => (1e-11, 1e-200),
        DType::F32 => (2e-5, 1e-30),
        DType::F16 => (4e-3, 1e-6),
        _ => (3e-2, 1e-30),
    };
    found == want || found.is_nan() && want.is_nan() || (found - want).abs() <= relative * want.abs().min(found.abs()) + slack + tiny
}
