//! The loop level: kernels as ordered lists of stages over shared dims, with scalar bodies and schedules as data.

pub mod access;
pub mod attention;
pub mod attention_dims;
pub mod attention_units;
pub mod edit;
pub mod elements;
pub mod growth;
pub mod mean_reach;
pub mod ranges;
pub mod register_block;
pub mod roles;
pub mod schedule;
pub mod view;

use crate::target::Target;
use strata_core::ir::ElementType;
use strata_core::prelude::*;

/// The dialect.
pub static LOOP: DialectDef = DialectDef {
    name: "loop",
    doc: "Kernels: stages over shared dims, each with its accesses, a scalar body, and a schedule that is plain data.",
    ops: || vec![Call::DEF, Index::DEF, Kernel::DEF, Libm::DEF, Load::DEF, Return::DEF, Scatter::DEF, Stage::DEF, Words::DEF, Yield::DEF],
    ..DialectDef::NEW
};

/// The reducers that a stage may name.
pub const REDUCERS: &[&str] =
    &["and", "argmax", "argmin", "logaddexp", "max", "maxnum", "min", "or", "prod", "softmax", "softmax_or_zero", "sum", "xor"];

/// The attribute of a stage that names an instruction for its body and its sum.
pub const INSTRUCTION: &str = "instruction";
/// The instruction of x86-64 that adds the products of two pairs to what is there.
pub const AVX512BF16: &str = "avx512bf16";
/// The instruction of x86-64 that adds the products of four unsigned and four signed bytes to what is there.
pub const VNNI: &str = "vnni";

/// The instructions, and the steps of a sum that each takes at once in a lane.
const STEPS: &[(&str, i64)] = &[(AVX512BF16, 2), (VNNI, 4)];

/// The steps of its sum that a stage takes at once in a lane.
pub fn steps_at_once(stage: Op<'_>) -> i64 {
    let named = stage.str(INSTRUCTION).and_then(|name| STEPS.iter().find(|(known, _)| *known == name));
    named.map_or(1, |(_, steps)| *steps)
}

/// Whether matrix units (AMX) of a CPU multiply words as the instruction that a stage names does in the lanes of a register.
pub fn has_matrix_units(target: &Target, stage: Op<'_>) -> bool {
    match stage.str(INSTRUCTION).as_deref() {
        Some(AVX512BF16) => target.has_matrix_units(ElementType::BF16),
        Some(VNNI) => target.has_matrix_units(ElementType::I8),
        _ => false,
    }
}

/// The largest size of a dim: steps beyond its end can still be counted. A tensor has fewer elements, but one without elements
/// may be so long.
const MAX_SIZE: i64 = 1 << 62;

/// One kernel: a function on tensors whose body is a list of stages.
///
/// `sizes` maps the symbols (the arguments at the positions `symbols`, all `index`) to the sizes of the kernel's dims;
/// `shapes` maps them to the sizes of each argument, then of each result. `schedule` may order the outer loops (`order`), unroll
/// them (`unroll`), and run lanes along one of them (`vector`, `width`).
///
/// C1: `symbols` are positions of `index` arguments. C2: there is one shape for each argument and each result, with a size for each
/// dimension of a tensor.
/// C3: the entries of its schedule, and of those of its stages, are known and in their bounds; what is written out (`unroll`, `width`,
/// `rows`) is at most 4096 copies. C4: the domains of its stages are of its dims, and so is what `loop.index` asks for.
/// C5: `sizes` and `shapes` have no dims and one symbol for each of `symbols`; the maps of its stages have its dims and these symbols.
/// C6: sizes that are known are between 0 and 2^62.
/// C7: what its schedule names, and those of its stages, is there: loops around all stages, dims of a stage, operands; a list by loop has a
/// number for each.
/// C8: `in_place` has a number for each result: an argument of the same type, in whose memory the result may lie, or -1. No two results lie in
/// the same argument.
#[op("loop.kernel", traits(Symbol, IsolatedFromAbove, SingleBlock), verify)]
pub struct Kernel {
    sym_name: Attr<Str>,
    sizes: Attr<Map>,
    shapes: Attr<Maps>,
    symbols: Attr<I64s>,
    schedule: OptAttr<Dict>,
    in_place: OptAttr<I64s>,
    body: Region,
}

