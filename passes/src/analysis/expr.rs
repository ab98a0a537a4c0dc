//! Size expressions in a normal form: polynomials with integer coefficients over symbols, quotients, remainders, minima and maxima.
//!
//! Two expressions that are equal as polynomials are equal as values here, so equality of sizes is `==`.
//! Coefficients saturate: no tensor has a size beyond `i64`, so what saturates is wrong anyway.

use std::collections::BTreeMap;
use std::fmt;

/// What a polynomial is a polynomial of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// A symbol, by its number in the analysis that made it.
    Symbol(u32),
    /// Quotient rounded down.
    FloorDiv(Box<Expr>, Box<Expr>),
    /// What is left of that quotient.
    Mod(Box<Expr>, Box<Expr>),
    /// The smaller one.
    Min(Box<Expr>, Box<Expr>),
    /// The larger one.
    Max(Box<Expr>, Box<Expr>),
}

/// A size expression. The key of a term is a product of atoms in order (none: the constant term); no coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr {
    terms: BTreeMap<Vec<Atom>, i64>,
}

/// Largest number of terms and atoms of an expression that is kept.
const MAX_SIZE: usize = 64;

/// What is known of a value: bounds, both included; `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Lower bound.
    pub low: Option<i64>,
    /// Upper bound.
    pub high: Option<i64>,
}

impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Self::term(Vec::new(), value)
    }
}

impl From<Atom> for Expr {
    fn from(atom: Atom) -> Self {
        Self::term(vec![atom], 1)
    }
}

