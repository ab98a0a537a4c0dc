//! One fusion as one kernel.

use super::apart::Splits;
use super::collapse::collapse;
use super::sizes::{Size, resolve, size_of};
use super::split::split;
use super::stage::{Kind, Request, Stage};
use super::unit_dims::drop_unit_dims;
use super::{Error, indexed, random, view};
use crate::num::number_of;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Block, Builder, Cx, DYNAMIC, ElementType, Location, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, complex};
use strata_dialects::loops::edit;
use strata_dialects::loops::elements::register_type;
use strata_dialects::loops::view::KernelView;
use strata_dialects::prim::scalar::{self, Elements};
use strata_dialects::{loops, prim};

/// A kernel under construction.
pub struct Kernel<'c> {
    /// The fusion that it is made from.
    pub fusion: Op<'c>,
    /// The kernel's block.
    pub body: Block<'c>,
    /// Where the op stands that is being computed: what is made for it says so.
    pub location: Location<'c>,
    pub(super) cx: Cx<'c>,
    pub(super) dims: Vec<Size<'c>>,
    /// The kernel's arguments, as values outside of the kernel, in order.
    arguments: Vec<Value<'c>>,
    /// Position among the arguments of each symbol.
    symbols: Vec<usize>,
    /// Results of reduction stages, by what they compute.
    pub(super) reductions: HashMap<Request<'c>, Value<'c>>,
    /// Dims at which values were first asked for, where those are plain.
    asked: HashMap<Value<'c>, Vec<usize>>,
}

/// Rewrites a fusion as a `loop.call` of a new kernel. A fusion that cannot be one kernel is split into its ops.
pub fn lower<'c>(module: Op<'c>, fusion: Op<'c>, name: &str, splits: &mut Splits) -> Result<(), Error> {
    let cx = module.cx();
    let mut rewriter = Rewriter::new(Builder::at_start(module.body(0), fusion.location()));
    let op = rewriter.op(OpSpec { name: loops::Kernel::NAME, attrs: &[("sym_name", cx.str_attr(name))], regions: 1, ..OpSpec::default() });
    let body = op.region(0).append_block(&[], fusion.location());
    let mut kernel = Kernel {
        fusion,
        body,
        location: fusion.location(),
        cx,
        dims: Vec::new(),
        arguments: Vec::new(),
        symbols: Vec::new(),
        reductions: HashMap::new(),
        asked: HashMap::new(),
    };
    match kernel.build(op, &mut rewriter) {
        Ok(()) => {
            let shapes = KernelView::new(op).map(|view| view.shapes()).unwrap_or_default();
            split(op, &mut rewriter);
            drop_unit_dims(op, &mut rewriter);
            collapse(op, &mut rewriter);
            kernel.call(op, name, &shapes, &mut rewriter)
        }
        Err(error) => {
            rewriter.erase(op);
            splits.split(module, fusion, name, error)
        }
    }
}

impl<'c> Kernel<'c> {
    /// Number of kernel dims so far.
    pub fn num_dims(&self) -> usize {
        self.dims.len()
    }

