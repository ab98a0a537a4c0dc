//! `Dims`: the sizes of every tensor of a function as expressions over the function's symbols.
//!
//! The analysis walks the function once and can be recomputed at any time; nothing of it is in the IR.
//! Symbols are `index` values, or sizes of tensors that nothing else says anything about.

use super::sizes;
use super::{Atom, Expr, Interval};
use std::collections::HashMap;
use strata_core::ir::{AffineExpr, AffineKind, Builder, DYNAMIC, Op, Value};
use strata_core::pass::{Analysis, Incremental};
use strata_core::upstream::arith;
use strata_dialects::{capture, prim};

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol<'c> {
    /// An `index` value.
    Value(Value<'c>),
    /// The size of one dimension of a tensor.
    Size(Value<'c>, usize),
}

/// Sizes and index values of a function. See the module.
#[derive(Clone, Default)]
pub struct Dims<'c> {
    symbols: Vec<Symbol<'c>>,
    ids: HashMap<Symbol<'c>, u32>,
    ranges: HashMap<u32, Interval>,
    /// The symbol of each name that `capture.dim` gives.
    names: HashMap<String, u32>,
    /// What a symbol was found to be equal to.
    equals: HashMap<u32, Expr>,
    tensors: HashMap<Value<'c>, Vec<Expr>>,
    indices: HashMap<Value<'c>, Expr>,
    /// Expressions that are known not to be negative, beside those whose bounds say so.
    pub(super) not_negative: Vec<Expr>,
}

impl Analysis for Dims<'static> {
    type Of<'c> = Dims<'c>;

    fn compute(op: Op<'_>) -> Dims<'_> {
        Dims::of(op)
    }
}

impl Incremental for Dims<'static> {
    fn made<'c>(dims: &mut Dims<'c>, op: Op<'c>) {
        dims.visit_op(op, false);
    }
}

impl<'c> Dims<'c> {
    /// Analyses a function (or any op with regions).
    pub fn of(function: Op<'c>) -> Self {
        let mut dims = Self::declared(function);
        dims.visit_regions(function, true);
        dims
    }

    /// What a function says of the sizes of its arguments; nothing of what it computes is taken in.
    pub fn declared(function: Op<'c>) -> Self {
        let mut dims = Self::default();
        // Declared sizes come first: whatever the body computes is then said in the declared symbols.
        for op in function.find_all(capture::Dim::NAME) {
            dims.declare(op);
        }
        for region in function.regions() {
            for block in region.blocks() {
                for op in block.ops().into_iter().filter(|op| op.isa::<capture::BindDims>()) {
                    dims.bind(op);
                }
            }
        }
        dims
    }

    /// Takes in an op that every call of the function runs: its results, and that sizes are as it needs them, or as it checks.
    pub fn learn(&mut self, op: Op<'c>) {
        self.visit_op(op, true);
        for constraint in self.guarded(op) {
            self.assume(&constraint);
        }
    }

    fn visit_regions(&mut self, op: Op<'c>, always_runs: bool) {
        for region in op.regions() {
            for block in region.blocks() {
                for op in block.ops() {
                    self.visit_op(op, always_runs);
                }
            }
        }
    }

    /// `always_runs`: what the op needs holds for the whole function, since the op is executed in every call.
    fn visit_op(&mut self, op: Op<'c>, always_runs: bool) {
        if op.isa::<prim::Fusion>() {
            for (argument, operand) in op.body(0).args().into_iter().zip(op.operands()) {
                self.forward(operand, argument);
            }
            self.visit_regions(op, always_runs);
            if let Some(end) = op.body(0).terminator() {
                for (result, value) in op.results().into_iter().zip(end.operands()) {
                    self.forward(value, result);
                }
            }
            return;
        }
        self.visit_regions(op, false);
        if always_runs && sizes::is_shape_preserving(op) {
            self.unify(op);
        }
        if always_runs && op.isa::<capture::BindDims>() && op.num_operands() > 0 {
            let bound = self.bound(op).unwrap_or_default();
            for (size, bound) in self.sizes(op.operand(0)).iter().zip(bound) {
                self.equate(size, &bound);
            }
        }
        for result in op.results() {
            if result.ty().is_tensor() {
                if !self.tensors.contains_key(&result) {
                    let found = sizes::infer(self, op, result);
                    self.tensors.insert(result, found);
                }
            } else if result.ty().is_index() && !self.indices.contains_key(&result) {
                let found = sizes::infer_index(self, op).filter(Expr::is_small);
                let found = found.unwrap_or_else(|| self.symbol(Symbol::Value(result)));
                self.indices.insert(result, found);
            }
        }
    }

