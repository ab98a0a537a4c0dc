//! Reading a `loop.kernel`: its dims, stages and loops, as the scheduler and the emitters see them.

use super::attention::AttentionView;
use super::roles::uses;
use super::schedule::{KernelSchedule, StageSchedule};
use crate::loops;
use strata_core::ir::{AffineMap, Attr, DYNAMIC, Op, Value};
use strata_core::upstream::arith;

/// A kernel.
pub struct KernelView<'c> {
    /// The `loop.kernel`.
    pub op: Op<'c>,
    /// Its stages in order.
    pub stages: Vec<StageView<'c>>,
    /// Dims whose loops stand around all stages, outermost first.
    pub outer: Vec<usize>,
    /// Sizes of the dims as expressions over the symbols.
    pub sizes: AffineMap<'c>,
}

/// A stage.
pub struct StageView<'c> {
    /// The `loop.stage` or `loop.scatter`.
    pub op: Op<'c>,
    /// Dims that it runs over.
    pub domain: Vec<usize>,
    /// Dims that it reduces.
    pub reduce: Vec<usize>,
    /// In which pieces it reduces one of them.
    pub chunk: Option<Chunk>,
    /// Whether the first two operands say where the reduced dim begins and ends.
    pub segments: bool,
    /// Dims for all of whose points the body runs once.
    pub spread: Vec<usize>,
    /// The dim that it scans.
    pub scan: Option<usize>,
    /// Access of each operand.
    pub maps: Vec<AffineMap<'c>>,
    /// Which accesses may reach outside.
    pub guarded: Vec<bool>,
}

/// Dim `by` numbers pieces of `size` of dim `dim`.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// The dim that numbers the pieces.
    pub by: usize,
    /// The dim that is reduced piece by piece.
    pub dim: usize,
    /// Elements of a piece; the last may have fewer.
    pub size: i64,
}

impl Chunk {
    fn of(op: Op<'_>) -> Option<Self> {
        let [by, dim, size] = op.ints("chunk")?.try_into().ok()?;
        Some(Self { by: usize::try_from(by).ok()?, dim: usize::try_from(dim).ok()?, size })
    }
}

fn dims(op: Op<'_>, name: &str) -> Vec<usize> {
    op.ints(name).unwrap_or_default().into_iter().map(|dim| dim as usize).collect()
}

impl<'c> StageView<'c> {
    /// Reads a stage.
    pub fn new(op: Op<'c>) -> Self {
        let maps: Vec<_> = op.attr("maps").and_then(Attr::as_array).unwrap_or_default().into_iter().filter_map(Attr::as_map).collect();
        let guarded = op.attr("guarded").and_then(Attr::as_bools).unwrap_or_else(|| vec![false; maps.len()]);
        let scan = op.int("scan").map(|dim| dim as usize);
        let (reduce, spread) = (dims(op, "reduce"), dims(op, "spread"));
        let segments = op.attr("segments").is_some();
        Self { op, domain: dims(op, "domain"), reduce, chunk: Chunk::of(op), segments, spread, scan, maps, guarded }
    }

    /// Whether it writes at computed indices.
    pub fn is_scatter(&self) -> bool {
        self.op.isa::<loops::Scatter>()
    }

    /// Whether no index that it writes at is out of bounds.
    pub fn is_in_bounds(&self) -> bool {
        self.op.attr("in_bounds").is_some()
    }

    /// Whether its result lives in scratch memory of the loops around all stages.
    pub fn is_tile(&self) -> bool {
        self.op.str("space").as_deref() == Some("tile")
    }

    /// Whether its result is one element per point of the loops around all stages.
    pub fn is_register(&self) -> bool {
        self.op.str("space").as_deref() == Some("register")
    }

    /// Whether nothing but memory carries what it computes from point to point and to other stages: a map or a scatter, whose loops may
    /// stand apart from those of other stages.
    pub fn runs_in_memory(&self) -> bool {
        let at_each_point = self.reduce.is_empty() && self.scan.is_none() && self.spread.is_empty();
        at_each_point && !self.is_tile() && !self.is_register()
    }

    /// Whether it is a mean weighed by the softmax of scores: its body yields a score and a value.
    pub fn is_attention(&self) -> bool {
        self.op.str("reducer").is_some_and(|name| name.starts_with("softmax"))
    }

