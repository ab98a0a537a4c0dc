//! Sizes that are computed at run time, checked where they are made.
//!
//! A size comes from the call's shapes or from data, so its arithmetic can overflow, and memory for the wrapped number is smaller than
//! what kernels write. Products are the only arithmetic that can lose a size silently (a sum of two sizes that wraps is negative):
//! each is guarded where it is computed, and `host.elements` checks the sizes of each tensor, where negative ones are seen. Behind these
//! every number of elements or bytes is exact. What is checked once is not checked again.

use super::convert::Converter;
use crate::num::Num;
use std::collections::HashMap;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Block, Builder, ElementType, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::scf;
use strata_dialects::host;

/// Details that a message can have.
const DETAILS: usize = 4;

/// What has been checked, by the block that it was checked in.
#[derive(Default)]
pub(super) struct Sizes<'c> {
    /// Products of two numbers.
    products: HashMap<(Block<'c>, Num<'c>, Num<'c>), Num<'c>>,
    /// Elements of tensors of these sizes, each of so many bytes.
    elements: HashMap<(Block<'c>, Vec<Num<'c>>, i64), Num<'c>>,
}

impl<'c> Converter<'c> {
    /// What was made before in this block, or at the top of the program, which is left by no branch.
    fn made(&self, find: impl Fn(&Sizes<'c>, Block<'c>) -> Option<Num<'c>>) -> Option<Num<'c>> {
        [self.b.insertion_block()?, self.top].into_iter().find_map(|block| find(&self.known, block))
    }

    /// Number of elements of a tensor that there is.
    pub fn elements(&mut self, sizes: &[Num<'c>]) -> Num<'c> {
        sizes.iter().fold(Num::Const(1), |total, &size| total.mul(&mut self.b, size))
    }

    /// Number of elements of a tensor that is to be.
    pub fn checked_elements(&mut self, sizes: &[Num<'c>], element: ElementType) -> Num<'c> {
        let bytes = element.bytes() as i64;
        if sizes.iter().all(|size| matches!(size, Num::Const(_))) {
            return self.elements(sizes);
        }
        if let Some(known) = self.made(|known, block| known.elements.get(&(block, sizes.to_vec(), bytes)).copied()) {
            return known;
        }
        let (mut operands, shown) = shown(sizes, 0);
        operands.extend(sizes.iter().filter(|size| matches!(size, Num::Const(_))).map(|size| size.value(&mut self.b)));
        let text = format!("no tensor of elements of {bytes} bytes has the sizes [{shown}] (in {})", self.origin);
        let attrs = [("bytes", self.cx.i64_attr(bytes)), ("text", self.cx.str_attr(&text))];
        let all = Num::Value(self.b.value(host::Elements::NAME, &operands, self.cx.index(), &attrs));
        if let Some(block) = self.b.insertion_block() {
            self.known.elements.insert((block, sizes.to_vec(), bytes), all);
        }
        all
    }

    /// Sees to it that a tensor has as many elements in other sizes.
    pub fn same_elements(&mut self, from: &[Num<'c>], to: &[Num<'c>]) {
        if same_factors(from, to) {
            return;
        }
        // What is too large for a byte each is no size of a tensor that there is.
        let (from, all) = (self.elements(from).value(&mut self.b), self.checked_elements(to, ElementType::I8).value(&mut self.b));
        let (details, shown) = shown(to, 1);
        let test = arith::cmpi(&mut self.b, CmpIPredicate::Eq, from, all);
        let text = format!("a tensor of {{0}} elements cannot have the sizes [{shown}] (in {})", self.origin);
        let operands = [&[test, from], details.as_slice()].concat();
        self.b.effect(host::Guard::NAME, &operands, &[("text", self.cx.str_attr(&text))]);
    }

    /// Writes something that computes tensors of so many elements, and nothing else; it runs where one has some. Loops over one size need
    /// not look whether another is zero then.
    pub fn unless_empty(&mut self, elements: &[Num<'c>], build: impl FnOnce(&mut Builder<'c>)) {
        let open: Vec<_> = elements.iter().filter_map(|num| if let Num::Value(value) = num { Some(*value) } else { None }).collect();
        if elements.is_empty() || elements.iter().any(|num| matches!(num, Num::Const(1..))) {
            return build(&mut self.b);
        }
        let Some(any) = open.into_iter().reduce(|any, all| if any == all { any } else { arith::ori(&mut self.b, any, all) }) else {
            return;
        };
        let zero = self.b.const_index(0);
        let test = arith::cmpi(&mut self.b, CmpIPredicate::Ne, any, zero);
        scf::when(&mut self.b, test, build);
    }

    /// The call ends where something is written into tensors without elements, by a kernel that does not run then and finds no index out of
    /// bounds. `results` are their elements, `updates` the sizes of what is written.
    pub fn guard_places(&mut self, results: &[Num<'c>], updates: &[Num<'c>]) {
        let is_some = |num: &Num<'c>| matches!(num, Num::Const(1..));
        if results.iter().any(is_some) || updates.contains(&Num::Const(0)) {
            return;
        }
        let zero = self.b.const_index(0);
        let updates = self.elements(updates).value(&mut self.b);
        let mut holds = arith::cmpi(&mut self.b, CmpIPredicate::Eq, updates, zero);
        for result in results {
            let result = result.value(&mut self.b);
            let some = arith::cmpi(&mut self.b, CmpIPredicate::Ne, result, zero);
            holds = arith::ori(&mut self.b, holds, some);
        }
        let text = format!("index out of bounds: {{0}} elements are written into a tensor of none (in {})", self.origin);
        self.b.effect(host::Guard::NAME, &[holds, updates], &[("text", self.cx.str_attr(&text))]);
    }

    /// A product of two numbers that does not wrap.
    pub fn product(&mut self, lhs: Num<'c>, rhs: Num<'c>) -> Num<'c> {
        // The first details of the message are the numbers that are not known.
        let (lhs, rhs) = if matches!(lhs, Num::Const(_)) { (rhs, lhs) } else { (lhs, rhs) };
        let small = |num| matches!(num, Num::Const(-1..=1));
        if small(lhs) || small(rhs) || matches!((lhs, rhs), (Num::Const(_), Num::Const(_))) {
            return lhs.mul(&mut self.b, rhs);
        }
        if let Some(known) = self.made(|known, block| known.products.get(&(block, lhs, rhs)).copied()) {
            return known;
        }
        let (_, shown) = shown(&[lhs, rhs], 0);
        let text = format!("the product of the sizes [{shown}] is too large (in {})", self.origin);
        let operands = [lhs.value(&mut self.b), rhs.value(&mut self.b)];
        let product = Num::Value(self.b.value(host::Product::NAME, &operands, self.cx.index(), &[("text", self.cx.str_attr(&text))]));
        if let Some(block) = self.b.insertion_block() {
            self.known.products.insert((block, lhs, rhs), product);
        }
        product
    }

    /// The results of a map of symbols, none of them wrapped.
    pub fn checked_numbers(&mut self, map: AffineMap<'c>, symbols: &[Value<'c>]) -> Vec<Num<'c>> {
        map.results().into_iter().map(|expr| self.checked_number(expr, symbols)).collect()
    }

    fn checked_number(&mut self, expr: AffineExpr<'c>, symbols: &[Value<'c>]) -> Num<'c> {
        match expr.kind() {
            AffineKind::Constant(number) => Num::Const(number),
            AffineKind::Symbol(symbol) => Num::Value(symbols[symbol]),
            AffineKind::Dim(_) => Num::Const(0),
            AffineKind::Add(lhs, rhs) => {
                let (lhs, rhs) = (self.checked_number(lhs, symbols), self.checked_number(rhs, symbols));
                lhs.add(&mut self.b, rhs)
            }
            AffineKind::Mul(lhs, rhs) => {
                let (lhs, rhs) = (self.checked_number(lhs, symbols), self.checked_number(rhs, symbols));
                self.product(lhs, rhs)
            }
            AffineKind::FloorDiv(lhs, rhs) => {
                let (lhs, rhs) = (self.checked_number(lhs, symbols), self.checked_number(rhs, symbols));
                lhs.floor_div(&mut self.b, rhs)
            }
            AffineKind::CeilDiv(lhs, rhs) => {
                let (lhs, rhs) = (self.checked_number(lhs, symbols), self.checked_number(rhs, symbols));
                lhs.ceil_div(&mut self.b, rhs)
            }
            AffineKind::Mod(lhs, rhs) => {
                let (lhs, rhs) = (self.checked_number(lhs, symbols), self.checked_number(rhs, symbols));
                lhs.modulo(&mut self.b, rhs)
            }
        }
    }
}

