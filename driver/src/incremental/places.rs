//! Locations outside of the key: every op and argument of a program is at a number of its function, and a table says where that was.
//!
//! `%0 = prim.neg %x loc("strata:@f":3:0)` is what passes see of the third op or argument of `@f`. A moved line then changes the table
//! and no unit. What passes make of the numbers (names around them, fusions, calls) is kept when they are put back.

use crate::database::inside;
use std::collections::HashMap;
use strata_core::ir::{Location, Module};
use strata_core::registry::Registry;
use strata_core::rewrite::Rewriter;

/// What the file of a numbered place begins with.
const MARK: &str = "strata:@";

/// A program with numbers for places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    pub text: String,
    pub places: Places,
}

/// The places of a program by function: the inside of `loc(..)` for each number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places(HashMap<String, Vec<String>>);

/// Puts numbers in the place of locations.
pub(super) fn number(registry: &'static Registry, text: &str, name: &str) -> Result<Numbered, String> {
    let context = registry.pooled_context();
    let module = Module::parse(&context, text, name).map_err(|error| error.to_string())?;
    let mut places = Places::default();
    let mut rewriter = Rewriter::before(module.op());
    rewriter.relocate(module.op(), places.next(module.op().location(), ""));
    for op in module.body().ops() {
        let function = plain(&op.str("sym_name").unwrap_or_default());
        rewriter.relocate_all(op, &mut |location| places.next(location, &function));
    }
    Ok(Numbered { text: module.op().to_text_with_locations(), places })
}

impl Places {
    fn next<'c>(&mut self, location: Location<'c>, function: &str) -> Location<'c> {
        let text = location.to_string();
        let known = self.0.entry(function.to_owned()).or_default();
        known.push(inside(&text).to_owned());
        location.cx().file_location(&format!("{MARK}{function}"), known.len() as u32 - 1, 0)
    }

    /// The text with the locations that the numbers stand for.
    pub fn put_back(&self, text: &str) -> String {
        let (mut result, mut rest, start) = (String::with_capacity(text.len()), text, format!("\"{MARK}"));
        while let Some(at) = rest.find(&start) {
            // In a string of the program the quote has a backslash before it.
            let place = (!rest[..at].ends_with('\\')).then(|| self.place(&rest[at + start.len()..])).flatten();
            let (shown, length) = place.unwrap_or((&start, 0));
            result.extend([&rest[..at], shown]);
            rest = &rest[at + start.len() + length..];
        }
        result + rest
    }

    /// The place that `f":3:0` stands for at the start of a text, and the length of that.
    fn place(&self, text: &str) -> Option<(&str, usize)> {
        let (function, rest) = text.split_once("\":")?;
        let (number, after) = rest.split_once(':')?;
        let after = after.strip_prefix('0')?;
        let place = self.0.get(function)?.get(number.parse::<usize>().ok()?)?;
        Some((place, text.len() - after.len()))
    }
}

/// A name without what would have to be escaped in a text. Functions that then have one name share one row of numbers.
fn plain(name: &str) -> String {
    name.chars().map(|char| if char.is_ascii_alphanumeric() || "_.$-".contains(char) { char } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard;

    const TEXT: &str = "module {
  func.func @f(%x: i32 loc(\"x\")) -> i32 {
    %0 = arith.addi %x, %x : i32 loc(fused[\"a\":1:2, \"b\"(unknown)])
    return %0 : i32 loc(callsite(\"c\" at \"d\":3:4))
  } loc(\"f\":9:9)
  func.func private @\"g h\"() attributes {note = \"\\\"strata:@f\\\":1:0\"} loc(unknown)
} loc(\"m\")";

    /// The text as MLIR prints it with locations.
    fn printed(text: &str) -> String {
        let context = standard().pooled_context();
        Module::parse(&context, text, "a text").expect("it parses").op().to_text_with_locations()
    }

    #[test]
    fn numbers_come_back_as_the_locations_that_they_were() {
        let numbered = number(standard(), TEXT, "test").expect("it parses");
        assert!(!numbered.text.contains("callsite"), "{}", numbered.text);
        assert_eq!(printed(&numbered.places.put_back(&numbered.text)), printed(TEXT));
    }

    #[test]
    fn moved_lines_are_the_same_numbers() {
        let moved = TEXT.replace(":1:2", ":5:6");
        let (first, second) =
            (number(standard(), TEXT, "test").expect("it parses"), number(standard(), &moved, "test").expect("it parses"));
        assert_eq!(first.text, second.text);
        assert_ne!(first.places, second.places);
    }
}