    /// Dims of which each iteration is independent of the others.
    pub fn parallel(&self) -> Vec<usize> {
        if self.is_scatter() {
            return self.written_apart();
        }
        self.domain.iter().copied().filter(|dim| !self.reduce.contains(dim) && self.scan != Some(*dim)).collect()
    }

    /// Dims of a scatter that are an index of what it writes as they are, and a dim of the stage that made what it writes to: each
    /// iteration writes to elements which the same iteration of that stage made. What comes from outside is there before all iterations.
    fn written_apart(&self) -> Vec<usize> {
        let yields = self.op.body(0).terminator().map(|op| op.operands()).unwrap_or_default();
        let Some((_, indices)) = yields.split_last() else { return Vec::new() };
        let made = self.op.operands().first().and_then(|target| target.defining_op()).map(|op| Self::new(op).result_dims());
        let own = |(at, index): (usize, &Value<'c>)| match &made {
            Some(made) => made.get(at).copied().filter(|dim| is_index(*index, *dim)),
            None => self.domain.iter().copied().find(|dim| is_index(*index, *dim)),
        };
        let mut apart = Vec::new();
        for dim in indices.iter().enumerate().filter_map(own).filter(|dim| self.domain.contains(dim)) {
            apart.extend((!apart.contains(&dim)).then_some(dim));
        }
        apart
    }

    /// Dims of the result, in order.
    pub fn result_dims(&self) -> Vec<usize> {
        self.domain.iter().copied().filter(|dim| !self.reduce.contains(dim)).collect()
    }

    /// The piece of this dim that one point of the other dims reduces, when the dim is chunked.
    pub fn piece(&self, dim: usize) -> Option<i64> {
        self.chunk.filter(|chunk| chunk.dim == dim).map(|chunk| chunk.size)
    }

    /// Dims at each of whose points a part of what is reduced is combined, which is another one at each.
    pub fn parts_of(&self) -> Vec<usize> {
        let bounds = if self.segments { &self.maps[..self.maps.len().min(2)] } else { &[] };
        let segments = self.domain.iter().copied().filter(|&dim| bounds.iter().any(|map| uses(*map, dim)));
        self.chunk.map(|chunk| chunk.by).into_iter().chain(segments).collect()
    }

    /// Whether it combines a part of what it reduces at each of some points.
    pub fn is_in_parts(&self) -> bool {
        self.chunk.is_some() || self.segments
    }

    /// The dim that numbers the segments of this one, where it is reduced in segments.
    pub fn segmented_by(&self, dim: usize) -> Option<usize> {
        let last = self.maps.first().filter(|_| self.segments && self.reduce.contains(&dim))?.results().last().copied()?;
        self.domain.iter().copied().find(|&by| last.uses_dim(by))
    }

    /// The dim among whose points what is reduced is shared out.
    pub fn shared_by(&self) -> Option<usize> {
        self.chunk.map(|chunk| chunk.by).or_else(|| self.segmented_by(*self.reduce.first()?))
    }

    /// Its schedule.
    pub fn schedule(&self) -> StageSchedule {
        StageSchedule::of(self.op)
    }
}

/// Whether a value of a body is the index of the current point along a dim.
pub fn is_index(value: Value<'_>, dim: usize) -> bool {
    value.defining_op().is_some_and(|op| op.isa::<loops::Index>() && op.int("dim") == i64::try_from(dim).ok())
}

