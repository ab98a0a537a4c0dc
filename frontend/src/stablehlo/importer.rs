//! The entry function, and ops in their order.

use std::collections::HashMap;
use std::sync::Arc;

use strata_core::ir::{self, Block, Cx, ElementType, Module, Op, Type};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::aten::{Input as Operand, Operator, Scalar, op};

use super::StableHloError;
use super::{control, operators, sizes};
use crate::args::{Arg, d, is};
use crate::function;
use crate::import::{ENTRY, Imported, Input, InputKind, Output, Source, Stored, Weights};
use crate::operators::{Constant, Operators, emit};
use crate::signature::Signature;
use crate::types;

/// Functions in each other.
const MAX_DEPTH: u32 = 64;
/// Ops of a program, those of functions at each call.
const MAX_OPS: u64 = 1 << 18;

/// What the import of a program shares: `'s` is the text's context, `'c` that of the module.
pub(super) struct Importer<'p, 's, 'c> {
    pub cx: Cx<'c>,
    pub builder: Rewriter<'c>,
    operators: &'p dyn Operators,
    module: Op<'s>,
    pub values: HashMap<ir::Value<'s>, ir::Value<'c>>,
    entry: Block<'c>,
    weights: Vec<(String, Stored)>,
    depth: u32,
    ops: u64,
    /// Whether the ops of a region of scalars are applied to whole tensors.
    pub elementwise: bool,
    /// Tensors of one number that the program says.
    numbers: HashMap<ir::Value<'c>, Scalar<'c>>,
}

/// Builds the module of a program.
pub(super) fn build<'c>(
    module: Op<'_>,
    signature: Option<&Signature>,
    operators: &dyn Operators,
    cx: Cx<'c>,
) -> Result<Imported<'c>, StableHloError> {
    let missing = || StableHloError::Text("there is no function `main` with a body".to_owned());
    let main = functions(module).into_iter().find(|op| op.str("sym_name").as_deref() == Some("main")).ok_or_else(missing)?;
    let block = main.region(0).entry().ok_or_else(missing)?;
    let blame = |why: String| at(main, why);
    let declared: Vec<_> = block.args().into_iter().map(|arg| arg.ty()).collect();
    let arguments = sizes::arguments(cx, &declared, signature).map_err(blame)?;
    let made = Module::new(cx);
    let (function, entry) = function::begin(cx, made.body(), &arguments);
    let builder = Rewriter::at_end(entry, cx.unknown());
    let (values, weights, numbers) = (HashMap::new(), Vec::new(), HashMap::new());
    let mut importer = Importer { cx, builder, operators, module, values, entry, weights, depth: 0, ops: 0, elementwise: false, numbers };
    let results = importer.block(block, &entry.args())?;
    let mut inputs: Vec<_> = (0..arguments.len()).map(|place| Input { name: format!("arg{place}"), kind: InputKind::Input }).collect();
    inputs.extend(importer.weights.iter().map(|(name, _)| Input { name: name.clone(), kind: InputKind::Constant }));
    let outputs: Vec<_> = results.iter().map(|_| Output::Value).collect();
    let results = results.into_iter().map(|value| (value, Output::Value)).collect();
    function::finish(&mut importer.builder, function, entry, &inputs, &results);
    let weights = Some(Weights { table: importer.weights });
    Ok(Imported { module: made, entry: ENTRY.to_owned(), inputs, outputs, weights, format: "text of StableHLO".to_owned() })
}

