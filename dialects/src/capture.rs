//! What the front end saw around the operators: sizes of the inputs with their ranges, bound shapes, and guards.
//!
//! A program that could not be captured as a whole is several functions, its parts: the entry, and for each graph break the
//! function at which the program resumes.
//!
//! An argument or result of the entry has the logical type of the call's tensor. Where that lies in memory in another order than
//! its dims stand, [`DIM_ORDER`] says so.
//!
//! Ops of this level speak about the call, so none but [`Permute`], [`CustomCall`] and [`CustomGradient`] is dead when its result is
//! unused: each has a write effect.

use crate::host;
use strata_core::prelude::*;
use strata_core::upstream::func;

use crate::prim::{
    check,
    sizes::{self, ResultSizes, Size},
    types::AnyTensor,
};

pub use crate::custom_call::{CustomCall, kernel_of, library_option};
pub use crate::custom_gradient::{CustomGradient, Yield, agree, has_cotangent};

/// The dialect.
pub static CAPTURE: DialectDef = DialectDef {
    name: "capture",
    doc: "The program as it was captured: symbolic sizes, their ranges, and the conditions on a call.",
    ops: || {
        vec![
            Dim::DEF,
            BindDims::DEF,
            Guard::DEF,
            Seed::DEF,
            GraphBreak::DEF,
            Permute::DEF,
            CustomCall::DEF,
            CustomGradient::DEF,
            Yield::DEF,
        ]
    },
    ..DialectDef::NEW
};

/// The size of one dimension of an entry argument; its declared range is a guard.
///
/// C1: `dim` is a dimension of the tensor. C2: `min` is at most `max`, and neither is negative.
#[op("capture.dim", effects(Write), verify)]
pub struct Dim {
    tensor: Operand<Tensor>,
    size: Result<Index>,
    dim: Attr<I64>,
    symbol: Attr<Str>,
    min: Attr<I64>,
    max: Attr<I64>,
}

impl Verify for Dim<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let (dim, rank) = (self.dim(), self.tensor().ty().rank());
        ensure!(usize::try_from(dim).is_ok_and(|dim| dim < rank), 1, "dim {dim} is not one of the tensor's {rank} dimensions");
        let (min, max) = (self.min(), self.max());
        ensure!(0 <= min && min <= max, 2, "the range {min}..={max} holds no size");
        Ok(())
    }
}

/// The tensor's sizes are the results of `shape` on the symbols. On an entry argument this is a guard, elsewhere a
/// fact that may be erased.
///
/// C1: `shape` has no dims, and one symbol for each symbol operand. C2: it has one result for each dimension of the
/// tensor. C3: a constant result agrees with the size in the tensor's type.
#[op("capture.bind_dims", effects(Write), verify)]
pub struct BindDims {
    tensor: Operand<Tensor>,
    symbols: Variadic<Index>,
    shape: Attr<Map>,
}

impl Verify for BindDims<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let (shape, sizes) = (self.shape(), self.tensor().ty().shape());
        let (dims, wanted, symbols) = (shape.num_dims(), shape.num_symbols(), self.symbols().len());
        ensure!(dims == 0 && wanted == symbols, 1, "the map takes {dims} dims and {wanted} symbols, and {symbols} symbols are given");
        let results = shape.results();
        ensure!(results.len() == sizes.len(), 2, "the map gives {} sizes of a tensor of rank {}", results.len(), sizes.len());
        for (dim, (size, expr)) in sizes.iter().zip(&results).enumerate() {
            let agrees = expr.as_constant().is_none_or(|value| *size == DYNAMIC || *size == value);
            ensure!(agrees, 3, "the map gives {expr} for dimension {dim}, and the type says {size}");
        }
        Ok(())
    }
}

/// A condition that the call must meet; `text` is how the program wrote it, with `{0}` for the first detail.
#[op("capture.guard", effects(Write))]
pub struct Guard {
    condition: Operand<Bool>,
    details: Variadic<Index>,
    text: Attr<Str>,
}

