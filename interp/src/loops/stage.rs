//! A stage of a kernel: what it reads, its body, and what becomes of what the body yields.
//!
//! Floats that a stage sums stay in f64 until the result is stored.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use strata_core::ir::{Attr, Op};
use strata_dialects::loops;

use super::body::Body;
use super::maps;
use super::partial::{Partial, Source};
use super::softmax::{self, Means};
use crate::affine::Expr;
use crate::dtype::{DType, Scalar};
use crate::float8::in_memory;
use crate::prim;
use crate::run::{Machine, Slot, dtype_of};
use crate::tensor::{numel, try_each};
use crate::value::{InterpError, Value, fail};

/// A stage with the sizes of this call, at work.
pub(super) struct Stage<'a, 'c> {
    pub op: Op<'c>,
    body: Body<'c>,
    sources: Vec<Source>,
    sizes: &'a [usize],
    symbols: &'a [i64],
    /// Dims of its own loops, in the order of its domain.
    own: Vec<usize>,
    /// Dims of its results, in order.
    kept: Vec<usize>,
    reduce: Vec<usize>,
    chunk: Option<Chunk>,
    segments: bool,
    scan: Option<usize>,
    spread: Vec<usize>,
    maps: Vec<Vec<Expr>>,
    guarded: Vec<bool>,
    yields: Yields,
    results: Vec<Rc<RefCell<Partial>>>,
}

/// What becomes of what the body yields.
enum Yields {
    /// An element of each result, or a part of its sum.
    Elements(Vec<Fold>),
    /// Scores and values of means.
    Means(Means),
    /// Indices and an update of the written tensor.
    Updates(Rc<RefCell<Partial>>, fn(Scalar, Scalar) -> Scalar),
}

/// Dim `by` numbers pieces of `size` of dim `dim`.
struct Chunk {
    by: usize,
    dim: usize,
    size: usize,
}

impl Chunk {
    fn of(op: Op<'_>) -> Option<Self> {
        let [by, dim, size] = op.ints("chunk")?.try_into().ok()?;
        Some(Self { by: usize::try_from(by).ok()?, dim: usize::try_from(dim).ok()?, size: usize::try_from(size).ok()? })
    }
}

impl<'a, 'c> Stage<'a, 'c> {
    /// Reads a stage that loops over the dims `outer` stand around. Its results are bound, with nothing computed.
    pub fn new(m: &mut Machine<'c>, op: Op<'c>, sizes: &'a [usize], symbols: &'a [i64], outer: &[usize]) -> Result<Self, InterpError> {
        let dims = |name: &str| -> Result<Vec<usize>, InterpError> {
            let known = |dim: i64| usize::try_from(dim).ok().filter(|&dim| dim < sizes.len());
            let dims = op.ints(name).unwrap_or_default().into_iter();
            dims.map(|dim| known(dim).ok_or_else(|| fail("a dim that the kernel does not have"))).collect()
        };
        let (domain, reduce, maps) = (dims("domain")?, dims("reduce")?, maps(op, "maps"));
        let block = op.regions().first().and_then(|region| region.entry()).ok_or_else(|| fail("the stage has no body"))?;
        let sources = op.operands().into_iter().map(|value| m.source(value)).collect::<Result<Vec<_>, _>>()?;
        let kept: Vec<usize> = domain.iter().copied().filter(|dim| !reduce.contains(dim)).collect();
        let mut stage = Stage {
            op,
            body: Body::new(m, block)?,
            sources,
            sizes,
            symbols,
            own: domain.iter().copied().filter(|dim| !outer.contains(dim)).collect(),
            kept,
            reduce,
            spread: dims("spread")?,
            chunk: Chunk::of(op),
            segments: op.attr("segments").is_some(),
            scan: op.int("scan").map(|dim| dim as usize),
            guarded: op.attr("guarded").and_then(Attr::as_bools).unwrap_or_else(|| vec![false; maps.len()]),
            maps,
            yields: Yields::Elements(Vec::new()),
            results: Vec::new(),
        };
        stage.yields = stage.start()?;
        if !op.isa::<loops::Scatter>() {
            let shape: Vec<usize> = stage.kept.iter().map(|&dim| sizes[dim]).collect();
            for result in op.results() {
                let partial = Rc::new(RefCell::new(Partial::new(dtype_of(result.ty())?, &shape)?));
                m.bind_slot(result, Slot::Partial(Rc::clone(&partial)));
                stage.results.push(partial);
            }
        }
        Ok(stage)
    }

