//! One kernel as one `gpu.func`: which threads stand at which points of the outer loops, and the stages inside.

use super::attention::Attention;
use super::tiles::Tiles;
use super::transpose::Transpose;
use crate::emit::Error;
use crate::emit::cooperative_block::{CooperativeBlock, PART};
use crate::emit::emitter::Emitter;
use crate::emit::lanes::Coord;
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::num::Num;
use strata_core::ir::{AffineExpr, Builder, Cx, Op, OpSpec, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{gpu, llvm};
use strata_dialects::host;
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::gpu::WARP;

/// Threads of a block where no schedule says otherwise.
const THREADS: i64 = 128;

/// Kernels whose blocks have tiles of the outer loops.
enum Cut {
    Contraction(Tiles),
    Attention(Box<Attention>),
    Transpose(Transpose),
}

impl Cut {
    /// As the kernel's schedule says.
    fn of(kernel: &KernelView<'_>) -> Option<Self> {
        let attention = || Attention::of(kernel).map(|attention| Self::Attention(Box::new(attention)));
        let transpose = || Transpose::of(kernel).map(Self::Transpose);
        Tiles::of(kernel).map(Self::Contraction).or_else(attention).or_else(transpose)
    }

    fn threads(&self) -> i64 {
        match self {
            Self::Contraction(tiles) => tiles.threads(),
            Self::Attention(attention) => attention.threads(),
            Self::Transpose(transpose) => transpose.threads(),
        }
    }

    /// The tile sizes of the outer dims.
    fn sizes(&self) -> &[i64] {
        match self {
            Self::Contraction(tiles) => tiles.sizes(),
            Self::Attention(attention) => attention.sizes(),
            Self::Transpose(transpose) => transpose.sizes(),
        }
    }
}

/// Writes the kernel as `gpu.func @name(arguments.., results.., status)` at the end of the device's module; gives the names of functions of
/// the same arguments that run before.
pub fn emit<'c>(device: Op<'c>, op: Op<'c>) -> Result<Vec<String>, Error> {
    let kernel = KernelView::new(op).ok_or_else(|| Error::at(op, "it has no stages or no sizes"))?;
    let mut phases = kernel.phases();
    if let Some(reason) = phases.iter().find_map(KernelView::refuse) {
        return Err(Error::at(op, reason));
    }
    let name = op.str("sym_name").unwrap_or_default();
    // What the last block of a launch does is no launch of its own.
    let rest = kernel.meeting().and_then(|_| phases.pop());
    let last = phases.pop();
    let mut before = Vec::new();
    for (number, phase) in phases.into_iter().enumerate() {
        before.push(format!("{name}_{number}"));
        emit_phase(device, phase, None, &before[number])?;
    }
    last.map_or(Ok(()), |phase| emit_phase(device, phase, rest, &name))?;
    Ok(before)
}

