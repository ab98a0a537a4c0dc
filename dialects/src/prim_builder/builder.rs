//! The `prim` builder: makes ops, knows the type and sizes of every tensor it made, and folds sizes.
//!
//! Decompositions are written with [`Tensor`]s, small copyable handles with arithmetic on them. Errors are sticky: the
//! first one is kept and reported at the op being decomposed, so that decompositions read as formulas.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::aten::dtype::{DType, Numeric, encode};
use crate::prim::sizes;
use crate::{capture, prim};
use strata_core::ir::{Attr, Block, Builder, Cx, DYNAMIC, Location, Op, OpSpec, Region, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith::{self, CmpIPredicate};

use super::size::{Operands, Size, Sym};
use super::tensor::Tensor;

/// A constant number with the type that it had in Python, or a scalar value of the program.
pub type Scalar<'c> = crate::aten::Scalar<'c>;

/// How often a decomposition may repeat what it makes: each time is ops of the program, and programs of more take minutes to compile.
pub const MAX_STEPS: i64 = 1 << 12;

/// Elements of a constant that a decomposition may write out: 128 MiB of whole numbers.
pub const MAX_ELEMENTS: i64 = 1 << 24;

/// Makes `prim` ops at a place.
pub struct Prim<'c> {
    builder: RefCell<Rewriter<'c>>,
    nodes: RefCell<Vec<Node<'c>>>,
    known: RefCell<HashMap<Value<'c>, u32>>,
    error: RefCell<Option<String>>,
    whole: Cell<bool>,
}

/// What is known of a tensor.
#[derive(Clone)]
pub(super) struct Node<'c> {
    pub value: Value<'c>,
    pub dtype: DType,
    pub shape: Rc<[Size<'c>]>,
}