impl Expr {
    fn term(key: Vec<Atom>, coefficient: i64) -> Self {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(key, coefficient);
        }
        Self { terms }
    }

    /// A symbol.
    pub fn symbol(id: u32) -> Self {
        Atom::Symbol(id).into()
    }

    /// Products of atoms and their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.terms.iter().map(|(key, &coefficient)| (key.as_slice(), coefficient))
    }

    /// The number, when it is one.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The symbol, when it is one.
    pub fn as_symbol(&self) -> Option<u32> {
        match self.terms.iter().next() {
            Some((key, 1)) if self.terms.len() == 1 => match key.as_slice() {
                [Atom::Symbol(id)] => Some(*id),
                _ => None,
            },
            _ => None,
        }
    }

    /// Sum.
    pub fn add(&self, other: &Self) -> Self {
        let mut terms = self.terms.clone();
        for (key, &coefficient) in &other.terms {
            let entry = terms.entry(key.clone()).or_insert(0);
            *entry = entry.saturating_add(coefficient);
            if *entry == 0 {
                terms.remove(key);
            }
        }
        Self { terms }
    }

    /// Difference.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.scale(-1))
    }

    /// Product with a number.
    pub fn scale(&self, factor: i64) -> Self {
        if factor == 0 {
            return Self::default();
        }
        Self { terms: self.terms.iter().map(|(key, value)| (key.clone(), value.saturating_mul(factor))).collect() }
    }

    /// Product.
    pub fn mul(&self, other: &Self) -> Self {
        let mut result = Self::default();
        for (left, x) in &self.terms {
            for (right, y) in &other.terms {
                let mut key = [left.as_slice(), right].concat();
                key.sort();
                result = result.add(&Self::term(key, x.saturating_mul(*y)));
            }
        }
        result
    }

    /// Splits into `q` and `r` with `self == q * divisor + r`, `q` as large as terms show. The divisor must be a single term.
    fn split(&self, divisor: &Self) -> Option<(Self, Self)> {
        if divisor.terms.len() != 1 {
            return None;
        }
        let (by, by_coefficient) = divisor.terms.iter().next()?;
        let (mut quotient, mut rest) = (Self::default(), Self::default());
        for (key, &coefficient) in &self.terms {
            match remove_factors(key, by) {
                Some(left) if coefficient.checked_rem(*by_coefficient) == Some(0) => {
                    quotient = quotient.add(&Self::term(left, coefficient / by_coefficient));
                }
                _ => rest = rest.add(&Self::term(key.clone(), coefficient)),
            }
        }
        Some((quotient, rest))
    }

    /// Quotient rounded down. What divides without rest is taken out first: floor((a*d + b) / d) = a + floor(b / d).
    pub fn floor_div(&self, divisor: &Self) -> Self {
        if divisor.as_constant() == Some(1) {
            return self.clone();
        }
        if self == divisor && divisor.as_constant() != Some(0) {
            return 1.into();
        }
        if let (Some(x), Some(y)) = (self.as_constant(), divisor.as_constant())
            && y > 0
        {
            return x.div_euclid(y).into();
        }
        match self.split(divisor) {
            Some((quotient, rest)) if divisor.as_constant() != Some(0) => {
                let whole = match (rest.as_constant(), divisor.as_constant()) {
                    (Some(0), _) => Self::default(),
                    (Some(x), Some(y)) if y > 0 => x.div_euclid(y).into(),
                    _ => Atom::FloorDiv(Box::new(rest), Box::new(divisor.clone())).into(),
                };
                quotient.add(&whole)
            }
            _ => Atom::FloorDiv(Box::new(self.clone()), Box::new(divisor.clone())).into(),
        }
    }

    /// Remainder of that quotient: (a*d + b) mod d = b mod d.
    pub fn modulo(&self, divisor: &Self) -> Self {
        let rest = match self.split(divisor) {
            Some((_, rest)) if divisor.as_constant() != Some(0) => rest,
            _ => self.clone(),
        };
        match (rest.as_constant(), divisor.as_constant()) {
            (Some(0), _) => Self::default(),
            (Some(x), Some(y)) if y > 0 => x.rem_euclid(y).into(),
            _ => Atom::Mod(Box::new(rest), Box::new(divisor.clone())).into(),
        }
    }

    /// The smaller one.
    pub fn minimum(&self, other: &Self) -> Self {
        match self.sub(other).as_constant() {
            Some(difference) if difference <= 0 => self.clone(),
            Some(_) => other.clone(),
            None => {
                let (a, b) = if self <= other { (self, other) } else { (other, self) };
                Atom::Min(Box::new(a.clone()), Box::new(b.clone())).into()
            }
        }
    }

    /// The larger one.
    pub fn maximum(&self, other: &Self) -> Self {
        match self.sub(other).as_constant() {
            Some(difference) if difference >= 0 => self.clone(),
            Some(_) => other.clone(),
            None => {
                let (a, b) = if self <= other { (self, other) } else { (other, self) };
                Atom::Max(Box::new(a.clone()), Box::new(b.clone())).into()
            }
        }
    }

    /// Whether a symbol occurs.
    pub fn mentions(&self, id: u32) -> bool {
        self.terms.keys().flatten().any(|atom| match atom {
            Atom::Symbol(other) => *other == id,
            Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => a.mentions(id) || b.mentions(id),
        })
    }

    /// Whether it is short enough to keep. Sizes of real programs are; text made to hurt is not, and gets a symbol instead.
    pub fn is_small(&self) -> bool {
        self.size() <= MAX_SIZE
    }

    /// Number of terms and atoms, those inside of atoms too.
    fn size(&self) -> usize {
        self.terms.keys().map(|key| 1 + key.iter().map(Atom::size).sum::<usize>()).sum()
    }

    /// Puts expressions in the place of symbols, where `value` gives one; `None` when that grows too large.
    pub fn substitute(&self, value: &dyn Fn(u32) -> Option<Expr>) -> Option<Self> {
        self.replace(&|atom| if let Atom::Symbol(id) = atom { value(*id) } else { None })
    }

    /// Puts expressions in the place of atoms, where `value` gives one; `None` when that grows too large.
    pub fn replace(&self, value: &dyn Fn(&Atom) -> Option<Expr>) -> Option<Self> {
        let mut result = Self::default();
        for (key, coefficient) in &self.terms {
            let mut product = Self::from(*coefficient);
            for atom in key {
                let factor = match value(atom) {
                    Some(given) => given,
                    None => atom.with_parts(&|part| part.replace(value))?,
                };
                product = Some(product.mul(&factor)).filter(Self::is_small)?;
            }
            result = result.add(&product);
        }
        Some(result).filter(Self::is_small)
    }

    /// The innermost minimum or maximum, if there is one.
    pub fn choice(&self) -> Option<&Atom> {
        self.terms.keys().flatten().find_map(|atom| match atom {
            Atom::Symbol(_) => None,
            Atom::Min(a, b) | Atom::Max(a, b) => a.choice().or_else(|| b.choice()).or(Some(atom)),
            Atom::FloorDiv(a, b) | Atom::Mod(a, b) => a.choice().or_else(|| b.choice()),
        })
    }

    /// Bounds, from the bounds of symbols.
    pub fn interval(&self, symbol: &dyn Fn(u32) -> Interval) -> Interval {
        let mut total = Interval::exactly(0);
        for (key, &coefficient) in &self.terms {
            let product = key.iter().fold(Interval::exactly(coefficient), |product, atom| product.mul(atom.interval(symbol)));
            total = total.add(product);
        }
        total
    }

    /// Whether every term is shown to be a multiple of a number.
    pub fn is_multiple_of(&self, number: i64) -> bool {
        number != 0 && self.terms.values().all(|coefficient| coefficient % number == 0)
    }
}