/// Divisions of whole numbers: a CPU stops the process where the divisor is 0, or where the quotient is one more than the largest number.
const DIVISIONS: [&str; 7] = [
    arith::CeilDivSI::NAME,
    arith::CeilDivUI::NAME,
    arith::DivSI::NAME,
    arith::DivUI::NAME,
    arith::FloorDivSI::NAME,
    arith::RemSI::NAME,
    arith::RemUI::NAME,
];

impl<'c> Converter<'c> {
    /// The call ends where a number is divided by one by which it cannot be.
    pub fn guard_division(&mut self, op: Op<'c>, operands: &[Value<'c>]) {
        let &[dividend, divisor] = operands else { return };
        if !DIVISIONS.contains(&op.name()) || is_positive(divisor) {
            return;
        }
        let ty = divisor.ty();
        let mut constant = |number: i64| if ty.is_index() { self.b.const_index(number) } else { self.b.const_int(ty, number) };
        let least = ty.element_type().map_or(i64::MIN, |element| i64::MIN >> (64 - element.bits().clamp(1, 64)));
        let [zero, minus, least] = [constant(0), constant(-1), constant(least)];
        let [some, other, larger] =
            [(divisor, zero), (divisor, minus), (dividend, least)].map(|(lhs, rhs)| arith::cmpi(&mut self.b, CmpIPredicate::Ne, lhs, rhs));
        let fits = arith::ori(&mut self.b, other, larger);
        let holds = arith::andi(&mut self.b, some, fits);
        let text = format!("a whole number cannot be divided by this one, which may be 0 (in {})", self.origin);
        self.b.effect(host::Guard::NAME, &[holds], &[("text", self.cx.str_attr(&text))]);
    }
}

