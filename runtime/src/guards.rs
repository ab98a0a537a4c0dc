//! What a compiled form of a program assumes of a call, checked before that form is entered.
//!
//! A call is a list of [`Leaf`]s. [`Guards`] hold for a call when each leaf is as it was for the call that they were made of, or has
//! sizes that are free. Tensors are values that nobody changes, so two that share their memory need no guard.

use std::fmt;

use crate::dim_order::DimOrder;
use crate::dtype::DType;
use crate::tensor::Tensor;

/// What a call gives in one place.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Leaf<'t> {
    Tensor(&'t Tensor),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// A number that may become an input of the program.
    SymInt(i64),
    SymFloat(f64),
    /// How many items of a list follow.
    Length(usize),
    /// An optional value that is left out.
    Absent,
}

/// A size that a guard allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// This size.
    Fixed(i64),
    /// Any size from [`LEAST`] on, the same wherever the symbol stands.
    Symbol(usize),
}

/// The least size that a symbol stands for: a size of 0 or 1 is broadcast or empty, which is another program.
pub const LEAST: i64 = 2;

/// How many symbols the guards of one form have at most; further sizes stay fixed.
pub const SYMBOLS: usize = 8;

/// What is assumed of one leaf.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Guard {
    Tensor {
        dtype: DType,
        order: DimOrder,
        sizes: Vec<Size>,
    },
    Int(i64),
    Float(u64),
    Bool(bool),
    /// Any integer from [`LEAST`] on: others may be sizes of a program of their own.
    SymInt,
    /// Any number.
    SymFloat,
    Length(usize),
    Absent,
}

impl Guard {
    fn of(leaf: &Leaf<'_>) -> Guard {
        match leaf {
            Leaf::Tensor(tensor) => Guard::Tensor {
                dtype: tensor.dtype(),
                order: tensor.dim_order().clone(),
                sizes: tensor.shape().iter().map(|size| Size::Fixed(*size)).collect(),
            },
            Leaf::Int(value) | Leaf::SymInt(value) => Guard::Int(*value),
            Leaf::Float(value) | Leaf::SymFloat(value) => Guard::Float(value.to_bits()),
            Leaf::Bool(value) => Guard::Bool(*value),
            Leaf::Length(length) => Guard::Length(*length),
            Leaf::Absent => Guard::Absent,
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guard::Tensor { dtype, order, sizes } => {
                let size = |size: &Size| match size {
                    Size::Fixed(size) => size.to_string(),
                    Size::Symbol(symbol) => format!("s{symbol}"),
                };
                write!(f, "{dtype}[{}]", sizes.iter().map(size).collect::<Vec<_>>().join(", "))?;
                if order.is_row_major() { Ok(()) } else { write!(f, " in the order {order}") }
            }
            Guard::Int(value) => write!(f, "{value}"),
            Guard::Float(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Guard::Bool(value) => write!(f, "{value}"),
            Guard::SymInt => f.write_str("i64"),
            Guard::SymFloat => f.write_str("f64"),
            Guard::Length(length) => write!(f, "{length} items"),
            Guard::Absent => f.write_str("absent"),
        }
    }
}

/// What is assumed of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Guards(Vec<Guard>);

impl Guards {
    /// Guards for calls like this one, whose sizes are fixed.
    pub fn of(leaves: &[Leaf<'_>]) -> Guards {
        Guards(leaves.iter().map(Guard::of).collect())
    }

    /// One guard for each leaf.
    pub fn list(&self) -> &[Guard] {
        &self.0
    }

    /// How many symbols they have.
    pub fn symbols(&self) -> usize {
        let sizes = self.0.iter().flat_map(|guard| if let Guard::Tensor { sizes, .. } = guard { sizes.as_slice() } else { &[] });
        sizes.filter_map(|size| if let Size::Symbol(symbol) = size { Some(symbol + 1) } else { None }).max().unwrap_or(0)
    }

    /// Begins to check a call, whose leaves are given one by one.
    #[inline]
    pub fn check(&self) -> Check<'_> {
        Check { rest: self.0.iter(), symbols: [0; SYMBOLS], holds: true }
    }

