//! Symbolic integers and conditions: a tree, and the reader of sympy's `srepr` form in which archives store it.

use std::fmt;

use serde::Deserialize;
use strata_dialects::aten::{Operator, op};

use super::token::{Cursor, Token};

/// Parts of an expression whose powers are written out as products; a text has at most 2^16 bytes.
const MAX_WRITTEN: usize = 1 << 14;

/// An expression over symbols.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Expr {
    /// A constant.
    Int(i64),
    /// A constant fraction.
    Rational(i64, i64),
    /// A constant that is not an integer.
    Float(f64),
    /// A constant condition.
    Bool(bool),
    /// A named unknown: `s77` comes with the inputs, `u0` with the data.
    Symbol(String),
    /// A function of expressions.
    Call(Func, Vec<Expr>),
}

/// The functions that symbolic shapes use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "sympy's own names")]
pub enum Func {
    Add,
    Mul,
    Pow,
    FloorDiv,
    CleanDiv,
    CeilDiv,
    IntTrueDiv,
    FloatTrueDiv,
    Mod,
    PythonMod,
    Max,
    Min,
    Where,
    ToFloat,
    TruncToInt,
    RoundToInt,
    FloorToInt,
    CeilToInt,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Not,
    /// A function of floats, by PyTorch's operator on tensors.
    Function(Operator),
}

/// sympy's and PyTorch's names of each function, and how many operands it takes at least and at most.
const FUNCS: &[(&str, Func, usize, usize)] = &[
    ("Add", Func::Add, 1, 1024),
    ("Mul", Func::Mul, 1, 1024),
    ("Pow", Func::Pow, 2, 2),
    ("PowByNatural", Func::Pow, 2, 2),
    ("FloorDiv", Func::FloorDiv, 2, 2),
    ("CleanDiv", Func::CleanDiv, 2, 2),
    ("CeilDiv", Func::CeilDiv, 2, 2),
    ("IntTrueDiv", Func::IntTrueDiv, 2, 2),
    ("FloatTrueDiv", Func::FloatTrueDiv, 2, 2),
    ("Mod", Func::Mod, 2, 2),
    ("PythonMod", Func::PythonMod, 2, 2),
    ("Max", Func::Max, 1, 1024),
    ("Min", Func::Min, 1, 1024),
    ("sym_max", Func::Max, 2, 2),
    ("sym_min", Func::Min, 2, 2),
    ("Where", Func::Where, 3, 3),
    ("ToFloat", Func::ToFloat, 1, 1),
    ("TruncToInt", Func::TruncToInt, 1, 1),
    ("RoundToInt", Func::RoundToInt, 1, 1),
    ("FloorToInt", Func::FloorToInt, 1, 1),
    ("CeilToInt", Func::CeilToInt, 1, 1),
    ("Equality", Func::Eq, 2, 2),
    ("Eq", Func::Eq, 2, 2),
    ("Unequality", Func::Ne, 2, 2),
    ("Ne", Func::Ne, 2, 2),
    ("StrictLessThan", Func::Lt, 2, 2),
    ("LessThan", Func::Le, 2, 2),
    ("StrictGreaterThan", Func::Gt, 2, 2),
    ("GreaterThan", Func::Ge, 2, 2),
    ("And", Func::And, 1, 1024),
    ("Or", Func::Or, 1, 1024),
    ("Not", Func::Not, 1, 1),
    ("sym_not", Func::Not, 1, 1),
    ("FloatPow", Func::Function(op::POW_TENSOR_TENSOR), 2, 2),
    ("TruncToFloat", Func::Function(op::TRUNC), 1, 1),
    ("OpaqueUnaryFn_sqrt", Func::Function(op::SQRT), 1, 1),
    ("OpaqueUnaryFn_cos", Func::Function(op::COS), 1, 1),
    ("OpaqueUnaryFn_cosh", Func::Function(op::COSH), 1, 1),
    ("OpaqueUnaryFn_sin", Func::Function(op::SIN), 1, 1),
    ("OpaqueUnaryFn_sinh", Func::Function(op::SINH), 1, 1),
    ("OpaqueUnaryFn_tan", Func::Function(op::TAN), 1, 1),
    ("OpaqueUnaryFn_tanh", Func::Function(op::TANH), 1, 1),
    ("OpaqueUnaryFn_asin", Func::Function(op::ASIN), 1, 1),
    ("OpaqueUnaryFn_acos", Func::Function(op::ACOS), 1, 1),
    ("OpaqueUnaryFn_atan", Func::Function(op::ATAN), 1, 1),
    ("OpaqueUnaryFn_exp", Func::Function(op::EXP), 1, 1),
    ("OpaqueUnaryFn_log", Func::Function(op::LOG), 1, 1),
    ("OpaqueUnaryFn_asinh", Func::Function(op::ASINH), 1, 1),
    ("OpaqueUnaryFn_log2", Func::Function(op::LOG2), 1, 1),
    ("Abs", Func::Function(op::ABS), 1, 1),
    ("sym_float", Func::ToFloat, 1, 1),
    ("sym_sqrt", Func::Function(op::SQRT), 1, 1),
    ("sqrt", Func::Function(op::SQRT), 1, 1),
    ("trunc", Func::TruncToInt, 1, 1),
    ("floor", Func::FloorToInt, 1, 1),
    ("ceil", Func::CeilToInt, 1, 1),
];

