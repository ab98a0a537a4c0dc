//! A dialect with one op of each sort, used by all tests.

use strata_core::prelude::*;
use strata_core::registry::Registry;

/// An interface defined in Rust.
pub trait Cost {
    /// How expensive the op is.
    fn cost(&self) -> usize;
}

/// Sum of two tensors of one type.
///
/// C1: not for bool.
#[op("toy.add", traits(Pure, Commutative, SameOperandsAndResultType), verify, fold, interfaces(Cost))]
pub struct Add {
    lhs: Operand<Tensor>,
    rhs: Operand<Tensor>,
    result: Result<Tensor>,
}

impl Verify for Add<'_> {
    fn verify(self) -> Result<(), Violation> {
        ensure!(self.lhs().ty().element_type() != Some(ElementType::Bool), 1, "bools are not added");
        Ok(())
    }
}

impl Cost for Add<'_> {
    fn cost(&self) -> usize {
        self.lhs().ty().num_elements().map_or(1, |count| count as usize)
    }
}

impl<'c> Fold<'c> for Add<'c> {
    fn fold(self, input: FoldInput<'_, 'c>) -> Option<Vec<Folded<'c>>> {
        let (bytes, splat) = input.constants[1]?.as_dense()?;
        (splat && bytes.iter().all(|byte| *byte == 0)).then(|| vec![Folded::Value(self.lhs())])
    }
}

/// Product of two tensors of one type.
#[op("toy.mul", traits(Pure, SameOperandsAndResultType), canonicalize)]
pub struct Mul {
    lhs: Operand<Tensor>,
    rhs: Operand<Tensor>,
    result: Result<Tensor>,
}

impl Canonicalize for Mul<'_> {
    fn canonicalize(patterns: &mut Patterns<'_>) {
        patterns.on::<Mul>("toy-square", 1, |mul, rewriter| {
            if mul.lhs() != mul.rhs() {
                return Err("the factors differ".into());
            }
            let square = Square::build(rewriter, mul.lhs(), mul.result().ty());
            rewriter.replace_with_op(mul.op(), square.op());
            Ok(())
        });
    }
}

/// Square.
#[op("toy.square", traits(Pure, SameOperandsAndResultType), fold)]
pub struct Square {
    input: Operand<Tensor>,
    result: Result<Tensor>,
}

impl<'c> Fold<'c> for Square<'c> {
    fn fold(self, input: FoldInput<'_, 'c>) -> Option<Vec<Folded<'c>>> {
        let (bytes, _) = input.constants[0]?.as_dense()?;
        let value = f32::from_ne_bytes(bytes.try_into().ok()?);
        let ty = self.result().ty();
        Some(vec![Folded::Attr(ty.cx().dense_attr(ty, &(value * value).to_ne_bytes())?)])
    }
}

/// Swaps the two dims of a matrix; its type follows.
///
/// C1: the operand is a matrix.
#[op("toy.transpose", traits(Pure, Involution), infer)]
pub struct Transpose {
    input: Operand<Tensor>,
    result: Result<Tensor>,
}

impl Infer for Transpose<'_> {
    fn infer<'c>(_cx: Cx<'c>, operands: &[Value<'c>], _attrs: &[(&str, Attr<'c>)]) -> std::result::Result<Vec<Type<'c>>, Violation> {
        let mut shape = operands[0].ty().shape();
        ensure!(shape.len() == 2, 1, "{} is no matrix", operands[0].ty());
        shape.reverse();
        Ok(vec![operands[0].ty().with_shape(&shape)])
    }
}

/// Memory that nobody may see.
#[op("toy.alloc", effects(Allocate))]
pub struct Alloc {
    result: Result<MemRef>,
}

/// A constant tensor.
#[op("toy.constant", traits(Pure, ConstantLike))]
pub struct Constant {
    value: Attr<Dense>,
    result: Result<Tensor>,
}

/// Reduction over dims.
///
/// C1: dims are sorted.
/// C2: dims exist.
#[op("toy.reduce", traits(Pure), verify)]
pub struct Reduce {
    input: Operand<Tensor>,
    /// Which dims go.
    dims: Attr<I64s>,
    kind: Attr<Str>,
    init: OptAttr<F64>,
    result: Result<Tensor>,
}

impl Verify for Reduce<'_> {
    fn verify(self) -> Result<(), Violation> {
        let dims = self.dims();
        ensure!(dims.is_sorted(), 1, "dims {dims:?} are not sorted");
        let rank = self.input().ty().rank() as i64;
        ensure!(dims.iter().all(|dim| (0..rank).contains(dim)), 2, "dims {dims:?} are not all below {rank}");
        Ok(())
    }
}

/// Two groups of unknown size.
#[op("toy.segments", traits(Pure))]
pub struct Segments {
    first: Optional<Tensor>,
    middle: Operand<Index>,
    rest: Variadic<Tensor>,
    results: Results<Tensor>,
}

/// A region of its own.
#[op("toy.fusion", traits(IsolatedFromAbove, SingleBlock, RecursiveEffects))]
pub struct Fusion {
    inputs: Variadic<AnyType>,
    outputs: Results<AnyType>,
    body: Region,
}

/// Ends a fusion.
#[op("toy.yield", traits(Pure, Terminator, ReturnLike))]
pub struct Yield {
    values: Variadic<AnyType>,
}

/// Prints.
#[op("toy.print", effects(Write))]
pub struct Print {
    value: Operand<AnyType>,
}

/// A function of the dialect.
#[op("toy.kernel", traits(Function, IsolatedFromAbove))]
pub struct Kernel {
    dims: OptAttr<I64>,
    body: Region,
}

/// Returns from a kernel.
#[op("toy.return", traits(Pure, Terminator, ReturnLike))]
pub struct Return {
    values: Variadic<AnyType>,
}

/// Calls a kernel.
#[op("toy.call", traits(Call))]
pub struct Call {
    callee: Attr<SymbolRef>,
    args: Variadic<AnyType>,
    results: Results<AnyType>,
}

/// Panics when verified with the attribute `now`.
#[op("toy.panics", verify)]
pub struct Panics {
    now: OptAttr<Unit>,
}

impl Verify for Panics<'_> {
    fn verify(self) -> Result<(), Violation> {
        assert!(self.now().is_none(), "as asked");
        Ok(())
    }
}

/// A jump.
#[op("toy.br", traits(Pure, Terminator))]
pub struct Branch {
    target: Successor,
}

pub static TOY: DialectDef = DialectDef {
    name: "toy",
    ops: || {
        vec![
            Add::DEF,
            Mul::DEF,
            Square::DEF,
            Transpose::DEF,
            Alloc::DEF,
            Constant::DEF,
            Reduce::DEF,
            Segments::DEF,
            Fusion::DEF,
            Yield::DEF,
            Print::DEF,
            Kernel::DEF,
            Return::DEF,
            Call::DEF,
            Panics::DEF,
            Branch::DEF,
        ]
    },
    constant: Some(|builder, value, ty| value.is_dense().then(|| Constant::build(builder, value, ty).op())),
    ..DialectDef::NEW
};

pub fn context() -> Context {
    Registry::new().with_upstream().with_dialect(&TOY).context()
}

/// Parses, or gives MLIR's messages.
pub fn parse<'c>(context: &'c Context, text: &str) -> Result<Module<'c>, String> {
    Module::parse(context, text, "test").map_err(|error| error.diagnostics)
}
