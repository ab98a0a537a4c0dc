//! Making operations at a place in the IR.

use super::{Attr, Block, Cx, Location, Op, Region, Type, Value, string_ref};
use mlir_sys::*;

/// Where a builder puts the next op.
#[derive(Clone, Copy)]
pub enum Place<'c> {
    /// At the end of a block (before nothing).
    End(Block<'c>),
    /// Before an op.
    Before(Op<'c>),
    /// Nowhere: ops are made detached.
    Detached,
}

impl<'c> Place<'c> {
    fn after(op: Op<'c>) -> Self {
        match (op.next(), op.block()) {
            (Some(next), _) => Self::Before(next),
            (None, Some(block)) => Self::End(block),
            (None, None) => Self::Detached,
        }
    }

    fn start(block: Block<'c>) -> Self {
        block.first_op().map_or(Self::End(block), Self::Before)
    }
}

/// Makes ops, one after the other, at a place and with a location.
pub struct Builder<'c> {
    cx: Cx<'c>,
    place: Place<'c>,
    location: Location<'c>,
    /// Who must hear of each new op.
    listener: Listener<'c>,
}

/// Who hears of the ops that a builder makes.
enum Listener<'c> {
    /// Nobody.
    None,
    /// The rewriter of one of MLIR's drivers.
    Mlir(MlirRewriterBase),
    /// Our driver, which visits what a pattern made: the ops in the order in which they were inserted.
    Made(Vec<Op<'c>>),
}

/// What an op to be made consists of; the plain form behind all typed builders.
#[derive(Default)]
pub struct OpSpec<'a, 'c> {
    /// Full name.
    pub name: &'a str,
    /// Operands.
    pub operands: &'a [Value<'c>],
    /// Result types.
    pub results: &'a [Type<'c>],
    /// Attributes.
    pub attrs: &'a [(&'a str, Attr<'c>)],
    /// Number of (empty) regions.
    pub regions: usize,
    /// Successor blocks.
    pub successors: &'a [Block<'c>],
}

impl<'c> Builder<'c> {
    /// A builder that appends to a block.
    pub fn at_end(block: Block<'c>, location: Location<'c>) -> Self {
        Self { cx: location.cx(), place: Place::End(block), location, listener: Listener::None }
    }

    /// A builder that inserts before `op`, with its location.
    pub fn before(op: Op<'c>) -> Self {
        Self { cx: op.cx(), place: Place::Before(op), location: op.location(), listener: Listener::None }
    }

    /// A builder that inserts after `op`, with its location.
    pub fn after(op: Op<'c>) -> Self {
        Self { cx: op.cx(), place: Place::after(op), location: op.location(), listener: Listener::None }
    }

    /// A builder that inserts at the start of a block.
    pub fn at_start(block: Block<'c>, location: Location<'c>) -> Self {
        Self { cx: location.cx(), place: Place::start(block), location, listener: Listener::None }
    }

    /// A builder of detached ops.
    pub fn detached(location: Location<'c>) -> Self {
        Self { cx: location.cx(), place: Place::Detached, location, listener: Listener::None }
    }

    /// A builder before `op` whose new ops go through a rewriter.
    pub(crate) fn rewriting(rewriter: MlirRewriterBase, op: Op<'c>) -> Self {
        Self { listener: Listener::Mlir(rewriter), ..Self::before(op) }
    }

    /// A builder before `op` that keeps a list of what it made.
    pub(crate) fn listing(op: Op<'c>) -> Self {
        Self { listener: Listener::Made(Vec::new()), ..Self::before(op) }
    }