/// The functions of a module, which are ops without a dialect here.
fn functions(module: Op<'_>) -> Vec<Op<'_>> {
    module.body(0).ops().into_iter().filter(|op| op.str("sym_name").is_some() && !op.regions().is_empty()).collect()
}

/// The error of an op.
pub(super) fn at(op: Op<'_>, why: String) -> StableHloError {
    // The file is named by who opens it.
    let place = op.location().short();
    let line = place.rsplit(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0);
    StableHloError::Op { line, op: op.name().to_owned(), why }
}

/// A type of the text in the module's context, where sizes may be unknown.
pub(super) fn ty<'c>(cx: Cx<'c>, ty: Type<'_>) -> Result<Type<'c>, String> {
    let element = ty.element_type().filter(|_| ty.is_tensor()).ok_or_else(|| format!("values of type {ty} are not imported"))?;
    types::spelled(cx, &element.to_string(), &ty.shape())
}

/// The type of an op's result in the module's context.
pub(super) fn result<'c>(cx: Cx<'c>, op: Op<'_>, place: usize) -> Result<Type<'c>, String> {
    ty(cx, op.result_types().into_iter().nth(place).ok_or_else(|| format!("it has no result {place}"))?)
}

/// The element type of a tensor.
pub(super) fn dtype(value: ir::Value<'_>) -> ElementType {
    value.ty().element_type().unwrap_or(ElementType::F32)
}

impl<'s, 'c> Importer<'_, 's, 'c> {
    /// Imports the ops of a block for these arguments; gives what its last op hands on.
    pub fn block(&mut self, block: Block<'s>, args: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, StableHloError> {
        self.values.extend(block.args().into_iter().zip(args.iter().copied()));
        for op in block.ops() {
            let operands = op.operands().into_iter().map(|operand| self.values.get(&operand).copied()).collect::<Option<Vec<_>>>();
            let operands = operands.ok_or_else(|| at(op, "it reads what is not imported".to_owned()))?;
            if op.next().is_none() {
                return Ok(operands);
            }
            self.ops += 1;
            if self.ops > MAX_OPS {
                return Err(at(op, format!("the program has more than {MAX_OPS} ops when its functions are inlined")));
            }
            self.builder.set_location(self.cx.name_location(op.name(), self.cx.unknown()));
            let results = self.op(op, &operands)?;
            if results.len() != op.num_results() {
                return Err(at(op, format!("it has {} results, and {} are imported", op.num_results(), results.len())));
            }
            for (old, new) in op.results().into_iter().zip(results) {
                let wanted = ty(self.cx, old.ty()).map_err(|why| at(op, why))?;
                let fits = if self.elementwise { new.ty().element() == wanted.element() } else { sizes::agree(wanted, new.ty()) };
                if !fits {
                    return Err(at(op, format!("its result is {wanted}, and is computed as {}", new.ty())));
                }
                self.values.insert(old, new);
            }
        }
        Ok(Vec::new())
    }

    fn op(&mut self, op: Op<'s>, operands: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, StableHloError> {
        let name = op.name();
        let name = ["stablehlo.", "chlo."].into_iter().find_map(|library| name.strip_prefix(library)).unwrap_or(name);
        if self.elementwise && !op.is(func::Call::NAME) && !operators::is_pointwise(name) {
            return Err(at(op, "it stands in a region that is applied to whole tensors, and takes no element by itself".to_owned()));
        }
        match control::import(self, op, name, operands)? {
            Some(results) => Ok(results),
            None => operators::import(self, op, name, operands).map_err(|why| at(op, why)),
        }
    }

    /// The body of a function.
    pub fn function(&self, name: &str) -> Option<Block<'s>> {
        let function = functions(self.module).into_iter().find(|function| function.str("sym_name").as_deref() == Some(name));
        function.and_then(|function| function.region(0).entry())
    }

    /// The body of a function in the place of a call.
    pub fn call(&mut self, op: Op<'s>, operands: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, StableHloError> {
        let name = op.attr("callee").and_then(|callee| callee.as_symbol()).unwrap_or_default();
        let block = self.function(&name).ok_or_else(|| at(op, format!("there is no function `{name}` with a body")))?;
        if self.depth >= MAX_DEPTH {
            return Err(at(op, format!("more than {MAX_DEPTH} functions call each other")));
        }
        self.depth += 1;
        let results = self.block(block, operands);
        self.depth -= 1;
        results
    }

    /// What is known of operators below this crate.
    pub fn operators(&self) -> &dyn Operators {
        self.operators
    }

    /// The value of an argument that is a constant of the program.
    pub fn constant_weight(&self, value: ir::Value<'c>) -> Option<Constant> {
        let args = self.entry.args();
        let place = args.iter().position(|arg| *arg == value)?.checked_sub(args.len() - self.weights.len())?;
        let (_, stored) = &self.weights[place];
        let Source::Inline(bytes) = &stored.source else { return None };
        let shape = stored.sizes.iter().map(|size| *size as i64).collect();
        Some(Constant { dtype: dtype(value), shape, bytes: bytes.to_vec() })
    }

    /// A tensor of one number that the program says.
    pub fn full(&mut self, shape: &[i64], number: Scalar<'c>, dtype: ElementType) -> Result<ir::Value<'c>, String> {
        let value = self.emit(op::FULL, &[is(shape), Some(Operand::Scalar(number)), d(dtype)])?;
        self.numbers.insert(value, number);
        Ok(value)
    }

    /// Makes an op with one result.
    pub fn emit(&mut self, operator: Operator, inputs: &[Arg<'c>]) -> Result<ir::Value<'c>, String> {
        self.emit_many(operator, inputs)?.into_iter().next().ok_or_else(|| format!("`{operator}` gives nothing"))
    }

    /// Makes an op with its results.
    pub fn emit_many(&mut self, operator: Operator, inputs: &[Arg<'c>]) -> Result<Vec<ir::Value<'c>>, String> {
        Ok(emit(&mut self.builder, self.operators, operator.schema(), inputs)?.results())
    }

    /// The number of a tensor that the program says to hold nothing else.
    pub fn number(&self, value: ir::Value<'c>) -> Option<Scalar<'c>> {
        self.numbers.get(&value).copied()
    }

    /// A constant: one number, or a weight that is in no file.
    pub fn constant(&mut self, op: Op<'s>) -> Result<ir::Value<'c>, String> {
        let wanted = ty(self.cx, op.result(0).ty())?;
        let (bytes, splat) = op.attr("value").and_then(|value| value.as_dense()).ok_or("its value is no dense tensor")?;
        let (dtype, shape) = (wanted.element_type().ok_or("it has no element type")?, wanted.shape());
        if (splat || shape.contains(&0) || bytes.len() == dtype.bytes())
            && let Some(scalar) = scalar(dtype, &bytes)
        {
            return self.full(&shape, scalar, dtype);
        }
        let count = shape.iter().product::<i64>().max(0) as usize;
        let bytes = if splat { bytes.repeat(count) } else { bytes };
        let name = format!("constant_{}", self.weights.len());
        let value = self.entry.add_arg(wanted, self.cx.unknown());
        let sizes = shape.iter().map(|size| *size as usize).collect();
        let stored = Stored { source: Source::Inline(Arc::from(bytes)), sizes, strides: Vec::new(), offset: 0 };
        self.weights.push((name, stored));
        Ok(value)
    }
}

/// The number of an element's bytes, where an attribute can hold it; no bytes are zero.
pub(super) fn scalar<'c>(dtype: ElementType, bytes: &[u8]) -> Option<Scalar<'c>> {
    use ElementType::*;
    let mut wide = [0; 8];
    let size = dtype.bytes().min(8);
    wide[..size.min(bytes.len())].copy_from_slice(bytes.get(..size.min(bytes.len()))?);
    let bits = u64::from_le_bytes(wide);
    Some(match dtype {
        Bool => Scalar::Bool(bits != 0),
        F64 => Scalar::Float(f64::from_bits(bits)),
        F32 => Scalar::Float(f32::from_bits(bits as u32).into()),
        F16 => Scalar::Float(half::f16::from_bits(bits as u16).to_f64()),
        BF16 => Scalar::Float(half::bf16::from_bits(bits as u16).to_f64()),
        dtype if dtype.is_signed() => {
            let unused = 64 - 8 * size as u32;
            let value = ((bits << unused) as i64) >> unused;
            // The least integer has another meaning in the IR.
            Scalar::Int(Some(value).filter(|value| *value != i64::MIN)?)
        }
        dtype if dtype.is_unsigned() => Scalar::Int(i64::try_from(bits).ok()?),
        _ => return None,
    })
}