/// Writes stages of a kernel as one function, whose last block does the rest.
fn emit_phase<'c>(device: Op<'c>, kernel: KernelView<'c>, rest: Option<KernelView<'c>>, name: &str) -> Result<(), Error> {
    let op = kernel.op;
    let cx = op.cx();
    let pointer = memory::pointer(cx);
    let mut types: Vec<_> = op.body(0).args().iter().map(|arg| if arg.ty().is_tensor() { pointer } else { arg.ty() }).collect();
    types.resize(types.len() + kernel.results().len() + 1, pointer);
    let schedule = kernel.schedule();
    let mut threads = schedule.threads.unwrap_or(THREADS);
    let together = schedule.cooperate.is_some_and(|threads| threads > 1) || rest.is_some();
    if together {
        threads = (threads.max(WARP) as u64).next_power_of_two() as i64;
    }
    let cut = Cut::of(&kernel).filter(|_| rest.is_none());
    let (blocks, threads) = match &cut {
        Some(cut) => (tile_count(&kernel, cut.sizes()), cut.threads()),
        None => (blocks(&kernel, if together { 1 } else { threads }, neighbours(&kernel).filter(|_| !together)), threads),
    };
    let grid = cx.map(0, kernel.symbols().len(), &[blocks]);
    let func = Builder::at_end(device.body(0), op.location()).op(OpSpec {
        name: gpu::Func::NAME,
        attrs: &[
            ("sym_name", cx.str_attr(name)),
            ("function_type", cx.type_attr(cx.function(&types, &[]))),
            (gpu::KERNEL, cx.unit()),
            ("known_block_size", cx.i32s_attr(&[threads as i32, 1, 1])),
            (host::GRID, cx.map_attr(grid)),
            (host::SYMBOLS, cx.i64s_attr(&op.ints("symbols").unwrap_or_default())),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let block = func.region(0).append_block(&types, op.location());
    let mut emitter = Emitter::new(kernel, block, &block.args())?;
    let start = Copy { point: vec![None; emitter.kernel.num_dims()], outer: 0, slot: 0, mask: None };
    if let Some(cut) = cut {
        match cut {
            Cut::Contraction(tiles) => emitter.run_shared(device, &tiles, start)?,
            Cut::Attention(attention) => emitter.run_attention(device, &attention, start)?,
            Cut::Transpose(transpose) => emitter.run_transpose(device, &transpose, start)?,
        }
    } else if together {
        let scratch = shared(device, &mut emitter.b, &format!("{name}.shared"), threads / WARP * PART);
        let thread = special(&mut emitter.b, gpu::ThreadId::NAME);
        emitter.cooperative = Some(CooperativeBlock { thread, count: threads, dim: None, scratch });
        let block = special(&mut emitter.b, gpu::BlockId::NAME);
        emitter.as_block(&start, Num::Value(block))?;
        if let Some(rest) = rest {
            let word = shared(device, &mut emitter.b, &format!("{name}.last"), 4);
            emitter.in_last_block(rest, word, &start)?;
        }
    } else {
        emitter.one_point_each(&start, threads)?;
    }
    gpu::ret(&mut emitter.b);
    Ok(())
}

/// The outer dim of which a thread takes neighbours, and how many, as the schedule says.
fn neighbours(kernel: &KernelView<'_>) -> Option<(usize, i64)> {
    let scatters = kernel.stages.iter().any(StageView::is_scatter);
    let schedule = kernel.schedule();
    let dim = schedule.vector.filter(|dim| kernel.outer.contains(dim) && !scatters)?;
    schedule.width.filter(|&width| width > 1).map(|width| (dim, width))
}

/// Blocks of a launch in which each block does so many points of the outer loops, or groups of neighbours.
fn blocks<'c>(kernel: &KernelView<'c>, points: i64, neighbours: Option<(usize, i64)>) -> AffineExpr<'c> {
    let cx = kernel.op.cx();
    let sizes = kernel.sizes.results();
    let count = |dim: usize| match neighbours {
        Some((along, width)) if along == dim => sizes[dim].ceil_div(cx.constant(width)),
        _ => sizes[dim],
    };
    let all = kernel.outer.iter().fold(cx.constant(1), |all, &dim| all * count(dim));
    all.ceil_div(cx.constant(points))
}

/// Blocks of a launch in which each block has a tile.
fn tile_count<'c>(kernel: &KernelView<'c>, tiles: &[i64]) -> AffineExpr<'c> {
    let (cx, sizes) = (kernel.op.cx(), kernel.sizes.results());
    let along = |(&dim, &tile): (&usize, &i64)| sizes[dim].ceil_div(cx.constant(tile));
    kernel.outer.iter().zip(tiles).map(along).fold(cx.constant(1), |all, count| all * count)
}

/// `gpu.thread_id x` or `gpu.block_id x`.
pub fn special<'c>(b: &mut Builder<'c>, name: &str) -> Value<'c> {
    let cx = b.cx();
    let x = cx.parse_attr("#gpu<dim x>").unwrap_or_else(|| unreachable!("the gpu dialect is loaded"));
    b.value(name, &[], cx.index(), &[("dimension", x)])
}

