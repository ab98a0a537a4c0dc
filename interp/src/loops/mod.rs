//! `loop` kernels, stage by stage and point by point.
//!
//! The points of a stage are visited with its domain's dims in order, those that the kernel's schedule orders first.
//! Floats that a stage sums stay in f64 until the result is stored.

pub(super) mod body;
mod softmax;

use strata_core::ir::{Attr, Block, Op, Value as Ssa};
use strata_core::upstream::arith;
use strata_dialects::loops;

use super::affine::Expr;
use super::dtype::{DType, Scalar};
use super::float8::{in_memory, in_register};
use super::prim;
use super::run::{Machine, Slot, dtype_of, place, unsupported};
use super::scalar::element;
use super::tensor::{Tensor, numel, try_each};
use super::value::{InterpError, Results, Value, fail};
use body::Body;
use softmax::Means;

/// Runs `loop.call`.
pub(super) fn call<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Results {
    if !op.isa::<loops::Call>() {
        return Err(unsupported(op));
    }
    let operands = op.operands().into_iter().map(|v| m.get(v)).collect::<Result<Vec<_>, _>>()?;
    let kernel = find(m, op)?;
    run_kernel(m, kernel, operands)
}

/// The kernel that an op calls.
pub(super) fn find<'c>(m: &Machine<'c>, op: Op<'c>) -> Result<Op<'c>, InterpError> {
    let name = op.attr("callee").and_then(Attr::as_symbol).unwrap_or_default();
    m.module.lookup_symbol(&name).filter(|k| k.isa::<loops::Kernel>()).ok_or_else(|| fail(format!("kernel `@{name}` is not defined")))
}

/// The shapes of a kernel's arguments and results, as maps over its symbols.
pub(super) fn shapes(kernel: Op<'_>, symbols: &[i64]) -> Result<Vec<Vec<usize>>, InterpError> {
    maps(kernel, "shapes").iter().map(|map| sizes(map, symbols)).collect()
}

/// The values of the kernel's symbols among its arguments.
pub(super) fn symbols(kernel: Op<'_>, arguments: &[Value]) -> Result<Vec<i64>, InterpError> {
    let positions = kernel.ints("symbols").unwrap_or_default();
    positions
        .into_iter()
        .map(|p| match usize::try_from(p).ok().and_then(|p| arguments.get(p)) {
            Some(Value::Scalar(s)) => Ok(s.int() as i64),
            _ => Err(fail("a symbol is not an index argument")),
        })
        .collect()
}

fn maps(op: Op<'_>, name: &str) -> Vec<Vec<Expr>> {
    op.attr(name).and_then(Attr::as_array).unwrap_or_default().into_iter().filter_map(Attr::as_map).map(Expr::map).collect()
}

fn sizes(map: &[Expr], symbols: &[i64]) -> Result<Vec<usize>, InterpError> {
    map.iter().map(|e| usize::try_from(e.value(&[], symbols)?).map_err(|_| fail("a negative size"))).collect()
}

/// Runs a kernel on its arguments.
pub(super) fn run_kernel<'c>(m: &mut Machine<'c>, kernel: Op<'c>, arguments: Vec<Value>) -> Results {
    let symbols = symbols(kernel, &arguments)?;
    let dims = kernel.attr("sizes").and_then(Attr::as_map).ok_or_else(|| fail("the kernel has no sizes"))?;
    let sizes = sizes(&Expr::map(dims), &symbols)?;
    let block = kernel.regions().first().and_then(|r| r.entry()).ok_or_else(|| fail("the kernel is empty"))?;
    for (at, value) in block.args().into_iter().zip(arguments) {
        m.bind_slot(at, Slot::Plain(value));
    }
    let order: Vec<usize> = kernel
        .attr("schedule")
        .and_then(|a| a.entry("order"))
        .and_then(Attr::as_i64s)
        .unwrap_or_default()
        .into_iter()
        .map(|d| d as usize)
        .collect();
    for op in block.ops() {
        let done = match op.name() {
            loops::Return::NAME => return op.operands().into_iter().map(|v| m.get(v)).collect(),
            loops::Stage::NAME => Stage::new(op, &sizes, &symbols, &order).and_then(|s| s.run(m)),
            loops::Scatter::NAME => Stage::new(op, &sizes, &symbols, &order).and_then(|s| s.scatter(m)),
            arith::Constant::NAME => super::scalar::run(m, op).and_then(|v| m.bind_results(op, v)),
            _ => Err(unsupported(op)),
        };
        done.map_err(|e| e.at(op.name(), &place(op)))?;
    }
    Err(fail("the kernel does not return"))
}

