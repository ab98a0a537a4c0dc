//! The step's arguments and results.

use strata_core::ir::{Attr, Op, Value};
use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::capture;
use strata_dialects::prim_builder::{Prim, Scalar, Tensor};

use super::Refusal;
use super::loss_scale::Scale;
use super::optimizer::{State, Step, counts};
use super::settings::{Rate, Rule, Settings, matches};
use crate::signature::{Signature, text};

/// What is added to the norm that gradients are divided by, as by `torch.nn.utils.clip_grad_norm_`.
const CLIP_EPS: f64 = 1e-6;

/// A parameter of the joint program with its gradient, halves as `f32`.
pub(super) struct Parameter<'c> {
    /// Its argument.
    value: Value<'c>,
    name: String,
    /// The kind of its state's arguments.
    kind: &'static str,
    pub gradient: Tensor<'c>,
}

/// In the type that is computed in: halves in `f32`.
fn wide(tensor: Tensor<'_>) -> Tensor<'_> {
    tensor.convert(tensor.dtype().compute())
}

/// Makes a joint program a step; gives the number of its parameters.
pub(super) fn step(function: Op<'_>, settings: &Settings) -> Result<usize, Refusal> {
    let prim = Prim::new(function.body(0), function.location());
    build(&prim, function, settings)
}

fn build<'c>(prim: &'c Prim<'c>, function: Op<'c>, settings: &Settings) -> Result<usize, Refusal> {
    let signature = Signature::of(function).map_err(Refusal::Program)?;
    in_groups(&signature, settings)?;
    let kind = kind(&signature);
    let mut memory = Memory { prim, signature, written: Vec::new(), done: None };
    if let Some(first) = memory.signature.block.ops().first() {
        prim.set_before(*first);
    }
    let scale = settings.loss_scale.map(|rule| Scale::read(rule, &mut memory, kind));
    seed(prim, &mut memory.signature, settings, scale.as_ref())?;
    prim.set_before(memory.signature.end);
    let mut parameters = parameters(prim, &mut memory.signature)?;
    if settings.accumulate > 1 {
        memory.accumulate(&mut parameters, settings.accumulate, kind);
    }
    if let Some(scale) = scale {
        scale.unscale(&mut memory, &mut parameters);
    }
    if let Some(norm) = settings.clip_norm {
        clip(prim, &mut parameters, norm);
    }
    let rules: Vec<_> = [&settings.rule].into_iter().chain(settings.groups.iter().map(|group| &group.rule)).collect();
    let rates = memory.rates(&rules);
    let counted = rules.iter().any(|rule| counts(&rule.optimizer));
    let count = if counted { memory.count(kind) } else { prim.constant(DType::F64, Scalar::Float(1.0)) };
    for parameter in &parameters {
        let group = settings.groups.iter().rposition(|group| group.has(&parameter.name)).map_or(0, |group| group + 1);
        let step = Step { prim, rule: rules[group], lr: rates[group], count };
        let old = prim.tensor(parameter.value);
        let new = step.update(wide(old), parameter.gradient, &mut memory.of(parameter));
        memory.write(&parameter.name, old, new);
    }
    if let Some(message) = prim.take_error() {
        return Err(Refusal::Program(message));
    }
    memory.finish();
    Ok(parameters.len())
}

/// Groups are of parameters that are trained.
fn in_groups(signature: &Signature<'_>, settings: &Settings) -> Result<(), Refusal> {
    let names: Vec<_> = signature.results.iter().filter_map(|(_, attr)| text(*attr, capture::GRADIENT)).collect();
    let mut patterns = settings.groups.iter().flat_map(|group| &group.params);
    match patterns.find(|pattern| !names.iter().any(|name| matches(pattern, name))) {
        Some(pattern) => Err(Refusal::Group(pattern.clone(), names)),
        None => Ok(()),
    }
}