/// A fresh seed for random numbers; each call of the program gets others.
///
/// C1: it is a 0-d tensor of `i64`.
#[op("capture.seed", effects(Write), verify)]
pub struct Seed {
    seed: Result<Tensor>,
}

impl Verify for Seed<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let ty = self.seed().ty();
        ensure!(ty.rank() == 0 && ty.element_type() == Some(ElementType::I64), 1, "{ty} is not tensor<i64>");
        Ok(())
    }
}

/// Ends a captured function where the program could not be captured any further. The host gets the values, does what was not
/// captured, for the `reason`, and resumes at the function `resume` with the same values.
///
/// The function at which a program resumes has the attribute `capture.resume`, and guards of its own that hold when it is entered.
///
/// C1: it ends the body of a `func.func`. C2: `resume` is a function of the module with `capture.resume`. C3: its arguments
/// of kind `input` have the types of the values. C4: the values have the types of the function's results. C5: there is a reason.
#[op("capture.graph_break", traits(Terminator), effects(Write), verify)]
pub struct GraphBreak {
    values: Variadic<AnyType>,
    resume: Attr<SymbolRef>,
    reason: Attr<Str>,
}

impl Verify for GraphBreak<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let parent = self.op().parent().filter(|parent| parent.isa::<func::Func>());
        let Some(parent) = parent else { return Err(Violation::new(1, "its parent is not a func.func")) };
        let name = self.resume();
        let resume = parent.parent().and_then(|module| module.lookup_symbol(&name)).filter(|op| op.attr(RESUME).is_some());
        let Some(resume) = resume else { return Err(Violation::new(2, format!("`@{name}` is no function with `{RESUME}`"))) };
        let values: Vec<_> = self.values().into_iter().map(Value::ty).collect();
        let wanted = call_inputs(resume);
        ensure!(values == wanted, 3, "`@{name}` takes {}, and is given {}", show(&wanted), show(&values));
        let results = signature(parent).map(Type::results).unwrap_or_default();
        ensure!(values == results, 4, "the function gives {}, and the values are {}", show(&results), show(&values));
        ensure!(!self.reason().is_empty(), 5, "the reason is empty");
        Ok(())
    }
}

/// The same memory with its dimensions in another order: dimension i of the result is dimension `perm[i]` of the operand.
/// It moves nothing, and stands at the edge of the program only, where a tensor of the call has a `capture.dim_order`: between an
/// argument and the tensor that lies in memory, or between such a tensor and what is returned.
///
/// C1: `perm` is a permutation of the dimensions. C2: the result's sizes are the operand's, permuted. C3: element types agree.
/// C4: the operand is an argument of the function with the order `perm`, or the result is only returned, where the function's
/// results have the order that undoes `perm`.
#[op("capture.permute", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Permute {
    tensor: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    perm: Attr<I64s>,
}

impl ResultSizes for Permute<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        sizes::transpose(self.tensor().ty().rank(), &self.perm())
    }
}

impl Verify for Permute<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let rank = self.tensor().ty().rank();
        check::per_dim(1, "perm", &self.perm(), rank)?;
        let perm = check::dims(1, "perm", &self.perm(), rank)?;
        check::result_sizes(2, self.op())?;
        check::same_elements(3, self.tensor().ty(), self.result().ty())?;
        let function = self.op().parent().filter(|parent| parent.isa::<func::Func>());
        let Some(function) = function else { return Err(Violation::new(4, "its parent is not a func.func")) };
        let argument = self.tensor().defining_op().is_none();
        let taken = argument && dim_order(function, "arg_attrs", self.tensor().index()).as_ref() == Some(&perm);
        let order = Some(inverse(&perm));
        let returned =
            |user: &strata_core::ir::Use<'_>| user.op.isa::<func::Return>() && dim_order(function, "res_attrs", user.index) == order;
        let edge = taken || self.result().uses().iter().all(returned);
        ensure!(edge, 4, "neither the argument nor the results have this order in memory (`{DIM_ORDER}`)");
        Ok(())
    }
}

