//! `rs-opt --check-gradients`: gradients beside finite differences, both in `f64` by the interpreter.
//!
//! A program, its joint program and the one of forward mode are taken to `prim` without optimisation, and all their floats become `f64`. Along a random direction of
//! each argument the slope of the outputs, weighted by random cotangents, is compared with what the gradient says it is. The slope comes
//! from steps of two sizes forwards and backwards, which also say whether there is one: where the program bends or jumps another direction
//! is drawn.

use std::fmt;

use strata_core::ir::{Module, Op, Type};
use strata_core::registry::Registry;
use strata_dialects::capture;
use strata_interp as interp;
use strata_interp::{DType, InterpError, Scalar, Tensor, Value};
use strata_lowering::loop_to_host::entry;

use crate::check_semantics::CheckOptions;
use crate::levels::Level;
use crate::pipelines::optional_passes;
use crate::run_levels::run_to;
use crate::sample_inputs::{Sample, sample};
use crate::widen::widen;
use crate::{Error, Gradient, Options, Target};

/// Directions that are drawn for one that is compared.
const DRAWS: usize = 4;

/// The smaller step along a direction; the larger is twice as long.
const STEP: f64 = 1e-4;

/// How far slopes of steps of two sizes may be apart, relative to the slope.
const SPREAD: f64 = 1e-4;

/// How much a slope may change from behind a point to before it, beside what a smooth function changes.
const BEND: f64 = 1e-6;

/// A slope is lost that is less than this of the slopes that it is the sum of.
const CANCELLED: f64 = 1e-3;

/// Slopes are compared relative to at least this.
const LEAST: f64 = 1e-6;

/// How far a slope and what the gradient says may be apart, relative to the larger.
const TOLERANCE: f64 = 1e-5;

/// What was found of one argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The argument.
    pub argument: String,
    /// Directions compared.
    pub directions: usize,
    /// Directions along which the program bends or jumps, or where it or its gradient is no number.
    pub left_out: usize,
    /// The largest relative difference.
    pub largest: f64,
    /// The first direction where it is wrong: the slope, and what the gradient or the tangents say.
    pub wrong: Option<(f64, f64)>,
}

/// Gradients of a program beside slopes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradientReport {
    /// By argument.
    pub arguments: Vec<Compared>,
}

impl GradientReport {
    /// Whether no gradient is wrong.
    pub fn is_right(&self) -> bool {
        self.arguments.iter().all(|compared| compared.wrong.is_none())
    }

    /// Directions compared, of all arguments.
    pub fn directions(&self) -> usize {
        self.arguments.iter().map(|compared| compared.directions).sum()
    }
}

impl fmt::Display for GradientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Compared { argument, directions, left_out, largest, wrong } in &self.arguments {
            match wrong {
                Some((slope, said)) => writeln!(f, "{argument}: WRONG: the slope is {slope:e}, the derivative says {said:e}")?,
                None => {
                    write!(f, "{argument}: right along {directions} directions, largest relative difference {largest:.1e}")?;
                    let why = if *left_out > 0 { format!("; {left_out} left out: bends, jumps, no numbers") } else { String::new() };
                    writeln!(f, "{why}")?;
                }
            }
        }
        Ok(())
    }
}