    fn forward(&mut self, from: Value<'c>, to: Value<'c>) {
        if from.ty().is_tensor() {
            let sizes = self.sizes(from);
            self.tensors.insert(to, sizes);
        } else if from.ty().is_index() {
            let value = self.index(from);
            self.indices.insert(to, value);
        }
    }

    /// All tensor operands of a pointwise op have one shape: where two are said differently, one symbol is the other expression.
    fn unify(&mut self, op: Op<'c>) {
        let tensors: Vec<_> = op.operands().into_iter().filter(|value| value.ty().is_tensor()).collect();
        for pair in tensors.windows(2) {
            for (a, b) in self.sizes(pair[0]).iter().zip(self.sizes(pair[1])) {
                self.equate(a, &b);
            }
        }
    }

    /// Takes in that two expressions are equal, when one of them is a symbol.
    pub(super) fn equate(&mut self, a: &Expr, b: &Expr) {
        let (a, b) = (self.resolve(a), self.resolve(b));
        if a == b {
            return;
        }
        let replaceable = |from: &Expr, to: &Expr| from.as_symbol().filter(|&id| !to.mentions(id));
        match (replaceable(&a, &b), replaceable(&b, &a)) {
            // The later symbol gives way: declared ones are the earliest.
            (Some(x), Some(y)) if x < y => self.equals.insert(y, a),
            (Some(x), _) => self.equals.insert(x, b),
            (None, Some(y)) => self.equals.insert(y, a),
            (None, None) => None,
        };
    }

    fn declare(&mut self, op: Op<'c>) {
        let (Some(dim), 1.., 1) = (op.int("dim"), op.num_operands(), op.num_results()) else { return };
        let tensor = op.operand(0);
        let Some(dim) = usize::try_from(dim).ok().filter(|&dim| dim < tensor.ty().rank()) else { return };
        let id = match op.str("symbol").and_then(|name| self.names.get(&name).copied()) {
            Some(id) => id,
            None => {
                let id = self.id(Symbol::Value(op.result(0)));
                if let Some(name) = op.str("symbol") {
                    self.names.insert(name, id);
                }
                id
            }
        };
        let range = Interval { low: Some(op.int("min").unwrap_or(0).max(0)), high: op.int("max").filter(|&max| max != i64::MAX) };
        self.ranges.entry(id).or_insert(range);
        self.indices.insert(op.result(0), Expr::symbol(id));
        let mut sizes = self.sizes(tensor);
        if sizes[dim].as_constant().is_none() {
            sizes[dim] = Expr::symbol(id);
        }
        self.tensors.insert(tensor, sizes);
    }

    /// What `capture.bind_dims` says of an entry argument. (What the body computes is inferred, and compared in `visit_op`.)
    fn bind(&mut self, op: Op<'c>) {
        if let Some(&tensor) = op.operands().first()
            && tensor.defining_op().is_none()
            && let Some(bound) = self.bound(op)
        {
            let sizes = self.sizes(tensor).into_iter().zip(bound);
            let sizes = sizes.map(|(known, bound)| if known.as_constant().is_some() { known } else { bound }).collect();
            self.tensors.insert(tensor, sizes);
        }
    }

    /// The sizes that a `capture.bind_dims` states.
    pub(super) fn bound(&mut self, op: Op<'c>) -> Option<Vec<Expr>> {
        let results = op.attr("shape")?.as_map()?;
        let operands = op.operands();
        let (tensor, symbols) = operands.split_first()?;
        if results.results().len() != tensor.ty().rank() || results.num_symbols() != symbols.len() {
            return None;
        }
        let symbols: Vec<_> = symbols.iter().map(|&symbol| self.index(symbol)).collect();
        results.results().into_iter().map(|size| from_affine(size, &symbols).filter(Expr::is_small)).collect()
    }

    /// The number of a symbol.
    pub(super) fn id(&mut self, symbol: Symbol<'c>) -> u32 {
        if let Some(&id) = self.ids.get(&symbol) {
            return id;
        }
        let id = self.symbols.len() as u32;
        self.symbols.push(symbol);
        self.ids.insert(symbol, id);
        if matches!(symbol, Symbol::Size(..)) {
            self.ranges.insert(id, Interval::at_least(0));
        }
        id
    }

