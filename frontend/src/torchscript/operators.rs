//! Calls of `torch.*` and `ops.*`: of Python's own values they are computed here, of tensors they become ops.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::dtype::Numeric;
use strata_dialects::aten::{Input, Scalar, Size, op};

use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::in_place::{has_out, reshaping};
use super::overload::{self, Given, code, element, number_dtype};
use super::paths::MAX_STEPS_OF_LOOP;
use super::rows;
use super::texts;
use super::value::Value;
use crate::library;

/// Elements of a tensor that becomes a list.
const MAX_LISTED: i64 = 1 << 8;
/// Elements of a tensor that is written out in the text.
const MAX_WRITTEN: usize = 1 << 12;

impl<'c> Evaluator<'_, 'c> {
    /// A call of an operator.
    pub fn operator(&mut self, library: &str, name: &str, mut args: Vec<Value<'c>>, named: Vec<(String, Value<'c>)>) -> Eval<Value<'c>> {
        for arg in &mut args {
            if let Value::Tensor(tensor) = arg {
                *tensor = self.facts.shaped(*tensor);
            }
        }
        const MESSAGES: [&str; 8] = ["RaiseException", "warn", "warnings", "print", "Print", "format", "add", "str"];
        if args.iter().any(texts::is_open) && !MESSAGES.contains(&name) {
            return Err("it reads a text of values that only a call knows".into());
        }
        if let Some(value) = self.special(name, &args, &named)? {
            return Ok(value);
        }
        if let Some(value) = self.container(name, &args)? {
            return Ok(value);
        }
        if let (Some(view), Some(Value::Tensor(tensor))) = (reshaping(name), args.first()) {
            let tensor = *tensor;
            let value = self.operator(library, view, args, named)?;
            if let Value::Tensor(now) = &value {
                self.facts.shape(tensor, *now);
            }
            return Ok(value);
        }
        if let ("resize_" | "resize_as_", [Value::Tensor(tensor), like, ..]) = (name, args.as_slice()) {
            let (tensor, like) = (*tensor, like.clone());
            let now = self.resized(tensor, &like)?;
            self.facts.shape(tensor, now);
            return Ok(Value::Tensor(now));
        }
        if let Some(place) = named.iter().position(|(name, _)| name == "out").filter(|_| has_out(library, name)) {
            let mut named = named;
            let (_, out) = named.remove(place);
            return self.written_out(library, name, (args, named), &out);
        }
        let has_tensor = args.iter().any(Value::has_tensor);
        if !has_tensor && let Some(value) = self.number(name, &args)? {
            return Ok(value);
        }
        if has_tensor && let Some(value) = self.of_tensor(name, &args)? {
            return Ok(value);
        }
        let library = if library == "prim" { "aten" } else { library };
        if let Some(function) = self.library.and_then(|known| known.find(&format!("{library}.{name}"))) {
            return self.registered(function, &args, &named);
        }
        let given = (args, named);
        let given = self.upgraded(library, name, given)?;
        let Some((schema, args)) = overload::resolve(library, name, &given) else {
            let kinds: Vec<_> = given.0.iter().map(Value::kind).collect();
            let why = if overload::is_known(library, name) {
                format!("no overload of `{library}.{name}` takes ({})", kinds.join(", "))
            } else {
                format!("`{library}.{name}` is no operator that is known here")
            };
            return Err(why.into());
        };
        let inputs = self.inputs(schema, &args)?;
        let value = self.build(schema, &inputs)?;
        let value = if self.grad { value } else { self.detached(value, schema.is_mutable())? };
        self.note_number(name, &args, &value);
        Ok(value)
    }

    /// The elements of a tensor in lists: numbers that only a call knows.
    pub fn list_of(&mut self, value: &Value<'c>) -> Eval<Value<'c>> {
        let Value::Tensor(tensor) = value else { return Err(format!("{} has no elements", value.kind()).into()) };
        let tensor = self.facts.shaped(*tensor);
        let ty = tensor.ty();
        if let (1, false, Some(dtype)) = (ty.rank(), ty.is_static(), ty.element_type()) {
            let held = if dtype.is_float() {
                ElementType::F64
            } else if dtype == ElementType::Bool {
                dtype
            } else {
                ElementType::I64
            };
            let dtype = Value::Int(code(held).ok_or("its element type has no code")?);
            if let Value::Tensor(rows) = self.operator("aten", "to", vec![Value::Tensor(tensor), dtype], Vec::new())? {
                return Ok(rows::list(self, rows, rows::Row::Number(held)));
            }
        }
        if ty.num_elements().is_none_or(|count| count > MAX_LISTED) {
            return Err(
                format!("`tolist` of a tensor of type {ty} makes more than {MAX_LISTED} numbers, or as many as only a call knows").into()
            );
        }
        if ty.rank() == 0 {
            return self.operator("aten", "item", vec![value.clone()], Vec::new());
        }
        let mut items = Vec::new();
        for place in 0..ty.shape()[0] {
            let item = self.operator("aten", "select", vec![value.clone(), Value::Int(0), Value::Int(place)], Vec::new())?;
            items.push(self.list_of(&item)?);
        }
        Ok(self.list(items))
    }

    /// A call of an operator that the user registers.
    fn registered(&mut self, function: ir::Op<'c>, args: &[Value<'c>], named: &[(String, Value<'c>)]) -> Eval<Value<'c>> {
        let Some(known) = self.library else { return Err("no operators are registered".into()) };
        let mut given = Vec::new();
        for (place, parameter) in library::parameters(function).into_iter().enumerate() {
            let by_name = named.iter().find(|(name, _)| parameter.name.as_ref() == Some(name)).map(|(_, value)| value);
            let value = args.get(place).or(by_name).ok_or_else(|| format!("a registered operator is not given its argument {place}"))?;
            let value = if let Value::Tensor(tensor) = value { Some(*tensor) } else { self.as_number(value) };
            let value = value.filter(|value| value.ty() == parameter.ty || (value.ty().is_tensor() && parameter.ty.is_tensor()));
            given.push(value.ok_or_else(|| format!("argument {place} of a registered operator is no {}", parameter.ty))?);
        }
        let mut results = library::inline(known, &mut self.builder, function, &given)?;
        let value = |value: ir::Value<'c>| if value.ty().is_tensor() { Value::Tensor(value) } else { Value::Number(value) };
        Ok(match results.len() {
            1 => value(results.remove(0)),
            _ => self.tuple(results.into_iter().map(value).collect()),
        })
    }

    /// What is no operator on values: errors, modes, tensors written out.
    fn special(&mut self, name: &str, args: &[Value<'c>], named: &[(String, Value<'c>)]) -> Eval<Option<Value<'c>>> {
        Ok(Some(match (name, args) {
            ("RaiseException", [message, ..]) => return Err(Stop::Raised(texts::show(message))),
            ("warn" | "warnings" | "print" | "manual_seed" | "_assert" | "Print", _) if name != "_assert" => Value::None,
            ("format", args) => Value::text(&texts::format(args)),
            ("percentFormat", args) => match texts::percent(args) {
                Some(text) => Value::text(&text),
                None => return Err("a text has a format that is not known here".into()),
            },
            ("is_grad_enabled", _) => Value::Bool(self.grad),
            ("set_grad_enabled", [Value::Bool(enabled)]) => {
                self.grad = *enabled;
                Value::None
            }
            ("is_scripting", _) => Value::Bool(true),
            ("is_tracing" | "is_autocast_enabled" | "is_autocast_cpu_enabled" | "_is_tracing" | "cudnn_is_acceptable", _) => {
                Value::Bool(false)
            }
            ("get_default_dtype", _) => Value::Int(6),
            ("wait", [value]) => value.clone(),
            ("dict", []) => self.dict(Vec::new()),
            ("dict", [Value::List(items)]) => {
                let pair = |item: &Value<'c>| match item.items().as_deref() {
                    Some([key, value]) => Ok((key.clone(), value.clone())),
                    _ => Err("a dict is made of pairs".to_owned()),
                };
                let items = items.borrow().iter().map(pair).collect::<Result<_, _>>()?;
                self.dict(items)
            }
            ("device", [Value::Str(kind), ..]) => Value::Device(std::rc::Rc::clone(kind)),
            ("device", [Value::Device(_)]) => args[0].clone(),
            ("type", [Value::Device(_)]) => self.property(&args[0], name)?,
            ("stack" | "cat" | "concat", [Value::List(items), ..]) if items.borrow().is_empty() => {
                return Err(Stop::Raised(format!("{name}: expected a non-empty list of tensors")));
            }
            ("unchecked_unwrap_optional" | "_unwrap_optional", [value]) => match value {
                Value::None => return Err(Stop::Raised("Unwrapping null optional".to_owned())),
                value => value.clone(),
            },
            ("NumToTensor", [value]) => {
                let dtype = number_dtype(value);
                let scalar = self.scalar(value)?;
                let made = self.build(op::SCALAR_TENSOR.schema(), &[Some(Input::Scalar(scalar)), Some(Input::DType(dtype))])?;
                if let Value::Tensor(tensor) = &made {
                    self.facts.numbers.insert(*tensor, value.clone());
                }
                made
            }
            ("tensor" | "as_tensor", [data, rest @ ..]) => {
                let given = |wanted: &str| named.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
                let dtype = given("dtype").or(rest.first().filter(|_| name == "as_tensor"));
                self.written(name, data, dtype)?
            }
            ("IfThenElse", [Value::Bool(condition), yes, no]) => if *condition { yes } else { no }.clone(),
            ("Size" | "_size_if_not_equal", [sizes @ Value::List(_)]) => sizes.clone(),
            ("Complex", [real, imag]) => match (self.number_of(real, "float")?, self.number_of(imag, "float")?) {
                (Value::Float(real), Value::Float(imag)) => Value::Complex(real, imag),
                _ => return Err("a complex number is made of numbers that only a call knows".into()),
            },
            ("__is__" | "__isnot__", [a, b]) => {
                let same = match (a, b) {
                    (Value::None, Value::None) => true,
                    (Value::None, _) | (_, Value::None) => false,
                    (a, b) => a.same(b),
                };
                Value::Bool(same == (name == "__is__"))
            }
            _ => return Ok(None),
        }))
    }

    /// `torch.tensor` or `torch.as_tensor` of numbers in lists.
    fn written(&mut self, name: &str, data: &Value<'c>, dtype: Option<&Value<'c>>) -> Eval<Value<'c>> {
        if let Value::Tensor(tensor) = data {
            let inputs = [Some(Input::Tensor(*tensor))];
            let copy = if name == "as_tensor" { data.clone() } else { self.build(op::CLONE.schema(), &inputs)? };
            return match dtype {
                Some(dtype @ Value::Int(_)) => self.operator("aten", "to", vec![copy, dtype.clone()], Vec::new()),
                _ => Ok(copy),
            };
        }
        if let Some((rows, row)) = rows::of(data) {
            let float = row == rows::Row::Number(ElementType::F64);
            let dtype = dtype.filter(|dtype| matches!(dtype, Value::Int(_))).cloned().or(float.then_some(Value::Int(6)));
            let copy = self.build(op::CLONE.schema(), &[Some(Input::Tensor(rows))])?;
            return match dtype {
                Some(dtype) => self.operator("aten", "to", vec![copy, dtype], Vec::new()),
                None => Ok(copy),
            };
        }
        let (mut flat, mut shape) = (Vec::new(), Vec::new());
        flatten(data, 0, &mut shape, &mut flat)?;
        let dtype = match dtype {
            Some(Value::Int(code)) => element(*code)?,
            _ => {
                let kinds = flat.iter().map(|value| match value {
                    Value::Tensor(tensor) => tensor.ty().element_type().unwrap_or(strata_core::ir::ElementType::F32),
                    value => number_dtype(value),
                });
                kinds.max_by_key(|dtype| dtype.category()).unwrap_or(strata_core::ir::ElementType::F32)
            }
        };
        if flat.is_empty() {
            let sizes = shape.iter().map(|size| Size::Const(*size)).collect();
            return self.build(op::EMPTY_MEMORY_FORMAT.schema(), &[Some(Input::Ints(sizes)), Some(Input::DType(dtype))]);
        }
        let mut made = Vec::new();
        for value in &flat {
            let scalar = self.scalar(value)?;
            match self.build(op::SCALAR_TENSOR.schema(), &[Some(Input::Scalar(scalar)), Some(Input::DType(dtype))])? {
                Value::Tensor(tensor) => made.push(tensor),
                other => return Err(format!("{} is no tensor", other.kind()).into()),
            }
        }
        if shape.is_empty() {
            self.facts.numbers.insert(made[0], flat.remove(0));
            return Ok(Value::Tensor(made[0]));
        }
        let Value::Tensor(stacked) = self.build(op::STACK.schema(), &[Some(Input::Tensors(made))])? else {
            return Err("it is no tensor".into());
        };
        let sizes = shape.iter().map(|size| Size::Const(*size)).collect();
        self.build(op::RESHAPE.schema(), &[Some(Input::Tensor(stacked)), Some(Input::Ints(sizes))])
    }

    /// What a tensor's type tells.
    fn of_tensor(&mut self, name: &str, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        let Some(Value::Tensor(tensor)) = args.first() else { return Ok(None) };
        let (tensor, ty) = (*tensor, tensor.ty());
        let dtype = ty.element_type();
        let is = |wanted: &dyn Fn(ir::ElementType) -> bool| Value::Bool(dtype.is_some_and(wanted));
        Ok(Some(match (name, &args[1..]) {
            ("dim" | "ndim", []) => Value::Int(ty.rank() as i64),
            ("size" | "shape", []) => {
                let sizes = (0..ty.rank()).map(|dim| self.size_of(tensor, dim)).collect::<Eval<Vec<_>>>()?;
                self.list(sizes)
            }
            ("size", [Value::Int(dim)]) => {
                let dim = super::words::wrap(*dim, ty.rank()).filter(|dim| *dim < ty.rank());
                let dim = dim.ok_or_else(|| Stop::Raised("Dimension out of range".to_owned()))?;
                self.size_of(tensor, dim)?
            }
            ("select", [Value::Int(dim), Value::Int(place)]) => {
                let size = super::words::wrap(*dim, ty.rank()).and_then(|dim| ty.shape().get(dim).copied());
                if size.is_some_and(|size| size != ir::DYNAMIC && !(-size..size).contains(place)) {
                    return Err(Stop::Raised(format!("select(): index {place} out of range for a tensor of type {ty} at dimension {dim}")));
                }
                return Ok(None);
            }
            // The number of parts is known.
            ("split" | "chunk", [count @ Value::Number(_), rest @ ..]) => {
                let dim = rest.first().and_then(|dim| if let Value::Int(dim) = dim { Some(*dim) } else { None }).unwrap_or(0);
                let size = super::words::wrap(dim, ty.rank()).and_then(|dim| ty.shape().get(dim).copied()).unwrap_or(0);
                if !(1..=MAX_STEPS_OF_LOOP).contains(&size) {
                    return Ok(None);
                }
                let count = self.number("min", &[count.clone(), Value::Int(size)])?.ok_or("a number of parts is no number")?;
                let count = self.one_of(&count, (1, size))?;
                let args = [&[args[0].clone(), count], rest].concat();
                return self.operator("aten", name, args, Vec::new()).map(Some);
            }
            ("unbind", dims @ ([] | [Value::Int(_)])) => {
                let dim = dims.first().cloned().unwrap_or(Value::Int(0));
                let size @ Value::Number(_) = self.operator("aten", "size", vec![args[0].clone(), dim.clone()], Vec::new())? else {
                    return Ok(None);
                };
                // A slice has no more rows than what it is cut from.
                let place = if let Value::Int(dim) = dim { super::words::wrap(dim, ty.rank()).unwrap_or(0) } else { 0 };
                let whole = super::writes::chain(tensor).into_iter().map(|view| view.ty()).filter(|view| view.rank() == ty.rank());
                let sizes = whole.filter_map(|view| view.shape().get(place).copied().filter(|size| *size != ir::DYNAMIC));
                let most = sizes.min().unwrap_or(MAX_STEPS_OF_LOOP).min(MAX_STEPS_OF_LOOP);
                let Value::Int(count) = self.one_of(&size, (0, most))? else { return Ok(None) };
                let row = |place| self.operator("aten", "select", vec![args[0].clone(), dim.clone(), Value::Int(place)], Vec::new());
                let rows = (0..count).map(row).collect::<Eval<Vec<_>>>()?;
                self.list(rows)
            }
            ("fill_diagonal_", [value, rest @ ..]) if ty.rank() == 2 && !matches!(rest, [Value::Bool(true)]) => {
                let diagonal = self.operator("aten", "diagonal", vec![args[0].clone()], Vec::new())?;
                self.operator("aten", "fill_", vec![diagonal, value.clone()], Vec::new())?;
                args[0].clone()
            }
            ("len", []) if ty.rank() > 0 => self.size_of(tensor, 0)?,
            ("numel", []) => {
                let mut count = Value::Int(1);
                for dim in 0..ty.rank() {
                    let size = self.size_of(tensor, dim)?;
                    count = self.number("mul", &[count, size])?.ok_or("it is no number")?;
                }
                count
            }
            ("dtype", []) => Value::Int(dtype.and_then(code).ok_or("its element type has no code")?),
            ("device", []) => Value::Device("cpu".into()),
            ("layout", []) => Value::Int(0),
            ("get_device", []) => Value::Int(-1),
            ("is_contiguous", []) => {
                Value::Bool(self.is_contiguous(tensor).ok_or("whether this tensor is contiguous is not known: what made it is not")?)
            }
            ("stride", dims @ ([] | [Value::Int(_)])) if self.is_contiguous(tensor) == Some(true) && ty.is_static() => {
                let (shape, mut strides) = (ty.shape(), Vec::new());
                for dim in 0..shape.len() {
                    strides.push(Value::Int(shape[dim + 1..].iter().map(|size| (*size).max(1)).product()));
                }
                let list = self.list(strides);
                return if let [dim] = dims { self.subscript(&list, dim).map(Some) } else { Ok(Some(list)) };
            }
            ("stride", _) => return Err("strides are known of contiguous tensors only".into()),
            ("is_floating_point", []) => is(&|dtype| dtype.is_float()),
            ("is_complex", []) => is(&|dtype| dtype.is_complex()),
            ("is_signed", []) => is(&|dtype| dtype.is_signed() || dtype.is_float()),
            ("element_size" | "itemsize", []) => Value::Int(dtype.map_or(0, |dtype| dtype.bytes() as i64)),
            (
                "requires_grad" | "is_cuda" | "is_quantized" | "is_sparse" | "is_mkldnn" | "is_nested" | "is_meta" | "is_xla" | "is_mps",
                [],
            )
            | ("is_inference" | "is_conj" | "is_neg" | "is_sparse_csr" | "is_vulkan" | "is_xpu" | "is_ipu", []) => Value::Bool(false),
            ("data" | "requires_grad_" | "retain_grad", _) => args[0].clone(),
            ("cpu" | "pin_memory", []) => args[0].clone(),
            // What has the type already is given back.
            ("type_as", [Value::Tensor(like)]) if like.ty().element_type() == dtype => args[0].clone(),
            ("storage_offset", []) if super::writes::base(tensor) == tensor => Value::Int(0),
            ("storage_offset", []) => return Err("where a view begins in its storage is not known".into()),
            ("mT" | "T" | "H" | "mH", []) => return self.property_view(name, tensor).map(Some),
            ("real", []) if dtype.is_some_and(|dtype| !dtype.is_complex()) => args[0].clone(),
            ("ImplicitTensorToNum" | "IntImplicit" | "Int", []) => self.number_of(&args[0], "int")?,
            ("FloatImplicit" | "Float", []) => self.number_of(&args[0], "float")?,
            ("Bool", []) => self.number_of(&args[0], "bool")?,
            ("item" | "ScalarImplicit", []) => {
                let scalar = self.scalar(&args[0])?;
                match scalar {
                    Scalar::Int(value) => Value::Int(value),
                    Scalar::Float(value) => Value::Float(value),
                    Scalar::Bool(value) => Value::Bool(value),
                    Scalar::Complex(real, imag) => Value::Complex(real, imag),
                    Scalar::Value(value) => Value::Number(value),
                }
            }
            // TorchScript's own overload: a device that may be left out.
            ("to", [Value::None, rest @ ..]) if !rest.is_empty() && !matches!(rest[0], Value::None) => {
                let mut shifted = vec![args[0].clone()];
                shifted.extend(rest.iter().cloned());
                return self.operator("aten", "to", shifted, Vec::new()).map(Some);
            }
            ("to", [Value::None, Value::None, ..] | [Value::Device(_)] | [Value::Device(_), Value::None, ..]) => args[0].clone(),
            // What has the type already is given back.
            ("to", [Value::Int(wanted), flags @ ..] | [Value::Device(_), Value::Int(wanted), flags @ ..])
                if dtype.and_then(code) == Some(*wanted) && flags.iter().all(|flag| matches!(flag, Value::Bool(false) | Value::None)) =>
            {
                args[0].clone()
            }
            ("tolist", _) => self.list_of(&args[0])?,
            ("__not__", []) => {
                let number = self.number_of(&args[0], "bool")?;
                return self.number("__not__", &[number]);
            }
            ("__contains__", _) => return Err("`in` of a tensor is not evaluated".into()),
            _ => return Ok(None),
        }))
    }

    fn property_view(&mut self, name: &str, tensor: ir::Value<'c>) -> Eval<Value<'c>> {
        let rank = tensor.ty().rank() as i64;
        let operator = match name {
            "H" | "mH" if tensor.ty().element_type().is_some_and(|dtype| dtype.is_complex()) => "adjoint",
            _ => "permute",
        };
        if operator == "adjoint" {
            return self.operator("aten", operator, vec![Value::Tensor(tensor)], Vec::new());
        }
        let dims: Vec<i64> = match name {
            "T" | "H" => (0..rank).rev().collect(),
            _ if rank < 2 => return Err("a matrix is transposed, and this has fewer dimensions".into()),
            _ => (0..rank - 2).chain([rank - 1, rank - 2]).collect(),
        };
        let dims = self.list(dims.into_iter().map(Value::Int).collect());
        self.operator("aten", operator, vec![Value::Tensor(tensor), dims], Vec::new())
    }

    /// A size of a tensor: known, or read at a call.
    pub fn size_of(&mut self, tensor: ir::Value<'c>, dim: usize) -> Eval<Value<'c>> {
        match tensor.ty().shape().get(dim) {
            Some(size) if *size != ir::DYNAMIC => Ok(Value::Int(*size)),
            _ => {
                let (cx, place) = (self.cx, dim as i64);
                let index = cx.index();
                Ok(Value::Number(self.builder.value(op::SYM_SIZE_INT.name(), &[tensor], index, &[("dim", cx.i64_attr(place))])))
            }
        }
    }
}

/// The numbers of nested lists, and the lists' lengths.
fn flatten<'c>(value: &Value<'c>, depth: usize, shape: &mut Vec<i64>, flat: &mut Vec<Value<'c>>) -> Eval<()> {
    match value.items() {
        None => {
            if depth != shape.len() {
                return Err("a tensor is written with lists of different depths".into());
            }
            flat.push(value.clone());
        }
        Some(items) => {
            if depth == shape.len() && flat.is_empty() {
                shape.push(items.len() as i64);
            }
            if shape.get(depth) != Some(&(items.len() as i64)) {
                return Err("a tensor is written with lists of different lengths".into());
            }
            for item in &items {
                flatten(item, depth + 1, shape, flat)?;
            }
        }
    }
    if flat.len() > MAX_WRITTEN {
        return Err(format!("a tensor of more than {MAX_WRITTEN} numbers is written out").into());
    }
    Ok(())
}