impl Verify for Kernel<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let Some(block) = self.body().entry() else { return Ok(()) };
        let args = block.args();
        for symbol in self.symbols() {
            let index = usize::try_from(symbol).ok().and_then(|at| args.get(at)).is_some_and(|arg| arg.ty().is_index());
            ensure!(index, 1, "symbol {symbol} is not the position of an index argument");
        }
        let results = block.terminator().map_or(0, |op| op.num_operands());
        let (given, wanted) = (self.shapes().len(), args.len() + results);
        ensure!(given == wanted, 2, "{given} shapes are given for {} arguments and {results} results", args.len());
        let values = args.iter().copied().chain(block.terminator().map(|op| op.operands()).unwrap_or_default());
        let ranked = |(value, shape): (Value<'_>, AffineMap<'_>)| !value.ty().is_tensor() || value.ty().rank() == shape.results().len();
        ensure!(values.zip(self.shapes()).all(ranked), 2, "a shape has not as many sizes as its tensor has dimensions");
        let dims = self.sizes().results().len() as i64;
        let own = self.schedule().and_then(|schedule| schedule::refuse_kernel(schedule, dims as usize));
        let mut of_stages = block.ops().into_iter().filter(|op| op.attr("domain").is_some()).filter_map(|op| op.attr(schedule::SCHEDULE));
        let refused = own.or_else(|| of_stages.find_map(|schedule| schedule::refuse_stage(schedule, dims as usize)));
        ensure!(refused.is_none(), 3, "{}", refused.unwrap_or_default());
        for domain in block.ops().into_iter().filter_map(|op| op.attr("domain")?.as_i64s()) {
            ensure!(domain.iter().all(|dim| (0..dims).contains(dim)), 4, "the domain {domain:?} is not of the {dims} dims of the kernel");
        }
        let mut asked = Vec::new();
        self.op().walk(&mut |op| asked.extend(op.int("dim").filter(|_| op.isa::<Index>())));
        let other = asked.into_iter().find(|dim| !(0..dims).contains(dim));
        ensure!(other.is_none(), 4, "the index of dim {} is not of the {dims} dims of the kernel", other.unwrap_or_default());
        let symbols = self.symbols().len();
        let spaces = |map: &AffineMap<'_>| (map.num_dims(), map.num_symbols());
        let sized = [self.sizes()].into_iter().chain(self.shapes()).all(|map| spaces(&map) == (0, symbols));
        ensure!(sized, 5, "its sizes and shapes are not maps of its {symbols} symbols");
        let maps = block.ops().into_iter().filter_map(|op| op.attr("maps")?.as_array()).flatten().filter_map(Attr::as_map);
        let other = maps.into_iter().map(|map| spaces(&map)).find(|&found| found != (dims as usize, symbols));
        let (dim, symbol) = other.unwrap_or_default();
        ensure!(other.is_none(), 5, "a map of {dim} dims and {symbol} symbols does not fit a kernel of {dims} and {symbols}");
        let known = self.sizes().results().into_iter().filter_map(AffineExpr::as_constant);
        let beyond = known.into_iter().find(|size| *size != DYNAMIC && !(0..=MAX_SIZE).contains(size));
        ensure!(beyond.is_none(), 6, "no dim has the size {}", beyond.unwrap_or_default());
        let misfit = schedule::refuse(self.op());
        ensure!(misfit.is_none(), 7, "{}", misfit.unwrap_or_default());
        let Some(places) = self.in_place() else { return Ok(()) };
        let returned = block.terminator().map(|op| op.operands()).unwrap_or_default();
        refuse_places("in_place", &places, &args, &returned).map_or(Ok(()), |refused| Err(Violation::new(8, refused)))
    }
}

/// Runs its body for every point of `domain`; the results are what the body yields, combined over `reduce` or along `scan`.
///
/// Operand `i` is read at `maps[i]`, from all kernel dims and symbols to the operand's indices; where `guarded[i]`, a read outside
/// of the operand is zero. `space` says where the result lives: `register` (one element per point of the outer loops), `tile` (scratch
/// memory for its dims that are not outer, of known sizes) or `buffer`.
/// A result has one dim for each dim of the domain that is not reduced.
/// `spread` names dims of the domain for all of which the body runs once: it yields one element for each of their points, in row-major
/// order, and the stage's element at a point is the one that belongs to it.
/// `instruction` names what a CPU has for the body and the sum in one; the body says the same in plain operations.
/// `chunk = [p, r, n]` reduces dim `r` in pieces: at a point of dim `p` it runs from `p * n` to `(p + 1) * n`, or to its own end.
///
/// `segments`: at each point the reduced dim runs from the element of the first operand up to and without that of the second, inside of its size.
/// The body has no use for these elements.
///
/// The reducers `softmax` and `softmax_or_zero` combine two yielded elements, a score and a value, to one result: the mean of the values
/// with the softmax of the scores as weights. Where all scores are `-inf` the one gives NaN, the other 0.
///
/// C1: there is one map, and one block argument, for each operand. C2: reduced and scanned dims are in the domain.
/// C3: `reducer` is known, and given exactly when something is reduced or scanned; `logaddexp` is of scans. C4: `space` is known.
/// C5: of a `chunk` the first dim is in the domain and not reduced, the second is reduced, and the number is positive.
/// C6: dims of `spread` are in the domain; such a stage has one result and combines nothing.
/// C7: a stage with `segments` reduces one dim, in no pieces; where its segments begin and end are signed integers, arguments of the kernel, that it reads
/// at places which do not depend on that dim.
#[op("loop.stage", effects(Read, Write), verify)]
pub struct Stage {
    inputs: Variadic<AnyType>,
    outputs: Results<Tensor>,
    domain: Attr<I64s>,
    maps: Attr<Maps>,
    space: Attr<Str>,
    guarded: OptAttr<Bools>,
    reduce: OptAttr<I64s>,
    chunk: OptAttr<I64s>,
    spread: OptAttr<I64s>,
    scan: OptAttr<I64>,
    segments: OptAttr<Unit>,
    reducer: OptAttr<Str>,
    instruction: OptAttr<Str>,
    schedule: OptAttr<Dict>,
    body: Region,
}