    /// A symbol as an expression.
    pub(super) fn symbol(&mut self, symbol: Symbol<'c>) -> Expr {
        Expr::symbol(self.id(symbol))
    }

    /// What a symbol stands for.
    pub fn meaning(&self, id: u32) -> Option<Symbol<'c>> {
        self.symbols.get(id as usize).copied()
    }

    /// The sizes of a tensor; empty for anything else.
    pub fn sizes(&mut self, tensor: Value<'c>) -> Vec<Expr> {
        if let Some(sizes) = self.tensors.get(&tensor) {
            return sizes.clone();
        }
        let shape = tensor.ty().shape();
        let sizes: Vec<_> = (0..shape.len())
            .map(|dim| if shape[dim] == DYNAMIC { self.symbol(Symbol::Size(tensor, dim)) } else { shape[dim].into() })
            .collect();
        self.tensors.insert(tensor, sizes.clone());
        sizes
    }

    /// The value of an `index`.
    pub fn index(&mut self, value: Value<'c>) -> Expr {
        if let Some(found) = self.indices.get(&value) {
            return found.clone();
        }
        let found = self.symbol(Symbol::Value(value));
        self.indices.insert(value, found.clone());
        found
    }

    /// Takes in what an `index` value that was made after the analysis is.
    pub fn define(&mut self, value: Value<'c>, expr: &Expr) {
        self.indices.entry(value).or_insert_with(|| expr.clone());
    }

    /// Number of elements of a tensor, when that is an expression of reasonable length.
    pub fn elements(&mut self, tensor: Value<'c>) -> Option<Expr> {
        self.sizes(tensor).iter().try_fold(1.into(), |product: Expr, size| Some(product.mul(size)).filter(Expr::is_small))
    }

    /// An expression with what is known to be equal put in.
    pub fn resolve(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        // Equalities never form a cycle, but one may lead to the next.
        for _ in 0..8 {
            match expr.substitute(&|id| self.equals.get(&id).cloned()) {
                Some(next) if next != expr => expr = next,
                _ => break,
            }
        }
        expr
    }

    /// Whether two sizes are shown to be equal.
    pub fn equal(&self, a: &Expr, b: &Expr) -> bool {
        a == b || self.resolve(a) == self.resolve(b)
    }

    /// Whether two lists of sizes are shown to be equal.
    pub fn all_equal(&self, a: &[Expr], b: &[Expr]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.equal(a, b))
    }

    /// Whether two tensors are shown to have the same shape.
    pub fn same_shape(&mut self, a: Value<'c>, b: Value<'c>) -> bool {
        let (a, b) = (self.sizes(a), self.sizes(b));
        self.all_equal(&a, &b)
    }

    /// Bounds of an expression.
    pub fn bounds(&self, expr: &Expr) -> Interval {
        self.resolve(expr).interval(&|id| self.ranges.get(&id).copied().unwrap_or_default())
    }

    /// Whether `a <= b`, when that is known either way.
    pub fn less_or_equal(&self, a: &Expr, b: &Expr) -> Option<bool> {
        let Interval { low, high } = self.bounds(&b.sub(a));
        match (low, high) {
            (Some(low), _) if low >= 0 => Some(true),
            (_, Some(high)) if high < 0 => Some(false),
            _ => self.is_not_negative(&b.sub(a)).then_some(true),
        }
    }

    /// Whether an expression is shown to be a multiple of a number.
    pub fn is_multiple_of(&self, expr: &Expr, number: i64) -> bool {
        self.resolve(expr).is_multiple_of(number)
    }

    /// The smaller of two, decided by bounds where they allow it.
    pub fn min(&self, a: &Expr, b: &Expr) -> Expr {
        match self.less_or_equal(a, b) {
            Some(true) => a.clone(),
            Some(false) => b.clone(),
            None => a.minimum(b),
        }
    }

    /// The larger of two, decided by bounds where they allow it.
    pub fn max(&self, a: &Expr, b: &Expr) -> Expr {
        match self.less_or_equal(a, b) {
            Some(true) => b.clone(),
            Some(false) => a.clone(),
            None => a.maximum(b),
        }
    }

    /// The `index` and tensor values that computing an expression needs.
    pub fn inputs(&self, expr: &Expr, found: &mut Vec<Symbol<'c>>) {
        for (atoms, _) in expr.terms() {
            for atom in atoms {
                match atom {
                    Atom::Symbol(id) => found.extend(self.meaning(*id)),
                    Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                        self.inputs(a, found);
                        self.inputs(b, found);
                    }
                }
            }
        }
    }

    /// Whether all that computing an expression needs can be used where `op` stands.
    pub fn is_available(&self, expr: &Expr, op: Op<'c>) -> bool {
        let mut inputs = Vec::new();
        self.inputs(expr, &mut inputs);
        inputs.into_iter().all(|input| match input {
            Symbol::Value(value) | Symbol::Size(value, _) => is_before(value, op),
        })
    }

    /// Builds `arith` that computes an expression.
    pub fn emit(&self, builder: &mut Builder<'c>, expr: &Expr) -> Value<'c> {
        let mut sum: Option<Value<'c>> = None;
        for (atoms, coefficient) in expr.terms() {
            let mut product = (coefficient != 1 || atoms.is_empty()).then(|| builder.const_index(coefficient));
            for atom in atoms {
                let factor = self.emit_atom(builder, atom);
                product = Some(product.map_or(factor, |product| binary(builder, arith::MulI::NAME, product, factor)));
            }
            sum = match (sum, product) {
                (Some(sum), Some(product)) => Some(binary(builder, arith::AddI::NAME, sum, product)),
                (sum, product) => sum.or(product),
            };
        }
        sum.unwrap_or_else(|| builder.const_index(0))
    }

    fn emit_atom(&self, builder: &mut Builder<'c>, atom: &Atom) -> Value<'c> {
        let (name, a, b) = match atom {
            Atom::Symbol(id) => {
                return match self.symbols[*id as usize] {
                    Symbol::Value(value) => value,
                    Symbol::Size(tensor, dim) => {
                        let cx = builder.cx();
                        builder.value(prim::Dim::NAME, &[tensor], cx.index(), &[("dim", cx.i64_attr(dim as i64))])
                    }
                };
            }
            Atom::FloorDiv(a, b) => (arith::FloorDivSI::NAME, a, b),
            Atom::Mod(a, b) => (arith::RemSI::NAME, a, b),
            Atom::Min(a, b) => (arith::MinSI::NAME, a, b),
            Atom::Max(a, b) => (arith::MaxSI::NAME, a, b),
        };
        let (a, b) = (self.emit(builder, a), self.emit(builder, b));
        binary(builder, name, a, b)
    }
}

/// Whether a value can be used where `op` stands.
fn is_before<'c>(value: Value<'c>, op: Op<'c>) -> bool {
    let block = value.defining_op().map_or_else(|| value.owner_block(), Op::block);
    let mut at = Some(op);
    while let Some(here) = at {
        if here.block() == block {
            return value.defining_op().is_none_or(|definition| definition.is_before(here));
        }
        // Nothing from outside can be used inside of a fusion.
        at = here.parent().filter(|parent| !parent.isa::<prim::Fusion>());
    }
    false
}

fn binary<'c>(builder: &mut Builder<'c>, name: &str, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    let index = builder.cx().index();
    builder.value(name, &[a, b], index, &[])
}

/// An affine expression over symbols; `None` for dimensions, which shapes do not have.
fn from_affine(expr: AffineExpr<'_>, symbols: &[Expr]) -> Option<Expr> {
    let both = |a, b| Some((from_affine(a, symbols)?, from_affine(b, symbols)?));
    match expr.kind() {
        AffineKind::Dim(_) => None,
        AffineKind::Symbol(position) => symbols.get(position).cloned(),
        AffineKind::Constant(value) => Some(value.into()),
        AffineKind::Add(a, b) => both(a, b).map(|(a, b)| a.add(&b)),
        AffineKind::Mul(a, b) => both(a, b).map(|(a, b)| a.mul(&b)),
        AffineKind::FloorDiv(a, b) => both(a, b).map(|(a, b)| a.floor_div(&b)),
        AffineKind::CeilDiv(a, b) => both(a, b).map(|(a, b)| a.add(&b).sub(&1.into()).floor_div(&b)),
        AffineKind::Mod(a, b) => both(a, b).map(|(a, b)| a.modulo(&b)),
    }
}
