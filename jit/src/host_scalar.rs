//! Numbers outside of tensors: arguments of calls and of operators, numbers that a traced closure asks tensors for; and what is asked of
//! them.

use std::cmp::Ordering;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use strata_runtime::Leaf;

use crate::argument::Scalar;
use crate::graph::{Trace, Traced};
use crate::tree::{Mapper, TensorTree, Visitor};

/// A number of the host: an argument of a call, or what [`crate::Tensor::item`] gives. Operators take it as it is.
///
/// As an argument it becomes an input of the program when a call has another one than the calls before, integers from 2 on. What a traced
/// closure asks of it, a comparison or the value, only one number answers: then each has a form of its own, as each `f64` has.
///
/// Each question about a number of a tensor decides what the closure does next; later calls with the same answers run what was compiled
/// for them. Where `item` fails, the call of the function returns the error, and the number is NaN.
///
/// ```
/// use strata::{HostScalar, Tensor, jit};
///
/// let f = jit(|x: &Tensor, scale: &HostScalar| x.mul_scalar(scale));
/// let x = Tensor::new(&[1.0f32, 2.0], &[2])?;
/// for scale in [0.5, 0.25, 3.0] {
///     assert_eq!(f.call(&x, &scale.into())?.to_vec::<f32>()?, [scale as f32, 2.0 * scale as f32]);
/// }
/// assert_eq!(f.entries(), 2);
/// # Ok::<(), strata::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HostScalar {
    pub(crate) value: Scalar,
    pub(crate) origin: Origin,
}

/// Where a number is from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// It is part of the program.
    Known,
    /// A tensor: its value in the record.
    Item(Arc<Trace>, usize),
    /// The call.
    Input(Traced),
}

/// What is asked of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Question {
    Compared(Comparison, f64),
    Value,
    Truth,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Comparison {
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What a question is answered with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Answer {
    Bool(bool),
    Int(i64),
    /// The bits of a float.
    Float(u64),
}

fn float(value: Scalar) -> f64 {
    match value {
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) => value,
        Scalar::Bool(value) => f64::from(u8::from(value)),
    }
}

impl Question {
    pub fn answer(self, value: Scalar) -> Option<Answer> {
        Some(match self {
            Question::Compared(comparison, than) => {
                let order = float(value).partial_cmp(&than);
                Answer::Bool(match comparison {
                    Comparison::Eq => order == Some(Ordering::Equal),
                    Comparison::Lt => order == Some(Ordering::Less),
                    Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    Comparison::Gt => order == Some(Ordering::Greater),
                    Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                })
            }
            Question::Truth => Answer::Bool(float(value) != 0.0),
            Question::Value => match value {
                Scalar::Int(value) => Answer::Int(value),
                Scalar::Float(value) => Answer::Float(value.to_bits()),
                Scalar::Bool(value) => Answer::Bool(value),
            },
        })
    }
}

impl HostScalar {
    pub(crate) fn of(value: Option<Scalar>) -> HostScalar {
        HostScalar { value: value.unwrap_or(Scalar::Float(f64::NAN)), origin: Origin::Known }
    }

    /// The number as a call has it.
    pub(crate) fn leaf(&self) -> Leaf<'static> {
        match self.value {
            Scalar::Int(value) => Leaf::SymInt(value),
            Scalar::Float(value) => Leaf::SymFloat(value),
            Scalar::Bool(value) => Leaf::Bool(value),
        }
    }

    /// Whether it is one of a closure that is being traced.
    pub(crate) fn is_traced(&self) -> bool {
        !matches!(self.origin, Origin::Known)
    }

    fn ask(&self, question: Question, place: &'static Location<'static>) -> Option<Answer> {
        let answer = question.answer(self.value)?;
        match &self.origin {
            Origin::Known => {}
            Origin::Item(trace, scalar) => trace.ask(*scalar, question, answer, place),
            Origin::Input(traced) => traced.trace.pin(traced.value, question, place),
        }
        Some(answer)
    }

    fn compare(&self, comparison: Comparison, than: f64, place: &'static Location<'static>) -> bool {
        self.ask(Question::Compared(comparison, than), place) == Some(Answer::Bool(true))
    }

    /// Whether it is not 0.
    #[track_caller]
    pub fn truth(&self) -> bool {
        self.ask(Question::Truth, Location::caller()) == Some(Answer::Bool(true))
    }

    /// The number itself. What follows is compiled for each value: prefer comparisons.
    #[track_caller]
    pub fn value(&self) -> Scalar {
        self.value_at(Location::caller())
    }

    pub(crate) fn value_at(&self, place: &'static Location<'static>) -> Scalar {
        self.ask(Question::Value, place);
        self.value
    }
}

impl<S: Into<Scalar>> From<S> for HostScalar {
    fn from(value: S) -> HostScalar {
        HostScalar::of(Some(value.into()))
    }
}

impl From<&HostScalar> for HostScalar {
    fn from(number: &HostScalar) -> HostScalar {
        number.clone()
    }
}

impl TensorTree for HostScalar {
    #[inline]
    fn visit<'t>(&'t self, visitor: &mut impl Visitor<'t>) {
        visitor.number(self);
    }

    fn map(&self, change: &mut (impl Mapper + ?Sized)) -> HostScalar {
        change.number(self)
    }
}

impl PartialEq<f64> for HostScalar {
    #[track_caller]
    fn eq(&self, than: &f64) -> bool {
        self.compare(Comparison::Eq, *than, Location::caller())
    }
}

impl PartialOrd<f64> for HostScalar {
    #[track_caller]
    fn partial_cmp(&self, than: &f64) -> Option<Ordering> {
        let place = Location::caller();
        let orders = [(Comparison::Lt, Ordering::Less), (Comparison::Eq, Ordering::Equal), (Comparison::Gt, Ordering::Greater)];
        orders.into_iter().find(|(comparison, _)| self.compare(*comparison, *than, place)).map(|(_, order)| order)
    }

    #[track_caller]
    fn lt(&self, than: &f64) -> bool {
        self.compare(Comparison::Lt, *than, Location::caller())
    }

    #[track_caller]
    fn le(&self, than: &f64) -> bool {
        self.compare(Comparison::Le, *than, Location::caller())
    }

    #[track_caller]
    fn gt(&self, than: &f64) -> bool {
        self.compare(Comparison::Gt, *than, Location::caller())
    }

    #[track_caller]
    fn ge(&self, than: &f64) -> bool {
        self.compare(Comparison::Ge, *than, Location::caller())
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Compared(comparison, than) => {
                let sign = match comparison {
                    Comparison::Eq => "==",
                    Comparison::Lt => "<",
                    Comparison::Le => "<=",
                    Comparison::Gt => ">",
                    Comparison::Ge => ">=",
                };
                write!(f, "{sign} {than}")
            }
            Question::Truth => f.write_str("not 0"),
            Question::Value => f.write_str("the value"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Bool(value) => write!(f, "{value}"),
            Answer::Int(value) => write!(f, "{value}"),
            Answer::Float(bits) => write!(f, "{}", f64::from_bits(*bits)),
        }
    }
}