    fn start(&self) -> Result<Yields, InterpError> {
        if self.op.isa::<loops::Scatter>() {
            let target = match self.sources.first() {
                Some(Source::Value(target)) => Rc::new(RefCell::new(Partial::whole(target.tensor()?.clone()))),
                Some(Source::Partial(target)) => Rc::clone(target),
                None => return Err(fail("nothing to write to")),
            };
            if self.body.num_yields() == 0 {
                return Err(fail("the body yields no element"));
            }
            return Ok(Yields::Updates(target, prim::conflict(&self.op.str("kind").unwrap_or_default())?));
        }
        let count = numel(&self.kept.iter().map(|&dim| self.sizes[dim]).collect::<Vec<_>>())?;
        let reducer = self.op.str("reducer");
        if let Some(zero) = reducer.as_deref().and_then(softmax::zero) {
            let 1 = self.op.num_results() else { return Err(fail("a mean has one result")) };
            return Ok(Yields::Means(Means::new(count, zero)));
        }
        let copies: usize = self.spread.iter().map(|&dim| self.sizes[dim]).product();
        if self.body.num_yields() != self.op.num_results() * copies {
            return Err(fail(format!("{} yielded values for {} results", self.body.num_yields(), self.op.num_results())));
        }
        let fold = |ty| Fold::new(reducer.as_deref(), dtype_of(ty)?, count);
        Ok(Yields::Elements(self.op.result_types().into_iter().map(fold).collect::<Result<_, _>>()?))
    }

    /// Runs its own loops at a point of the outer ones.
    pub fn run_at(&mut self, outer: &[i64]) -> Result<(), InterpError> {
        let chunked = |dim: usize| self.chunk.as_ref().filter(|chunk| chunk.dim == dim);
        let (segmented, own): (Vec<_>, Vec<_>) = self.own.iter().copied().partition(|dim| self.segments && self.reduce.contains(dim));
        let shape: Vec<usize> = own.iter().map(|&dim| chunked(dim).map_or(self.sizes[dim], |chunk| chunk.size)).collect();
        let (mut point, mut index) = (outer.to_vec(), Vec::new());
        try_each(&shape, |at| {
            for (&dim, &at) in own.iter().zip(at) {
                point[dim] = at as i64;
            }
            if let Some(chunk) = &self.chunk {
                point[chunk.dim] += point[chunk.by] * chunk.size as i64;
                if point[chunk.dim] >= self.sizes[chunk.dim] as i64 {
                    return Ok(());
                }
            }
            let Some(&dim) = segmented.first() else {
                self.visit(&point, &mut index)?;
                return self.take(&point);
            };
            for position in self.segment(dim, &point)? {
                point[dim] = position;
                self.visit(&point, &mut index)?;
                self.take(&point)?;
            }
            Ok(())
        })?;
        self.store(outer)
    }

    /// The positions along a dim of the segment that the first two operands tell at a point of the others.
    fn segment(&self, dim: usize, point: &[i64]) -> Result<Range<i64>, InterpError> {
        let size = self.sizes[dim] as i128;
        let bound = |operand: usize| Ok(self.read(operand, point, &mut Vec::new())?.int().clamp(0, size) as i64);
        Ok(bound(0)?..bound(1)?)
    }

    /// The element of an operand that is read at a point.
    fn read(&self, operand: usize, point: &[i64], index: &mut Vec<i64>) -> Result<Scalar, InterpError> {
        let source = self.sources.get(operand).ok_or_else(|| fail("an operand of a stage is neither a tensor nor a number"))?;
        index.clear();
        if source.is_tensor() {
            for e in self.maps.get(operand).ok_or_else(|| fail("an operand without a map"))? {
                index.push(e.value(point, self.symbols)?);
            }
        }
        // The written operand of a scatter is not read.
        let unread = operand == 0 && matches!(self.yields, Yields::Updates(..));
        match source.at(index)? {
            Some(value) => Ok(value),
            None if unread || self.guarded.get(operand) == Some(&true) => Ok(Scalar::Int(0)),
            None => Err(fail(format!("index out of bounds: {index:?} of operand {operand}"))),
        }
    }

    /// Reads the operands at a point and runs the body there.
    fn visit(&mut self, point: &[i64], index: &mut Vec<i64>) -> Result<(), InterpError> {
        for operand in 0..self.body.arguments.len() {
            let value = self.read(operand, point, index)?;
            self.body.set(operand, value);
        }
        self.body.run(point)
    }

    /// Where the element of a point is in a result.
    fn flat(&self, point: &[i64]) -> usize {
        self.kept.iter().fold(0, |flat, &dim| flat * self.sizes[dim] + point[dim] as usize)
    }