impl<'c> Prim<'c> {
    /// A builder that appends to `block`.
    pub fn new(block: Block<'c>, location: Location<'c>) -> Prim<'c> {
        Prim {
            builder: RefCell::new(Rewriter::at_end(block, location)),
            nodes: RefCell::default(),
            known: RefCell::default(),
            error: RefCell::default(),
            whole: Cell::default(),
        }
    }

    /// Says whether the op being decomposed is of whole numbers. Functions of those in `f32` are computed in `f64` and
    /// rounded once: PyTorch's are within half a unit in the last place there, and programs compare them bit for bit.
    pub fn set_whole(&self, whole: bool) {
        self.whole.set(whole);
    }

    /// Whether the op being decomposed is of whole numbers.
    pub fn is_whole(&self) -> bool {
        self.whole.get()
    }

    /// Continues before `op`, with its location.
    pub fn set_before(&self, op: Op<'c>) {
        self.builder.borrow_mut().go_before(op);
    }

    /// Builds ops that hold others, or moves to another place, by the builder below this one.
    pub fn build<T>(&self, build: impl FnOnce(&mut Rewriter<'c>) -> T) -> T {
        build(&mut self.builder.borrow_mut())
    }

    /// Puts values in the place of an op's results, and erases it.
    pub fn replace(&self, op: Op<'c>, values: &[Value<'c>]) {
        self.forget(op);
        self.builder.borrow_mut().replace(op, values);
    }

    /// Erases an op whose results nobody uses.
    pub fn erase(&self, op: Op<'c>) {
        self.forget(op);
        self.builder.borrow_mut().erase(op);
    }

    /// Forgets what is known of the values of an op and inside of it: others may get their addresses.
    fn forget(&self, op: Op<'c>) {
        let mut known = self.known.borrow_mut();
        op.walk(&mut |inner| {
            let arguments = inner.regions().into_iter().filter_map(Region::entry).flat_map(Block::args);
            inner.results().into_iter().chain(arguments).for_each(|value| {
                known.remove(&value);
            });
        });
    }

    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.builder.borrow().cx()
    }

    /// Remembers the first error.
    pub fn fail(&self, message: impl Into<String>) {
        self.error.borrow_mut().get_or_insert_with(|| message.into());
    }

    /// The steps of a loop that a number of the program counts: none, and an error, where they are more than `MAX_STEPS`.
    pub fn steps(&self, what: &str, count: i64) -> Range<i64> {
        let few = count <= MAX_STEPS;
        if !few {
            self.fail(format!("{what} asks for {count} steps, and at most {MAX_STEPS} are written out as ops; use a smaller number"));
        }
        0..if few { count } else { 0 }
    }

    /// Whether a constant of so many rows and columns may be written out; an error where it has more than `MAX_ELEMENTS`.
    pub fn may_write(&self, what: &str, rows: i64, columns: i64) -> bool {
        let few = rows.checked_mul(columns).is_some_and(|count| count <= MAX_ELEMENTS);
        if !few {
            self.fail(format!("{what} asks for a constant of {rows} times {columns} elements, and at most {MAX_ELEMENTS} are written out"));
        }
        few
    }

    /// The first error since the last call.
    pub fn take_error(&self) -> Option<String> {
        self.error.borrow_mut().take()
    }

    /// The value of `result`, or its error remembered and the default.
    pub fn or_fail<T, E: std::fmt::Display>(&self, result: Result<T, E>, default: T) -> T {
        result.unwrap_or_else(|error| {
            self.fail(error.to_string());
            default
        })
    }

    pub(super) fn node(&self, id: u32) -> Node<'c> {
        self.nodes.borrow()[id as usize].clone()
    }

    /// The handle of a value of tensor type. Sizes that its type does not tell are read with `prim.dim` where it is defined.
    pub fn tensor(&'c self, value: Value<'c>) -> Tensor<'c> {
        if let Some(&id) = self.known.borrow().get(&value) {
            return Tensor { prim: self, id };
        }
        let Some(dtype) = value.ty().element_type().filter(|_| value.ty().is_tensor()) else {
            self.fail(format!("operand of type {} is not a tensor", value.ty()));
            return self.constant(DType::F32, Scalar::Int(0));
        };
        let size = |(dim, n): (usize, i64)| if n == DYNAMIC { self.size_of(value, dim) } else { Size::Const(n) };
        let shape: Vec<_> = value.ty().shape().into_iter().enumerate().map(size).collect();
        self.remember(value, dtype, shape.into())
    }

    /// The size of a tensor that this builder has not made: its symbol if it is bound to one, else a `prim.dim`.
    fn size_of(&'c self, value: Value<'c>, dim: usize) -> Size<'c> {
        let index = bound_symbol(value, dim).unwrap_or_else(|| {
            let location = self.builder.borrow().location();
            let mut builder = match (value.defining_op(), value.owner_block()) {
                (Some(op), _) => Builder::after(op),
                (None, Some(block)) => Builder::at_start(block, location),
                (None, None) => Builder::detached(location),
            };
            let cx = builder.cx();
            builder.value(prim::Dim::NAME, &[value], cx.index(), &[("dim", cx.i64_attr(dim as i64))])
        });
        Size::Sym(Sym { prim: self, value: index })
    }

    /// The handle of a value that has the element type and the sizes of another tensor.
    pub fn as_tensor(&'c self, value: Value<'c>, like: Tensor<'c>) -> Tensor<'c> {
        self.remember(value, like.dtype(), like.shape())
    }

    fn remember(&'c self, value: Value<'c>, dtype: DType, shape: Rc<[Size<'c>]>) -> Tensor<'c> {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { value, dtype, shape });
        let id = nodes.len() as u32 - 1;
        self.known.borrow_mut().insert(value, id);
        Tensor { prim: self, id }
    }

    /// `tensor<..>` of these sizes.
    pub fn tensor_type(&self, dtype: DType, shape: &[Size<'c>]) -> Type<'c> {
        let cx = self.cx();
        let mut sizes: Vec<_> = shape.iter().map(|s| s.static_size()).collect();
        if let Err(why) = possible(&sizes, dtype) {
            self.fail(why);
            sizes.fill(0);
        }
        cx.tensor(&sizes, cx.element(dtype))
    }

    /// Makes an op with one tensor result.
    pub fn emit(
        &'c self,
        name: &str,
        operands: &[Value<'c>],
        attrs: &[(&str, Attr<'c>)],
        dtype: DType,
        shape: impl Into<Rc<[Size<'c>]>>,
    ) -> Tensor<'c> {
        let shape = shape.into();
        let ty = self.tensor_type(dtype, &shape);
        let value = self.builder.borrow_mut().value(name, operands, ty, attrs);
        self.remember(value, dtype, shape)
    }

    /// The sizes that the formulas of an op give for these operands: tensors, then the sizes that attributes do not tell.
    pub fn sizes(&'c self, said: Option<Vec<sizes::Size>>, tensors: &[Tensor<'c>], indices: &[Size<'c>]) -> Rc<[Size<'c>]> {
        let mut operands = Operands { tensors, indices };
        let sizes = said.and_then(|sizes| sizes.iter().map(|size| size.eval(&mut operands).ok()).collect());
        sizes.unwrap_or_else(|| {
            self.fail("the attributes do not fit the operands");
            Rc::default()
        })
    }

    /// Makes an op with several tensor results.
    pub fn emit_many(
        &'c self,
        name: &str,
        operands: &[Value<'c>],
        attrs: &[(&str, Attr<'c>)],
        results: &[(DType, Rc<[Size<'c>]>)],
    ) -> Vec<Tensor<'c>> {
        let types: Vec<_> = results.iter().map(|(dtype, shape)| self.tensor_type(*dtype, shape)).collect();
        let op = self.builder.borrow_mut().op(OpSpec { name, operands, results: &types, attrs, ..OpSpec::default() });
        op.results().into_iter().zip(results).map(|(v, (dtype, shape))| self.remember(v, *dtype, shape.clone())).collect()
    }

    /// A condition that the call must meet where it stands, a 0-d bool. The text may name details as `{0}`.
    pub fn guard(&self, condition: Tensor<'c>, text: &str, details: &[Size<'c>]) {
        self.guard_value(condition.item(), text, details);
    }

    fn guard_value(&self, condition: Value<'c>, text: &str, details: &[Size<'c>]) {
        let mut operands = vec![condition];
        operands.extend(details.iter().map(|size| self.index(*size)));
        let text = self.cx().str_attr(text);
        self.builder.borrow_mut().effect(capture::Guard::NAME, &operands, &[("text", text)]);
    }

    /// A condition on sizes that the call must meet where it stands: the one is at most the other.
    pub fn guard_at_most(&self, least: Size<'c>, most: Size<'c>, text: &str, details: &[Size<'c>]) {
        match (least.known(), most.known()) {
            (Some(least), Some(most)) if least <= most => {}
            _ => {
                let (least, most) = (self.index(least), self.index(most));
                let holds = arith::cmpi(&mut self.builder.borrow_mut(), CmpIPredicate::Sle, least, most);
                self.guard_value(holds, text, details);
            }
        }
    }

    /// [`Self::guard_at_most`], where known sizes that do not meet it are an error of the program.
    pub fn require_at_most(&self, least: Size<'c>, most: Size<'c>, text: &str, details: &[Size<'c>]) {
        match (least.known(), most.known()) {
            (Some(wanted), Some(found)) if wanted > found => {
                let shown = |size: &Size<'_>| size.known().map_or_else(|| "?".to_owned(), |size| size.to_string());
                let fill = |text: String, (at, size): (usize, &Size<'c>)| text.replace(&format!("{{{at}}}"), &shown(size));
                self.fail(details.iter().enumerate().fold(text.to_owned(), fill));
            }
            _ => self.guard_at_most(least, most, text, details),
        }
    }

    /// Makes an op with one result that is not a tensor.
    pub fn scalar_op(&self, name: &str, operands: &[Value<'c>], attrs: &[(&str, Attr<'c>)], ty: Type<'c>) -> Value<'c> {
        self.builder.borrow_mut().value(name, operands, ty, attrs)
    }

    /// The `index` value of a size.
    pub fn index(&self, size: Size<'c>) -> Value<'c> {
        match size {
            Size::Const(value) => self.builder.borrow_mut().const_index(value),
            Size::Sym(sym) => sym.value,
        }
    }

    pub(super) fn index_op(&'c self, op: &str, operands: &[Size<'c>]) -> Size<'c> {
        let operands: Vec<_> = operands.iter().map(|s| self.index(*s)).collect();
        self.symbol(self.scalar_op(op, &operands, &[], self.cx().index()))
    }

    /// The size that an `index` value is.
    pub fn symbol(&'c self, value: Value<'c>) -> Size<'c> {
        let constant = value.defining_op().filter(|op| op.isa::<arith::Constant>()).and_then(|op| op.int("value"));
        constant.map_or(Size::Sym(Sym { prim: self, value }), Size::Const)
    }

    /// The tensor as another type of the same rank and element type, whose `?` are sizes of the tensor.
    pub fn retype(&'c self, tensor: Tensor<'c>, ty: Type<'c>) -> Value<'c> {
        let unknown = |(size, n): (&Size<'c>, &i64)| (*n == DYNAMIC).then(|| self.index(*size));
        let (sizes, shape) = (tensor.shape(), ty.shape());
        let mut operands = vec![tensor.value()];
        operands.extend(sizes.iter().zip(&shape).filter_map(unknown));
        let value = self.builder.borrow_mut().value(prim::Reshape::NAME, &operands, ty, &[]);
        let mut dynamic = operands.into_iter().skip(1);
        let mut size = |n: i64| match n {
            DYNAMIC => dynamic.next().map_or(Size::Const(n), |value| Size::Sym(Sym { prim: self, value })),
            known => Size::Const(known),
        };
        let shape: Vec<_> = shape.into_iter().map(&mut size).collect();
        self.remember(value, tensor.dtype(), shape.into());
        value
    }

    /// The `index` operands that an op takes for the sizes that its type does not tell.
    pub fn dynamic(&self, sizes: &[Size<'c>]) -> Vec<Value<'c>> {
        sizes.iter().filter(|s| s.known().is_none()).map(|s| self.index(*s)).collect()
    }

    // Creation.

    /// A 0-d tensor with the value of a number, converted to `dtype`.
    pub fn constant(&'c self, dtype: DType, number: Scalar<'c>) -> Tensor<'c> {
        let bytes = match number {
            Scalar::Int(v) => encode(dtype, v, v as f64),
            Scalar::Bool(v) => encode(dtype, i64::from(v), f64::from(u8::from(v))),
            Scalar::Float(v) => encode(dtype, v as i64, v),
            Scalar::Complex(real, _) if !dtype.is_complex() => encode(dtype, real as i64, real),
            Scalar::Complex(real, imag) => [real, imag].map(|part| encode(dtype.real_part(), 0, part)).concat(),
            Scalar::Value(value) => return self.splat(value).convert(dtype),
        };
        self.dense(dtype, &[], &bytes)
    }

    /// A constant tensor from its elements' bytes.
    pub fn dense(&'c self, dtype: DType, shape: &[i64], bytes: &[u8]) -> Tensor<'c> {
        let cx = self.cx();
        let shape: Vec<_> = shape.iter().map(|s| Size::Const(*s)).collect();
        match cx.dense_attr(self.tensor_type(dtype, &shape), bytes) {
            Some(value) => self.emit(prim::Constant::NAME, &[], &[("value", value)], dtype, shape),
            None => {
                self.fail(format!("{} bytes are no constant of type {dtype}", bytes.len()));
                self.constant(dtype, Scalar::Int(0))
            }
        }
    }

    /// A constant vector of `i64`.
    pub fn int_vector(&'c self, values: &[i64]) -> Tensor<'c> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.dense(DType::I64, &[values.len() as i64], &bytes)
    }

    /// A constant vector of `f64` values in a float type.
    pub fn float_vector(&'c self, dtype: DType, values: &[f64]) -> Tensor<'c> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| encode(dtype, *v as i64, *v)).collect();
        self.dense(dtype, &[values.len() as i64], &bytes)
    }

    /// A tensor filled with a number.
    pub fn full(&'c self, dtype: DType, number: Scalar<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
        self.constant(dtype, number).broadcast_to(shape)
    }

    /// A 0-d tensor of a scalar value; `index` becomes `i64`.
    pub fn splat(&'c self, value: Value<'c>) -> Tensor<'c> {
        let dtype = match value.ty().element_type() {
            Some(DType::Index) => DType::I64,
            Some(dtype) => dtype,
            None => {
                self.fail(format!("a value of type {} is not a number", value.ty()));
                return self.constant(DType::F32, Scalar::Int(0));
            }
        };
        self.emit(prim::Splat::NAME, &[value], &[], dtype, [])
    }

    /// A size as a 0-d tensor.
    pub fn size_tensor(&'c self, dtype: DType, size: Size<'c>) -> Tensor<'c> {
        match size {
            Size::Const(value) => self.constant(dtype, Scalar::Int(value)),
            Size::Sym(sym) => self.splat(sym.value).convert(dtype),
        }
    }

    /// The index along `dim`, as a tensor.
    pub fn iota(&'c self, dtype: DType, shape: &[Size<'c>], dim: usize) -> Tensor<'c> {
        let attrs = [("dim", self.cx().i64_attr(dim as i64))];
        self.emit(prim::Iota::NAME, &self.dynamic(shape), &attrs, dtype, shape)
    }

    /// `0, 1, .. n-1`.
    pub fn range(&'c self, dtype: DType, n: impl Into<Size<'c>>) -> Tensor<'c> {
        self.iota(dtype, &[n.into()], 0)
    }

    /// Tensors one after the other along `dim`.
    pub fn concat(&'c self, tensors: &[Tensor<'c>], dim: usize) -> Tensor<'c> {
        let [first, rest @ ..] = tensors else {
            self.fail("nothing to concatenate");
            return self.constant(DType::F32, Scalar::Int(0));
        };
        if rest.is_empty() {
            return *first;
        }
        if rest.iter().any(|tensor| tensor.rank() != first.rank() || tensor.dtype() != first.dtype()) {
            self.fail("concatenated tensors differ in rank or element type");
            return *first;
        }
        let shape = self.sizes(Some(sizes::concat(tensors.len(), first.rank(), dim)), tensors, &[]);
        let values: Vec<_> = tensors.iter().map(|t| t.value()).collect();
        self.emit(prim::Concat::NAME, &values, &[("dim", self.cx().i64_attr(dim as i64))], first.dtype(), shape)
    }
}

/// The symbol that `capture` ties to dimension `dim` of `value`.
fn bound_symbol<'c>(value: Value<'c>, dim: usize) -> Option<Value<'c>> {
    value.uses().into_iter().find_map(|user| {
        let op = user.op;
        if op.isa::<capture::Dim>() && op.int("dim") == Some(dim as i64) {
            return Some(op.result(0));
        }
        if !op.isa::<capture::BindDims>() || user.index != 0 {
            return None;
        }
        let map = op.attr("shape")?.as_map()?;
        match map.results().get(dim)?.kind() {
            strata_core::ir::AffineKind::Symbol(s) => Some(op.operand(1 + s)),
            _ => None,
        }
    })
}

/// Whether there can be a tensor of these sizes: none is negative, and its bytes can be counted.
fn possible(sizes: &[i64], dtype: DType) -> Result<(), String> {
    let known = || sizes.iter().copied().filter(|size| *size != DYNAMIC);
    if let Some(size) = known().find(|size| *size < 0) {
        return Err(format!("its arguments give a tensor with a size of {size}"));
    }
    // Strides are made of the other sizes where one is 0, too.
    let elements = known().filter(|size| *size > 0).try_fold(1i64, i64::checked_mul);
    match elements.and_then(|count| if known().any(|size| size == 0) { Some(count) } else { count.checked_mul(dtype.bytes() as i64) }) {
        Some(_) => Ok(()),
        None => Err(format!("its arguments give a tensor of sizes {sizes:?}, more bytes than can be counted")),
    }
}