impl Atom {
    /// The same function of other expressions.
    fn with_parts(&self, part: &dyn Fn(&Expr) -> Option<Expr>) -> Option<Expr> {
        Some(match self {
            Self::Symbol(_) => self.clone().into(),
            Self::FloorDiv(a, b) => part(a)?.floor_div(&part(b)?),
            Self::Mod(a, b) => part(a)?.modulo(&part(b)?),
            Self::Min(a, b) => part(a)?.minimum(&part(b)?),
            Self::Max(a, b) => part(a)?.maximum(&part(b)?),
        })
    }

    fn size(&self) -> usize {
        match self {
            Self::Symbol(_) => 1,
            Self::FloorDiv(a, b) | Self::Mod(a, b) | Self::Min(a, b) | Self::Max(a, b) => 1 + a.size() + b.size(),
        }
    }

    fn interval(&self, symbol: &dyn Fn(u32) -> Interval) -> Interval {
        match self {
            Self::Symbol(id) => symbol(*id),
            Self::FloorDiv(a, b) => match b.as_constant() {
                Some(divisor) if divisor > 0 => a.interval(symbol).map(|bound| bound.div_euclid(divisor)),
                _ => Interval::default(),
            },
            Self::Mod(_, b) => match b.interval(symbol) {
                Interval { low: Some(low), high } if low > 0 => Interval { low: Some(0), high: high.map(|high| high - 1) },
                _ => Interval::default(),
            },
            Self::Min(a, b) => {
                let (a, b) = (a.interval(symbol), b.interval(symbol));
                let high = match (a.high, b.high) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                Interval { low: a.low.zip(b.low).map(|(a, b)| a.min(b)), high }
            }
            Self::Max(a, b) => {
                let (a, b) = (a.interval(symbol), b.interval(symbol));
                let low = match (a.low, b.low) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    (a, b) => a.or(b),
                };
                Interval { low, high: a.high.zip(b.high).map(|(a, b)| a.max(b)) }
            }
        }
    }
}

impl Interval {
    /// One value.
    pub fn exactly(value: i64) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    /// No upper bound.
    pub fn at_least(value: i64) -> Self {
        Self { low: Some(value), high: None }
    }

    fn map(self, f: impl Fn(i64) -> i64) -> Self {
        Self { low: self.low.map(&f), high: self.high.map(&f) }
    }

    fn add(self, other: Self) -> Self {
        let sum = |(a, b): (i64, i64)| a.checked_add(b);
        Self { low: self.low.zip(other.low).and_then(sum), high: self.high.zip(other.high).and_then(sum) }
    }

    /// The product; a side without bound gives one only where the signs are known.
    fn mul(self, other: Self) -> Self {
        if let (Some(a), Some(b), Some(c), Some(d)) = (self.low, self.high, other.low, other.high) {
            let products = [a.checked_mul(c), a.checked_mul(d), b.checked_mul(c), b.checked_mul(d)];
            let pick = |best: fn(i64, i64) -> i64| {
                products.into_iter().try_fold(None, |so_far: Option<i64>, product| {
                    let product = product?;
                    Some(Some(so_far.map_or(product, |so_far| best(so_far, product))))
                })
            };
            return Self { low: pick(i64::min).flatten(), high: pick(i64::max).flatten() };
        }
        let (fixed, open) = if self.low.is_some() && self.low == self.high { (self, other) } else { (other, self) };
        match fixed {
            Self { low: Some(factor), high: Some(high) } if factor == high => {
                let (low, high) = (open.low.and_then(|low| low.checked_mul(factor)), open.high.and_then(|high| high.checked_mul(factor)));
                if factor >= 0 { Self { low, high } } else { Self { low: high, high: low } }
            }
            _ => match (self.low, other.low) {
                (Some(a), Some(b)) if a >= 0 && b >= 0 => Self { low: a.checked_mul(b), high: None },
                _ => Self::default(),
            },
        }
    }
}