/// Compares the gradients of a program's text by all its arguments of floats with slopes.
///
/// # Errors
/// A program that is not differentiated, or that the interpreter does not run.
pub fn check_gradients(registry: &'static Registry, name: &str, text: &str, options: &CheckOptions) -> Result<GradientReport, Error> {
    let context = registry.pooled_context();
    let wide = |tensor: &Tensor| match tensor.dtype() {
        dtype if dtype.is_complex() => tensor.cast(DType::C128),
        dtype if dtype.is_float() => tensor.cast(DType::F64),
        _ => tensor.clone(),
    };
    let weights = options.weights.iter().map(|(name, tensor)| (name.clone(), wide(tensor))).collect();
    let options = &CheckOptions { weights, ..options.clone() };
    let parse = || Module::parse(&context, text, name).map_err(Error::from);
    let by = arguments(parse()?.op())?;
    if by.is_empty() {
        return Err(Error::Interpreter(
            "no argument is a tensor of floats or complex numbers, so there is nothing to differentiate by".into(),
        ));
    }
    let plain = Options { skip: optional_passes(registry, Target::Cpu).into_iter().map(str::to_owned).collect(), ..Options::default() };
    let gradient = Gradient { wrt: by.clone(), ..Gradient::default() };
    let forward = Options { gradient: Some(Gradient { forward: true, ..gradient.clone() }), ..plain.clone() };
    let joint = Options { gradient: Some(gradient), ..plain.clone() };
    let lower = |options: &Options| -> Result<Module<'_>, Error> {
        let module = parse()?;
        run_to(registry, &module, Level::Prim, options, &mut |_| {})?;
        widen(&module)?;
        Ok(module)
    };
    let (plain, joint) = (lower(&plain)?, lower(&joint)?);
    // A kernel has a gradient where one is registered, and no tangent.
    let forward = plain.op().find_all(capture::CustomCall::NAME).is_empty().then(|| lower(&forward)).transpose()?;
    let checker = Checker { plain, joint, forward, options };
    let mut arguments: Vec<_> = by.into_iter().map(Compared::new).collect();
    for set in 0..options.sets {
        options.budget.spend(|| checker.set(set, &mut arguments)).map_err(|error| Error::Interpreter(error.to_string()))?;
    }
    Ok(GradientReport { arguments })
}

/// The arguments of floats and complex numbers, by name.
fn arguments(module: Op<'_>) -> Result<Vec<String>, Error> {
    let function = entry(module)?;
    let fits = |ty: Type<'_>| ty.is_tensor() && ty.element_type().is_some_and(|element| element.is_float() || element.is_complex());
    let name = |at: usize| interp::run::names(function, "arg_attrs", at).1.unwrap_or_else(|| format!("arg{at}"));
    let all = function.body(0).args().into_iter().enumerate();
    Ok(all.filter(|(_, argument)| fits(argument.ty())).map(|(at, _)| name(at)).collect())
}

impl Compared {
    fn new(argument: String) -> Self {
        Self { argument, directions: 0, left_out: 0, largest: 0.0, wrong: None }
    }
}

/// Numbers that repeat from run to run.
struct Random(u64);

impl Random {
    /// Between -1 and 1.
    fn real(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Weights of the numbers of an output: 0 for what is no number, which has no slope.
    fn cotangent(&mut self, output: &Tensor) -> Result<Tensor, InterpError> {
        let mut weights = self.like(output)?;
        for k in 0..output.len() {
            let number = output.at(k).complex();
            if !(number.re.is_finite() && number.im.is_finite()) {
                weights.put(k, Scalar::Int(0));
            }
        }
        Ok(weights)
    }

    fn like(&mut self, tensor: &Tensor) -> Result<Tensor, InterpError> {
        Tensor::build(tensor.dtype(), tensor.shape(), |_| {
            let real = Scalar::Float(self.real());
            if tensor.dtype().is_complex() {
                let mut value = real.complex();
                value.im = self.real();
                return Scalar::Complex(value);
            }
            real
        })
    }
}

/// The programs in `f64`.
struct Checker<'c, 'o> {
    plain: Module<'c>,
    /// With gradients.
    joint: Module<'c>,
    /// With tangents, where there are some.
    forward: Option<Module<'c>>,
    options: &'o CheckOptions,
}

/// The sum of products of all elements, of complex ones the real part.
fn product(a: &Tensor, b: &Tensor) -> f64 {
    if a.dtype().is_complex() {
        return a.complexes().iter().zip(b.complexes()).map(|(a, b)| (a.conj() * b).re).sum();
    }
    a.floats().iter().zip(b.floats()).map(|(a, b)| a * b).sum()
}

fn is_differentiable(tensor: &Tensor) -> bool {
    tensor.dtype().is_float() || tensor.dtype().is_complex()
}

impl Checker<'_, '_> {
    fn run(&self, module: &Module<'_>, sample: &Sample, more: &[Tensor]) -> Result<Vec<Value>, InterpError> {
        let inputs = sample.inputs.iter().cloned().chain(more.iter().cloned().map(Value::Tensor)).collect();
        let name = entry(module.op()).ok().and_then(|function| function.str("sym_name"));
        let weights = |name: &str| sample.weights.get(name).cloned();
        Ok(interp::run(module.op(), name.as_deref(), inputs, self.options.lent(&weights))?.outputs)
    }