/// The kind of what the step keeps for all parameters: inputs, where these are.
fn kind(signature: &Signature<'_>) -> &'static str {
    let trained = signature.results.iter().filter(|(_, attr)| attr.entry(capture::NO_GRADIENT).is_none());
    let mut names = trained.filter_map(|(_, attr)| text(*attr, capture::GRADIENT));
    let given = |name: String| (0..signature.arguments.len()).any(|at| signature.name(at) == name && signature.is_input(at));
    if names.all(given) { "input" } else { "state" }
}

/// Takes the cotangent of the loss away: it is 1 times the scale, or a part of it where the gradients of several calls make one.
fn seed<'c>(prim: &'c Prim<'c>, signature: &mut Signature<'c>, settings: &Settings, scale: Option<&Scale<'c>>) -> Result<(), Refusal> {
    let place = |attr: &Attr<'c>| attr.entry(capture::COTANGENT).and_then(Attr::as_int);
    let cotangents: Vec<_> = signature.arguments.iter().enumerate().filter_map(|(at, attr)| Some((at, place(attr)?))).collect();
    let (at, place) = match cotangents.as_slice() {
        [] => return Err(Refusal::NoLoss),
        [one] => *one,
        more => return Err(Refusal::Losses(more.len())),
    };
    let ty = signature.block.arg(at).ty();
    let dtype = ty.element_type().filter(|dtype| dtype.is_float() && ty.rank() == 0);
    let dtype = dtype.ok_or_else(|| Refusal::Loss { place, ty: ty.to_string() })?;
    let part = 1.0 / settings.accumulate as f64;
    let one = match scale {
        None => prim.constant(dtype, Scalar::Float(part)),
        Some(scale) if settings.accumulate > 1 => (scale.factor * part).convert(dtype),
        Some(scale) => scale.factor.convert(dtype),
    };
    signature.replace_argument(prim, at, one.value());
    Ok(())
}

/// Takes the gradients out of the results, and finds the parameters that they are of.
fn parameters<'c>(prim: &'c Prim<'c>, signature: &mut Signature<'c>) -> Result<Vec<Parameter<'c>>, Refusal> {
    let (gradients, results): (Vec<_>, Vec<_>) =
        std::mem::take(&mut signature.results).into_iter().partition(|(_, attr)| text(*attr, capture::GRADIENT).is_some());
    signature.results = results;
    let changed = |name: &str| {
        let is_new = |attr: Attr<'c>| text(attr, capture::KIND).as_deref() == Some("mutation");
        signature.results.iter().any(|(_, attr)| is_new(*attr) && text(*attr, capture::NAME).as_deref() == Some(name))
    };
    let mut parameters = Vec::new();
    for (value, attr) in gradients.into_iter().filter(|(_, attr)| attr.entry(capture::NO_GRADIENT).is_none()) {
        let name = text(attr, capture::GRADIENT).unwrap_or_default();
        let Some(at) = (0..signature.arguments.len()).find(|at| signature.name(*at) == name) else { continue };
        let gradient = prim.tensor(value);
        if gradient.dtype().is_complex() {
            return Err(Refusal::Complex(name));
        }
        if changed(&name) {
            return Err(Refusal::Changed(name));
        }
        let kind = if signature.is_input(at) { "input" } else { "state" };
        parameters.push(Parameter { value: signature.block.arg(at), name, kind, gradient: wide(gradient) });
    }
    if parameters.is_empty() { Err(Refusal::NoParameter) } else { Ok(parameters) }
}

/// Scales gradients down whose norm, of all together, is larger: `torch.nn.utils.clip_grad_norm_`.
fn clip<'c>(prim: &'c Prim<'c>, parameters: &mut [Parameter<'c>], norm: f64) {
    let squares = parameters.iter().map(|parameter| {
        let gradient = parameter.gradient;
        gradient.square().reduce("sum", &gradient.all_dims(), false).convert(DType::F64)
    });
    let total = squares.fold(prim.constant(DType::F64, Scalar::Float(0.0)), |sum, square| sum + square).sqrt();
    let scale = (prim.constant(DType::F64, Scalar::Float(norm)) / (total + CLIP_EPS)).minimum(1.0);
    for parameter in parameters {
        parameter.gradient = parameter.gradient * scale.convert(parameter.gradient.dtype());
    }
}