/// The dims whose loops can stand around all of some stages.
fn common(stages: &[StageView<'_>]) -> Option<Vec<usize>> {
    let mut outer = stages.last()?.parallel();
    for stage in stages {
        let parallel = stage.parallel();
        outer.retain(|dim| parallel.contains(dim));
    }
    Some(outer)
}

impl<'c> KernelView<'c> {
    /// Reads a kernel.
    pub fn new(op: Op<'c>) -> Option<Self> {
        let stages: Vec<_> = op.body(0).ops().into_iter().filter(|op| op.attr("domain").is_some()).map(StageView::new).collect();
        let mut outer = common(&stages)?;
        if let Some(order) = KernelSchedule::of(op).order.filter(|order| order.iter().all(|dim| outer.contains(dim))) {
            outer = order;
        }
        Some(Self { op, stages, outer, sizes: op.attr("sizes")?.as_map()? })
    }

    /// The parts of a kernel each of which needs all threads to be done with the one before: the pieces of a reduction, and what combines
    /// them; a scatter whose schedule says which of its dims are shared, and what stands before it.
    pub fn phases(&self) -> Vec<Self> {
        let view = |stages: &[StageView<'c>], outer: Vec<usize>| {
            let stages = stages.iter().map(|stage| StageView::new(stage.op)).collect();
            Self { op: self.op, stages, outer, sizes: self.sizes }
        };
        if let Some(at) = self.meeting() {
            let (pieces, rest) = self.stages.split_at(at);
            return [pieces, rest].map(|stages| view(stages, common(stages).unwrap_or_default())).into();
        }
        let stored = |stage: &StageView<'c>| !stage.is_register() && !stage.is_tile() && !stage.is_scatter();
        match self.stages.split_last() {
            Some((scatter, before)) if scatter.is_scatter() && before.iter().all(stored) => {
                let Some(shared) = scatter.schedule().share else { return vec![view(&self.stages, self.outer.clone())] };
                let before = (!before.is_empty()).then(|| view(before, common(before).unwrap_or_default()));
                before.into_iter().chain([view(std::slice::from_ref(scatter), shared)]).collect()
            }
            _ => vec![view(&self.stages, self.outer.clone())],
        }
    }

    /// The stage, by number, that needs all pieces of the reduction before it, where there is no loop over the pieces around both.
    pub fn meeting(&self) -> Option<usize> {
        let apart = |stage: &StageView<'c>| stage.chunk.is_some_and(|chunk| !self.outer.contains(&chunk.by));
        self.stages.iter().position(apart).map(|at| at + 1).filter(|&next| next < self.stages.len())
    }

    /// The longest of the dims that a stage has for itself, the last of equals; one of unknown length is longer than all others.
    pub fn own_dim(&self, stage: &StageView<'c>) -> Option<usize> {
        let own = stage.domain.iter().copied().filter(|dim| !self.outer.contains(dim));
        own.max_by_key(|&dim| self.length(stage, dim).unwrap_or(i64::MAX))
    }

    /// How long a dim of a stage is at one point of the others: a piece, or what a segment has in the mean.
    pub fn length(&self, stage: &StageView<'_>, dim: usize) -> Option<i64> {
        let mean = |by: usize| Some((self.static_size(dim)? as u64).div_ceil(self.static_size(by)?.max(1) as u64) as i64);
        stage.piece(dim).or_else(|| stage.segmented_by(dim).map_or_else(|| self.static_size(dim), mean))
    }

    /// Number of dims.
    pub fn num_dims(&self) -> usize {
        self.sizes.results().len()
    }

    /// The size of a dim when it is known while compiling.
    pub fn static_size(&self, dim: usize) -> Option<i64> {
        self.sizes.results()[dim].as_constant().filter(|&size| size != DYNAMIC)
    }

    /// Arguments that are symbols, in order.
    pub fn symbols(&self) -> Vec<Value<'c>> {
        let args = self.op.body(0).args();
        dims(self.op, "symbols").into_iter().map(|at| args[at]).collect()
    }

    /// Shapes of the arguments, then of the results, as maps over the symbols.
    pub fn shapes(&self) -> Vec<AffineMap<'c>> {
        self.op.attr("shapes").and_then(Attr::as_array).unwrap_or_default().into_iter().filter_map(Attr::as_map).collect()
    }

    /// What the kernel returns.
    pub fn results(&self) -> Vec<Value<'c>> {
        self.op.body(0).terminator().map(|op| op.operands()).unwrap_or_default()
    }

    /// Its schedule.
    pub fn schedule(&self) -> KernelSchedule {
        KernelSchedule::of(self.op)
    }

    /// For each result the argument in whose memory it may lie.
    pub fn in_place(&self) -> Vec<Option<usize>> {
        let places = self.op.ints("in_place").unwrap_or_default().into_iter().map(|place| usize::try_from(place).ok());
        places.chain(std::iter::repeat(None)).take(self.results().len()).collect()
    }

    /// The tile sizes of the outer dims, when the outer loops are tiled: then threads share the tiles, the last dim's first.
    pub fn tiles(&self) -> Option<Vec<i64>> {
        let tiles = self.schedule().tile?;
        (tiles.len() == self.outer.len() && tiles.iter().all(|&tile| tile > 0)).then_some(tiles)
    }

    /// Bytes that one call reads and writes, at most, when the sizes are known: a tensor counts whole unless there are fewer reads of it.
    pub fn bytes(&self) -> Option<u64> {
        let of = |tensor: Value<'c>, elements: i64| Some((elements as u64).saturating_mul(tensor.ty().element_type()?.bytes() as u64));
        let args = self.op.body(0).args().into_iter().filter(|arg| arg.ty().is_tensor());
        let read = args.map(|arg| of(arg, arg.ty().num_elements()?.min(self.reads(arg).unwrap_or(i64::MAX))));
        let mut bytes = read.chain(self.results().into_iter().map(|result| of(result, result.ty().num_elements()?)));
        bytes.try_fold(0, |all: u64, bytes| Some(all.saturating_add(bytes?)))
    }

    /// Elements of an argument that the stages read, one for each point at which they do, where they are known to read no more.
    fn reads(&self, tensor: Value<'c>) -> Option<i64> {
        let reads = tensor.uses().into_iter().map(|read| {
            let stage = self.stages.iter().find(|stage| stage.op == read.op || read.op.parent() == Some(stage.op))?;
            let map = if stage.op == read.op { Some(*stage.maps.get(read.index)?) } else { None };
            let moves = |dim: &&usize| map.map_or(stage.shared_by() != Some(**dim), |map| uses(map, **dim));
            product_of_known(stage.domain.iter().filter(moves).map(|&dim| self.static_size(dim)))
        });
        reads.into_iter().try_fold(0, |all: i64, reads| Some(all.saturating_add(reads?)))
    }

    /// Arithmetic operations of one call, when the sizes are known: one for each op of a body, and one for each combination.
    pub fn flops(&self) -> Option<u64> {
        let mut stages = self.stages.iter().map(|stage| {
            let once = |dim: &&usize| stage.shared_by() != Some(**dim) && !stage.spread.contains(*dim);
            let counted = stage.domain.iter().filter(once);
            let points = product_of_known(counted.map(|&dim| self.static_size(dim)));
            let body = stage
                .op
                .body(0)
                .ops()
                .iter()
                .filter(|op| matches!(op.dialect(), "arith" | "math" | "complex") && !op.isa::<arith::Constant>())
                .count();
            let combined = usize::from(!stage.reduce.is_empty() || stage.scan.is_some());
            // An instruction for several steps is a product and a sum for each.
            let ops = match loops::steps_at_once(stage.op) {
                1 => (body + combined) as u64,
                steps => 2 * steps as u64,
            };
            Some((points? as u64).saturating_mul(ops))
        });
        stages.try_fold(0, |all: u64, flops| Some(all.saturating_add(flops?)))
    }

    /// Why the stages cannot share one nest of outer loops, when they cannot: a result that lives in registers must have outer dims
    /// only, and pieces are numbered by an outer dim.
    pub fn refuse(&self) -> Option<&'static str> {
        if self.stages.iter().any(|stage| stage.chunk.is_some_and(|chunk| !self.outer.contains(&chunk.by))) {
            return Some("the pieces of a reduction are not numbered by a loop around all stages");
        }
        let told_inside = |stage: &StageView<'_>| stage.segments && stage.parts_of().iter().any(|dim| !self.outer.contains(dim));
        if self.stages.iter().any(told_inside) {
            return Some("the segments of a reduction are not told by a loop around all stages");
        }
        if let Err(reason) = AttentionView::of(self) {
            return Some(reason);
        }
        let beyond = |stage: &StageView<'c>| stage.is_register() && stage.result_dims().iter().any(|dim| !self.outer.contains(dim));
        self.stages.iter().any(beyond).then_some("a result in registers is not one value of the loops around all stages")
    }
}

/// The product of sizes. Text may name any; where they have no product it is the largest number, for whoever compares costs.
pub fn product(sizes: impl IntoIterator<Item = i64>) -> i64 {
    sizes.into_iter().fold(1, i64::saturating_mul)
}

/// The same, where all sizes are known.
pub fn product_of_known(sizes: impl IntoIterator<Item = Option<i64>>) -> Option<i64> {
    sizes.into_iter().try_fold(1, |all: i64, size| Some(all.saturating_mul(size?)))
}