/// Whether a number is known to be one by which others can be divided.
fn is_positive(number: Value<'_>) -> bool {
    let constant = |value: Value<'_>| matches!(Num::of(value), Num::Const(1..));
    constant(number) || number.defining_op().is_some_and(|op| op.isa::<arith::MaxSI>() && op.operands().into_iter().any(constant))
}

/// The sizes that are not known, which are details of a message from number `first` on, and how all are written in it.
fn shown<'c>(sizes: &[Num<'c>], first: usize) -> (Vec<Value<'c>>, String) {
    let (mut details, mut shown) = (Vec::new(), Vec::new());
    for size in sizes {
        shown.push(match *size {
            Num::Const(size) => size.to_string(),
            Num::Value(value) => {
                details.push(value);
                let number = first + details.len() - 1;
                if number < DETAILS { format!("{{{number}}}") } else { "?".into() }
            }
        });
    }
    (details, shown.join(", "))
}

/// Whether two lists of sizes are products of the same numbers.
fn same_factors<'c>(some: &[Num<'c>], others: &[Num<'c>]) -> bool {
    let factors = |sizes: &[Num<'c>]| {
        let (mut known, mut open, mut todo) = (Some(1i64), Vec::new(), sizes.to_vec());
        while let Some(size) = todo.pop() {
            match size {
                Num::Const(size) => known = known.and_then(|known| known.checked_mul(size)),
                Num::Value(value) => match value.defining_op() {
                    Some(op) if op.isa::<host::Product>() => todo.extend(op.operands().into_iter().map(Num::Value)),
                    Some(op) if op.isa::<arith::Constant>() => match op.attr("value").and_then(|value| value.as_int()) {
                        Some(size) => todo.push(Num::Const(size)),
                        None => open.push(value),
                    },
                    _ => open.push(value),
                },
            }
        }
        (known, open)
    };
    let ((known, open), (other, mut rest)) = (factors(some), factors(others));
    let found = open.iter().all(|value| rest.iter().position(|other| other == value).map(|at| rest.swap_remove(at)).is_some());
    known.is_some() && known == other && found && rest.is_empty()
}