/// What the program keeps from one call to the next.
pub(super) struct Memory<'c> {
    pub prim: &'c Prim<'c>,
    signature: Signature<'c>,
    /// New values by name.
    written: Vec<(Value<'c>, String)>,
    /// Whether this call makes a step, where not each does; what it writes stays as it is otherwise.
    pub done: Option<Tensor<'c>>,
}

impl<'c> Memory<'c> {
    /// The state of a parameter.
    fn of<'m>(&'m mut self, parameter: &'m Parameter<'c>) -> Slots<'c, 'm> {
        Slots { memory: self, parameter, read: Vec::new() }
    }

    /// A new value, written where the call makes a step.
    pub fn write(&mut self, name: &str, old: Tensor<'c>, new: Tensor<'c>) {
        let new = new.convert(old.dtype());
        let new = self.done.map_or(new, |done| done.select(new, old));
        self.written.push((new.value(), name.to_owned()));
    }

    /// The learning rates: a group has an input of its own, unless it is the step's number.
    fn rates(&mut self, rules: &[&Rule]) -> Vec<Tensor<'c>> {
        let (prim, cx) = (self.prim, self.signature.cx());
        let rate = |(group, rule): (usize, &&Rule)| match rule.lr {
            Rate::Constant(lr) => prim.constant(DType::F64, Scalar::Float(lr)),
            Rate::Input => {
                let name = if group == 0 { "lr".to_owned() } else { format!("lr_{group}") };
                prim.splat(self.signature.add_argument(cx.element(DType::F64), "input", &name, &[]).0)
            }
        };
        rules.iter().enumerate().map(rate).collect()
    }

    /// One number of the program.
    pub fn number(&mut self, kind: &str, dtype: DType, name: &str) -> (Tensor<'c>, String) {
        let ty = self.prim.tensor_type(dtype, &[]);
        let (value, name) = self.signature.add_argument(ty, kind, name, &[]);
        (self.prim.tensor(value), name)
    }

    /// The number of this step: PyTorch keeps it in `f32`.
    fn count(&mut self, kind: &str) -> Tensor<'c> {
        let (old, name) = self.number(kind, DType::F32, "step");
        let new = old + 1.0;
        self.write(&name, old, new);
        new.convert(DType::F64)
    }

    /// Sums gradients over calls; every `calls`-th makes a step, and the sums begin again.
    fn accumulate(&mut self, parameters: &mut [Parameter<'c>], calls: i64, kind: &str) {
        let (old, name) = self.number(kind, DType::I64, "accumulated_calls");
        let new = old + old.number(Scalar::Int(1));
        let done = new.equal(calls);
        self.written.push((new.fill_where(done, 0).value(), name));
        for parameter in parameters {
            let old = self.of(parameter).read("accumulated_grad");
            let sum = old + parameter.gradient;
            let name = self.signature.name(self.signature.arguments.len() - 1);
            let kept = sum.fill_where(done, 0.0).convert(self.prim.tensor(parameter.value).dtype());
            self.written.push((kept.value(), name));
            parameter.gradient = sum;
        }
        self.done = Some(done);
    }

    fn finish(mut self) {
        for (value, name) in &self.written {
            self.signature.add_mutation(*value, name);
        }
        self.signature.write(self.prim);
    }
}

/// The state of one parameter.
struct Slots<'c, 'm> {
    memory: &'m mut Memory<'c>,
    parameter: &'m Parameter<'c>,
    /// The arguments by the rule's names.
    read: Vec<(String, String, Tensor<'c>)>,
}

impl<'c> State<'c> for Slots<'c, '_> {
    fn read(&mut self, name: &str) -> Tensor<'c> {
        let full = format!("{}.{name}", self.parameter.name);
        let (value, full) = self.memory.signature.add_argument(self.parameter.value.ty(), self.parameter.kind, &full, &[]);
        let tensor = self.memory.prim.tensor(value);
        self.read.push((name.to_owned(), full, tensor));
        wide(tensor)
    }

    fn write(&mut self, name: &str, value: Tensor<'c>) {
        if let Some((_, full, old)) = self.read.iter().find(|(read, _, _)| read == name).cloned() {
            self.memory.write(&full, old, value);
        }
    }
}