    /// Why they do not hold for a call; nothing where they do.
    pub fn refusal(&self, leaves: &[Leaf<'_>]) -> Option<String> {
        if self.0.len() != leaves.len() {
            return Some(format!("{} values are given, not {}", leaves.len(), self.0.len()));
        }
        let mut check = self.check();
        self.0.iter().zip(leaves).enumerate().find_map(|(place, (guard, leaf))| {
            check.leaf(*leaf);
            (!check.holds).then(|| format!("value {place} is {}, not {guard}", Guard::of(leaf)))
        })
    }

    /// The same guards, but for these places as this call is.
    pub fn fixed_at(&self, places: &[usize], leaves: &[Leaf<'_>]) -> Guards {
        let mut guards = self.clone();
        for place in places {
            if let (Some(guard), Some(leaf)) = (guards.0.get_mut(*place), leaves.get(*place)) {
                *guard = Guard::of(leaf);
            }
        }
        guards
    }

    /// The places of the numbers that are inputs.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        let inputs = self.0.iter().enumerate().filter(|(_, guard)| matches!(guard, Guard::SymInt | Guard::SymFloat));
        inputs.map(|(place, _)| place)
    }

    /// Guards for the calls of these and for this one: sizes that differ become symbols, one for all that were and are equal, and numbers that
    /// differ become inputs where they may. Nothing where something else differs, or a size or an integer is less than [`LEAST`].
    pub fn widened(&self, leaves: &[Leaf<'_>]) -> Option<Guards> {
        if self.0.len() != leaves.len() {
            return None;
        }
        let mut symbols: Vec<(Size, i64)> = Vec::new();
        let mut widened = Vec::new();
        for (guard, leaf) in self.0.iter().zip(leaves) {
            let (Guard::Tensor { dtype, order, sizes }, Leaf::Tensor(tensor)) = (guard, leaf) else {
                widened.push(match (guard, leaf) {
                    _ if *guard == Guard::of(leaf) => guard.clone(),
                    (Guard::Float(_) | Guard::SymFloat, Leaf::SymFloat(_)) => Guard::SymFloat,
                    (Guard::Int(old), Leaf::SymInt(new)) if *old >= LEAST && *new >= LEAST => Guard::SymInt,
                    (Guard::SymInt, Leaf::SymInt(new)) if *new >= LEAST => Guard::SymInt,
                    _ => return None,
                });
                continue;
            };
            if tensor.dtype() != *dtype || tensor.dim_order() != order || tensor.shape().len() != sizes.len() {
                return None;
            }
            let size = |(old, new): (&Size, &i64)| {
                if *old == Size::Fixed(*new) {
                    return Some(*old);
                }
                if *new < LEAST || matches!(old, Size::Fixed(size) if *size < LEAST) {
                    return None;
                }
                let symbol = symbols.iter().position(|known| *known == (*old, *new)).unwrap_or_else(|| {
                    symbols.push((*old, *new));
                    symbols.len() - 1
                });
                Some(Size::Symbol(symbol))
            };
            let sizes = sizes.iter().zip(tensor.shape()).map(size).collect::<Option<_>>()?;
            widened.push(Guard::Tensor { dtype: *dtype, order: order.clone(), sizes });
        }
        (symbols.len() <= SYMBOLS).then_some(Guards(widened))
    }
}

impl fmt::Display for Guards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(Guard::to_string).collect::<Vec<_>>().join(", "))
    }
}

/// A check that is under way.
#[derive(Debug)]
pub struct Check<'g> {
    rest: std::slice::Iter<'g, Guard>,
    /// The sizes that symbols stand for; 0 before the first one is seen.
    symbols: [i64; SYMBOLS],
    holds: bool,
}