/// A stage with the sizes of this call.
struct Stage<'a, 'c> {
    op: Op<'c>,
    body: Block<'c>,
    sizes: &'a [usize],
    symbols: &'a [i64],
    /// Dims in the order they are visited.
    visit: Vec<usize>,
    domain: Vec<usize>,
    reduce: Vec<usize>,
    chunk: Option<Chunk>,
    scan: Option<usize>,
    spread: Vec<usize>,
    maps: Vec<Vec<Expr>>,
    guarded: Vec<bool>,
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
    fn new(op: Op<'c>, sizes: &'a [usize], symbols: &'a [i64], order: &[usize]) -> Result<Self, InterpError> {
        let dims = |name: &str| -> Result<Vec<usize>, InterpError> {
            op.ints(name)
                .unwrap_or_default()
                .into_iter()
                .map(|d| usize::try_from(d).ok().filter(|&d| d < sizes.len()).ok_or_else(|| fail("a dim that the kernel does not have")))
                .collect()
        };
        let domain = dims("domain")?;
        let maps = maps(op, "maps");
        let scan = op.int("scan").map(|d| d as usize);
        let ordered = order.iter().copied().filter(|d| domain.contains(d));
        // Scans and scatters depend on the order of their points.
        let visit = if scan.is_some() || op.isa::<loops::Scatter>() {
            domain.clone()
        } else {
            ordered.chain(domain.iter().copied().filter(|d| !order.contains(d))).collect()
        };
        Ok(Stage {
            op,
            body: op.regions().first().and_then(|r| r.entry()).ok_or_else(|| fail("the stage has no body"))?,
            sizes,
            symbols,
            visit,
            reduce: dims("reduce")?,
            spread: dims("spread")?,
            chunk: Chunk::of(op),
            scan,
            guarded: op.attr("guarded").and_then(Attr::as_bools).unwrap_or_else(|| vec![false; maps.len()]),
            maps,
            domain,
        })
    }

    /// Calls `f` with every point, as indices of all kernel dims.
    fn points(&self, mut f: impl FnMut(&[i64]) -> Result<(), InterpError>) -> Result<(), InterpError> {
        let chunked = |d: usize| self.chunk.as_ref().filter(|chunk| chunk.dim == d);
        let shape: Vec<usize> = self.visit.iter().map(|&d| chunked(d).map_or(self.sizes[d], |chunk| chunk.size)).collect();
        let mut point = vec![0; self.sizes.len()];
        try_each(&shape, |i| {
            for (&d, &at) in self.visit.iter().zip(i) {
                point[d] = at as i64;
            }
            if let Some(chunk) = &self.chunk {
                point[chunk.dim] += point[chunk.by] * chunk.size as i64;
                if point[chunk.dim] >= self.sizes[chunk.dim] as i64 {
                    return Ok(());
                }
            }
            f(&point)
        })
    }

    /// Reads the operands at a point and runs the body there.
    fn visit(&self, body: &mut Body<'c>, operands: &[Value], point: &[i64], index: &mut Vec<i64>) -> Result<(), InterpError> {
        for k in 0..body.arguments.len() {
            let value = match operands.get(k) {
                Some(Value::Tensor(t)) => {
                    let map = self.maps.get(k).ok_or_else(|| fail("an operand without a map"))?;
                    index.clear();
                    for e in map {
                        index.push(e.value(point, self.symbols)?);
                    }
                    match element(t, index) {
                        Ok(v) => in_register(t.dtype(), v),
                        Err(_) if self.guarded.get(k) == Some(&true) => Scalar::Int(0),
                        // The written operand of a scatter is not read.
                        Err(_) if self.op.isa::<loops::Scatter>() && k == 0 => Scalar::Int(0),
                        Err(e) => return Err(e),
                    }
                }
                Some(Value::Scalar(s)) => *s,
                _ => return Err(fail("an operand of a stage is neither a tensor nor a number")),
            };
            body.set(k, value);
        }
        body.run(point)
    }