impl Verify for Stage<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let inputs = self.inputs().len();
        let (maps, args) = (self.maps().len(), self.body().entry().map_or(0, |block| block.args().len()));
        ensure!(maps == inputs && args == inputs, 1, "{inputs} operands have {maps} maps and {args} block arguments");
        let domain = self.domain();
        let reduce = self.reduce().unwrap_or_default();
        for dim in reduce.iter().copied().chain(self.scan()) {
            ensure!(domain.contains(&dim), 2, "dim {dim} is combined but not in the domain");
        }
        let combines = !reduce.is_empty() || self.scan().is_some();
        let reducer = self.reducer();
        let known = reducer.as_deref().is_none_or(|name| REDUCERS.binary_search(&name).is_ok());
        let fits = known && (reducer.as_deref() != Some("logaddexp") || self.scan().is_some());
        ensure!(fits && reducer.is_some() == combines, 3, "the reducer {reducer:?} does not fit what the stage combines");
        let space = self.space();
        ensure!(matches!(space.as_str(), "register" | "tile" | "buffer"), 4, "there is no space '{space}'");
        if let Some(chunk) = self.chunk() {
            let fits =
                matches!(chunk[..], [by, dim, size] if domain.contains(&by) && !reduce.contains(&by) && reduce.contains(&dim) && size > 0);
            ensure!(fits, 5, "the chunk {chunk:?} does not name a dim of the domain, a reduced dim and a size");
        }
        let spread = self.spread().unwrap_or_default();
        let alone = spread.is_empty() || (!combines && self.op().num_results() == 1);
        ensure!(alone && spread.iter().all(|dim| domain.contains(dim)), 6, "the dims {spread:?} cannot be those of what the body yields");
        if self.segments().is_some() {
            let &[dim] = reduce.as_slice() else { return Err(Violation::new(7, format!("segments of the dims {reduce:?}"))) };
            ensure!(self.chunk().is_none(), 7, "a dim is reduced in segments and in pieces");
            let bounds: Vec<_> = self.inputs().into_iter().zip(self.maps()).take(2).collect();
            let told = |(bound, map): &(Value<'_>, AffineMap<'_>)| {
                let integers = bound.ty().element_type().is_some_and(ElementType::is_signed);
                integers && bound.defining_op().is_none() && !map.results().iter().any(|expr| expr.uses_dim(dim as usize))
            };
            ensure!(bounds.len() == 2 && bounds.iter().all(told), 7, "the first two operands cannot say where segments begin and end");
        }
        Ok(())
    }
}

/// Writes what its body yields into its first operand, at the indices that the body yields before it, for every point of `domain`
/// in order; the result is the first operand after the writes.
///
/// `kind` is `set`, or how the new element combines with the present one; `conflict` says what may meet at one place. An index out of bounds
/// is the call's error; with `in_bounds` there is none.
///
/// C1: there is one map, and one block argument, for each operand.
#[op("loop.scatter", effects(Read, Write), verify)]
pub struct Scatter {
    inputs: Variadic<AnyType>,
    output: Result<Tensor>,
    domain: Attr<I64s>,
    maps: Attr<Maps>,
    space: Attr<Str>,
    kind: Attr<Str>,
    conflict: Attr<Str>,
    in_bounds: OptAttr<Unit>,
    guarded: OptAttr<Bools>,
    schedule: OptAttr<Dict>,
    body: Region,
}