/// So many bytes of shared memory of this name, as a pointer like any other.
pub fn shared<'c>(device: Op<'c>, b: &mut Builder<'c>, name: &str, bytes: i64) -> Value<'c> {
    let cx: Cx<'c> = b.cx();
    let parse = |text: &str| cx.parse_type(text).unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
    let linkage = cx.parse_attr("#llvm.linkage<internal>").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
    Builder::at_start(device.body(0), b.location()).op(OpSpec {
        name: llvm::Global::NAME,
        attrs: &[
            ("sym_name", cx.str_attr(name)),
            ("global_type", cx.type_attr(parse(&format!("!llvm.array<{bytes} x i8>")))),
            ("linkage", linkage),
            ("alignment", cx.i64_attr(16)),
            ("addr_space", cx.int_attr(cx.int(32), 3)),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let at = llvm::address_of(b, name, parse("!llvm.ptr<3>"));
    llvm::addrspacecast(b, at, memory::pointer(cx))
}

impl<'c> Emitter<'c> {
    /// Each thread has a point of the outer loops to itself, or some neighbours, and runs all stages there.
    fn one_point_each(&mut self, start: &Copy<'c>, threads: i64) -> Result<(), Error> {
        let (block, thread) = (special(&mut self.b, gpu::BlockId::NAME), special(&mut self.b, gpu::ThreadId::NAME));
        let (block, thread) = (Num::Value(block), Num::Value(thread));
        let first = block.mul(&mut self.b, Num::Const(threads));
        let at = first.add(&mut self.b, thread);
        let sizes = self.outer_sizes();
        if let Some(view) = AttentionView::of(&self.kernel).map_err(|reason| Error::at(self.kernel.op, reason))? {
            let job = self.job(view, OnlineTiles::of(&self.kernel, self.kernel.static_size(view.key)).single())?;
            return self.at_point(start, at, &sizes, &mut |emitter, copy| emitter.tile_of_rows(&job, &copy));
        }
        self.make_tiles()?;
        let Some((dim, width)) = neighbours(&self.kernel) else {
            return self.at_point(start, at, &sizes, &mut |emitter, copy| emitter.run_stages(&[copy]));
        };
        let mut groups = sizes.clone();
        for (_, count) in groups.iter_mut().filter(|(other, _)| *other == dim) {
            *count = count.ceil_div(&mut self.b, Num::Const(width));
        }
        let whole = self.rows_are_whole(&vec![(dim, width); self.kernel.stages.len()]);
        let together =
            &mut |emitter: &mut Self| emitter.at_point(start, at, &groups, &mut |emitter, copy| emitter.some_points(&copy, (dim, width)));
        // As many points, but the threads stand side by side.
        let alone = &mut |emitter: &mut Self| -> Result<(), Error> {
            let first = first.mul(&mut emitter.b, Num::Const(width)).add(&mut emitter.b, thread);
            emitter.repeat(Num::Const(0), Num::Const(width * threads), threads, Vec::new(), &mut |emitter, ahead, carried| {
                let at = first.add(&mut emitter.b, ahead);
                emitter.at_point(start, at, &sizes, &mut |emitter, copy| emitter.run_stages(&[copy]))?;
                Ok(carried)
            })?;
            Ok(())
        };
        self.if_whole(whole, together, alone)
    }

    /// Does something at the point of this number, if there is one.
    fn at_point(
        &mut self,
        start: &Copy<'c>,
        at: Num<'c>,
        counts: &[(usize, Num<'c>)],
        work: &mut dyn FnMut(&mut Self, Copy<'c>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut total = Num::Const(1);
        for (_, count) in counts {
            total = total.mul(&mut self.b, *count);
        }
        let (index, total) = (at.value(&mut self.b), total.value(&mut self.b));
        let below = arith::cmpi(&mut self.b, CmpIPredicate::Ult, index, total);
        self.when(below, |emitter| {
            let copy = emitter.at_number(start.clone(), at, counts);
            work(emitter, copy)
        })
    }

    /// The neighbours of a group: together where all of them are there, else one by one.
    fn some_points(&mut self, copy: &Copy<'c>, (dim, width): (usize, i64)) -> Result<(), Error> {
        let (number, size) = (copy.point[dim].map_or(Num::Const(0), |coord| coord.base), self.sizes[dim]);
        let base = number.mul(&mut self.b, Num::Const(width));
        let all = match size {
            Num::Const(size) if size % width == 0 => None,
            _ => {
                let (end, size) = (base.add(&mut self.b, Num::Const(width)).value(&mut self.b), size.value(&mut self.b));
                Some(arith::cmpi(&mut self.b, CmpIPredicate::Ule, end, size))
            }
        };
        let together = &mut |emitter: &mut Self| -> Result<(), Error> {
            let copies = emitter.neighbours(copy, dim, base, width);
            emitter.run_stages(&copies)
        };
        let alone = &mut |emitter: &mut Self| -> Result<(), Error> {
            emitter.repeat(base, size, 1, Vec::new(), &mut |emitter, at, carried| {
                let mut copy = copy.clone();
                copy.point[dim] = Some(Coord { base: at, lanes: false, block: None });
                emitter.run_stages(&[copy])?;
                Ok(carried)
            })?;
            Ok(())
        };
        self.if_whole(all, together, alone)
    }

    fn run_stages(&mut self, copies: &[Copy<'c>]) -> Result<(), Error> {
        self.stages().iter().try_for_each(|stage| self.stage(stage, copies))
    }

    /// The outer dims and their sizes.
    pub(super) fn outer_sizes(&self) -> Vec<(usize, Num<'c>)> {
        self.kernel.outer.iter().map(|&dim| (dim, self.sizes[dim])).collect()
    }

    /// All threads of a block are at the point of this number.
    pub(super) fn as_block(&mut self, start: &Copy<'c>, number: Num<'c>) -> Result<(), Error> {
        let copy = self.at_number(start.clone(), number, &self.outer_sizes());
        let accesses: Vec<_> = self.stages().iter().map(taken).collect();
        let whole = self.rows_are_whole(&accesses);
        self.if_whole(whole, &mut |emitter| emitter.block_stages(&copy), &mut |emitter| emitter.block_stages(&copy))
    }

    /// All stages at a point, in each of which the threads take turns.
    fn block_stages(&mut self, copy: &Copy<'c>) -> Result<(), Error> {
        let mut written = Vec::new();
        for stage in &self.stages() {
            // What other threads wrote is read after all are done with it.
            if stage.op.operands().iter().any(|operand| written.contains(operand)) {
                self.barrier();
                written.clear();
            }
            let turns = self.kernel.own_dim(stage);
            if let Some(block) = self.cooperative.as_mut() {
                block.dim = turns;
            }
            self.stage(stage, std::slice::from_ref(copy))?;
            written.extend(stage.op.results().into_iter().filter(|result| self.buffers.contains_key(result)));
        }
        Ok(())
    }

    /// The copy at the point of this number, counted with the last outer dim innermost.
    fn at_number(&mut self, mut copy: Copy<'c>, at: Num<'c>, counts: &[(usize, Num<'c>)]) -> Copy<'c> {
        let mut rest = at;
        for (level, &(dim, count)) in counts.iter().enumerate().rev() {
            // What is left is below the number of the first dim.
            let base = if level == 0 { rest } else { rest.modulo(&mut self.b, count) };
            if level > 0 {
                rest = rest.floor_div(&mut self.b, count);
            }
            copy.point[dim] = Some(Coord { base, lanes: false, block: None });
        }
        copy
    }
}

/// The dim of which a stage takes neighbours, and how many.
fn taken(stage: &StageView<'_>) -> (usize, i64) {
    let schedule = stage.schedule();
    schedule.vector.map_or((0, 1), |dim| (dim, schedule.unroll.unwrap_or(1)))
}