    /// One set of inputs: all arguments along one direction each.
    fn set(&self, set: usize, arguments: &mut [Compared]) -> Result<(), InterpError> {
        let function = entry(self.plain.op()).map_err(|error| interp::value::fail(error.to_string()))?;
        let mut failed = None;
        for attempt in 0..DRAWS * 2 {
            let sample = sample(function, self.options.seed, set, attempt, &self.options.weights)?;
            // An index that is out of bounds, a size that does not fit: other inputs.
            match self.sample(function, &sample, arguments, (set * 64 + attempt) as u64) {
                Ok(()) => return Ok(()),
                Err(error @ (InterpError::Unsupported { .. } | InterpError::Budget { .. })) => return Err(error),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn sample(&self, function: Op<'_>, sample: &Sample, arguments: &mut [Compared], seed: u64) -> Result<(), InterpError> {
        let mut random = Random(self.options.seed ^ (seed << 20));
        let outputs = self.run(&self.plain, sample, &[])?;
        let seeded: Vec<usize> = (0..outputs.len()).filter(|at| outputs[*at].tensor().is_ok_and(is_differentiable)).collect();
        let cotangents = seeded.iter().map(|at| random.cotangent(outputs[*at].tensor()?)).collect::<Result<Vec<_>, _>>()?;
        // The numbers of all outputs, each with its weight.
        let weights: Vec<f64> = cotangents.iter().flat_map(parts).collect();
        let numbers = |outputs: &[Value]| -> Result<Vec<f64>, InterpError> {
            let parts = seeded.iter().map(|at| outputs[*at].tensor().map(parts)).collect::<Result<Vec<_>, _>>()?;
            Ok(parts.concat())
        };
        let gradients = self.run(&self.joint, sample, &cotangents)?.split_off(outputs.len());
        for (at, (compared, gradient)) in arguments.iter_mut().zip(&gradients).enumerate() {
            if compared.wrong.is_some() {
                continue;
            }
            for _ in 0..DRAWS {
                let value = argument(function, sample, &compared.argument)?;
                let direction = random.like(&value)?;
                let step =
                    |step: f64| numbers(&self.run(&self.plain, &moved(function, sample, &compared.argument, &direction, step)?, &[])?);
                let around = [step(-2.0 * STEP)?, step(-STEP)?, step(0.0)?, step(STEP)?, step(2.0 * STEP)?];
                let said = product(gradient.tensor()?, &direction);
                // Infinity times 0 is no number in a gradient, as in eager PyTorch: of what is not chosen, and at the end of a domain.
                let Some(slope) = slope(&around, &weights).filter(|_| said.is_finite()) else {
                    compared.left_out += 1;
                    continue;
                };
                // Forward mode says it too: the tangents of the outputs, weighted.
                let ahead = match &self.forward {
                    Some(forward) => {
                        let zeros = |gradient: &Value| gradient.tensor().and_then(|like| Tensor::zeros(like.dtype(), like.shape()));
                        let mut tangents = gradients.iter().map(zeros).collect::<Result<Vec<_>, _>>()?;
                        tangents[at] = direction.clone();
                        let tangents = self.run(forward, sample, &tangents)?.split_off(outputs.len());
                        let weighted = |(tangent, cotangent): (&Value, &Tensor)| Ok(product(cotangent, tangent.tensor()?));
                        tangents.iter().zip(&cotangents).map(weighted).sum::<Result<_, InterpError>>()?
                    }
                    None => said,
                };
                let apart = |said: f64| (slope - said).abs() / slope.abs().max(said.abs()).max(LEAST);
                let difference = apart(said).max(apart(ahead));
                if difference > TOLERANCE && loses(&around, &weights, slope) {
                    compared.left_out += 1;
                    continue;
                }
                compared.directions += 1;
                if difference > TOLERANCE || difference.is_nan() {
                    compared.wrong = Some((slope, if apart(said) > TOLERANCE { said } else { ahead }));
                } else {
                    compared.largest = compared.largest.max(difference);
                }
                break;
            }
        }
        Ok(())
    }
}

/// The numbers of a tensor, those of complex ones in pairs.
fn parts(tensor: &Tensor) -> Vec<f64> {
    if tensor.dtype().is_complex() {
        return tensor.complexes().into_iter().flat_map(|number| [number.re, number.im]).collect();
    }
    tensor.floats()
}

/// The slope of the weighted sum in the middle of five points; none where it bends or jumps, or is no number, or is lost in rounding.
fn slope([far_behind, behind, here, ahead, far_ahead]: &[Vec<f64>; 5], weights: &[f64]) -> Option<f64> {
    // Numbers that stay as they are add nothing, however large they are.
    let sum = |term: &dyn Fn(usize) -> f64| -> f64 {
        (0..weights.len()).filter(|k| far_behind[*k] != far_ahead[*k] || behind[*k] != ahead[*k]).map(|k| weights[k] * term(k)).sum()
    };
    let large = sum(&|k| (far_ahead[k] - far_behind[k]) / (4.0 * STEP));
    let small = sum(&|k| (ahead[k] - behind[k]) / (2.0 * STEP));
    let scale = small.abs().max(LEAST);
    // What the slope ahead is more than the one behind: of a smooth function it falls with the step.
    let far_turn = sum(&|k| (far_ahead[k] + far_behind[k] - 2.0 * here[k]) / (2.0 * STEP));
    let turn = sum(&|k| (ahead[k] + behind[k] - 2.0 * here[k]) / STEP);
    let rounding = sum(&|k| weights[k].signum() * here[k].abs() * f64::EPSILON / STEP);
    let is_smooth = (large - small).abs() <= SPREAD * scale && (2.0 * turn - far_turn).abs() <= BEND * scale && rounding <= BEND * scale;
    // Where large slopes cancel each other out, what is left is that of their errors.
    let together = sum(&|k| weights[k].signum() * ((ahead[k] - behind[k]) / (2.0 * STEP)).abs());
    let is_smooth = is_smooth && together * CANCELLED <= scale;
    // The error of the slope falls with the square of the step.
    (small.is_finite() && is_smooth).then_some(small + (small - large) / 3.0)
}

/// Whether a number stays as it is that is so large that a step may be lost in it.
fn loses(around: &[Vec<f64>; 5], weights: &[f64], slope: f64) -> bool {
    let stays = |k: usize| around.iter().all(|point| point[k] == around[2][k]);
    let least = |k: usize| (weights[k] * around[2][k]).abs() * f64::EPSILON / STEP;
    (0..weights.len()).any(|k| stays(k) && least(k) > BEND * slope.abs().max(LEAST))
}

/// Where an argument stands in a sample: among the inputs, or among the weights.
fn place(function: Op<'_>, name: &str) -> Option<Result<usize, String>> {
    let mut inputs = 0;
    for at in 0..function.body(0).args().len() {
        let (kind, found) = interp::run::names(function, "arg_attrs", at);
        let found = found.unwrap_or_else(|| format!("arg{at}"));
        let is_input = kind.is_none_or(|kind| kind == "input");
        if found == name {
            return Some(if is_input { Ok(inputs) } else { Err(found) });
        }
        inputs += usize::from(is_input);
    }
    None
}

fn argument(function: Op<'_>, sample: &Sample, name: &str) -> Result<Tensor, InterpError> {
    let found = match place(function, name) {
        Some(Ok(at)) => sample.inputs.get(at).and_then(|value| value.tensor().ok()).cloned(),
        Some(Err(name)) => sample.weights.get(&name).cloned(),
        None => None,
    };
    found.ok_or_else(|| interp::value::fail(format!("there is no argument `{name}`")))
}

/// The sample with an argument a step further along a direction.
fn moved(function: Op<'_>, sample: &Sample, name: &str, direction: &Tensor, step: f64) -> Result<Sample, InterpError> {
    let value = argument(function, sample, name)?;
    let moved = |k: usize| match value.at(k) {
        Scalar::Complex(number) => Scalar::Complex(number + direction.at(k).complex() * step),
        number => Scalar::Float(number.float() + step * direction.at(k).float()),
    };
    let moved = Tensor::from_scalars(value.dtype(), value.shape(), (0..value.len()).map(moved))?;
    let mut sample = sample.clone();
    match place(function, name) {
        Some(Ok(at)) => sample.inputs[at] = Value::Tensor(moved),
        Some(Err(name)) => drop(sample.weights.insert(name, moved)),
        None => {}
    }
    Ok(sample)
}