impl Verify for Scatter<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let inputs = self.inputs().len();
        let (maps, args) = (self.maps().len(), self.body().entry().map_or(0, |block| block.args().len()));
        ensure!(maps == inputs && args == inputs, 1, "{inputs} operands have {maps} maps and {args} block arguments");
        Ok(())
    }
}

/// The index of the current point along a kernel dim.
#[op("loop.index", traits(Pure))]
pub struct Index {
    index: Result<strata_core::dialect::kinds::Index>,
    dim: Attr<I64>,
}

/// The element of a tensor at computed indices. An index out of bounds is the call's error; with `in_bounds` there is none.
#[op("loop.load", effects(Read))]
pub struct Load {
    tensor: Operand<Tensor>,
    indices: Variadic<strata_core::dialect::kinds::Index>,
    element: Result<AnyType>,
    in_bounds: OptAttr<Unit>,
}

/// A function of the runtime on scalars: `digamma`, `erfinv`, `lgamma`, and those of `prim.special`.
#[op("loop.libm", traits(Pure))]
pub struct Libm {
    arguments: Variadic<AnyType>,
    value: Result<AnyType>,
    name: Attr<Str>,
}

/// Ends the body of a stage.
#[op("loop.yield", traits(Terminator, Pure))]
pub struct Yield {
    values: Variadic<AnyType>,
}

/// Ends a kernel.
#[op("loop.return", traits(Terminator, Pure))]
pub struct Return {
    values: Variadic<Tensor>,
}

/// The memory of a tensor as words of 32 bits: as many neighbours along the last dim as fit are one word, the first in its lowest bits.
///
/// C1: the elements have 8 or 16 bits, and the words are `i32`. C2: the last dim holds whole words; all others are those of the tensor.
#[op("loop.words", traits(Pure), verify)]
pub struct Words {
    tensor: Operand<Tensor>,
    words: Result<Tensor>,
}

impl Words<'_> {
    /// Elements of one word, of a type that words are made of.
    pub fn elements(ty: Type<'_>) -> Option<i64> {
        let bits = ty.element_type()?.bits();
        matches!(bits, 8 | 16).then(|| WORD / i64::from(bits))
    }
}

impl Verify for Words<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let (from, to) = (self.tensor().ty(), self.words().ty());
        let elements = Words::elements(from).filter(|_| to.element_type() == Some(ElementType::I32));
        let Some(elements) = elements else { return Err(Violation::new(1, format!("{from} cannot be read as {to}"))) };
        let words = from
            .shape()
            .split_last()
            .filter(|(last, _)| **last >= 0 && *last % elements == 0)
            .map(|(last, rest)| [rest, &[last / elements]].concat());
        ensure!(words == Some(to.shape()), 2, "the words of {from} are not {to}");
        Ok(())
    }
}

/// Bits of a word.
pub const WORD: i64 = 32;

/// Calls a kernel.
///
/// `in_place` says for each result in the memory of which operand it is written, or -1: nobody reads the operand behind the call.
/// `copied` says which operand is copied to the memory of each result before the kernel runs, or -1: the kernel finds it in place there.
///
/// C1: `in_place` has a number for each result: an operand of the same type, or -1. No two results lie in the same operand.
/// C2: `copied` has, too.
#[op("loop.call", traits(Pure), verify)]
pub struct Call {
    arguments: Variadic<AnyType>,
    outputs: Results<Tensor>,
    callee: Attr<SymbolRef>,
    in_place: OptAttr<I64s>,
    copied: OptAttr<I64s>,
}

impl Verify for Call<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let (operands, results) = (self.op().operands(), self.op().results());
        for (number, name, places) in [(1, "in_place", self.in_place()), (2, "copied", self.copied())] {
            if let Some(refused) = places.and_then(|places| refuse_places(name, &places, &operands, &results)) {
                return Err(Violation::new(number, refused));
            }
        }
        Ok(())
    }
}

/// Why results cannot lie in the memory of these values: `places` has a number for each result, a value of the same type or -1.
fn refuse_places(name: &str, places: &[i64], values: &[Value<'_>], results: &[Value<'_>]) -> Option<String> {
    if places.len() != results.len() {
        return Some(format!("'{name}' has {} numbers for {} results", places.len(), results.len()));
    }
    places.iter().zip(results).enumerate().filter(|(_, (place, _))| **place != -1).find_map(|(at, (&place, result))| {
        let same = usize::try_from(place).ok().and_then(|place| values.get(place)).is_some_and(|value| value.ty() == result.ty());
        let twice = places[..at].contains(&place);
        match (same, twice) {
            (false, _) => Some(format!("argument {place} has not the type of result {at}")),
            (true, true) => Some(format!("two results lie in argument {place}")),
            (true, false) => None,
        }
    })
}
