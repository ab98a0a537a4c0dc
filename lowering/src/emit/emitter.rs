//! One kernel as one function over pointers: outer loops, and in them the stages in order.

use super::Error;
use super::complex_lanes;
use super::distribute::Distribution;
use super::lanes::{self, Across, Coord, Grid, Index, evaluate};
use super::matrix_units::Configured;
use super::memory;
use super::near::Permutation;
use super::nest::{Body, Copy, Loop, Tail};
use super::non_temporal::Route;
use super::peel::{self, Insides};
use crate::emit::CooperativeBlock;
use crate::expand_math;
use crate::num::Num;
use std::collections::HashMap;
use strata_core::ir::{AffineMap, Block, Builder, Cx, ElementType, Op, Value};
use strata_core::upstream::{arith, func, scf, vector};
use strata_dialects::loops;
use strata_dialects::loops::view::{KernelView, StageView};

/// A tensor in memory.
#[derive(Clone)]
pub struct Buffer<'c> {
    /// Its first element.
    pub base: Value<'c>,
    /// Its element type.
    pub element: ElementType,
    /// Its sizes; it is dense and row-major.
    pub shape: Vec<Num<'c>>,
    /// For a tile: which of the tensor's dims it has. The others are those of the outer loops.
    pub kept: Option<Vec<bool>>,
}

impl<'c> Buffer<'c> {
    /// The memory of a copy of the outer loops, each of which has a tile of its own.
    pub(super) fn of_copy(mut self, b: &mut Builder<'c>, copy: usize) -> Self {
        if self.kept.is_some() && copy > 0 {
            let tile = self.shape.iter().fold(Num::Const(copy as i64), |count, &size| count.mul(b, size));
            self.base = memory::element_pointer(b, self.base, tile, self.element);
        }
        self
    }

    /// The indices that matter in memory.
    pub(super) fn kept<T: Clone>(&self, indices: Vec<T>) -> Vec<T> {
        match &self.kept {
            None => indices,
            Some(kept) => indices.into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(index, _)| index).collect(),
        }
    }
}

/// Accesses already made: the tensor, the map, and the coordinates that matter.
type Reads<'c> = HashMap<(Value<'c>, AffineMap<'c>, Vec<Coord<'c>>), Value<'c>>;

/// Writes one kernel.
pub struct Emitter<'c> {
    /// Appends to `block`.
    pub b: Builder<'c>,
    /// The context.
    pub cx: Cx<'c>,
    /// The block that code goes to.
    pub block: Block<'c>,
    /// The first block of the function.
    pub(crate) entry: Block<'c>,
    /// Bytes of scratch memory so far.
    pub(super) scratch: i64,
    /// Number of lanes now.
    pub width: i64,
    /// Which lanes of the present copy are on, when not all.
    pub mask: Option<Value<'c>>,
    /// The result whose row is stored past the caches now, and how it is aligned.
    pub(super) row: Option<(Value<'c>, Route<'c>)>,
    /// The threads that run the same points of the outer loops together, if there are several.
    pub(crate) cooperative: Option<CooperativeBlock<'c>>,
    /// Whether neighbours in a row come and go together.
    pub(crate) wide: bool,
    /// How many loops stand around what changes an index.
    pub(super) nestings: HashMap<Value<'c>, usize>,
    /// Whether the machine's larger of two floats takes no notice of NaN.
    pub(crate) ignores_nan: bool,
    /// The machine's permutations of a register's lanes.
    pub(crate) permutations: Vec<&'static Permutation>,
    pub(crate) kernel: KernelView<'c>,
    pub(crate) sizes: Vec<Num<'c>>,
    pub(crate) symbols: Vec<Value<'c>>,
    pub(super) scalars: HashMap<Value<'c>, Value<'c>>,
    pub(crate) buffers: HashMap<Value<'c>, Buffer<'c>>,
    pub(crate) registers: HashMap<(Value<'c>, usize), Value<'c>>,
    pub(crate) status: Value<'c>,
    pub(crate) reads: Reads<'c>,
    pub(super) insides: Insides,
    /// Vectors of indices whose lanes differ by a step.
    pub(super) stepping: HashMap<Value<'c>, Index<'c>>,
    /// What is known of the places that the present bodies load from: the load, and the indices that may be out of bounds.
    pub(super) checked: HashMap<(Op<'c>, Vec<Value<'c>>), Option<Value<'c>>>,
    /// The stage that is written in parts now.
    pub(super) distribution: Option<Distribution<'c>>,
    /// The tiles of matrix units that are configured, if there are some.
    pub(super) configured: Option<Configured<'c>>,
    /// What the present register block has in scratch memory: copy after copy along the dim `roll`.
    pub(super) in_scratch: HashMap<Value<'c>, Value<'c>>,
}