    /// Takes in what the body yielded at a point.
    fn take(&mut self, point: &[i64]) -> Result<(), InterpError> {
        let at = self.flat(point);
        match &mut self.yields {
            Yields::Means(means) => means.add(at, self.body.yielded(0), self.body.yielded(1)),
            Yields::Elements(folds) => {
                let position = self.reduce.first().map_or(0, |&dim| point[dim]);
                // A scan goes on from the point before.
                let before = match self.scan {
                    Some(dim) if point[dim] > 0 => {
                        let inner = self.kept.iter().skip_while(|&&kept| kept != dim).skip(1);
                        Some(at - inner.map(|&kept| self.sizes[kept]).product::<usize>())
                    }
                    _ => None,
                };
                let copy = self.spread.iter().fold(0, |copy, &dim| copy * self.sizes[dim] + point[dim] as usize);
                for (k, fold) in folds.iter_mut().enumerate() {
                    fold.add(at, self.body.yielded(k + copy), position, before);
                }
            }
            Yields::Updates(target, combine) => {
                let rank = self.body.num_yields() - 1;
                let at: Vec<i64> = (0..rank).map(|k| self.body.yielded(k).int() as i64).collect();
                let mut target = target.borrow_mut();
                let dtype = target.tensor().dtype();
                let old = target.stored(&at)?;
                let at: Vec<usize> = at.into_iter().map(|index| index as usize).collect();
                let new = dtype.cast(in_memory(dtype, self.body.yielded(rank)));
                target.set(&at, combine(old, new));
            }
        }
        Ok(())
    }

    /// Stores the elements of the results at a point of the outer loops: they are complete.
    fn store(&mut self, outer: &[i64]) -> Result<(), InterpError> {
        let own: Vec<usize> = (0..self.kept.len()).filter(|&k| self.own.contains(&self.kept[k])).collect();
        let shape: Vec<usize> = own.iter().map(|&k| self.sizes[self.kept[k]]).collect();
        let mut index: Vec<usize> = self.kept.iter().map(|&dim| outer[dim] as usize).collect();
        try_each(&shape, |at| {
            for (&k, &at) in own.iter().zip(at) {
                index[k] = at;
            }
            let flat = self.kept.iter().zip(&index).fold(0, |flat, (&dim, &at)| flat * self.sizes[dim] + at);
            for (k, result) in self.results.iter().enumerate() {
                let value = match &self.yields {
                    Yields::Means(means) => means.value(flat),
                    Yields::Elements(folds) => in_memory(folds[k].dtype, folds[k].values[flat]),
                    Yields::Updates(..) => continue,
                };
                result.borrow_mut().set(&index, value);
            }
            Ok(())
        })
    }

    /// Binds the results, which are whole now.
    pub fn finish(self, m: &mut Machine<'c>) -> Result<(), InterpError> {
        if let Yields::Updates(target, _) = self.yields {
            m.bind_slot(self.op.result(0), Slot::Plain(Value::Tensor(target.borrow().tensor().clone())));
        }
        for (result, partial) in self.op.results().into_iter().zip(self.results) {
            m.bind_slot(result, Slot::Plain(Value::Tensor(partial.borrow().tensor().clone())));
        }
        Ok(())
    }
}

/// What becomes of the elements that a stage yields.
struct Fold {
    dtype: DType,
    values: Vec<Scalar>,
    step: Option<fn(Scalar, Scalar) -> Scalar>,
    /// For positions of extrema: the best element so far, and whether larger is better.
    best: Option<(Vec<Option<Scalar>>, bool)>,
}

impl Fold {
    fn new(reducer: Option<&str>, dtype: DType, count: usize) -> Result<Fold, InterpError> {
        let plain = |step, start| Fold { dtype, values: vec![start; count], step, best: None };
        Ok(match reducer {
            None => plain(None, Scalar::Int(0)),
            Some("argmax") => Fold { best: Some((vec![None; count], true)), ..plain(None, Scalar::Int(0)) },
            Some("argmin") => Fold { best: Some((vec![None; count], false)), ..plain(None, Scalar::Int(0)) },
            Some(kind) => {
                let (start, step) = prim::reducer(kind, dtype)?;
                plain(Some(step), start)
            }
        })
    }

    fn add(&mut self, at: usize, value: Scalar, position: i64, before: Option<usize>) {
        if let Some((best, largest)) = &mut self.best {
            let better = match best[at] {
                None => true,
                Some(old) => crate::aten::reduce::extreme_index(&[old, value], *largest).is_ok_and(|k| k == 1),
            };
            if better {
                best[at] = Some(value);
                self.values[at] = Scalar::Int(position as i128);
            }
            return;
        }
        // Integers take the sign of the result's type; floats are rounded when they are stored.
        let value = if self.dtype.is_integral() { self.dtype.cast(value) } else { value };
        let old = before.map_or(self.values[at], |b| self.values[b]);
        self.values[at] = match self.step {
            Some(step) => crate::aten::reduce::wrapped(self.dtype, step(old, value)),
            None => value,
        };
    }
}
