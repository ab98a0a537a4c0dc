//! What the text says, as trees.

use std::rc::Rc;

/// A file: classes and functions by name.
#[derive(Debug, Default, PartialEq)]
pub struct File {
    /// `class` items.
    pub classes: Vec<Rc<Class>>,
    /// `def` items.
    pub functions: Vec<Rc<Function>>,
}

/// A class.
#[derive(Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// What it is derived from: `Module`, `Enum`, `NamedTuple`, `Interface` or nothing.
    pub base: Option<String>,
    /// `NAME : TYPE = VALUE` and `NAME = VALUE`, in order.
    pub fields: Vec<Field>,
    /// Its methods.
    pub methods: Vec<Rc<Function>>,
}

/// An attribute of a class.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Option<Expr>,
    /// The value of a constant, of a list of names, or of a member of an enum.
    pub value: Option<Expr>,
}

/// A function or method.
#[derive(Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The parameters, `self` among them.
    pub params: Vec<Param>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// The line of its `def`.
    pub line: u32,
}

/// A parameter.
#[derive(Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Option<Expr>,
    /// Its default.
    pub default: Option<Expr>,
}

/// A statement.
#[derive(Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Its line.
    pub line: u32,
}

/// The kinds of statements.
#[derive(Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are Python's")]
pub enum StmtKind {
    Assign(Targets, Expr),
    Expr(Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A loop over `range(EXPR)`.
    For(String, Expr, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    With(Expr, Option<String>, Vec<Stmt>),
    Return(Option<Expr>),
    Def(Rc<Function>),
    Pass,
}

/// One target, or one for each part of a tuple.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "explained above")]
pub enum Targets {
    One(Target),
    Parts(Vec<Target>),
}

/// What is assigned to.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A variable.
    Name(String),
    /// An attribute of an object.
    Attr(Expr, String),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names are Python's")]
pub enum Expr {
    Name(String),
    Int(i64),
    Float(f64),
    /// The imaginary part.
    Imaginary(f64),
    /// The real and the imaginary part.
    Complex(f64, f64),
    Str(String),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Attr(Box<Expr>, String),
    Subscript(Box<Expr>, Box<Expr>),
    Negative(Box<Expr>),
    Call(Box<Call>),
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What is called.
    pub callee: Expr,
    /// Arguments by place.
    pub args: Vec<Expr>,
    /// Arguments by name.
    pub named: Vec<(String, Expr)>,
    /// The line of its opening parenthesis.
    pub line: u32,
}

impl Expr {
    /// `a.b.c` as its text.
    pub fn dotted(&self) -> Option<String> {
        match self {
            Expr::Name(name) => Some(name.clone()),
            Expr::Attr(of, name) => Some(format!("{}.{name}", of.dotted()?)),
            _ => None,
        }
    }
}

impl Targets {
    /// All of them.
    pub fn all(&self) -> &[Target] {
        match self {
            Targets::One(target) => std::slice::from_ref(target),
            Targets::Parts(targets) => targets,
        }
    }
}

/// Whether statements mention a variable.
pub fn mentions(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Assign(targets, value) => {
            value.mentions(name) || targets.all().iter().any(|target| matches!(target, Target::Attr(of, _) if of.mentions(name)))
        }
        StmtKind::Expr(value) => value.mentions(name),
        StmtKind::Return(value) => value.as_ref().is_some_and(|value| value.mentions(name)),
        StmtKind::If(condition, yes, no) => condition.mentions(name) || mentions(yes, name) || mentions(no, name),
        StmtKind::For(_, of, body) | StmtKind::While(of, body) | StmtKind::With(of, _, body) => of.mentions(name) || mentions(body, name),
        StmtKind::Def(function) => mentions(&function.body, name),
        StmtKind::Pass => false,
    })
}

impl Expr {
    fn mentions(&self, name: &str) -> bool {
        match self {
            Expr::Name(known) => known == name,
            Expr::Int(_) | Expr::Float(_) | Expr::Imaginary(_) | Expr::Complex(..) | Expr::Str(_) => false,
            Expr::List(items) | Expr::Tuple(items) => items.iter().any(|item| item.mentions(name)),
            Expr::Dict(items) => items.iter().any(|(key, value)| key.mentions(name) || value.mentions(name)),
            Expr::Attr(of, _) | Expr::Negative(of) => of.mentions(name),
            Expr::Subscript(of, index) => of.mentions(name) || index.mentions(name),
            Expr::Call(call) => {
                let named = call.named.iter().map(|(_, value)| value);
                call.callee.mentions(name) || call.args.iter().chain(named).any(|value| value.mentions(name))
            }
        }
    }
}
