//! The walk over the program: each op in destination-passing form.

use super::sizes::Sizes;
use super::views::{self, permutation};
use super::{Error, Program, control, custom_call, library};
use crate::num::Num;
use std::collections::HashMap;
use std::rc::Rc;
use strata_core::ir::{AffineMap, Block, Builder, Cx, DYNAMIC, ElementType, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{func, scf, tensor};
use strata_dialects::loops::Scatter;
use strata_dialects::loops::elements::memory_type;
use strata_dialects::loops::ranges::may_reach_outside;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::{capture, host, loops, prim};

/// A tensor of the program: its memory and its sizes.
#[derive(Clone, Debug)]
pub struct Tensor<'c> {
    /// A `memref<?xT>`.
    pub buffer: Value<'c>,
    /// Its sizes.
    pub sizes: Vec<Num<'c>>,
}

/// A kernel as its calls see it.
pub(super) struct Callee<'c> {
    /// Positions of its symbols among the arguments.
    pub(super) symbols: Vec<i64>,
    /// Sizes of its dims.
    sizes: AffineMap<'c>,
    /// Shapes of the arguments, then of the results.
    pub(super) shapes: Vec<AffineMap<'c>>,
    /// Which arguments are tensors; the others are scalars.
    tensors: Vec<bool>,
    /// Whether it may find an index out of bounds.
    checks: bool,
    /// The dims over which it writes at indices.
    scattered: Vec<Vec<usize>>,
}

/// Where a value is written.
#[derive(Clone)]
struct Destination<'c> {
    /// The output of the call.
    index: usize,
    /// The type of what is returned.
    ty: Type<'c>,
    /// Where each dim of what is returned stands in the value.
    perm: Option<Vec<usize>>,
}

/// The state of the walk.
pub struct Converter<'c> {
    /// Appends to the new function.
    pub b: Builder<'c>,
    /// The context.
    pub cx: Cx<'c>,
    module: Op<'c>,
    /// Tensors by the value of the old function.
    pub tensors: HashMap<Value<'c>, Tensor<'c>>,
    /// Scalars by the value of the old function.
    pub scalars: HashMap<Value<'c>, Value<'c>>,
    /// Values that are written straight into an output of the call.
    destinations: HashMap<Value<'c>, Destination<'c>>,
    /// Outputs whose memory is there from the beginning.
    ready: HashMap<usize, Ready<'c>>,
    /// Whether a kernel that was launched may have found an index out of bounds, and the call goes on.
    unsettled: bool,
    written: Vec<bool>,
    callees: HashMap<String, Rc<Callee<'c>>>,
    /// What is known of sizes.
    pub(super) known: Sizes<'c>,
    /// The block of the program.
    pub(super) top: Block<'c>,
    /// Where the tensors of the present op come from, for messages.
    pub(super) origin: String,
}

/// The memory of an output.
struct Ready<'c> {
    buffer: Value<'c>,
    /// Whether it may be that of an old value.
    in_place: bool,
}