/// Status that a kernel stores when a computed index is out of bounds.
pub const INDEX_OUT_OF_BOUNDS: i64 = 1;

impl<'c> Emitter<'c> {
    /// What `write` writes goes to the end of `block`.
    pub(crate) fn in_block<R>(&mut self, block: Block<'c>, write: impl FnOnce(&mut Self) -> R) -> R {
        let around = std::mem::replace(&mut self.block, block);
        self.b.set_at_end(block);
        let result = write(self);
        self.block = around;
        self.b.set_at_end(around);
        result
    }

    /// What `then` writes runs where the condition holds.
    pub(crate) fn when<R>(&mut self, condition: Value<'c>, then: impl FnOnce(&mut Self) -> R) -> R {
        let block = scf::guarded(&mut self.b, condition);
        self.in_block(block, |emitter| {
            let result = then(emitter);
            scf::yield_(&mut emitter.b, &[]);
            result
        })
    }

    /// The emitter of a kernel whose arguments and results, then the place of its status, are the first of these values; it appends to
    /// `block`, the first one of a function.
    pub(crate) fn new(kernel: KernelView<'c>, block: Block<'c>, values: &[Value<'c>]) -> Result<Self, Error> {
        let (op, cx) = (kernel.op, kernel.op.cx());
        let (args, results) = (op.body(0).args(), kernel.results());
        let mut b = Builder::at_end(block, op.location());
        let by_argument: HashMap<_, _> = args.iter().copied().zip(values.iter().copied()).collect();
        let symbols: Vec<_> = kernel.symbols().iter().map(|symbol| by_argument[symbol]).collect();
        let none = vec![None; kernel.num_dims()];
        let mut numbers = |map: AffineMap<'c>| -> Vec<Num<'c>> {
            let grid = Grid { point: &none, symbols: &symbols, width: 1 };
            map.results().into_iter().map(|expr| evaluate(&mut b, &grid, expr).base).collect()
        };
        let sizes = numbers(kernel.sizes);
        let mut buffers = HashMap::new();
        for ((&tensor, shape), &base) in args.iter().chain(&results).zip(kernel.shapes()).zip(values) {
            if !tensor.ty().is_tensor() {
                continue;
            }
            let element = tensor.ty().element_type().ok_or_else(|| Error::at(op, format!("no code for tensors of {}", tensor.ty())))?;
            buffers.insert(tensor, Buffer { base, element, shape: numbers(shape), kept: None });
        }
        let scalars = by_argument.into_iter().filter(|(arg, _)| !arg.ty().is_tensor()).collect();
        let mut emitter = Self {
            insides: Insides::of(&sizes),
            stepping: HashMap::new(),
            checked: HashMap::new(),
            b,
            cx,
            block,
            entry: block,
            scratch: 0,
            width: 1,
            mask: None,
            row: None,
            cooperative: None,
            wide: false,
            nestings: HashMap::new(),
            ignores_nan: false,
            permutations: Vec::new(),
            sizes,
            symbols,
            scalars,
            buffers,
            registers: HashMap::new(),
            status: values[args.len() + results.len()],
            reads: HashMap::new(),
            distribution: None,
            configured: None,
            in_scratch: HashMap::new(),
            kernel,
        };
        emitter.alias_scatters();
        Ok(emitter)
    }

    /// A scatter writes into the tensor that it starts from: both are the result's memory.
    fn alias_scatters(&mut self) {
        // (Also one that runs in a later phase.)
        for scatter in self.kernel.op.body(0).ops().into_iter().filter(|&op| StageView::new(op).is_scatter()) {
            if let Some(buffer) = self.buffers.get(&scatter.result(0)).cloned() {
                self.buffers.insert(scatter.operand(0), buffer);
            }
        }
    }

    /// The outer loops, their part from `begin` to `end`, and the stages inside.
    pub(crate) fn run(&mut self, range: (Num<'c>, Num<'c>)) -> Result<(), Error> {
        if let Some(tiles) = self.kernel.tiles() {
            return self.run_tiles(range, &tiles);
        }
        let schedule = self.kernel.schedule();
        let (vector, width) = (schedule.vector, schedule.width.unwrap_or(1));
        let unroll = schedule.unroll.unwrap_or_default();
        let outer = self.kernel.outer.clone();
        let loops: Vec<_> = outer
            .iter()
            .enumerate()
            .map(|(level, &dim)| Loop {
                dim,
                width: if vector == Some(dim) { width } else { 1 },
                unroll: unroll.get(level).copied().unwrap_or(1).max(1),
                range: if level == 0 { range } else { (Num::Const(0), self.sizes[dim]) },
                length: None,
                tail: Tail::Loop,
                aligned: false,
            })
            .collect();
        let transposed: Vec<_> = self.kernel.stages.iter().filter_map(|stage| stage.schedule().transpose).collect();
        let loops: Vec<_> = loops
            .into_iter()
            .map(|lp| match transposed.contains(&lp.dim) {
                // Vectors that are transposed need all their copies.
                true => Loop { tail: Tail::Overlap(self.sizes[lp.dim]), ..lp },
                false => lp,
            })
            .collect();
        self.find_insides();
        if let [stage] = self.stages().as_slice() {
            self.distribution = self.distribution(stage, vector);
        }
        if let Some((last, around)) = loops.split_last().filter(|_| schedule.fission == Some(true)) {
            return self.fission(around, *last);
        }
        let blocks = schedule.block.unwrap_or_default();
        self.blocked(&loops, &blocks, &mut |emitter, copies, carried| {
            let copies: Vec<_> = copies.iter().map(|copy| Copy { outer: copy.slot, ..copy.clone() }).collect();
            for stage in &emitter.stages() {
                emitter.stage(stage, &copies)?;
            }
            Ok(carried)
        })
    }

    /// The outer loops, inside of loops over blocks of those that have a block size.
    pub(super) fn blocked(&mut self, loops: &[Loop<'c>], blocks: &[i64], body: &mut Body<'_, 'c>) -> Result<(), Error> {
        let Some(level) = blocks.iter().position(|&size| size > 0).filter(|&level| level < loops.len()) else {
            let start = Copy { point: vec![None; self.kernel.num_dims()], outer: 0, slot: 0, mask: None };
            self.nest(loops, &[start], Vec::new(), body)?;
            return Ok(());
        };
        let (size, (begin, end)) = (blocks[level], loops[level].range);
        let mut rest = blocks.to_vec();
        rest[level] = 0;
        self.repeat(begin, end, size, Vec::new(), &mut |emitter, at, carried| {
            let stop = at.add(&mut emitter.b, Num::Const(size)).min(&mut emitter.b, end);
            let mut loops = loops.to_vec();
            loops[level].range = (at, stop);
            emitter.blocked(&loops, &rest, body)?;
            Ok(carried)
        })?;
        Ok(())
    }

    /// The stages of the kernel, in order.
    pub(crate) fn stages(&self) -> Vec<StageView<'c>> {
        self.kernel.stages.iter().map(|stage| StageView::new(stage.op)).collect()
    }

    /// Runs the body of a stage for all copies, operator by operator, so that independent work stands side by side; gives what
    /// each copy yields. Of a stage that is written in parts this is one part, and only the last one yields.
    pub(crate) fn bodies(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<Vec<Vec<Value<'c>>>, Error> {
        let block = stage.op.body(0);
        let whole = self.part_now();
        let part = whole.as_ref().map(|(parts, at)| &parts[*at]);
        let ops = part.map_or_else(|| block.ops(), |part| part.ops.clone());
        let certain = self.certain(stage);
        // (A part is written for values that other parts read.)
        let needed = (part.is_none() && !certain.is_empty()).then(|| peel::needed(block, &certain));
        let needs = |value: Value<'c>| needed.as_ref().is_none_or(|needed| needed.contains(&value));
        let mut known = vec![self.scalars.clone(); copies.len()];
        for (operand, argument) in block.args().into_iter().enumerate() {
            let used = part.map_or(!argument.is_unused(), |part| part.ops.iter().any(|op| op.operands().contains(&argument)));
            let used = used && needs(argument);
            if !used {
                continue;
            }
            if let Some(values) = self.read_transposed(stage, operand, copies).or_else(|| self.read_wide(stage, operand, copies)) {
                for (known, value) in known.iter_mut().zip(values) {
                    known.insert(argument, value);
                }
                continue;
            }
            for (copy, known) in copies.iter().zip(&mut known) {
                let value = self.read(stage, operand, copy)?;
                known.insert(argument, value);
            }
        }
        if let Some(part) = part {
            copies.iter().zip(&mut known).for_each(|(copy, known)| self.take(part, copy, known));
        }
        self.checked.clear();
        let alike = if part.is_none() && needed.is_none() && self.width > 1 { self.superwords(block, &mut known) } else { Vec::new() };
        for op in ops {
            let mut yields = Vec::new();
            if alike.contains(&op) || op.num_results() > 0 && !op.results().into_iter().any(needs) {
                continue;
            }
            if let Some(chosen) = peel::chosen(op, &certain).filter(|_| needed.is_some()) {
                for known in &mut known {
                    let value = known.get(&chosen).copied().unwrap_or(chosen);
                    known.insert(op.result(0), value);
                }
                continue;
            }
            if let Some(&given) = certain.get(&op) {
                let holds = self.b.const_int(self.cx.int(1), given.into());
                for known in &mut known {
                    known.insert(op.result(0), holds);
                }
                continue;
            }
            // Copies that have the same operands share what is computed of them: the index of a row, where it does not depend on the lanes.
            let mut shared: Vec<(Vec<Value<'c>>, Vec<Value<'c>>)> = Vec::new();
            let shares = matches!(op.dialect(), "arith" | "math") && !op.operands().is_empty();
            for (copy, known) in copies.iter().zip(&mut known) {
                let operands: Vec<_> = op.operands().iter().map(|operand| known.get(operand).copied().unwrap_or(*operand)).collect();
                if op.isa::<loops::Yield>() {
                    yields.push(operands);
                    continue;
                }
                let same = shared.iter().find(|(others, _)| shares && *others == operands);
                let results = match same {
                    Some((_, results)) => results.clone(),
                    None => self.scalar_op(op, &operands, copy)?,
                };
                known.extend(op.results().into_iter().zip(results.iter().copied()));
                if same.is_none() {
                    shared.push((operands, results));
                }
            }
            if op.isa::<loops::Yield>() {
                return Ok(yields);
            }
        }
        let part = part.ok_or_else(|| Error::at(stage.op, "its body has no terminator"))?;
        copies.iter().zip(&known).for_each(|(copy, known)| self.leave(part, copy, known));
        Ok(Vec::new())
    }

    /// One op of a body for one copy.
    pub(crate) fn scalar_op(&mut self, op: Op<'c>, operands: &[Value<'c>], copy: &Copy<'c>) -> Result<Vec<Value<'c>>, Error> {
        self.mask = copy.mask;
        Ok(match op.name() {
            loops::Index::NAME => {
                let dim = self.cx.dim(op.int("dim").unwrap_or_default() as usize);
                let index = self.index(&copy.point, dim);
                vec![match index.across {
                    Across::Uniform => index.base.value(&mut self.b),
                    _ => {
                        let lanes = index.vector(&mut self.b, self.width);
                        self.stepping.insert(lanes, index);
                        lanes
                    }
                }]
            }
            loops::Load::NAME => vec![self.computed_load(op, operands)?],
            loops::Libm::NAME if !expand_math::has_lanes(&op.str("name").unwrap_or_default(), op.result(0).ty()) => {
                vec![self.lane_by_lane(op, operands)]
            }
            _ if operands.iter().any(|operand| operand.ty().is_vector())
                && (op.dialect() == "complex" || operands.iter().any(|operand| complex_lanes::is_complex(*operand))) =>
            {
                vec![complex_lanes::spread(&mut self.b, op, operands, self.width)?]
            }
            arith::CmpI::NAME if let Some(holds) = self.compared(op, operands, copy) => vec![holds],
            _ => {
                let results = lanes::spread(&mut self.b, op, operands, self.width);
                if let &[result] = results.as_slice() {
                    self.note_step(op, operands, result);
                }
                results
            }
        })
    }

    /// A function of the runtime, called for each lane.
    fn lane_by_lane(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Value<'c> {
        let name = op.str("name").unwrap_or_default();
        let scalar = op.result(0).ty();
        let callee = self.cx.symbol_attr(&format!("strata_math_{name}_{scalar}"));
        let call = |b: &mut Builder<'c>, args: &[Value<'c>]| b.value(func::Call::NAME, args, scalar, &[("callee", callee)]);
        if !operands.iter().any(|operand| operand.ty().is_vector()) {
            return call(&mut self.b, operands);
        }
        let operands: Vec<_> = operands.iter().map(|&operand| lanes::in_lanes(&mut self.b, operand, self.width)).collect();
        let ty = self.cx.vector(&[self.width], scalar);
        let zero = memory::zero(&mut self.b, scalar);
        let mut result = memory::broadcast(&mut self.b, zero, self.width);
        for lane in 0..self.width {
            let position = ("static_position", self.cx.i64s_attr(&[lane]));
            let args: Vec<_> =
                operands.iter().map(|&operand| self.b.value(vector::Extract::NAME, &[operand], scalar, &[position])).collect();
            let value = call(&mut self.b, &args);
            result = self.b.value(vector::Insert::NAME, &[value, result], ty, &[position]);
        }
        result
    }
}