    fn operands(&self, m: &Machine<'c>) -> Results {
        self.op.operands().into_iter().map(|v| m.get(v)).collect()
    }

    fn run(&self, m: &mut Machine<'c>) -> Result<(), InterpError> {
        let operands = self.operands(m)?;
        let (mut body, mut index) = (Body::new(m, self.body)?, Vec::new());
        let kept: Vec<usize> = self.domain.iter().copied().filter(|d| !self.reduce.contains(d)).collect();
        let shape: Vec<usize> = kept.iter().map(|&d| self.sizes[d]).collect();
        let results: Vec<Ssa> = self.op.results();
        let count = numel(&shape)?;
        let reducer = self.op.str("reducer");
        if let Some(zero) = reducer.as_deref().and_then(softmax::zero) {
            let [result] = results[..] else { return Err(fail("a mean has one result")) };
            let mut means = Means::new(count, zero);
            self.points(|point| {
                let at = kept.iter().fold(0, |k, &d| k * self.sizes[d] + point[d] as usize);
                self.visit(&mut body, &operands, point, &mut index)?;
                means.add(at, body.yielded(0), body.yielded(1));
                Ok(())
            })?;
            let t = Tensor::from_scalars(dtype_of(result.ty())?, &shape, means.values())?;
            m.bind_slot(result, Slot::Plain(Value::Tensor(t)));
            return Ok(());
        }
        let copies: usize = self.spread.iter().map(|&d| self.sizes[d]).product();
        if body.num_yields() != results.len() * copies {
            return Err(fail(format!("{} yielded values for {} results", body.num_yields(), results.len())));
        }
        let mut folds = Vec::new();
        for &r in &results {
            folds.push(Fold::new(reducer.as_deref(), dtype_of(r.ty())?, count)?);
        }
        self.points(|point| {
            let at = kept.iter().fold(0, |k, &d| k * self.sizes[d] + point[d] as usize);
            let position = self.reduce.first().map_or(0, |&d| point[d]);
            // A scan goes on from the point before.
            let before = match self.scan {
                Some(d) if point[d] > 0 => {
                    Some(at - kept.iter().skip_while(|&&k| k != d).skip(1).map(|&k| self.sizes[k]).product::<usize>())
                }
                _ => None,
            };
            self.visit(&mut body, &operands, point, &mut index)?;
            let copy = self.spread.iter().fold(0, |k, &d| k * self.sizes[d] + point[d] as usize);
            for (k, fold) in folds.iter_mut().enumerate() {
                fold.add(at, body.yielded(k + copy), position, before);
            }
            Ok(())
        })?;
        for (r, fold) in results.into_iter().zip(folds) {
            let t = Tensor::from_scalars(fold.dtype, &shape, fold.values.into_iter().map(|v| in_memory(fold.dtype, v)))?;
            m.bind_slot(r, Slot::Plain(Value::Tensor(t)));
        }
        Ok(())
    }

    fn scatter(&self, m: &mut Machine<'c>) -> Result<(), InterpError> {
        let operands = self.operands(m)?;
        let mut target = operands.first().ok_or_else(|| fail("nothing to write to"))?.tensor()?.clone();
        let combine = prim::conflict(&self.op.str("kind").unwrap_or_default())?;
        let (mut body, mut index) = (Body::new(m, self.body)?, Vec::new());
        let rank = body.num_yields().checked_sub(1).ok_or_else(|| fail("the body yields no element"))?;
        self.points(|point| {
            self.visit(&mut body, &operands, point, &mut index)?;
            let at: Vec<i64> = (0..rank).map(|k| body.yielded(k).int() as i64).collect();
            let new = body.yielded(rank);
            let old = element(&target, &at)?;
            let at: Vec<usize> = at.into_iter().map(|i| i as usize).collect();
            let new = target.dtype().cast(in_memory(target.dtype(), new));
            target.set(&at, combine(old, new));
            Ok(())
        })?;
        m.bind_slot(self.op.result(0), Slot::Plain(Value::Tensor(target)));
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
                Some(old) => super::aten::reduce::extreme_index(&[old, value], *largest).is_ok_and(|k| k == 1),
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
            Some(step) => super::aten::reduce::wrapped(self.dtype, step(old, value)),
            None => value,
        };
    }
}