/// Converts the entry to a function marked `mark`; the old function is erased.
pub fn convert<'c>(module: Op<'c>, entry: Op<'c>, program: &Program, mark: &str) -> Result<(), Error> {
    let cx = module.cx();
    let mut at = Rewriter::before(entry);
    let name = entry.str("sym_name").unwrap_or_default();
    let func = at.op(OpSpec {
        name: func::Func::NAME,
        attrs: &[
            ("sym_name", cx.str_attr(&format!("{name}.host"))),
            ("function_type", cx.type_attr(cx.function(&[], &[]))),
            (mark, cx.unit()),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let block = func.region(0).append_block(&[], entry.location());
    let mut converter = Converter {
        b: Builder::at_end(block, entry.location()),
        cx,
        module,
        tensors: HashMap::new(),
        scalars: HashMap::new(),
        destinations: HashMap::new(),
        ready: HashMap::new(),
        unsettled: false,
        written: vec![false; program.results.len()],
        callees: HashMap::new(),
        known: Sizes::default(),
        top: block,
        origin: String::new(),
    };
    laid_out(entry, program)?;
    converter.arguments(entry, program);
    converter.find_destinations(entry);
    converter.make_ready(program);
    converter.block(entry.body(0))?;
    at.erase(entry);
    at.set_attr(func, "sym_name", cx.str_attr(&name));
    Ok(())
}

/// Fails where a tensor of the call with an order of its own is still used as if it were row-major.
fn laid_out(entry: Op<'_>, program: &Program) -> Result<(), Error> {
    const ASKS: [&str; 4] = [capture::BindDims::NAME, capture::Dim::NAME, capture::Permute::NAME, prim::Dim::NAME];
    let block = entry.body(0);
    let arguments = program.arguments.iter().zip(block.args()).filter(|(argument, _)| argument.dim_order.is_some());
    let reader = arguments.flat_map(|(_, value)| value.uses()).map(|user| user.op).find(|op| !ASKS.contains(&op.name()));
    let returned = block.terminator().map(Op::operands).unwrap_or_default();
    let mut results = program.results.iter().zip(returned).filter(|(result, _)| result.dim_order.is_some());
    let result = results.find(|(_, value)| !value.defining_op().is_some_and(|op| op.isa::<capture::Permute>()));
    match reader.or_else(|| block.terminator().filter(|_| result.is_some())) {
        Some(op) => Err(Error::at(op, "it uses a tensor of the call that lies in another order; --apply-dim-orders makes that good")),
        None => Ok(()),
    }
}

/// Where the results of an op come from: the kernel that makes them, else the op, and the place in the program if that is known.
fn origin(op: Op<'_>) -> String {
    let name = op.attr("callee").and_then(|attr| attr.as_symbol()).unwrap_or_else(|| op.name().to_owned());
    let from = op.location().place().map_or_else(String::new, |place| format!(", from {place}"));
    format!("`{name}`{from}")
}

impl<'c> Converter<'c> {
    fn arguments(&mut self, entry: Op<'c>, program: &Program) {
        for (argument, value) in program.arguments.iter().zip(entry.body(0).args()) {
            let index = self.cx.i64_attr(argument.index as i64);
            let buffer_type = self.buffer_type(argument.element);
            let name = if argument.is_input() { host::Input::NAME } else { host::Weight::NAME };
            let buffer = self.b.value(name, &[], buffer_type, &[("index", index)]);
            if !argument.tensor {
                let element = self.b.value(host::Load::NAME, &[buffer], value.ty(), &[]);
                self.scalars.insert(value, element);
                continue;
            }
            let sizes = (argument.shape.iter().enumerate())
                .map(|(dim, size)| match size {
                    Some(size) => Num::Const(*size),
                    None => {
                        let attrs = [("index", index), ("dim", self.cx.i64_attr(dim as i64))];
                        Num::Value(self.b.value(host::InputSize::NAME, &[], self.cx.index(), &attrs))
                    }
                })
                .collect();
            self.tensors.insert(value, Tensor { buffer, sizes });
        }
    }

    /// Results of kernels and of the library that the entry returns, also through free reshapes, get the output's memory.
    fn find_destinations(&mut self, entry: Op<'c>) {
        let block = entry.body(0);
        let Some(terminator) = block.terminator() else { return };
        for (index, returned) in terminator.operands().into_iter().enumerate() {
            let ty = returned.ty();
            let mut value = returned;
            // An output that lies in another order is written as it lies.
            let mut perm = None;
            if let Some(op) = value.defining_op().filter(|op| op.isa::<capture::Permute>()) {
                (value, perm) = (op.operand(0), permutation(op));
            }
            while let Some(op) = value.defining_op().filter(|op| op.isa::<prim::Reshape>() && ty.is_static()) {
                value = op.operand(0);
            }
            let writes = |op: Op<'c>| op.isa::<loops::Call>() || op.isa::<prim::Library>() || op.isa::<prim::Sort>();
            let written = value.defining_op().is_some_and(|op| writes(op) && op.block() == Some(block));
            if written && !self.destinations.contains_key(&value) {
                self.destinations.insert(value, Destination { index, ty, perm });
            }
        }
    }

    /// Where old values are written over, outputs have their memory before anything is written: a call that gets none has changed nothing.
    fn make_ready(&mut self, program: &Program) {
        if !self.destinations.values().any(|place| program.results[place.index].in_place) {
            return;
        }
        let known = |index: usize| program.results[index].shape.iter().copied().collect::<Option<Vec<_>>>();
        let mut places: Vec<_> = self.destinations.values().map(|place| place.index).collect();
        places.sort_unstable();
        for index in places {
            let Some(sizes) = known(index) else { continue };
            let sizes: Vec<_> = sizes.into_iter().map(Num::Const).collect();
            let buffer = self.output(index, program.results[index].element, &sizes);
            self.ready.insert(index, Ready { buffer, in_place: program.results[index].in_place });
        }
    }

    /// `memref<?xT>`.
    pub fn buffer_type(&self, element: ElementType) -> Type<'c> {
        let stored = if element.is_complex() { self.cx.element(element) } else { memory_type(self.cx, element) };
        self.cx.memref(&[DYNAMIC], stored)
    }

    /// The tensor of a value of the old function.
    pub fn tensor(&self, op: Op<'c>, value: Value<'c>) -> Result<Tensor<'c>, Error> {
        self.tensors.get(&value).cloned().ok_or_else(|| Error::at(op, "an operand has no memory"))
    }

    /// The scalar of a value of the old function.
    pub fn scalar(&self, value: Value<'c>) -> Value<'c> {
        self.scalars.get(&value).copied().unwrap_or(value)
    }

    /// The scalar of a value of the old function, if it was computed by now.
    pub(super) fn known_scalar(&self, value: Value<'c>) -> Option<Value<'c>> {
        self.scalars.get(&value).copied()
    }

    /// Whether a value is written where an output of the call is.
    pub(super) fn is_destination(&self, value: Value<'c>) -> bool {
        self.destinations.contains_key(&value)
    }

    /// Fresh memory for a tensor.
    pub fn alloc(&mut self, element: ElementType, sizes: Vec<Num<'c>>) -> Tensor<'c> {
        let elements = self.checked_elements(&sizes, element);
        self.alloc_elements(element, sizes, elements)
    }

    fn alloc_elements(&mut self, element: ElementType, sizes: Vec<Num<'c>>, elements: Num<'c>) -> Tensor<'c> {
        let elements = elements.value(&mut self.b);
        let ty = self.buffer_type(element);
        Tensor { buffer: self.b.value(host::Alloc::NAME, &[elements], ty, &[]), sizes }
    }

    /// Copies a tensor.
    pub fn copy(&mut self, from: &Tensor<'c>, to: &Tensor<'c>) {
        let elements = self.elements(&from.sizes).value(&mut self.b);
        self.b.effect(host::Copy::NAME, &[from.buffer, to.buffer, elements], &[]);
    }

    /// Converts the ops of a block.
    pub fn block(&mut self, block: Block<'c>) -> Result<(), Error> {
        block.ops().into_iter().try_for_each(|op| self.single(op))
    }

    /// Converts one op.
    pub fn single(&mut self, op: Op<'c>) -> Result<(), Error> {
        self.b.set_location(op.location());
        self.origin = origin(op);
        self.op(op)
    }

    fn op(&mut self, op: Op<'c>) -> Result<(), Error> {
        match op.name() {
            capture::Dim::NAME => self.capture_dim(op),
            capture::BindDims::NAME => self.bind_dims(op),
            capture::Guard::NAME => {
                let operands: Vec<_> = op.operands().into_iter().map(|operand| self.scalar(operand)).collect();
                let text = op.attr("text").unwrap_or_else(|| self.cx.str_attr("a guard of the program"));
                self.b.effect(host::Guard::NAME, &operands, &[("text", text)]);
                Ok(())
            }
            capture::Permute::NAME => views::permute(self, op),
            capture::CustomCall::NAME => custom_call::custom_call(self, op),
            tensor::Cast::NAME => custom_call::cast(self, op),
            capture::Seed::NAME => library::seed(self, op),
            loops::Call::NAME => self.call(op),
            prim::Reshape::NAME => views::reshape(self, op),
            loops::Words::NAME => views::words(self, op),
            prim::Dim::NAME => {
                let source = self.tensor(op, op.operand(0))?;
                let size = source.sizes[op.int("dim").unwrap_or_default() as usize];
                let size = size.value(&mut self.b);
                self.scalars.insert(op.result(0), size);
                Ok(())
            }
            prim::Item::NAME => {
                let source = self.tensor(op, op.operand(0))?;
                let element = self.b.value(host::Load::NAME, &[source.buffer], op.result(0).ty(), &[]);
                self.scalars.insert(op.result(0), element);
                Ok(())
            }
            prim::Constant::NAME => {
                let value = op.attr("value").ok_or_else(|| Error::at(op, "it has no value"))?;
                let ty = self.buffer_type(self.element(op, op.result(0))?);
                let buffer = self.b.value(host::Constant::NAME, &[], ty, &[("value", value)]);
                let sizes = op.result(0).ty().shape().into_iter().map(Num::Const).collect();
                self.tensors.insert(op.result(0), Tensor { buffer, sizes });
                Ok(())
            }
            prim::Library::NAME => library::library(self, op),
            prim::Sort::NAME => library::sort(self, op),
            arith::Select::NAME if op.result(0).ty().is_tensor() => control::convert_select(self, op),
            scf::If::NAME => control::convert_if(self, op),
            scf::While::NAME => control::convert_while(self, op),
            scf::For::NAME => control::convert_for(self, op),
            func::Return::NAME => self.finish(op),
            _ if matches!(op.dialect(), "arith" | "math") => {
                let operands: Vec<_> = op.operands().into_iter().map(|operand| self.scalar(operand)).collect();
                if op.isa::<arith::MulI>() && op.result(0).ty().is_index() {
                    let product = self.product(Num::of(operands[0]), Num::of(operands[1]));
                    let product = product.value(&mut self.b);
                    self.scalars.insert(op.result(0), product);
                    return Ok(());
                }
                self.guard_division(op, &operands);
                let copy = self.b.clone_op(op, &operands);
                self.scalars.extend(op.results().into_iter().zip(copy.results()));
                Ok(())
            }
            _ => Err(Error::at(op, "there is no host form of it; an earlier pass should have removed it")),
        }
    }

    /// The element type of a tensor value.
    pub fn element(&self, op: Op<'c>, value: Value<'c>) -> Result<ElementType, Error> {
        value.ty().element_type().ok_or_else(|| Error::at(op, format!("tensors of {} are not supported", value.ty().element())))
    }

    /// Sizes of a result: static ones from its type, the others from the trailing `index` operands.
    pub(super) fn sizes_from(&mut self, op: Op<'c>, first: usize) -> Vec<Num<'c>> {
        let mut next = first;
        (op.result(0).ty().shape().into_iter())
            .map(|size| {
                if size != DYNAMIC {
                    return Num::Const(size);
                }
                next += 1;
                Num::Value(self.scalar(op.operand(next - 1)))
            })
            .collect()
    }

    fn capture_dim(&mut self, op: Op<'c>) -> Result<(), Error> {
        let tensor = self.tensor(op, op.operand(0))?;
        let dim = op.int("dim").unwrap_or_default();
        let size = tensor.sizes[dim as usize].value(&mut self.b);
        self.scalars.insert(op.result(0), size);
        let symbol = op.str("symbol").unwrap_or_default();
        for (name, predicate, word) in [("min", CmpIPredicate::Sge, "at least"), ("max", CmpIPredicate::Sle, "at most")] {
            let bound = op.int(name).unwrap_or_default();
            if (name == "min" && bound <= 0) || (name == "max" && bound == i64::MAX) {
                continue;
            }
            let wanted = self.b.const_index(bound);
            let test = arith::cmpi(&mut self.b, predicate, size, wanted);
            let text = format!("{symbol} = {{0}} must be {word} {{1}} (size of dimension {dim})");
            self.b.effect(host::Guard::NAME, &[test, size, wanted], &[("text", self.cx.str_attr(&text))]);
        }
        Ok(())
    }

    /// On an argument of the call the bound shape is a guard; elsewhere it is a fact that nothing here needs.
    fn bind_dims(&mut self, op: Op<'c>) -> Result<(), Error> {
        if op.operand(0).defining_op().is_some() {
            return Ok(());
        }
        let tensor = self.tensor(op, op.operand(0))?;
        let symbols: Vec<_> = op.operands()[1..].iter().map(|&symbol| self.scalar(symbol)).collect();
        let Some(map) = op.attr("shape").and_then(|attr| attr.as_map()) else { return Ok(()) };
        let wanted = self.checked_numbers(map, &symbols);
        for (dim, (found, wanted)) in tensor.sizes.iter().zip(wanted).enumerate() {
            if *found == wanted || matches!(found, Num::Const(_)) && matches!(wanted, Num::Const(_)) {
                continue;
            }
            let (found, wanted) = (found.value(&mut self.b), wanted.value(&mut self.b));
            let test = arith::cmpi(&mut self.b, CmpIPredicate::Eq, found, wanted);
            let text = format!("argument {}: size {{0}} of dimension {dim} must be {{1}}", op.operand(0).index());
            self.b.effect(host::Guard::NAME, &[test, found, wanted], &[("text", self.cx.str_attr(&text))]);
        }
        Ok(())
    }

    fn call(&mut self, op: Op<'c>) -> Result<(), Error> {
        let name = op.attr("callee").and_then(|attr| attr.as_symbol()).unwrap_or_default();
        let callee = self.callee(op, &name)?;
        let arguments = op.operands();
        let (given, wanted) = (arguments.len() + op.num_results(), callee.shapes.len());
        let sizes = callee.symbols.iter().all(|&at| arguments.get(at as usize).is_some_and(|argument| argument.ty().is_index()));
        if given != wanted || !sizes || callee.tensors.iter().zip(&arguments).any(|(tensor, argument)| *tensor != argument.ty().is_tensor())
        {
            return Err(Error::at(op, format!("kernel '{name}' takes other arguments, or gives other results")));
        }
        let symbols: Vec<_> = callee.symbols.iter().map(|&at| self.scalar(arguments[at as usize])).collect();
        // What sizes the kernel's loops is as exact as what sizes its tensors.
        let dims = self.checked_numbers(callee.sizes, &symbols);
        let (mut operands, mut empty) = (Vec::new(), Vec::new());
        for &argument in &arguments {
            operands.push(if argument.ty().is_tensor() { self.tensor(op, argument)?.buffer } else { self.scalar(argument) });
        }
        let (in_place, copied) = (op.ints("in_place").unwrap_or_default(), op.ints("copied").unwrap_or_default());
        let mut copies = Vec::new();
        for (k, (result, shape)) in op.results().into_iter().zip(&callee.shapes[arguments.len()..]).enumerate() {
            let sizes = self.checked_numbers(*shape, &symbols);
            let element = self.element(op, result)?;
            let elements = self.checked_elements(&sizes, element);
            let elements = if callee.checks { elements } else { self.wanted(result, &sizes, elements) };
            empty.push(elements);
            let tensor = match in_place.get(k).and_then(|&place| usize::try_from(place).ok()) {
                Some(place) => Tensor { buffer: self.tensor(op, arguments[place])?.buffer, sizes },
                None => self.memory_of(result, element, sizes, elements),
            };
            operands.push(tensor.buffer);
            if let Some(place) = copied.get(k).and_then(|&place| usize::try_from(place).ok()) {
                copies.push((self.tensor(op, arguments[place])?, tensor.clone()));
                operands[place] = tensor.buffer;
            }
            self.tensors.insert(result, tensor);
        }
        let ready = |result: &Value<'c>| self.ready.get(&self.destinations.get(result)?.index);
        let over_old = op.results().iter().filter_map(ready).any(|ready| ready.in_place);
        if over_old && std::mem::take(&mut self.unsettled) {
            self.b.effect(host::Settle::NAME, &[], &[]);
        }
        self.unsettled |= callee.checks;
        for domain in &callee.scattered {
            self.guard_places(&empty, &domain.iter().map(|&dim| dims[dim]).collect::<Vec<_>>());
        }
        copies.into_iter().for_each(|(from, to)| self.copy(&from, &to));
        let attrs = [("callee", self.cx.symbol_attr(&name)), ("outputs", self.cx.i64_attr(op.num_results() as i64))];
        self.unless_empty(&empty, |b| {
            b.effect(host::Launch::NAME, &operands, &attrs);
        });
        Ok(())
    }

    /// The memory of so many elements that a result is written to: an output's, or fresh memory.
    pub(super) fn memory_of(&mut self, result: Value<'c>, element: ElementType, sizes: Vec<Num<'c>>, elements: Num<'c>) -> Tensor<'c> {
        let Some(Destination { index, ty, perm }) = self.destinations.get(&result).cloned() else {
            return self.alloc_elements(element, sizes, elements);
        };
        if let Some(ready) = self.ready.get(&index) {
            return Tensor { buffer: ready.buffer, sizes };
        }
        // A returned reshape of the result is of static shape, and that is the output's.
        let outer: Vec<_> = match perm {
            _ if ty.is_static() => ty.shape().into_iter().map(Num::Const).collect(),
            Some(perm) => perm.into_iter().map(|dim| sizes[dim]).collect(),
            None => sizes.clone(),
        };
        Tensor { buffer: self.output(index, element, &outer), sizes }
    }

    /// What calls of a kernel need to know of it.
    pub(super) fn callee(&mut self, op: Op<'c>, name: &str) -> Result<Rc<Callee<'c>>, Error> {
        if let Some(known) = self.callees.get(name) {
            return Ok(known.clone());
        }
        let kernel = self.module.lookup_symbol(name).and_then(KernelView::new);
        let kernel = kernel.ok_or_else(|| Error::at(op, format!("kernel '{name}' is not defined")))?;
        let callee = Rc::new(Callee {
            symbols: kernel.op.ints("symbols").unwrap_or_default(),
            sizes: kernel.sizes,
            shapes: kernel.shapes(),
            checks: may_reach_outside(&kernel),
            scattered: kernel.op.find_all(Scatter::NAME).into_iter().map(|op| StageView::new(op).domain).collect(),
            tensors: kernel.op.body(0).args().iter().map(|arg| arg.ty().is_tensor()).collect(),
        });
        self.callees.insert(name.to_owned(), callee.clone());
        Ok(callee)
    }

    fn output(&mut self, index: usize, element: ElementType, sizes: &[Num<'c>]) -> Value<'c> {
        self.written[index] = true;
        self.checked_elements(sizes, element);
        let sizes: Vec<_> = sizes.iter().map(|size| size.value(&mut self.b)).collect();
        let ty = self.buffer_type(element);
        self.b.value(host::Output::NAME, &sizes, ty, &[("index", self.cx.i64_attr(index as i64))])
    }

    /// What no kernel wrote into an output is copied there.
    fn finish(&mut self, op: Op<'c>) -> Result<(), Error> {
        for (index, value) in op.operands().into_iter().enumerate() {
            let written = self.destinations.values().any(|place| place.index == index) && self.written[index];
            if written {
                continue;
            }
            if !value.ty().is_tensor() {
                let element = self.element(op, value)?;
                let output = self.output(index, element, &[]);
                let scalar = self.scalar(value);
                self.b.effect(host::Store::NAME, &[scalar, output], &[]);
                continue;
            }
            let tensor = self.tensor(op, value)?;
            let element = self.element(op, value)?;
            let output = self.output(index, element, &tensor.sizes);
            self.copy(&tensor, &Tensor { buffer: output, sizes: tensor.sizes.clone() });
        }
        self.b.effect(host::Return::NAME, &[], &[]);
        Ok(())
    }
}
