//! Evaluates the text with the types of a call: what is known is computed, and operators on tensors become ops.
//!
//! Methods are inlined, loops of known length are unrolled, and a condition that is known chooses its branch. What only a call
//! decides is `super::control`'s.

use std::collections::HashMap;
use std::rc::Rc;

use strata_core::ir::{self, Block, Cx};
use strata_core::rewrite::Rewriter;

use super::error::{Eval, OTHERWISE, ScriptError, Stop};
use super::journal::{Journal, Place};
use super::program::{Found, Program};
use super::text::ast::{Call, Expr, Function, Stmt, StmtKind, Target, Targets};
use super::value::{FIELDS, Object, Shared, Value};
use super::{control, loops};
use crate::import::Input;
use crate::library::Library;
use crate::operators::Operators;
use crate::pt2::weights::Weight;

/// Statements and calls before a program is given up as endless.
const MAX_STEPS: u64 = 1_000_000;
/// Ops of a program; those of loops that are unrolled count each time.
const MAX_OPS: u64 = 1 << 18;
/// Functions in each other.
const MAX_CALLS: u32 = 100;

/// What the evaluation of a program shares.
pub(super) struct Evaluator<'p, 'c> {
    pub cx: Cx<'c>,
    pub builder: Rewriter<'c>,
    pub program: &'p Program,
    pub operators: &'p dyn Operators,
    /// Operators that the user registers.
    pub library: Option<&'p Library<'c>>,
    /// The entry's block, whose arguments the weights become when they are first read.
    pub entry: Block<'c>,
    pub weights: Vec<(Input, Weight)>,
    /// The argument of each weight.
    pub known_weights: HashMap<String, ir::Value<'c>>,
    /// Objects of the pickle that were read, by their place.
    pub objects: HashMap<*const super::pickle::Object, Value<'c>>,
    /// Numbers of known tensors of rank 0, and of tensors that a size became.
    pub numbers: HashMap<ir::Value<'c>, Value<'c>>,
    /// Attributes that hold a tensor of the archive and were assigned to: their objects and names.
    pub assigned: Vec<(Rc<Object<'c>>, String, ir::Value<'c>)>,
    /// Regions around this place whose execution only a call decides.
    pub depth: u32,
    /// What each of them changes of values around it.
    pub journals: Vec<Journal<'c>>,
    pub grad: bool,
    calls: u32,
    steps: u64,
    pub ops: u64,
    /// The file and line being evaluated.
    pub entry_name: Rc<str>,
    pub line: u32,
}

/// The variables of a function.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame<'c> {
    pub variables: HashMap<String, Value<'c>>,
}

