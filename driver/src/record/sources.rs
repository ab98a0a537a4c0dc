//! Where ops come from: the operators of the captured program that their locations name.

use std::collections::HashMap;
use strata_core::ir::{Location, Op};
use strata_core::rewrite::Rewriter;
use strata_report::Source;

/// The longest text of a level that is kept, in bytes: a page with more cannot be scrolled through.
const LONGEST: usize = 2 << 20;

/// The file that numbered locations name.
const FILE: &str = "strata";

/// What MLIR's names of locations begin with.
const ALIAS: &str = "#loc";

/// All sources that were met, each once.
#[derive(Default)]
pub(super) struct Sources {
    list: Vec<Source>,
    known: HashMap<Source, usize>,
}

impl Sources {
    pub fn into_list(self) -> Vec<Source> {
        self.list
    }

    /// The sources of an op and of all ops in it.
    pub fn within(&mut self, op: Op<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        op.walk(&mut |op| found.extend(self.of(op.location())));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The text of a module with the sources of each line, and how many lines were too many.
    pub fn lines(&mut self, module: Op<'_>) -> (String, Vec<Vec<usize>>, usize) {
        let (numbered, locations) = numbered(module);
        let sources: Vec<Vec<usize>> = locations.into_iter().map(|location| self.of(location)).collect();
        let (aliases, numbered): (Vec<&str>, Vec<&str>) = numbered.lines().partition(|line| line.starts_with(ALIAS));
        let numbers: HashMap<&str, usize> = aliases.into_iter().filter_map(alias).collect();
        let (mut text, mut lines, mut left_out) = (String::new(), Vec::new(), 0);
        for line in numbered {
            // What is left out is the end, not a long line in the middle.
            if left_out > 0 || text.len() + line.len() > LONGEST {
                left_out += 1;
                continue;
            }
            let (line, location) = without_locations(line);
            text += &line;
            text.push('\n');
            let at = location.and_then(|location| numbers.get(location).copied().or_else(|| number(location)));
            lines.push(at.and_then(|at| sources.get(at)).cloned().unwrap_or_default());
        }
        (text, lines, left_out)
    }

    fn of(&mut self, location: Location<'_>) -> Vec<usize> {
        let mut found: Vec<usize> = location.parts().into_iter().filter_map(|part| self.number(source(part)?)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn number(&mut self, source: Source) -> Option<usize> {
        let next = self.list.len();
        let number = *self.known.entry(source.clone()).or_insert(next);
        if number == next {
            self.list.push(source);
        }
        Some(number)
    }
}

/// What a location names, if anything.
fn source(location: Location<'_>) -> Option<Source> {
    let mut names = location.names().into_iter();
    let (file, line) = location.file_line().unwrap_or_default();
    let source = Source { name: names.next().unwrap_or_default(), module: names.next().unwrap_or_default(), file, line };
    (source != Source::default()).then_some(source)
}

/// The text of a module whose locations are numbers, and what the numbers stand for. The module is as it was afterwards.
fn numbered<'c>(module: Op<'c>) -> (String, Vec<Location<'c>>) {
    let (cx, mut ops) = (module.cx(), Vec::new());
    module.walk(&mut |op| ops.push(op));
    let arguments = ops.iter().flat_map(|op| op.regions()).flat_map(|region| region.blocks()).flat_map(|block| block.args());
    let arguments: Vec<_> = arguments.map(|argument| (argument, argument.location())).collect();
    let locations: Vec<_> = ops.iter().map(|op| op.location()).collect();
    let mut rewriter = Rewriter::before(module);
    for (number, op) in ops.iter().enumerate() {
        rewriter.relocate(*op, cx.file_location(FILE, number as u32, 0));
    }
    arguments.iter().for_each(|(argument, _)| rewriter.relocate_arg(*argument, module.location()));
    let text = module.to_text_with_locations();
    ops.iter().zip(&locations).for_each(|(op, location)| rewriter.relocate(*op, *location));
    arguments.into_iter().for_each(|(argument, location)| rewriter.relocate_arg(argument, location));
    (text, locations)
}

/// The name and the number of a line `#loc3 = loc("strata":7:0)`.
fn alias(line: &str) -> Option<(&str, usize)> {
    let (name, location) = line.split_once(" = loc(")?;
    Some((name, number(location.strip_suffix(')')?)?))
}

/// The number in `"strata":7:0`.
fn number(location: &str) -> Option<usize> {
    location.strip_prefix('"')?.strip_prefix(FILE)?.strip_prefix("\":")?.strip_suffix(":0")?.parse().ok()
}

/// A line without its locations, and the last of them.
fn without_locations(line: &str) -> (String, Option<&str>) {
    const START: &str = " loc(";
    let (mut text, mut rest, mut last) = (String::with_capacity(line.len()), line, None);
    while let Some((before, found)) = rest.split_once(START) {
        text += before;
        match found.split_once(')') {
            Some((location, after)) if location.starts_with(ALIAS) || number(location).is_some() => (last, rest) = (Some(location), after),
            // A text of the program that looks like one.
            _ => {
                text += START;
                rest = found;
            }
        }
    }
    (text + rest, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard;
    use strata_core::ir::Module;

    const TEXT: &str = "module {
  func.func @f(%x: i32 loc(\"x\")) -> i32 {
    %0 = arith.addi %x, %x : i32 loc(fused[\"add\"(\"layers.0\"(\"m.py\":3:1)), \"neg\"(\"m.py\":4:1)])
    return %0 : i32 loc(unknown)
  }
}";

    #[test]
    fn each_line_knows_what_it_comes_from() {
        let context = standard().pooled_context();
        let module = Module::parse(&context, TEXT, "a text").expect("it parses");
        let before = module.op().to_text_with_locations();
        let mut sources = Sources::default();
        let (text, lines, left_out) = sources.lines(module.op());
        assert_eq!((module.op().to_text_with_locations(), left_out), (before, 0));
        assert!(!text.contains("loc("), "{text}");
        let add = text.lines().position(|line| line.contains("arith.addi")).expect("the op is there");
        let list = sources.list.clone();
        let named: Vec<_> = lines[add].iter().map(|&k| (list[k].name.as_str(), list[k].module.as_str(), list[k].line)).collect();
        assert_eq!(named, [("add", "layers.0", 3), ("neg", "", 4)]);
        assert_eq!(sources.within(module.op()).len(), sources.list.len());
    }

    #[test]
    fn a_long_text_loses_its_end() {
        let long = "x".repeat(LONGEST);
        let text = format!("func.func private @a()\nfunc.func private @b() attributes {{note = \"{long}\"}}\nfunc.func private @c()");
        let context = standard().pooled_context();
        let module = Module::parse(&context, &text, "a text").expect("it parses");
        let (text, lines, left_out) = Sources::default().lines(module.op());
        assert!(text.contains("@a") && !text.contains("@c"), "{text}");
        assert_eq!((lines.len(), left_out), (2, 3));
    }
}