/// Takes the factors `by` out of a product, when it has them all.
fn remove_factors(key: &[Atom], by: &[Atom]) -> Option<Vec<Atom>> {
    let mut left = key.to_vec();
    for factor in by {
        left.remove(left.iter().position(|atom| atom == factor)?);
    }
    Some(left)
}

impl fmt::Display for Expr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return out.write_str("0");
        }
        for (position, (key, coefficient)) in self.terms.iter().enumerate() {
            if position > 0 {
                out.write_str(" + ")?;
            }
            if key.is_empty() || *coefficient != 1 {
                write!(out, "{coefficient}")?;
            }
            for (index, atom) in key.iter().enumerate() {
                if index > 0 || *coefficient != 1 {
                    out.write_str("*")?;
                }
                match atom {
                    Atom::Symbol(id) => write!(out, "s{id}")?,
                    Atom::FloorDiv(a, b) => write!(out, "floordiv({a}, {b})")?,
                    Atom::Mod(a, b) => write!(out, "mod({a}, {b})")?,
                    Atom::Min(a, b) => write!(out, "min({a}, {b})")?,
                    Atom::Max(a, b) => write!(out, "max({a}, {b})")?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(id: u32) -> Expr {
        Expr::symbol(id)
    }

    #[test]
    fn equal_polynomials_are_equal() {
        let left = s(0).add(&1.into()).mul(&s(1).add(&2.into()));
        let right = s(1).mul(&s(0)).add(&s(0).scale(2)).add(&s(1)).add(&2.into());
        assert_eq!(left, right);
        assert_eq!(left.sub(&right).as_constant(), Some(0));
        assert_ne!(left, right.add(&1.into()));
    }

    #[test]
    fn quotients_and_remainders() {
        let n = s(0).scale(6).add(&4.into());
        assert_eq!(n.floor_div(&3.into()), s(0).scale(2).add(&1.into()));
        assert_eq!(n.modulo(&3.into()).as_constant(), Some(1));
        assert_eq!(s(0).mul(&s(1)).floor_div(&s(1)), s(0));
        assert_eq!(s(0).floor_div(&4.into()).to_string(), "floordiv(s0, 4)");
        // Rounding is down also below zero: floor(-1 / 2) = -1.
        assert_eq!(Expr::from(-1).floor_div(&2.into()).as_constant(), Some(-1));
        assert!(n.is_multiple_of(2));
        assert!(!n.is_multiple_of(3));
    }

    #[test]
    fn what_grows_is_given_up() {
        let sum = (1..7).fold(Expr::from(1), |sum, id| sum.add(&s(id)));
        let power = s(0).mul(&s(0)).mul(&s(0));
        assert_eq!(power.substitute(&|id| (id == 0).then(|| sum.clone())), None);
        assert!(sum.is_small() && !sum.mul(&sum).mul(&sum).is_small());
    }

    #[test]
    fn bounds() {
        let range = |_| Interval { low: Some(2), high: Some(10) };
        let bounds = s(0).scale(-2).add(&30.into()).interval(&range);
        assert_eq!(bounds, Interval { low: Some(10), high: Some(26) });
        let open = |_| Interval::at_least(2);
        assert_eq!(s(0).mul(&s(1)).interval(&open), Interval::at_least(4));
        assert_eq!(s(0).minimum(&7.into()).interval(&open), Interval { low: Some(2), high: Some(7) });
        assert_eq!(s(0).scale(-1).interval(&open), Interval { low: None, high: Some(-2) });
    }

    #[test]
    fn substitution_normalises() {
        let expr = s(0).floor_div(&2.into());
        assert_eq!(expr.substitute(&|id| (id == 0).then(|| s(1).scale(4))), Some(s(1).scale(2)));
    }
}