/// The arguments of a call: those by place, and those by name.
pub type Given<'c> = (Vec<Value<'c>>, Vec<(String, Value<'c>)>);

/// How a list of statements ends.
pub(super) enum Flow<'c> {
    Next,
    /// As `Next`, and the statements behind have run.
    Through,
    Return(Value<'c>),
}

impl<'p, 'c> Evaluator<'p, 'c> {
    pub fn new(builder: Rewriter<'c>, entry: Block<'c>, program: &'p Program, known: (&'p dyn Operators, Option<&'p Library<'c>>)) -> Self {
        Self {
            cx: builder.cx(),
            builder,
            program,
            operators: known.0,
            library: known.1,
            entry,
            weights: Vec::new(),
            known_weights: HashMap::new(),
            objects: HashMap::new(),
            numbers: HashMap::new(),
            assigned: Vec::new(),
            depth: 0,
            journals: Vec::new(),
            grad: true,
            calls: 0,
            steps: 0,
            ops: 0,
            entry_name: "data.pkl".into(),
            line: 0,
        }
    }

    /// The error of this place.
    pub fn refusal(&self, why: impl Into<String>) -> ScriptError {
        ScriptError::Program { entry: self.entry_name.to_string(), line: self.line, why: why.into(), help: OTHERWISE }
    }

    /// Gives an error without a place this one.
    pub fn placed<T>(&self, result: Eval<T>) -> Eval<T> {
        result.map_err(|stop| match stop {
            Stop::Here(why) => Stop::Refused(self.refusal(why)),
            stop => stop,
        })
    }

    pub fn step(&mut self) -> Eval<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.ops > MAX_OPS {
            return Err(Stop::Here(format!(
                "the program takes more than {MAX_STEPS} steps or {MAX_OPS} operators when its loops are unrolled"
            )));
        }
        Ok(())
    }

    /// Goes to a line, which ops made from now on are said to come from.
    fn go_to(&mut self, line: u32) {
        self.line = line;
        let location = self.cx.file_location(&self.entry_name, line, 1);
        self.builder.set_location(location);
    }

    /// Runs statements.
    pub fn run(&mut self, body: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
        for (place, stmt) in body.iter().enumerate() {
            self.go_to(stmt.line);
            let flow = self.step().and_then(|()| self.statement(stmt, &body[place + 1..], frame));
            match self.placed(flow)? {
                Flow::Next => {}
                Flow::Through => return Ok(Flow::Next),
                returned => return Ok(returned),
            }
        }
        Ok(Flow::Next)
    }

    /// Runs a statement; `rest` are those behind it.
    fn statement(&mut self, stmt: &Stmt, rest: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
        match &stmt.kind {
            StmtKind::Pass => {}
            StmtKind::Expr(expr) => drop(self.expr(expr, frame)?),
            StmtKind::Assign(Targets::One(target), value) => {
                let value = self.expr(value, frame)?;
                self.assign(target, value, frame)?;
            }
            StmtKind::Assign(Targets::Parts(targets), value) => {
                let value = self.expr(value, frame)?;
                let parts = value.items().filter(|parts| parts.len() == targets.len());
                let parts = parts.ok_or_else(|| format!("{} is not {} parts", value.kind(), targets.len()))?;
                for (target, part) in targets.iter().zip(parts) {
                    self.assign(target, part, frame)?;
                }
            }
            StmtKind::Return(value) => {
                let value = value.as_ref().map_or(Ok(Value::None), |value| self.expr(value, frame))?;
                return Ok(Flow::Return(value));
            }
            StmtKind::Def(function) => {
                let around = frame.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                frame.variables.insert(function.name.clone(), Value::Closure(Rc::clone(function), Rc::new(around)));
            }
            StmtKind::If(condition, yes, no) => {
                let condition = self.expr(condition, frame)?;
                return match self.truth(&condition)? {
                    Value::Bool(true) => self.run(yes, frame),
                    Value::Bool(false) => self.run(no, frame),
                    Value::Number(condition) => control::branch(self, condition, [yes, no], rest, frame),
                    other => Err(format!("{} is no condition", other.kind()).into()),
                };
            }
            StmtKind::For(name, count, body) => {
                let count = self.expr(count, frame)?;
                return loops::for_loop(self, name, &count, body, frame);
            }
            StmtKind::While(condition, body) => return loops::while_loop(self, condition, body, frame),
            StmtKind::With(context, name, body) => {
                let context = self.expr(context, frame)?;
                let entered = self.method(&context, "__enter__", Vec::new(), Vec::new())?;
                if let Some(name) = name {
                    frame.variables.insert(name.clone(), entered);
                }
                let flow = self.run(body, frame)?;
                self.method(&context, "__exit__", vec![Value::None, Value::None, Value::None], Vec::new())?;
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn assign(&mut self, target: &Target, value: Value<'c>, frame: &mut Frame<'c>) -> Eval<()> {
        match target {
            Target::Name(name) => drop(frame.variables.insert(name.clone(), value)),
            Target::Attr(of, name) => {
                let of = self.expr(of, frame)?;
                let Value::Object(object) = &of else { return Err(format!("{} has no attributes", of.kind()).into()) };
                self.touch(Place::Object(Rc::clone(object)));
                if !object.path.is_empty()
                    && let Some(Value::Tensor(old)) = object.get(name)
                    && !self.assigned.iter().any(|(known, attr, _)| Rc::ptr_eq(known, object) && attr == name)
                {
                    self.assigned.push((Rc::clone(object), name.clone(), old));
                }
                object.set(name, value);
            }
        }
        Ok(())
    }

    /// A condition: known, or an `i1`.
    pub fn truth(&mut self, value: &Value<'c>) -> Eval<Value<'c>> {
        Ok(match value {
            Value::Tensor(_) => return self.number_of(value, "bool"),
            Value::None => Value::Bool(false),
            Value::Int(value) => Value::Bool(*value != 0),
            Value::Float(value) => Value::Bool(*value != 0.0),
            other => other.clone(),
        })
    }

    pub fn exprs(&mut self, exprs: &[Expr], frame: &mut Frame<'c>) -> Eval<Vec<Value<'c>>> {
        exprs.iter().map(|expr| self.expr(expr, frame)).collect()
    }

    pub fn list(&self, items: Vec<Value<'c>>) -> Value<'c> {
        Value::List(Shared::new(self.depth, items))
    }

    /// The value of an expression.
    pub fn expr(&mut self, expr: &Expr, frame: &mut Frame<'c>) -> Eval<Value<'c>> {
        Ok(match expr {
            Expr::Int(value) => Value::Int(*value),
            Expr::Float(value) => Value::Float(*value),
            Expr::Imaginary(value) => Value::Complex(0.0, *value),
            Expr::Str(text) => Value::text(text),
            Expr::List(items) => {
                let items = self.exprs(items, frame)?;
                self.list(items)
            }
            Expr::Tuple(items) => Value::Tuple(self.exprs(items, frame)?.into()),
            Expr::Dict(items) => {
                let items = items.iter().map(|(key, value)| Ok((self.expr(key, frame)?, self.expr(value, frame)?)));
                let items = items.collect::<Eval<Vec<_>>>()?;
                Value::Dict(Shared::new(self.depth, items))
            }
            Expr::Negative(of) => match self.expr(of, frame)? {
                Value::Int(value) => Value::Int(value.wrapping_neg()),
                Value::Float(value) => Value::Float(-value),
                Value::Complex(real, imag) => Value::Complex(-real, -imag),
                other => return Err(format!("{} has no negative in the text", other.kind()).into()),
            },
            Expr::Name(name) => match frame.variables.get(name) {
                Some(value) => value.clone(),
                None => match name.as_str() {
                    "None" => Value::None,
                    "True" => Value::Bool(true),
                    "False" => Value::Bool(false),
                    "inf" => Value::Float(f64::INFINITY),
                    "nan" => Value::Float(f64::NAN),
                    "infj" => Value::Complex(0.0, f64::INFINITY),
                    "nanj" => Value::Complex(0.0, f64::NAN),
                    _ => return Err(format!("there is no variable `{name}` here").into()),
                },
            },
            Expr::Attr(of, name) => self.attribute(expr, of, name, frame)?,
            Expr::Subscript(of, index) => {
                let (of, index) = (self.expr(of, frame)?, self.expr(index, frame)?);
                if of.is_apart() {
                    return Err(format!("it reads an item of {}", Value::Apart.kind()).into());
                }
                self.subscript(&of, &index)?
            }
            Expr::Call(call) => self.call(call, frame)?,
        })
    }

    fn attribute(&mut self, expr: &Expr, of: &Expr, name: &str, frame: &mut Frame<'c>) -> Eval<Value<'c>> {
        let root = expr.dotted().filter(|text| {
            let head = text.split('.').next().unwrap_or_default();
            matches!(head, "CONSTANTS" | "__torch__" | "torch") && !frame.variables.contains_key(head)
        });
        if let Some(text) = root {
            if let Some(place) = text.strip_prefix("CONSTANTS.c").and_then(|place| place.parse::<usize>().ok()) {
                let constant = self.program.constants.get(place).cloned().ok_or_else(|| format!("there is no constant {place}"))?;
                return self.unpickle(&constant, &format!("constants.{place}"), "constants", None);
            }
            // A member of an enum, or a function as a value.
            if let Some((class, member)) = text.rsplit_once('.')
                && let Some(found) = self.program.class(class)?
                && let Some(field) = found.item.fields.iter().find(|field| field.name == member)
                && let Some(value) = &field.value
            {
                let value = self.expr(value, &mut Frame::default())?;
                return Ok(match found.item.base.as_deref() {
                    Some("Enum") => Value::Member(text.as_str().into(), Rc::new(value)),
                    _ => value,
                });
            }
            return Ok(Value::text(&text));
        }
        let of = self.expr(of, frame)?;
        self.attr(&of, name)
    }

    /// An attribute of a value.
    pub fn attr(&mut self, of: &Value<'c>, name: &str) -> Eval<Value<'c>> {
        match of {
            Value::Object(object) => {
                if let Some(value) = object.get(name) {
                    return Ok(value);
                }
                // A constant of its class.
                if let Some(found) = self.program.class(&object.class)?
                    && let Some(field) = found.item.fields.iter().find(|field| field.name == name)
                    && let Some(value) = &field.value
                {
                    return self.expr(&value.clone(), &mut Frame::default());
                }
                Err(format!("an object of `{}` has no attribute `{name}`", object.class).into())
            }
            Value::Member(full, value) => match name {
                "value" => Ok((**value).clone()),
                "name" => Ok(Value::text(full.rsplit('.').next().unwrap_or_default())),
                _ => Err(format!("a member of an enum has no attribute `{name}`").into()),
            },
            other => self.property(other, name),
        }
    }

    fn call(&mut self, call: &Call, frame: &mut Frame<'c>) -> Eval<Value<'c>> {
        self.step()?;
        let here = self.line;
        if call.line != here {
            self.go_to(call.line);
        }
        if let Expr::Attr(of, name) = &call.callee {
            match call.callee.dotted().filter(|text| is_global(text, frame)) {
                Some(text) => return self.global(&text, call, frame),
                None => {
                    let of = self.expr(of, frame)?;
                    let (args, named) = self.arguments(call, frame)?;
                    self.go_to(call.line);
                    return self.method(&of, name, args, named);
                }
            }
        }
        match &call.callee {
            Expr::Name(name) if !frame.variables.contains_key(name) => self.word(name, call, frame),
            callee => {
                let callee = self.expr(callee, frame)?;
                let (args, named) = self.arguments(call, frame)?;
                self.called(&callee, args, named)
            }
        }
    }

    pub fn arguments(&mut self, call: &Call, frame: &mut Frame<'c>) -> Eval<Given<'c>> {
        let args = self.exprs(&call.args, frame)?;
        let named = call.named.iter().map(|(name, value)| Ok((name.clone(), self.expr(value, frame)?)));
        let named = named.collect::<Eval<Vec<_>>>()?;
        if args.iter().chain(named.iter().map(|(_, value)| value)).any(Value::is_apart) {
            return Err(format!("an argument is {}", Value::Apart.kind()).into());
        }
        Ok((args, named))
    }

    /// A call of `torch.*`, `ops.*` or `__torch__.*`.
    fn global(&mut self, text: &str, call: &Call, frame: &mut Frame<'c>) -> Eval<Value<'c>> {
        let (args, named) = self.arguments(call, frame)?;
        self.go_to(call.line);
        if text.starts_with("__torch__.") {
            return self.named_function(text, args, named);
        }
        if let Some(name) = text.strip_prefix("torch.") {
            return self.operator("aten", name, args, named);
        }
        match text.strip_prefix("ops.").and_then(|name| name.split_once('.')) {
            Some((library, name)) => self.operator(library, name, args, named),
            None => Err(format!("`{text}` is not known").into()),
        }
    }

    /// Calls a function, a class, or a method of the archive by its qualified name.
    fn named_function(&mut self, text: &str, args: Vec<Value<'c>>, named: Vec<(String, Value<'c>)>) -> Eval<Value<'c>> {
        if let Some(class) = text.strip_suffix(".__new__") {
            return Ok(Value::Object(Rc::new(Object {
                class: class.into(),
                path: String::new(),
                attrs: Shared::new(self.depth, Vec::new()),
            })));
        }
        if let Some(found) = self.program.function(text)? {
            return self.invoke(&found, None, args, named);
        }
        if let Some(found) = self.program.class(text)? {
            if found.item.base.as_deref() == Some("NamedTuple") {
                return self.named_tuple(text, &found.item.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>(), args);
            }
            return Err(format!("`{text}` is made by a call of its class").into());
        }
        Err(format!("the archive has no function `{text}`").into())
    }

    pub fn named_tuple(&mut self, class: &str, fields: &[String], args: Vec<Value<'c>>) -> Eval<Value<'c>> {
        if fields.len() != args.len() {
            return Err(format!("`{class}` has {} fields, and {} are given", fields.len(), args.len()).into());
        }
        let mut attrs = vec![(FIELDS.to_owned(), Value::None)];
        attrs.extend(fields.iter().cloned().zip(args));
        Ok(Value::Object(Rc::new(Object { class: class.into(), path: String::new(), attrs: Shared::new(self.depth, attrs) })))
    }

    /// Calls a value.
    pub fn called(&mut self, callee: &Value<'c>, args: Vec<Value<'c>>, named: Vec<(String, Value<'c>)>) -> Eval<Value<'c>> {
        match callee {
            Value::Str(name) if name.starts_with("__torch__.") => self.named_function(name, args, named),
            Value::Closure(function, around) => {
                let mut frame = Frame { variables: around.iter().cloned().collect() };
                for (param, value) in function.params.iter().zip(args) {
                    frame.variables.insert(param.name.clone(), value);
                }
                let function = Rc::clone(function);
                self.body(&function, frame)
            }
            other => Err(format!("{} is called", other.kind()).into()),
        }
    }

    /// Calls a method of a value.
    pub fn method(&mut self, of: &Value<'c>, name: &str, args: Vec<Value<'c>>, named: Vec<(String, Value<'c>)>) -> Eval<Value<'c>> {
        let Value::Object(object) = of else { return Err(format!("{} has no method `{name}`", of.kind()).into()) };
        let found = self.program.method(&object.class, name)?;
        let found = found.ok_or_else(|| format!("`{}` has no method `{name}`: it is torchbind, packed, or lost", object.class))?;
        self.invoke(&found, Some(of.clone()), args, named)
    }

    /// Evaluates a function of the archive.
    fn invoke(
        &mut self,
        found: &Found<Function>,
        of: Option<Value<'c>>,
        args: Vec<Value<'c>>,
        named: Vec<(String, Value<'c>)>,
    ) -> Eval<Value<'c>> {
        let function = &*found.item;
        let mut frame = Frame::default();
        let given = of.into_iter().chain(args);
        let mut count = 0;
        for (param, value) in function.params.iter().zip(given) {
            frame.variables.insert(param.name.clone(), value);
            count += 1;
        }
        for (name, value) in named {
            frame.variables.insert(name, value);
        }
        let place = (Rc::clone(&self.entry_name), self.line);
        self.entry_name = Rc::clone(&found.entry);
        for param in function.params.iter().skip(count) {
            if frame.variables.contains_key(&param.name) {
                continue;
            }
            let default =
                param.default.as_ref().ok_or_else(|| format!("`{}` is not given its argument `{}`", function.name, param.name))?;
            let value = self.expr(default, &mut Frame::default())?;
            frame.variables.insert(param.name.clone(), value);
        }
        let result = self.body(function, frame);
        self.entry_name = place.0;
        self.go_to(place.1);
        result
    }

    fn body(&mut self, function: &Function, mut frame: Frame<'c>) -> Eval<Value<'c>> {
        if self.calls >= MAX_CALLS {
            return Err(format!("more than {MAX_CALLS} functions call each other").into());
        }
        self.calls += 1;
        let flow = self.run(&function.body, &mut frame);
        self.calls -= 1;
        match flow? {
            Flow::Return(value) => Ok(value),
            Flow::Next | Flow::Through => Ok(Value::None),
        }
    }
}

/// Whether a dotted name is of PyTorch or of the archive, and no variable's.
fn is_global(text: &str, frame: &Frame<'_>) -> bool {
    let head = text.split('.').next().unwrap_or_default();
    matches!(head, "torch" | "ops" | "__torch__") && !frame.variables.contains_key(head)
}