    /// The ops made so far by a builder that lists them, which starts a new list.
    pub(crate) fn take_made(&mut self) -> Vec<Op<'c>> {
        match &mut self.listener {
            Listener::Made(made) => std::mem::take(made),
            Listener::None | Listener::Mlir(_) => Vec::new(),
        }
    }

    /// The ops made so far by a builder that lists them.
    pub(crate) fn made(&self) -> &[Op<'c>] {
        match &self.listener {
            Listener::Made(made) => made,
            Listener::None | Listener::Mlir(_) => &[],
        }
    }

    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.cx
    }

    /// The location of the ops to come.
    pub fn location(&self) -> Location<'c> {
        self.location
    }

    /// Sets the location of the ops to come.
    pub fn set_location(&mut self, location: Location<'c>) {
        self.location = location;
    }

    /// The block that ops go to.
    pub fn insertion_block(&self) -> Option<Block<'c>> {
        match self.place {
            Place::End(block) => Some(block),
            Place::Before(op) => op.block(),
            Place::Detached => None,
        }
    }

    /// The op that ops go before, if there is one.
    pub fn next_op(&self) -> Option<Op<'c>> {
        match self.place {
            Place::Before(op) => Some(op),
            Place::End(_) | Place::Detached => None,
        }
    }

    /// Continues at the end of a block.
    pub fn set_at_end(&mut self, block: Block<'c>) {
        self.place = Place::End(block);
    }

    /// Continues at the start of a block.
    pub fn set_at_start(&mut self, block: Block<'c>) {
        self.place = Place::start(block);
    }

    /// Continues after an op.
    pub fn set_after(&mut self, op: Op<'c>) {
        self.place = Place::after(op);
    }

    /// Continues before an op.
    pub fn set_before(&mut self, op: Op<'c>) {
        self.place = Place::Before(op);
    }

    /// Continues at the end of a block; gives the place until now, for [`Self::go_back`].
    pub fn go_into(&mut self, block: Block<'c>) -> Place<'c> {
        std::mem::replace(&mut self.place, Place::End(block))
    }

    /// Continues at a place that was left.
    pub fn go_back(&mut self, place: Place<'c>) {
        self.place = place;
    }

    /// Runs `build` with the place at the end of `block`, then returns to the present place.
    pub fn within<R>(&mut self, block: Block<'c>, build: impl FnOnce(&mut Self) -> R) -> R {
        let place = std::mem::replace(&mut self.place, Place::End(block));
        let result = build(self);
        self.place = place;
        result
    }

    /// Makes an op. Panics when its dialect is not loaded: MLIR would make an op without meaning then.
    pub fn op(&mut self, spec: OpSpec<'_, 'c>) -> Op<'c> {
        assert!(self.cx.may_create(spec.name), "'{}' is not registered: name its dialect in the pass's `dependents`", spec.name);
        let operands: Vec<_> = spec.operands.iter().map(|value| value.raw).collect();
        let results: Vec<_> = spec.results.iter().map(|ty| ty.raw).collect();
        let attrs: Vec<_> = spec.attrs.iter().map(|(name, attr)| self.cx.named(name, *attr)).collect();
        let successors: Vec<_> = spec.successors.iter().map(|block| block.raw).collect();
        // SAFETY: all handles are alive, the lists have the lengths given, and MLIR copies them.
        let op = unsafe {
            let mut state = mlirOperationStateGet(string_ref(spec.name), self.location.raw);
            mlirOperationStateAddOperands(&raw mut state, operands.len() as isize, operands.as_ptr());
            mlirOperationStateAddResults(&raw mut state, results.len() as isize, results.as_ptr());
            mlirOperationStateAddAttributes(&raw mut state, attrs.len() as isize, attrs.as_ptr());
            mlirOperationStateAddSuccessors(&raw mut state, successors.len() as isize, successors.as_ptr());
            let regions: Vec<_> = (0..spec.regions).map(|_| mlirRegionCreate()).collect();
            mlirOperationStateAddOwnedRegions(&raw mut state, regions.len() as isize, regions.as_ptr());
            Op::from_raw(mlirOperationCreate(&raw mut state))
        };
        assert!(!op.raw.ptr.is_null(), "'{}' could not be created", spec.name);
        crate::erased::remove(op.raw);
        self.insert(op)
    }

    /// Makes an op with one result and gives the result.
    pub fn value(&mut self, name: &str, operands: &[Value<'c>], result: Type<'c>, attrs: &[(&str, Attr<'c>)]) -> Value<'c> {
        self.op(OpSpec { name, operands, results: &[result], attrs, ..OpSpec::default() }).result(0)
    }

    /// Makes an op without results.
    pub fn effect(&mut self, name: &str, operands: &[Value<'c>], attrs: &[(&str, Attr<'c>)]) -> Op<'c> {
        self.op(OpSpec { name, operands, attrs, ..OpSpec::default() })
    }

    /// Inserts a detached op.
    pub fn insert(&mut self, op: Op<'c>) -> Op<'c> {
        match &mut self.listener {
            Listener::None => {}
            Listener::Mlir(rewriter) => {
                let rewriter = *rewriter;
                return self.insert_by(rewriter, op);
            }
            Listener::Made(made) => made.push(op),
        }
        // SAFETY: the op is detached and the place is alive.
        unsafe {
            match self.place {
                Place::End(block) => mlirBlockAppendOwnedOperation(block.raw, op.raw),
                Place::Before(next) => {
                    if let Some(block) = next.block() {
                        mlirBlockInsertOwnedOperationBefore(block.raw, next.raw, op.raw);
                    }
                }
                Place::Detached => {}
            }
        }
        op
    }

    fn insert_by(&self, rewriter: MlirRewriterBase, op: Op<'c>) -> Op<'c> {
        // SAFETY: the op is detached, the place and the rewriter are alive.
        unsafe {
            match self.place {
                Place::End(block) => mlirRewriterBaseSetInsertionPointToEnd(rewriter, block.raw),
                Place::Before(next) => mlirRewriterBaseSetInsertionPointBefore(rewriter, next.raw),
                Place::Detached => return op,
            }
            mlirRewriterBaseInsert(rewriter, op.raw);
        }
        op
    }

    /// Copies an op (with its regions) here, with other operands.
    pub fn clone_op(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Op<'c> {
        // SAFETY: the op is alive; the clone is detached until it is inserted.
        let copy = unsafe { Op::from_raw(mlirOperationClone(op.raw)) };
        crate::erased::clear();
        copy.set_operands(operands);
        self.insert(copy)
    }

    /// `arith.constant` of type `index`.
    pub fn const_index(&mut self, value: i64) -> Value<'c> {
        let (ty, attr) = (self.cx.index(), self.cx.index_attr(value));
        self.value("arith.constant", &[], ty, &[("value", attr)])
    }

    /// `arith.constant` of an integer type.
    pub fn const_int(&mut self, ty: Type<'c>, value: i64) -> Value<'c> {
        let attr = self.cx.int_attr(ty, value);
        self.value("arith.constant", &[], ty, &[("value", attr)])
    }

    /// `arith.constant` of a float type.
    pub fn const_float(&mut self, ty: Type<'c>, value: f64) -> Value<'c> {
        let attr = self.cx.float_attr(ty, value);
        self.value("arith.constant", &[], ty, &[("value", attr)])
    }

    /// The entry block of a new op's region, with arguments.
    pub fn add_block(&mut self, region: Region<'c>, arguments: &[Type<'c>]) -> Block<'c> {
        region.append_block(arguments, self.location)
    }
}
