//! Numbers that a traced closure asks tensors for, and what it asks of them.

use std::cmp::Ordering;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::argument::Scalar;
use crate::graph::Trace;

/// A number of a tensor: what [`crate::Tensor::item`] gives. Inside of a traced closure each comparison, and each value that is read, decides
/// what the closure does next; later calls with the same answers run what was compiled for them.
///
/// Where `item` fails, the call of the function returns the error, and the number is NaN.
#[derive(Debug, Clone)]
pub struct HostScalar {
    pub(crate) value: Scalar,
    /// The record that it is of, and its value there.
    pub(crate) asked: Option<(Arc<Trace>, usize)>,
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
        HostScalar { value: value.unwrap_or(Scalar::Float(f64::NAN)), asked: None }
    }

    fn ask(&self, question: Question, place: &'static Location<'static>) -> Option<Answer> {
        let answer = question.answer(self.value)?;
        if let Some((trace, scalar)) = &self.asked {
            trace.ask(*scalar, question, answer, place);
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
        self.ask(Question::Value, Location::caller());
        self.value
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