/// The attribute of a function that is a program: what a caller calls.
pub const ENTRY: &str = "capture.entry";

/// The attribute of a function that computes what depends on weights alone.
pub const PREPARE: &str = "capture.prepare";

/// The attribute of an argument or a result: what it is (`input`, `parameter`, `buffer`, `state`, `output`, `mutation`, ...). The `state` of
/// an optimizer begins as zeros.
pub const KIND: &str = "capture.kind";

/// The attribute of an argument or a result: its name in the program that it comes from.
pub const NAME: &str = "capture.name";

/// The attribute of an argument that gradients are asked for when nobody says otherwise: PyTorch's `requires_grad`.
pub const REQUIRES_GRAD: &str = "capture.requires_grad";

/// The attribute of an argument of a joint program that is a cotangent: the place of its output.
pub const COTANGENT: &str = "capture.cotangent";

/// The attribute of a result of a joint program that is a gradient: the name of its argument.
pub const GRADIENT: &str = "capture.gradient";

/// The attribute of a registered operator's function: the function that computes its gradient.
pub const BACKWARD: &str = "capture.backward";

/// Beside [`GRADIENT`]: the outputs do not depend on the argument, and the gradient is zeros, where PyTorch has none.
pub const NO_GRADIENT: &str = "capture.no_gradient";

/// The attribute of a function in which values of a forward are computed again: the bytes that its backward reads of the forward
/// otherwise, and those that it reads.
pub const SAVED: &str = "capture.saved";

/// The attribute of a `detach` through which the program writes: its operand has the new value, and keeps its gradient.
pub const OVERWRITTEN: &str = "capture.overwritten";

/// The attribute of an op whose result is a copy, although its schema lets it alias an operand.
pub const COPIES: &str = "capture.copies";

/// The attribute of a result that is the new value of an argument: it may be written over the old one, see `--write-in-place`.
pub const IN_PLACE: &str = "capture.in_place";

/// On an argument or result of the entry: its dimensions from the outermost to the innermost in memory, where that is not their
/// own order. The tensor is dense, `[0, 2, 3, 1]` is an image with its channels last.
pub const DIM_ORDER: &str = "capture.dim_order";

/// The order in memory of an argument (`list` is `arg_attrs`) or result (`res_attrs`); `None` for one that is row-major, or whose
/// order is none.
pub fn dim_order(function: Op<'_>, list: &str, at: usize) -> Option<Vec<usize>> {
    let dicts = function.attr(list).and_then(Attr::as_array)?;
    let dims = dicts.get(at)?.entry(DIM_ORDER)?.as_i64s()?;
    let order: Vec<_> = dims.into_iter().map(|dim| usize::try_from(dim).ok()).collect::<Option<_>>()?;
    let all = (0..order.len()).all(|dim| order.contains(&dim));
    (all && !order.is_sorted()).then_some(order)
}

/// On an argument that is a weight of integers: the number that every element of it was when the program was captured. It may be called with
/// other weights.
pub const UNIFORM: &str = "capture.uniform";

/// On what makes a tensor, in programs that address storages: the order of its dims in the storage where that is not row-major.
/// An argument has one, an op an array of one for each result. `array<i64>` without dims is row-major; `unit` says that the tensor
/// is not the whole of its storage, so that what else the storage holds is not known.
pub const STORAGE_ORDER: &str = "capture.storage_order";

/// How a tensor that owns a storage lies in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Densely, in the order of its elements.
    RowMajor,
    /// Densely, with these dims from the outermost to the innermost.
    Order(Vec<usize>),
    /// Not known.
    Unknown,
}

