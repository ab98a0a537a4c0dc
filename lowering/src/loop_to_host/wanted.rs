//! Tensors of which nothing is made. The maxima of a softmax over no elements are as many as its lines, and the result has none: where
//! all that kernels make of a tensor is empty, because of dims that it has not, the tensor is empty too.

use super::convert::Converter;
use crate::num::Num;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops;

/// Kernels in a row that are looked at.
const DEPTH: usize = 2;

/// So many combinations of sizes are looked at.
const MOST: usize = 4;

/// Something is made of a tensor where in one of the lists no size is 0.
type Readers<'c> = Vec<Vec<Num<'c>>>;

impl<'c> Converter<'c> {
    /// Elements of a kernel's result, or none where nothing is made of it.
    pub fn wanted(&mut self, result: Value<'c>, sizes: &[Num<'c>], elements: Num<'c>) -> Num<'c> {
        let Some(readers) = self.readers(result, sizes, DEPTH).filter(|_| matches!(elements, Num::Value(_))) else { return elements };
        let zero = self.b.const_index(0);
        let mut any = None;
        for sizes in readers {
            let mut all = None;
            for size in sizes {
                let size = size.value(&mut self.b);
                let some = arith::cmpi(&mut self.b, CmpIPredicate::Ne, size, zero);
                all = Some(all.map_or(some, |all| arith::andi(&mut self.b, all, some)));
            }
            let Some(all) = all else { return elements };
            any = Some(any.map_or(all, |any| arith::ori(&mut self.b, any, all)));
        }
        let Some(any) = any else { return elements };
        let elements = elements.value(&mut self.b);
        Num::Value(arith::select(&mut self.b, any, elements, zero))
    }

    /// The sizes, beside those given, by which all that is made of a result may be empty; nothing where that is not to be seen.
    fn readers(&mut self, result: Value<'c>, sizes: &[Num<'c>], depth: usize) -> Option<Readers<'c>> {
        let symbolic = sizes.iter().any(|size| matches!(size, Num::Value(_)));
        if depth == 0 || !symbolic || self.is_destination(result) {
            return None;
        }
        let block = result.defining_op()?.block();
        let mut found = Readers::new();
        for reader in result.uses().into_iter().map(|user| user.op) {
            if !reader.isa::<loops::Call>() || reader.block() != block {
                return None;
            }
            for (made, dims) in self.made_by(reader)? {
                let more: Vec<_> = dims.into_iter().filter(|size| !sizes.contains(size)).collect();
                let further = self.readers(made, &[sizes, &more].concat(), depth - 1).unwrap_or_else(|| vec![Vec::new()]);
                for list in further {
                    let list = [more.clone(), list].concat();
                    if list.is_empty() {
                        return None;
                    }
                    if !found.contains(&list) {
                        found.push(list);
                    }
                }
            }
        }
        (1..=MOST).contains(&found.len()).then_some(found)
    }

    /// The results of a call that is not converted yet, each with those of its sizes that are numbers known by now.
    fn made_by(&mut self, call: Op<'c>) -> Option<Vec<(Value<'c>, Vec<Num<'c>>)>> {
        let name = call.attr("callee").and_then(|attr| attr.as_symbol())?;
        let (callee, arguments) = (self.callee(call, &name).ok()?, call.operands());
        let symbol = |at: usize| self.known_scalar(*arguments.get(usize::try_from(*callee.symbols.get(at)?).ok()?)?);
        let sizes = |shape: &AffineMap<'c>| {
            let size = |expr: AffineExpr<'c>| match expr.kind() {
                AffineKind::Symbol(at) => symbol(at).map(Num::Value),
                _ => None,
            };
            shape.results().into_iter().filter_map(size).collect()
        };
        Some(call.results().into_iter().zip(callee.shapes.get(arguments.len()..)?.iter().map(sizes)).collect())
    }
}