impl Check<'_> {
    /// The call's next leaf.
    #[inline]
    pub fn leaf(&mut self, leaf: Leaf<'_>) {
        let Some(guard) = self.rest.next() else {
            self.holds = false;
            return;
        };
        self.holds = self.holds
            && match (guard, leaf) {
                (Guard::Tensor { dtype, order, sizes }, Leaf::Tensor(tensor)) => {
                    tensor.dtype() == *dtype && self.sizes(sizes, tensor.shape()) && tensor.dim_order() == order
                }
                (Guard::Int(wanted), Leaf::Int(value) | Leaf::SymInt(value)) => *wanted == value,
                (Guard::Float(wanted), Leaf::Float(value) | Leaf::SymFloat(value)) => *wanted == value.to_bits(),
                (Guard::SymInt, Leaf::SymInt(value)) => value >= LEAST,
                (Guard::SymFloat, Leaf::SymFloat(_)) => true,
                (Guard::Bool(wanted), Leaf::Bool(value)) => *wanted == value,
                (Guard::Length(wanted), Leaf::Length(length)) => *wanted == length,
                (Guard::Absent, Leaf::Absent) => true,
                _ => false,
            };
    }

    #[inline]
    fn sizes(&mut self, wanted: &[Size], shape: &[i64]) -> bool {
        let symbols = &mut self.symbols;
        let mut fits = |(wanted, size): (&Size, &i64)| match wanted {
            Size::Fixed(wanted) => wanted == size,
            Size::Symbol(symbol) => {
                let known = &mut symbols[*symbol];
                if *known == 0 {
                    *known = *size;
                }
                *known == *size && *size >= LEAST
            }
        };
        wanted.len() == shape.len() && wanted.iter().zip(shape).all(&mut fits)
    }

    /// Whether the guards hold for the leaves that were given, which are all.
    #[inline]
    pub fn holds(&self) -> bool {
        self.holds && self.rest.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(sizes: &[i64]) -> Tensor {
        Tensor::uninit(DType::F32, sizes).unwrap()
    }

    fn holds(guards: &Guards, leaves: &[Leaf<'_>]) -> bool {
        let mut check = guards.check();
        leaves.iter().for_each(|leaf| check.leaf(*leaf));
        assert_eq!(check.holds(), guards.refusal(leaves).is_none());
        check.holds()
    }

    #[test]
    fn a_call_like_the_first_is_let_in_and_no_other() {
        let (a, b, long) = (tensor(&[4, 8]), tensor(&[4, 9]), Tensor::uninit(DType::I64, &[4, 8]).unwrap());
        let guards = Guards::of(&[Leaf::Tensor(&a), Leaf::Int(3), Leaf::Float(0.5), Leaf::Length(2), Leaf::Absent]);
        let call =
            |tensor, int, float, length| [Leaf::Tensor(tensor), Leaf::Int(int), Leaf::Float(float), Leaf::Length(length), Leaf::Absent];
        assert!(holds(&guards, &call(&a, 3, 0.5, 2)));
        for other in [call(&b, 3, 0.5, 2), call(&long, 3, 0.5, 2), call(&a, 4, 0.5, 2), call(&a, 3, 0.25, 2), call(&a, 3, 0.5, 1)] {
            assert!(!holds(&guards, &other));
        }
        assert!(!holds(&guards, &call(&a, 3, 0.5, 2)[..4]));
        assert_eq!(guards.refusal(&call(&b, 3, 0.5, 2)).unwrap(), "value 0 is f32[4, 9], not f32[4, 8]");
    }

    #[test]
    fn numbers_that_differ_become_inputs_where_they_may() {
        let first = Guards::of(&[Leaf::SymFloat(0.5), Leaf::SymInt(3), Leaf::Int(7)]);
        assert!(holds(&first, &[Leaf::SymFloat(0.5), Leaf::SymInt(3), Leaf::Int(7)]));
        let leaves = [Leaf::SymFloat(0.25), Leaf::SymInt(4), Leaf::Int(7)];
        let guards = first.widened(&leaves).unwrap();
        assert_eq!((guards.to_string(), guards.numbers().collect::<Vec<_>>()), ("f64, i64, 7".to_owned(), vec![0, 1]));
        assert!(holds(&guards, &leaves) && holds(&guards, &[Leaf::SymFloat(f64::NAN), Leaf::SymInt(2), Leaf::Int(7)]));
        for other in [[Leaf::SymFloat(0.5), Leaf::SymInt(1), Leaf::Int(7)], [Leaf::SymFloat(0.5), Leaf::SymInt(3), Leaf::Int(8)]] {
            assert!(!holds(&guards, &other) && guards.widened(&other).is_none());
        }
        assert_eq!(guards.fixed_at(&[0], &leaves).to_string(), "0.25, i64, 7");
    }

    #[test]
    fn sizes_that_differ_become_symbols_and_equal_ones_share_them() {
        let (a, b) = (tensor(&[4, 8]), tensor(&[4, 4]));
        let (c, d) = (tensor(&[6, 8]), tensor(&[6, 6]));
        let guards = Guards::of(&[Leaf::Tensor(&a), Leaf::Tensor(&b)]).widened(&[Leaf::Tensor(&c), Leaf::Tensor(&d)]).unwrap();
        assert_eq!(guards.to_string(), "f32[s0, 8], f32[s0, s0]");
        assert_eq!(guards.symbols(), 1);
        let call = |a: &[i64], b: &[i64]| holds(&guards, &[Leaf::Tensor(&tensor(a)), Leaf::Tensor(&tensor(b))]);
        assert!(call(&[9, 8], &[9, 9]) && call(&[4, 8], &[4, 4]));
        assert!(!call(&[9, 8], &[9, 8]) && !call(&[9, 7], &[9, 9]) && !call(&[1, 8], &[1, 1]));
        // Sizes that were equal by chance part.
        let (e, f) = (tensor(&[5, 8]), tensor(&[5, 3]));
        assert_eq!(guards.widened(&[Leaf::Tensor(&e), Leaf::Tensor(&f)]).unwrap().to_string(), "f32[s0, 8], f32[s0, s1]");
        // One and zero are programs of their own, and so is another rank.
        for other in [tensor(&[1, 8]), tensor(&[0, 8]), tensor(&[4])] {
            assert!(guards.widened(&[Leaf::Tensor(&other), Leaf::Tensor(&b)]).is_none());
        }
    }
}
