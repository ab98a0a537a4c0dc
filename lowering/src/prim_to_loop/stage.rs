//! A stage under construction: its accesses, its scalar body, and what the body has computed already.

use super::kernel::Kernel;
use std::collections::HashMap;
use strata_core::ir::{AffineExpr, AffineKind, Block, Builder, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith;
use strata_dialects::loops;
use strata_dialects::loops::edit::set_reads;

/// What a stage does with the elements that its body yields.
pub enum Kind<'a> {
    /// One result element per point.
    Map,
    /// One element for each point of these dims, each time the body runs.
    Spread { dims: &'a [usize] },
    /// Combines the elements over these dims; with segments in the bounds that the first two operands tell.
    Reduce { dims: &'a [usize], reducer: &'a str, segments: bool },
    /// Running combination along a dim.
    Scan { dim: usize, reducer: &'a str },
    /// Writes at computed indices into the first operand.
    Scatter { kind: &'a str, in_bounds: bool },
}

/// A key of the body's memory: a value of the fusion at some index expressions.
pub type Request<'c> = (Value<'c>, Vec<AffineExpr<'c>>);

/// A `loop.stage` that is being filled.
pub struct Stage<'c> {
    /// The op.
    pub op: Op<'c>,
    /// Appends to the body.
    pub b: Rewriter<'c>,
    /// Whether accesses made now may reach outside of their operands.
    pub guarded: bool,
    block: Block<'c>,
    operands: Vec<Value<'c>>,
    maps: Vec<Vec<AffineExpr<'c>>>,
    guards: Vec<bool>,
    memo: HashMap<(Request<'c>, bool), Value<'c>>,
    exprs: HashMap<AffineExpr<'c>, Value<'c>>,
}

impl<'c> Stage<'c> {
    /// Opens a stage before `before` (or at the end of the kernel).
    pub fn open(kernel: &Kernel<'c>, before: Option<Op<'c>>, domain: &[usize], kind: &Kind<'_>, results: &[Type<'c>], space: &str) -> Self {
        let location = kernel.location;
        let mut at = before.map_or_else(|| Builder::at_end(kernel.body, location), Builder::before);
        at.set_location(location);
        let cx = at.cx();
        let ints = |dims: &[usize]| cx.i64s_attr(&dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>());
        let mut attrs = vec![("domain", ints(domain)), ("space", cx.str_attr(space))];
        let name = match kind {
            Kind::Map => loops::Stage::NAME,
            Kind::Spread { dims } => {
                attrs.push(("spread", ints(dims)));
                loops::Stage::NAME
            }
            Kind::Reduce { dims, reducer, segments } => {
                attrs.extend([("reduce", ints(dims)), ("reducer", cx.str_attr(reducer))]);
                attrs.extend(segments.then(|| ("segments", cx.unit())));
                loops::Stage::NAME
            }
            Kind::Scan { dim, reducer } => {
                attrs.extend([("scan", cx.i64_attr(*dim as i64)), ("reducer", cx.str_attr(reducer))]);
                loops::Stage::NAME
            }
            Kind::Scatter { kind, in_bounds } => {
                attrs.extend([("kind", cx.str_attr(kind)), ("conflict", cx.str_attr("ordered"))]);
                attrs.extend(in_bounds.then(|| ("in_bounds", cx.unit())));
                loops::Scatter::NAME
            }
        };
        let op = at.op(OpSpec { name, results, attrs: &attrs, regions: 1, ..OpSpec::default() });
        let block = op.region(0).append_block(&[], location);
        Self {
            op,
            b: Rewriter::at_end(block, location),
            guarded: false,
            block,
            operands: Vec::new(),
            maps: Vec::new(),
            guards: Vec::new(),
            memo: HashMap::new(),
            exprs: HashMap::new(),
        }
    }

    /// Reads a tensor of the kernel at index expressions: a new operand and block argument.
    pub fn read(&mut self, tensor: Value<'c>, indices: &[AffineExpr<'c>], element: Type<'c>) -> Value<'c> {
        let argument = self.block.add_arg(element, self.b.location());
        self.operands.push(tensor);
        self.maps.push(indices.to_vec());
        self.guards.push(self.guarded);
        argument
    }

    /// Turns guarding on when `on`, and gives the state before, to be put back after the accesses.
    pub fn guard(&mut self, on: bool) -> bool {
        let before = self.guarded;
        self.guarded |= on;
        before
    }

    /// What the body already computed for a request.
    pub fn recall(&self, request: &Request<'c>) -> Option<Value<'c>> {
        self.memo.get(&(request.clone(), self.guarded)).copied()
    }

    /// Remembers what the body computed.
    pub fn remember(&mut self, request: Request<'c>, value: Value<'c>) {
        self.memo.insert((request, self.guarded), value);
    }

    /// An index expression at the current point, as an `index` value of the body.
    pub fn index(&mut self, kernel: &Kernel<'c>, expr: AffineExpr<'c>) -> Value<'c> {
        if let Some(&value) = self.exprs.get(&expr) {
            return value;
        }
        let index = self.b.cx().index();
        let value = match expr.kind() {
            AffineKind::Dim(dim) => {
                let dim = self.b.cx().i64_attr(dim as i64);
                self.b.value(loops::Index::NAME, &[], index, &[("dim", dim)])
            }
            AffineKind::Symbol(symbol) => kernel.symbol_argument(symbol),
            AffineKind::Constant(constant) => self.b.const_index(constant),
            AffineKind::Add(lhs, rhs) => self.binary(kernel, arith::AddI::NAME, lhs, rhs),
            AffineKind::Mul(lhs, rhs) => self.binary(kernel, arith::MulI::NAME, lhs, rhs),
            AffineKind::FloorDiv(lhs, rhs) => self.binary(kernel, arith::FloorDivSI::NAME, lhs, rhs),
            AffineKind::CeilDiv(lhs, rhs) => self.binary(kernel, arith::CeilDivSI::NAME, lhs, rhs),
            AffineKind::Mod(lhs, rhs) => self.binary(kernel, arith::RemSI::NAME, lhs, rhs),
        };
        self.exprs.insert(expr, value);
        value
    }

    fn binary(&mut self, kernel: &Kernel<'c>, name: &str, lhs: AffineExpr<'c>, rhs: AffineExpr<'c>) -> Value<'c> {
        let (lhs, rhs) = (self.index(kernel, lhs), self.index(kernel, rhs));
        let index = self.b.cx().index();
        self.b.value(name, &[lhs, rhs], index, &[])
    }

    /// Ends the body with these values and writes the accesses down.
    pub fn close(mut self, kernel: &Kernel<'c>, yields: &[Value<'c>]) -> Op<'c> {
        self.b.effect(loops::Yield::NAME, yields, &[]);
        let cx = self.b.cx();
        let maps: Vec<_> = self.maps.iter().map(|results| cx.map(kernel.num_dims(), kernel.num_symbols(), results)).collect();
        set_reads(&mut self.b, self.op, &self.operands, &maps, &self.guards);
        self.op
    }
}