impl Func {
    /// The function of a name that takes so many operands.
    pub(super) fn named(name: &str, operands: usize) -> Result<Self, String> {
        let (_, func, least, most) = FUNCS.iter().find(|row| row.0 == name).ok_or_else(|| format!("the function `{name}` is not known"))?;
        match (*least..=*most).contains(&operands) {
            true => Ok(*func),
            false => Err(format!("the function `{name}` does not take {operands} operands")),
        }
    }

    fn name(self) -> &'static str {
        FUNCS.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }
}

impl TryFrom<String> for Expr {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl Expr {
    /// Reads sympy's `srepr` form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut cursor = Cursor::new(text)?;
        let expr = parse(&mut cursor)?;
        cursor.end()?;
        expr.check_powers()?;
        Ok(expr)
    }

    /// Powers in powers say much in few words: what they are as products is bounded.
    pub(super) fn check_powers(&self) -> Result<(), String> {
        match self.written_out() {
            0..=MAX_WRITTEN => Ok(()),
            count => Err(format!("its powers written out have {count} parts, more than {MAX_WRITTEN}")),
        }
    }

    fn written_out(&self) -> usize {
        match self {
            Self::Call(Func::Pow, operands) => {
                // Larger exponents are written out nowhere.
                let times = operands.get(1).and_then(Self::as_int).filter(|times| (1..=64).contains(times)).unwrap_or(1);
                operands.first().map_or(1, Self::written_out).saturating_mul(times as usize)
            }
            Self::Call(_, operands) => operands.iter().map(Self::written_out).fold(1, usize::saturating_add),
            _ => 1,
        }
    }

    /// The constant value, when there is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// Calls `visit` for every symbol, repeated ones too.
    pub fn symbols<'a>(&'a self, visit: &mut impl FnMut(&'a str)) {
        match self {
            Self::Symbol(name) => visit(name),
            Self::Call(_, operands) => operands.iter().for_each(|operand| operand.symbols(visit)),
            _ => {}
        }
    }
}

fn parse(cursor: &mut Cursor) -> Result<Expr, String> {
    let name = match cursor.next()? {
        Token::Name(name) => name,
        token => return Err(format!("a function name is expected, not {token:?}")),
    };
    match name.as_str() {
        "true" => return Ok(Expr::Bool(true)),
        "false" => return Ok(Expr::Bool(false)),
        _ => cursor.expect("(")?,
    }
    let expr = match name.as_str() {
        "Symbol" | "Dummy" => symbol(cursor)?,
        "Integer" => Expr::Int(integer(cursor)?),
        "Zero" | "One" | "NegativeOne" => Expr::Int(match name.as_str() {
            "Zero" => 0,
            "One" => 1,
            _ => -1,
        }),
        "Rational" => rational(cursor)?,
        "Half" => Expr::Rational(1, 2),
        "Float" => float(cursor)?,
        _ => {
            cursor.enter()?;
            let operands = operands(cursor)?;
            cursor.leave();
            return Ok(Expr::Call(Func::named(&name, operands.len())?, operands));
        }
    };
    cursor.expect(")")?;
    Ok(expr)
}

/// Operands up to and with the closing parenthesis.
fn operands(cursor: &mut Cursor) -> Result<Vec<Expr>, String> {
    let mut operands = Vec::new();
    while !cursor.take(")") {
        operands.push(parse(cursor)?);
        if !cursor.take(",") {
            cursor.expect(")")?;
            break;
        }
    }
    Ok(operands)
}

fn symbol(cursor: &mut Cursor) -> Result<Expr, String> {
    let name = match cursor.next()? {
        Token::Text(name) => name,
        token => return Err(format!("a symbol's name is expected, not {token:?}")),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(format!("{name:?} is not a symbol's name"));
    }
    assumptions(cursor)?;
    Ok(Expr::Symbol(name))
}

/// `, positive=True, integer=True`: sympy's assumptions say nothing that the ranges do not.
fn assumptions(cursor: &mut Cursor) -> Result<(), String> {
    while cursor.take(",") {
        match (cursor.next()?, cursor.take("="), cursor.next()?) {
            (Token::Name(_), true, Token::Name(_) | Token::Int(_)) => {}
            _ => return Err("an assumption has the form `name=value`".to_owned()),
        }
    }
    Ok(())
}

fn integer(cursor: &mut Cursor) -> Result<i64, String> {
    let negative = cursor.take("-");
    match cursor.next()? {
        Token::Int(value) if negative => Ok(-value),
        Token::Int(value) => Ok(value),
        token => Err(format!("an integer is expected, not {token:?}")),
    }
}

fn rational(cursor: &mut Cursor) -> Result<Expr, String> {
    let above = integer(cursor)?;
    cursor.expect(",")?;
    match integer(cursor)? {
        below if below > 0 => Ok(Expr::Rational(above, below)),
        below => Err(format!("{below} is not the denominator of a fraction")),
    }
}

fn float(cursor: &mut Cursor) -> Result<Expr, String> {
    let value = match cursor.next()? {
        Token::Text(text) => text.parse().map_err(|_| format!("{text:?} is not a number"))?,
        token => return Err(format!("a number in quotes is expected, not {token:?}")),
    };
    assumptions(cursor)?;
    Ok(Expr::Float(value))
}

impl fmt::Display for Expr {
    /// The `srepr` form without assumptions, which [`Expr::parse`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "Integer({value})"),
            Self::Rational(above, below) => write!(f, "Rational({above}, {below})"),
            Self::Float(value) => write!(f, "Float('{value:?}')"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Symbol(name) => write!(f, "Symbol('{name}')"),
            Self::Call(func, operands) => {
                write!(f, "{}(", func.name())?;
                for (place, operand) in operands.iter().enumerate() {
                    write!(f, "{}{operand}", if place == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}