/// How the storage of a value lies that is no view.
pub fn storage(value: Value<'_>) -> Storage {
    let attr = match value.defining_op() {
        Some(op) => op.attr(STORAGE_ORDER).and_then(Attr::as_array).and_then(|orders| orders.get(value.index()).copied()),
        None => {
            let function = value.owner_block().and_then(|block| block.parent_op()).filter(|op| op.isa::<func::Func>());
            // What a loop hands to its body may lie in any order.
            let Some(function) = function else { return Storage::Unknown };
            let dict = function.attr("arg_attrs").and_then(Attr::as_array).and_then(|dicts| dicts.get(value.index()).copied());
            dict.and_then(|dict| dict.entry(STORAGE_ORDER).or_else(|| dict.entry(DIM_ORDER)))
        }
    };
    let Some(attr) = attr else { return Storage::RowMajor };
    let order: Option<Vec<usize>> = attr.as_i64s().and_then(|dims| dims.into_iter().map(|dim| usize::try_from(dim).ok()).collect());
    match order {
        Some(order) if order.is_sorted() => Storage::RowMajor,
        Some(order) if (0..value.ty().rank()).all(|dim| order.contains(&dim)) => Storage::Order(order),
        _ => Storage::Unknown,
    }
}

/// Where each dim of an order stands.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (place, &dim) in order.iter().enumerate() {
        inverse[dim] = place;
    }
    inverse
}

/// Marks a function at which a program resumes after a graph break.
pub const RESUME: &str = "capture.resume";

/// On a function whose graph break has become a return: where the program goes on, and why it was interrupted.
pub const BREAK: &str = "capture.break";

fn signature(function: Op<'_>) -> Option<Type<'_>> {
    function.attr("function_type")?.as_type()
}

/// Types of the arguments that a call gives.
fn call_inputs(function: Op<'_>) -> Vec<Type<'_>> {
    let dicts = function.attr("arg_attrs").and_then(Attr::as_array).unwrap_or_default();
    let is_input = |at: usize| match dicts.get(at).and_then(|dict| dict.entry(KIND)).and_then(Attr::as_str) {
        Some(kind) => kind == "input",
        None => true,
    };
    let inputs = signature(function).map(Type::inputs).unwrap_or_default();
    inputs.into_iter().enumerate().filter(|(at, _)| is_input(*at)).map(|(_, ty)| ty).collect()
}

fn show(types: &[Type<'_>]) -> String {
    format!("({})", types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// Where a part of a program goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The function that takes the values.
    pub resume: String,
    /// Why the program was interrupted.
    pub reason: String,
}

/// Where a captured function goes on after its end, at any level; `None` for the last part.
pub fn continuation(function: Op<'_>) -> Option<Continuation> {
    let end = function.regions().first()?.entry()?.terminator()?;
    if let Some(end) = GraphBreak::cast(end) {
        return Some(Continuation { resume: end.resume(), reason: end.reason() });
    }
    let dict = function.attr(BREAK)?;
    Some(Continuation { resume: dict.entry("resume")?.as_symbol()?, reason: dict.entry("reason")?.as_str()? })
}

/// A program with two beginnings.
#[derive(Clone, Debug)]
pub struct TwoEntries<'c> {
    first: String,
    /// The one too many.
    pub second: Op<'c>,
}

impl std::fmt::Display for TwoEntries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let second = self.second.str("sym_name").unwrap_or_default();
        write!(f, "the program has two entries, @{} and @{second}; keep the mark on the one that is called", self.first)
    }
}

/// The function of a module that is called, captured or lowered, where one is marked.
pub fn entry(module: Op<'_>) -> std::result::Result<Option<Op<'_>>, TwoEntries<'_>> {
    let marked = |op: &Op<'_>| op.isa::<func::Func>() && [ENTRY, host::ENTRY].iter().any(|mark| op.attr(mark).is_some());
    let mut entries = module.regions().into_iter().flat_map(|region| region.blocks()).flat_map(|block| block.ops()).filter(marked);
    match (entries.next(), entries.next()) {
        (Some(first), Some(second)) => Err(TwoEntries { first: first.str("sym_name").unwrap_or_default(), second }),
        (first, _) => Ok(first),
    }
}

/// Whether a function is a part of a captured program: its entry, or where it resumes.
pub fn is_part(function: Op<'_>) -> bool {
    function.attr(ENTRY).is_some() || function.attr(RESUME).is_some()
}