/// Arguments as an older version of the operators meant them.
impl<'c> Evaluator<'_, 'c> {
    fn upgraded(&mut self, library: &str, name: &str, (mut args, mut named): Given<'c>) -> Eval<Given<'c>> {
        if library != "aten" {
            return Ok((args, named));
        }
        let whole = |value: &Value<'c>| match value {
            Value::Tensor(tensor) => tensor.ty().element_type().is_some_and(|dtype| dtype.is_integral()),
            Value::Float(_) | Value::Complex(..) => false,
            _ => true,
        };
        let given = |named: &[(String, Value<'c>)], wanted: &str| named.iter().any(|(name, _)| name == wanted);
        match name {
            // Before version 4 the quotient of whole numbers was truncated.
            "div" | "div_" if self.program.version < 4 && args.len() == 2 && !given(&named, "rounding_mode") && args.iter().all(whole) => {
                named.push(("rounding_mode".to_owned(), Value::text("trunc")));
            }
            // Before version 5 `full` of a whole number or bool gave floats.
            "full" if self.program.version < 5 => {
                let untyped = named.iter().all(|(name, value)| name != "dtype" || matches!(value, Value::None));
                if untyped && args.get(1).is_some_and(|fill| matches!(fill, Value::Int(_) | Value::Bool(_))) {
                    named.retain(|(name, _)| name != "dtype");
                    named.push(("dtype".to_owned(), Value::Int(6)));
                }
            }
            // Before versions 8 and 9 the number of steps could be left out.
            "linspace" | "logspace" if self.program.version < if name == "linspace" { 8 } else { 9 } => {
                let steps = named.iter_mut().find(|(name, _)| name == "steps").map(|(_, value)| value).or(args.get_mut(2));
                match steps {
                    Some(steps @ Value::None) => *steps = Value::Int(100),
                    Some(_) => {}
                    None => named.push(("steps".to_owned(), Value::Int(100))),
                }
            }
            _ => {}
        }
        Ok((args, named))
    }
}
