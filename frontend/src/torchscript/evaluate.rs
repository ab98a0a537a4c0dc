//! Evaluates the text with the types of a call: what is known is computed, and operators on tensors become ops.
//!
//! Methods are inlined, loops of known length are unrolled, and a condition that is known chooses its branch. What only a call
//! decides is `super::control`'s.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use strata_core::ir::{self, Block, Cx};
use strata_core::rewrite::Rewriter;

use super::error::{Eval, OTHERWISE, ScriptError, Stop};
use super::facts::Facts;
use super::journal::{Journal, Place};
use super::paths::Paths;
use super::program::Program;
use super::state::{Elements, Kept, Left};
use super::text::ast::{Expr, Stmt, StmtKind, Target, Targets};
use super::value::{Object, Shared, Value};
use super::{control, loops};
use crate::import::Input;
use crate::library::Library;
use crate::operators::Operators;

/// Statements and calls before a program is given up as endless.
const MAX_STEPS: u64 = 1_000_000;
/// Ops of a program; those of loops that are unrolled count each time.
const MAX_OPS: u64 = 1 << 18;

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
    pub weights: Vec<(Input, Elements)>,
    /// The argument of each weight.
    pub known_weights: HashMap<String, ir::Value<'c>>,
    /// Objects of the pickle that were read, by their place.
    pub objects: HashMap<*const super::pickle::Object, Value<'c>>,
    /// What is known of values of the IR.
    pub facts: Facts<'c>,
    /// Attributes that hold a tensor of the archive and were assigned to: their objects and names.
    pub assigned: Vec<(Rc<Object<'c>>, String, ir::Value<'c>)>,
    /// Lists, dicts and objects of the archive, what they held when they were read, and the way to them.
    pub state: Vec<(Place<'c>, Value<'c>, String)>,
    /// Attributes that a call before this one left.
    pub left: Vec<Left<'c>>,
    /// The ways to attributes that are numbers and kept from call to call.
    pub counted: Vec<String>,
    /// These attributes.
    pub kept: Vec<Kept<'c>>,
    /// Attributes of the archive that were read before they were assigned to.
    pub reads: HashSet<(*const Object<'c>, String)>,
    /// Those that were assigned to, whatever a call decides.
    pub writes: HashSet<(*const Object<'c>, String)>,
    /// Regions around this place whose execution only a call decides.
    pub depth: u32,
    /// What each of them changes of values around it.
    pub journals: Vec<Journal<'c>>,
    /// Lists, dicts and objects that control flow made, and those that they are copies of.
    pub copies: Vec<(Place<'c>, Vec<Place<'c>>)>,
    pub grad: bool,
    /// Entries of the dict that the call's last leaves were.
    pub entries: usize,
    /// Whether what may name one tensor twice is refused.
    pub strict: bool,
    pub calls: u32,
    steps: u64,
    /// The way that is taken where only a call decides.
    pub paths: Paths<'c>,
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
            facts: Facts::default(),
            assigned: Vec::new(),
            state: Vec::new(),
            left: Vec::new(),
            counted: Vec::new(),
            kept: Vec::new(),
            reads: HashSet::new(),
            writes: HashSet::new(),
            depth: 0,
            journals: Vec::new(),
            copies: Vec::new(),
            grad: true,
            entries: 0,
            strict: true,
            calls: 0,
            steps: 0,
            paths: Paths::default(),
            ops: 0,
            entry_name: "data.pkl".into(),
            line: 0,
        }
    }

    /// Begins anew at the end of a block, on other ways. Weights that were read stay arguments of the entry.
    pub fn restart(&mut self, block: Block<'c>, ways: &[(usize, bool)], end: Option<usize>) {
        // Values that a call before this one left are used by each evaluation.
        self.state.iter().for_each(|(place, before, _)| place.hold(before));
        let builder = Rewriter::at_end(block, self.cx.unknown());
        let fresh = Self::new(builder, self.entry, self.program, (self.operators, self.library));
        let old = std::mem::replace(self, fresh);
        self.paths = old.paths.again(ways, end, old.ops);
        (self.weights, self.known_weights) = (old.weights, old.known_weights);
        (self.left, self.counted) = (old.left, old.counted);
    }

    /// Goes to the end of a block.
    pub fn go_to_end(&mut self, block: Block<'c>) {
        self.builder = Rewriter::at_end(block, self.cx.unknown());
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
    pub fn go_to(&mut self, line: u32) {
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
                self.touch(&Place::Object(Rc::clone(object)));
                if !object.path.is_empty()
                    && let Some(Value::Tensor(old)) = object.get(name)
                    && !self.assigned.iter().any(|(known, attr, _)| Rc::ptr_eq(known, object) && attr == name)
                {
                    self.assigned.push((Rc::clone(object), name.clone(), old));
                }
                self.writes.insert((Rc::as_ptr(object), name.clone()));
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
            Expr::Complex(real, imag) => Value::Complex(*real, *imag),
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
                    let key = (Rc::as_ptr(object), name.to_owned());
                    if !object.path.is_empty() && !self.writes.contains(&key) {
                        self.reads.insert(key);
                    }
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
}