    /// Number of symbols so far.
    pub fn num_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.cx
    }

    /// The kernel's argument that is symbol `symbol`.
    pub fn symbol_argument(&self, symbol: usize) -> Value<'c> {
        self.body.arg(self.symbols[symbol])
    }

    /// A value outside as an argument of the kernel.
    pub fn argument(&mut self, outer: Value<'c>) -> Value<'c> {
        if let Some(position) = self.arguments.iter().position(|&known| known == outer) {
            return self.body.arg(position);
        }
        self.arguments.push(outer);
        self.body.add_arg(outer.ty(), self.fusion.location())
    }

    /// A size as an affine expression; values become symbols.
    pub fn size_expr(&mut self, size: Size<'c>) -> AffineExpr<'c> {
        match size {
            Size::Static(size) => self.cx.constant(size),
            Size::Value(value) => {
                self.argument(value);
                let position = self.arguments.iter().position(|&known| known == value).unwrap_or_default();
                let symbol = self.symbols.iter().position(|&known| known == position).unwrap_or_else(|| {
                    self.symbols.push(position);
                    self.symbols.len() - 1
                });
                self.cx.symbol(symbol)
            }
        }
    }

    /// The size of a dimension of a value inside the fusion.
    pub fn size(&self, value: Value<'c>, dim: usize) -> Result<Size<'c>, Error> {
        size_of(self.fusion, value, dim)
    }

    /// An `index` operand of an op inside the fusion as an affine expression.
    pub fn index_operand(&mut self, op: Op<'c>, operand: usize) -> Result<AffineExpr<'c>, Error> {
        let size = resolve(self.fusion, op, op.operand(operand))?;
        Ok(self.size_expr(size))
    }

    /// A new dim of a size.
    pub(super) fn fresh_dim(&mut self, size: Size<'c>) -> usize {
        if let Size::Value(_) = size {
            self.size_expr(size);
        }
        self.dims.push(size);
        self.dims.len() - 1
    }

    /// Builds the stages from the results of the fusion.
    fn build(&mut self, op: Op<'c>, rewriter: &mut Rewriter<'c>) -> Result<(), Error> {
        let Some(terminator) = self.fusion.body(0).terminator() else {
            return Err(Error::at(self.fusion, "the fusion has no terminator"));
        };
        let yields = terminator.operands();
        let mut order: Vec<usize> = (0..yields.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(yields[index].ty().rank()));
        let mut results = vec![None; yields.len()];
        while let Some(&first) = order.first() {
            let group: Vec<usize> = match self.root(yields[first]) {
                Some(_) => vec![first],
                None => {
                    let shape = yields[first].ty().shape();
                    order.iter().copied().filter(|&at| yields[at].ty().shape() == shape && self.root(yields[at]).is_none()).collect()
                }
            };
            order.retain(|at| !group.contains(at));
            let values: Vec<_> = group.iter().map(|&at| yields[at]).collect();
            let stage = match self.root(yields[first]) {
                Some(root) => indexed::root_stage(self, root)?,
                None => self.output_stage(&values)?,
            };
            for (result, at) in stage.results().into_iter().zip(group) {
                results[at] = Some(result);
            }
        }
        let results: Vec<_> = results.into_iter().flatten().collect();
        Builder::at_end(self.body, self.fusion.location()).effect(loops::Return::NAME, &results, &[]);
        self.describe(op, &yields, rewriter)?;
        match KernelView::new(op).and_then(|view| view.refuse()) {
            Some(reason) => Err(Error::at(self.fusion, reason)),
            None => Ok(()),
        }
    }

    /// An op that is a stage writing a whole result by itself: scans and scatters.
    fn root(&self, value: Value<'c>) -> Option<Op<'c>> {
        value.defining_op().filter(|op| op.parent() == Some(self.fusion) && matches!(op.name(), prim::Scan::NAME | prim::Scatter::NAME))
    }

    /// New dims for all dimensions of a value.
    pub fn dims_of(&mut self, value: Value<'c>) -> Result<Vec<usize>, Error> {
        (0..value.ty().rank())
            .map(|dim| {
                let size = self.size(value, dim)?;
                Ok(self.fresh_dim(size))
            })
            .collect()
    }

    /// The dims of a value, when it or what it is computed from was asked for at plain dims.
    fn known_dims(&self, value: Value<'c>) -> Option<Vec<usize>> {
        self.search_dims(value, &mut HashSet::new())
    }

    /// `seen`: values that were found to have none, so that each is looked at once however many paths lead to it.
    fn search_dims(&self, value: Value<'c>, seen: &mut HashSet<Value<'c>>) -> Option<Vec<usize>> {
        if let Some(dims) = self.asked.get(&value) {
            return Some(dims.clone());
        }
        if !seen.insert(value) {
            return None;
        }
        let op = value.defining_op().filter(|op| op.parent() == Some(self.fusion) && !view::is_view(*op))?;
        let reduced = match op.name() {
            prim::Reduce::NAME => op.ints("dims")?,
            prim::ArgReduce::NAME => vec![op.int("dim")?],
            prim::Dot::NAME
            | prim::SoftmaxDot::NAME
            | prim::Conv::NAME
            | prim::LinearTransform::NAME
            | prim::Gather::NAME
            | prim::SegmentReduce::NAME => return None,
            _ => Vec::new(),
        };
        let rank = value.ty().rank() + reduced.len();
        let operand =
            op.operands().into_iter().filter(|operand| operand.ty().rank() == rank).find_map(|operand| self.search_dims(operand, seen))?;
        let kept = operand.into_iter().enumerate().filter(|(dim, _)| !reduced.contains(&(*dim as i64)));
        Some(kept.map(|(_, dim)| dim).collect())
    }

    /// A map stage that writes results of one shape.
    fn output_stage(&mut self, values: &[Value<'c>]) -> Result<Op<'c>, Error> {
        // A value that a stage already asked for keeps its dims, so that stages share their loops.
        let domain = match self.known_dims(values[0]) {
            Some(dims) => dims,
            None => self.dims_of(values[0])?,
        };
        let indices: Vec<_> = domain.iter().map(|&dim| self.cx.dim(dim)).collect();
        let types: Vec<_> = values.iter().map(|value| value.ty()).collect();
        let mut stage = Stage::open(self, None, &domain, &Kind::Map, &types, "buffer");
        let elements = values.iter().map(|&value| self.element(&mut stage, value, &indices)).collect::<Result<Vec<_>, _>>()?;
        Ok(stage.close(self, &elements))
    }

    /// The element of a value inside the fusion at some indices, as a scalar of the stage's body.
    pub fn element(&mut self, stage: &mut Stage<'c>, value: Value<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
        let request = (value, indices.to_vec());
        if let Some(known) = stage.recall(&request) {
            return Ok(known);
        }
        if let Some(dims) = plain_dims(indices).filter(|dims| dims.len() == indices.len()) {
            self.asked.entry(value).or_insert(dims);
        }
        let element = self.compute(stage, value, indices)?;
        stage.remember(request, element);
        Ok(element)
    }

    fn compute(&mut self, stage: &mut Stage<'c>, value: Value<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
        let Some(op) = value.defining_op().filter(|op| op.parent() == Some(self.fusion)) else {
            if let Some(constant) = self.outer_constant(stage, value) {
                return Ok(constant);
            }
            return Ok(self.read_input(stage, value, indices));
        };
        let outer = std::mem::replace(&mut self.location, op.location());
        stage.b.set_location(self.location);
        let element = self.compute_op(stage, op, indices);
        self.location = outer;
        stage.b.set_location(outer);
        element
    }

    fn compute_op(&mut self, stage: &mut Stage<'c>, op: Op<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
        let to = element_of(op, op.result(0).ty())?;
        match op.name() {
            prim::Constant::NAME => self.constant(stage, op, to, indices),
            prim::Splat::NAME => self.scalar_input(stage, op, to),
            prim::Iota::NAME => {
                let dim = op.int("dim").unwrap_or_default() as usize;
                let position = stage.index(self, indices[dim]);
                Ok(scalar::convert(&mut stage.b, position, ElementType::Index, to))
            }
            prim::Rng::NAME => random::element(self, stage, op, indices, to),
            prim::Reduce::NAME
            | prim::ArgReduce::NAME
            | prim::SegmentReduce::NAME
            | prim::Dot::NAME
            | prim::SoftmaxDot::NAME
            | prim::Conv::NAME => self.reduction(stage, op, to, indices),
            prim::LinearTransform::NAME => self.mixed(stage, op, to, indices),
            prim::Gather::NAME => indexed::gather(self, stage, op, indices),
            prim::Scan::NAME | prim::Scatter::NAME => Err(Error::at(op, "it stands in the middle of a fusion; it must be its only op")),
            _ if view::is_view(op) => view::element(self, stage, op, indices),
            _ => {
                let from = element_of(op, op.operand(op.num_operands() - 1).ty())?;
                let args = op.operands().into_iter().map(|operand| self.element(stage, operand, indices)).collect::<Result<Vec<_>, _>>()?;
                scalar::emit(&mut stage.b, op, &args, Elements { from, to }).map_err(|reason| Error::at(op, reason))
            }
        }
    }

    /// An input that is a constant of one element, as part of the body.
    fn outer_constant(&self, stage: &mut Stage<'c>, value: Value<'c>) -> Option<Value<'c>> {
        let (bytes, element) = self.one_element(value)?;
        constant_scalar(&mut stage.b, &bytes, element)
    }

    /// Whether an input is a constant of one element: it is no read that could be guarded.
    pub fn is_one_element(&self, value: Value<'c>) -> bool {
        self.one_element(value).is_some()
    }

    fn one_element(&self, value: Value<'c>) -> Option<(Vec<u8>, ElementType)> {
        let inside = value.owner_block().and_then(|block| block.parent_op()) == Some(self.fusion);
        let outer = if inside { super::outer_value(self.fusion, value) } else { value };
        let op = outer.defining_op().filter(|op| op.isa::<prim::Constant>())?;
        let (element, (bytes, splat)) = (outer.ty().element_type()?, op.attr("value")?.as_dense()?);
        (splat || bytes.len() == element.bytes()).then(|| (bytes.to_vec(), element))
    }

    fn read_input(&mut self, stage: &mut Stage<'c>, value: Value<'c>, indices: &[AffineExpr<'c>]) -> Value<'c> {
        let tensor = self.input(value);
        let element = value.ty().element_type().map_or_else(|| value.ty().element(), |element| register_type(self.cx, element));
        stage.read(tensor, indices, element)
    }

    /// The kernel's argument for a value that the fusion uses from outside.
    pub fn input(&mut self, value: Value<'c>) -> Value<'c> {
        let inside = value.owner_block().and_then(|block| block.parent_op()) == Some(self.fusion);
        self.argument(if inside { super::outer_value(self.fusion, value) } else { value })
    }

    /// Constants of one element are part of the body; others are moved out and read like an input.
    fn constant(&mut self, stage: &mut Stage<'c>, op: Op<'c>, to: ElementType, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
        let dense = op.attr("value").and_then(|attr| attr.as_dense()).ok_or_else(|| Error::at(op, "its value is not dense"))?;
        if dense.1 || dense.0.len() == to.bytes() {
            return constant_scalar(&mut stage.b, &dense.0, to).ok_or_else(|| Error::at(op, "its element cannot be read"));
        }
        let outer = Builder::before(self.fusion).clone_op(op, &[]);
        let tensor = self.argument(outer.result(0));
        let element = register_type(self.cx, to);
        Ok(stage.read(tensor, indices, element))
    }

    fn scalar_input(&mut self, stage: &mut Stage<'c>, op: Op<'c>, to: ElementType) -> Result<Value<'c>, Error> {
        let from = element_of(op, op.operand(0).ty())?;
        let argument = match op.operand(0).defining_op().filter(|def| def.parent() == Some(self.fusion)) {
            Some(def) if def.isa::<arith::Constant>() => stage.b.clone_op(def, &[]).result(0),
            Some(def) => return Err(Error::at(def, "a scalar is computed inside the fusion; move the computation out of it")),
            None => self.input(op.operand(0)),
        };
        Ok(scalar::convert(&mut stage.b, argument, from, to))
    }

    /// Writes down the sizes of dims and tensors.
    fn describe(&mut self, op: Op<'c>, yields: &[Value<'c>], rewriter: &mut Rewriter<'c>) -> Result<(), Error> {
        let dims = self.dims.clone();
        let sizes: Vec<_> = dims.into_iter().map(|size| self.size_expr(size)).collect();
        let mut shapes = Vec::new();
        let mut position = 0;
        // Sizes of arguments may add arguments (scalars), which have no sizes themselves.
        while position < self.arguments.len() {
            let outer = self.arguments[position];
            let shape = (0..outer.ty().rank())
                .map(|dim| {
                    let size = size_of(self.fusion, outer, dim)?;
                    Ok(self.size_expr(size))
                })
                .collect::<Result<Vec<_>, Error>>()?;
            shapes.push(shape);
            position += 1;
        }
        let mut result_shapes = Vec::new();
        for &value in yields {
            let shape = (0..value.ty().rank())
                .map(|dim| {
                    let size = self.size(value, dim)?;
                    Ok(self.size_expr(size))
                })
                .collect::<Result<Vec<_>, Error>>()?;
            result_shapes.push(shape);
        }
        shapes.resize(self.arguments.len(), Vec::new());
        shapes.extend(result_shapes);
        let symbols: Vec<i64> = self.symbols.iter().map(|&at| at as i64).collect();
        edit::describe(rewriter, op, &sizes, &shapes, &symbols);
        Ok(())
    }

    /// Replaces the fusion by a call of the kernel. Where collapsing changed the shape of an argument or result, free reshapes
    /// stand around the call; `shapes` are those from before.
    fn call(&self, op: Op<'c>, name: &str, shapes: &[AffineMap<'c>], b: &mut Rewriter<'c>) -> Result<(), Error> {
        let view = KernelView::new(op).ok_or_else(|| Error::at(self.fusion, "its kernel has no stages"))?;
        b.go_before(self.fusion);
        let symbols: Vec<_> = self.symbols.iter().map(|&at| self.arguments[at]).collect();
        let arguments = self.arguments.iter().zip(op.body(0).args()).zip(view.shapes());
        let operands: Vec<_> = arguments.map(|((&outer, arg), shape)| reshape(b, outer, arg.ty(), shape, &symbols)).collect();
        let results: Vec<_> = view.results().into_iter().map(Value::ty).collect();
        let attrs = [("callee", self.cx.symbol_attr(name))];
        let call = b.op(OpSpec { name: loops::Call::NAME, operands: &operands, results: &results, attrs: &attrs, ..OpSpec::default() });
        let wanted = self.fusion.result_types().into_iter().zip(&shapes[self.arguments.len()..]);
        let values: Vec<_> =
            call.results().into_iter().zip(wanted).map(|(value, (ty, shape))| reshape(b, value, ty, *shape, &symbols)).collect();
        b.replace(self.fusion, &values);
        Ok(())
    }
}

/// A value as a tensor of another type with the same elements, by a free reshape where the type differs.
fn reshape<'c>(b: &mut Builder<'c>, value: Value<'c>, ty: Type<'c>, shape: AffineMap<'c>, symbols: &[Value<'c>]) -> Value<'c> {
    if value.ty() == ty {
        return value;
    }
    let mut operands = vec![value];
    for (size, expr) in ty.shape().into_iter().zip(shape.results()) {
        if size == DYNAMIC {
            operands.push(number_of(b, expr, symbols).value(b));
        }
    }
    b.value(prim::Reshape::NAME, &operands, ty, &[])
}

/// The dims, when each index is a different plain dim; constant indices (of dims of size one) are skipped.
pub(super) fn plain_dims(indices: &[AffineExpr<'_>]) -> Option<Vec<usize>> {
    let mut dims = Vec::new();
    for index in indices {
        match index.kind() {
            AffineKind::Dim(dim) if !dims.contains(&dim) => dims.push(dim),
            AffineKind::Constant(_) => {}
            _ => return None,
        }
    }
    Some(dims)
}

/// The element type of a type at an op.
pub fn element_of<'c>(op: Op<'c>, ty: Type<'c>) -> Result<ElementType, Error> {
    ty.element_type().ok_or_else(|| Error::at(op, format!("tensors of {} are not supported", ty.element())))
}

/// A scalar constant from its bytes.
pub fn constant_scalar<'c>(b: &mut Builder<'c>, bytes: &[u8], element: ElementType) -> Option<Value<'c>> {
    let ty = register_type(b.cx(), element);
    let read = |width: usize| -> Option<u64> {
        let mut word = [0; 8];
        word[..width].copy_from_slice(bytes.get(..width)?);
        Some(u64::from_le_bytes(word))
    };
    Some(match element {
        ElementType::F64 => b.const_float(ty, f64::from_bits(read(8)?)),
        ElementType::F32 => b.const_float(ty, f64::from(f32::from_bits(read(4)? as u32))),
        ElementType::BF16 => b.const_float(ty, half::bf16::from_bits(read(2)? as u16).to_f64()),
        ElementType::F16 => b.const_float(ty, half::f16::from_bits(read(2)? as u16).to_f64()),
        ElementType::C64 | ElementType::C128 => {
            let part = if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let real = constant_scalar(b, bytes, part)?;
            let imag = constant_scalar(b, bytes.get(part.bytes()..)?, part)?;
            complex::create(b, real, imag, ty)
        }
        ElementType::Bool => b.const_int(ty, i64::from(*bytes.first()? != 0)),
        ElementType::I8 | ElementType::U8 | ElementType::F8E4M3FN | ElementType::F8E5M2 => {
            b.const_int(ty, i64::from(*bytes.first()? as i8))
        }
        ElementType::I16 | ElementType::U16 => b.const_int(ty, i64::from(read(2)? as i16)),
        ElementType::I32 | ElementType::U32 => b.const_int(ty, i64::from(read(4)? as i32)),
        ElementType::I64 | ElementType::U64 | ElementType::Index => b.const_int(ty, read(8)? as i64),
    })
}
