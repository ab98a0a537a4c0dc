//! Bounds on text before MLIR's parser sees it: what is known to overflow its stack, to exhaust memory or to crash it, where a look
//! at the tokens tells. What is found later is caught where it happens (`crash.cpp` in the shim).

use std::collections::HashMap;

/// Open brackets that text may nest. Programs nest a few dozen; the parser takes some KiB per level of a thread's 2 MiB.
const MAX_NESTING: usize = 256;

/// Operators in a row of an affine expression: the parser recurses at each.
const MAX_OPERATORS: usize = 1024;

/// Bytes of text that MLIR's 32-bit source locations can address.
const MAX_BYTES: usize = u32::MAX as usize;

/// Bits of an integer type. MLIR allows 2^24, which makes two MiB of each number that is written.
const MAX_WIDTH: usize = 4096;

/// At `%name#N` the parser makes room for `N + 1` results of 16 bytes, whatever the op has: 256 MiB for all names.
const MAX_RESULTS: usize = 1 << 24;

/// What a text is with its aliases written out. `#b = [#a, #a]`, `#c = [#b, #b]`, .. doubles with each line, and what prints or walks
/// an attribute takes each of them.
const MAX_EXPANSION: usize = 1 << 24;

/// What is refused, with its line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Brackets nest too deeply.
    #[error("{line}: regions, types or attributes nest deeper than {MAX_NESTING} levels; flatten the input")]
    Nesting {
        /// Where the bound is passed.
        line: usize,
    },
    /// An expression is too long.
    #[error("{line}: an expression has more than {MAX_OPERATORS} operators; divide it")]
    Operators {
        /// Where the bound is passed.
        line: usize,
    },
    /// Aliases of aliases are too many.
    #[error("{line}: with its aliases written out the text has more than {MAX_EXPANSION} of them; write fewer uses of aliases in aliases")]
    Expansion {
        /// Where the bound is passed.
        line: usize,
    },
    /// A result that no op has.
    #[error("{line}: the numbers of results ('%name#N') ask for more than {MAX_RESULTS} values in all; no op has so many results")]
    Results {
        /// Where the bound is passed.
        line: usize,
    },
    /// An integer type that makes memory of nothing.
    #[error("{line}: '{word}' is wider than {MAX_WIDTH} bits; use a narrower integer type")]
    Width {
        /// Where it is.
        line: usize,
        /// The type.
        word: String,
    },
    /// A type that no memory holds, whose sizes overflow where they are multiplied.
    #[error("{line}: '{word}' is a shape of more bytes than can be counted")]
    Shape {
        /// Where it is.
        line: usize,
        /// The sizes with the element type.
        word: String,
    },
    /// MLIR 22 takes `index` for an element of `array<..>` and reads the width that it has not.
    #[error("{line}: 'array<{element}: ..>' crashes MLIR's parser; write the element as an integer or float type, such as i64")]
    Array {
        /// Where it is.
        line: usize,
        /// What is written as the element.
        element: String,
    },
    /// The text is too long.
    #[error("1: the input has {bytes} bytes, more than the {MAX_BYTES} that locations can address; split it")]
    Size {
        /// Its length.
        bytes: usize,
    },
}

/// Checks text; bytecode has no nesting that is parsed recursively and passes.
pub(crate) fn check(source: &[u8]) -> Result<(), Refused> {
    if source.starts_with(b"ML\xefR") {
        return Ok(());
    }
    if source.len() > MAX_BYTES {
        return Err(Refused::Size { bytes: source.len() });
    }
    Scanner {
        source,
        at: 0,
        line: 1,
        operators: vec![0],
        results: HashMap::new(),
        values: 0,
        aliases: HashMap::new(),
        defined: None,
        uses: 0,
    }
    .scan()
}

/// A look at the tokens, which knows strings and comments.
struct Scanner<'s> {
    source: &'s [u8],
    at: usize,
    line: usize,
    /// Operators so far, at each open bracket.
    operators: Vec<usize>,
    /// The highest result that each name is asked for.
    results: HashMap<&'s [u8], usize>,
    /// Their sum.
    values: usize,
    /// The aliases of the text.
    aliases: HashMap<&'s [u8], Alias>,
    /// The one that the line defines.
    defined: Option<(&'s [u8], Alias)>,
    /// Uses so far, those in aliases as often as these are used.
    uses: usize,
}

/// What an alias stands for.
#[derive(Clone, Copy)]
struct Alias {
    /// Uses of aliases with itself, written out.
    uses: usize,
    /// Levels of brackets, written out.
    nesting: usize,
}

impl<'s> Scanner<'s> {
    fn scan(mut self) -> Result<(), Refused> {
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    if self.operators.len() == 1 {
                        self.aliases.extend(self.defined.take());
                    }
                }
                // `->`, `>=` and `<=` are no brackets.
                b'>' if self.before() == b'-' => {}
                b'<' | b'>' if self.after() == b'=' => {}
                b'{' | b'(' | b'[' | b'<' => {
                    self.operators.push(0);
                    if self.operators.len() > MAX_NESTING + 1 {
                        return Err(Refused::Nesting { line: self.line });
                    }
                }
                b'}' | b')' | b']' | b'>' if self.operators.len() > 1 => drop(self.operators.pop()),
                b',' | b'=' | b':' => self.set_operators(0),
                b'-' if self.after() == b'>' => {}
                b'+' | b'-' | b'*' => self.operator()?,
                b'"' => self.string(),
                b'/' if self.after() == b'/' => self.comment(),
                b'%' => self.value()?,
                b'#' | b'!' => self.alias()?,
                b'@' | b'^' => {
                    self.name(self.at + 1);
                }
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    let word = self.name(self.at);
                    self.word(word)?;
                }
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    fn before(&self) -> u8 {
        self.at.checked_sub(1).map_or(0, |at| self.source[at])
    }

    fn after(&self) -> u8 {
        self.source.get(self.at + 1).copied().unwrap_or(0)
    }

    fn set_operators(&mut self, count: usize) {
        if let Some(last) = self.operators.last_mut() {
            *last = count;
        }
    }

    fn operator(&mut self) -> Result<(), Refused> {
        let count = self.operators.last().map_or(1, |count| count + 1);
        self.set_operators(count);
        if count > MAX_OPERATORS { Err(Refused::Operators { line: self.line }) } else { Ok(()) }
    }

    /// The name that starts there, if one does; its last byte is at hand then.
    fn name(&mut self, start: usize) -> &'s [u8] {
        let rest = self.source.get(start..).unwrap_or_default();
        let end = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"_$.".contains(byte))).unwrap_or(rest.len());
        self.at = start + end - 1;
        &rest[..end]
    }

    /// `#name` or `!name`, defined or used. Locations name each other in long chains, and are written out nowhere.
    fn alias(&mut self) -> Result<(), Refused> {
        let start = self.at;
        let name = self.name(start + 1);
        if name.is_empty() || name.starts_with(b"loc") {
            return Ok(());
        }
        let mark = &self.source[start..=self.at];
        let nesting = self.operators.len() - 1;
        let next = self.source[self.at + 1..].trim_ascii_start();
        if nesting == 0 && next.starts_with(b"=") && !next.starts_with(b"==") {
            self.defined = Some((mark, Alias { uses: 1, nesting: 0 }));
            return Ok(());
        }
        let used = self.aliases.get(mark).copied().unwrap_or(Alias { uses: 1, nesting: 0 });
        let nesting = nesting + used.nesting;
        if nesting > MAX_NESTING {
            return Err(Refused::Nesting { line: self.line });
        }
        let uses = match &mut self.defined {
            Some((_, alias)) => {
                alias.nesting = alias.nesting.max(nesting);
                &mut alias.uses
            }
            None => &mut self.uses,
        };
        *uses = uses.saturating_add(used.uses);
        if *uses > MAX_EXPANSION { Err(Refused::Expansion { line: self.line }) } else { Ok(()) }
    }

    /// `%name#N`.
    fn value(&mut self) -> Result<(), Refused> {
        let name = self.name(self.at + 1);
        if self.after() != b'#' {
            return Ok(());
        }
        self.at += 1;
        let digits = self.name(self.at + 1);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Ok(());
        }
        let wanted = number(digits);
        let known = self.results.entry(name).or_default();
        if wanted > *known {
            self.values = self.values.saturating_add(wanted - *known);
            *known = wanted;
        }
        if self.values > MAX_RESULTS { Err(Refused::Results { line: self.line }) } else { Ok(()) }
    }

    /// A word without a mark before it: a keyword, a type, a number or a shape.
    fn word(&mut self, word: &'s [u8]) -> Result<(), Refused> {
        match word {
            b"floordiv" | b"ceildiv" | b"mod" => self.operator(),
            b"array" if self.after() == b'<' => self.array(),
            // The element of `4x?xi8` is behind the last x.
            _ => match width(word.rsplit(|byte| *byte == b'x').next().unwrap_or_default()) {
                Some(width) if width > MAX_WIDTH => {
                    Err(Refused::Width { line: self.line, word: String::from_utf8_lossy(word).into_owned() })
                }
                _ if !is_countable(word) => Err(Refused::Shape { line: self.line, word: String::from_utf8_lossy(word).into_owned() }),
                _ => Ok(()),
            },
        }
    }

    /// `array<` with its element: a type that the parser knows to have a width.
    fn array(&mut self) -> Result<(), Refused> {
        let mut rest = self.source.get(self.at + 2..).unwrap_or_default().trim_ascii_start();
        while let Some(comment) = rest.strip_prefix(b"//") {
            let end = comment.iter().position(|byte| *byte == b'\n').unwrap_or(comment.len());
            rest = comment[end..].trim_ascii_start();
        }
        let end = rest.iter().position(|byte| b">: \n".contains(byte)).unwrap_or(rest.len());
        if rest.starts_with(b"index") || rest.starts_with(b"!") {
            let element = String::from_utf8_lossy(&rest[..end.min(80)]).into_owned();
            return Err(Refused::Array { line: self.line, element });
        }
        Ok(())
    }

    /// Up to the quote that ends a string, or to the line's end where MLIR would complain.
    fn string(&mut self) {
        while self.at + 1 < self.source.len() {
            self.at += 1;
            match self.source[self.at] {
                b'"' => return,
                b'\\' => self.at += 1,
                b'\n' => {
                    self.at -= 1;
                    return;
                }
                _ => {}
            }
        }
    }

    fn comment(&mut self) {
        while self.at + 1 < self.source.len() && self.source[self.at + 1] != b'\n' {
            self.at += 1;
        }
    }
}

/// Whether the sizes of a shape such as `4x8xf32` have a product, with 16 bytes for an element where there are elements.
fn is_countable(word: &[u8]) -> bool {
    let mut count: Option<usize> = Some(1);
    let (mut sizes, mut empty) = (0, false);
    for part in word.split(|byte| *byte == b'x').filter(|part| !part.is_empty()) {
        if !part.iter().all(u8::is_ascii_digit) {
            break;
        }
        let size = number(part);
        sizes += 1;
        empty |= size == 0;
        count = count.and_then(|count| count.checked_mul(size.max(1)));
    }
    let item = if empty { 1 } else { 16 };
    // A number alone is no shape.
    sizes == 0
        || word.split(|byte| *byte == b'x').count() < 2
        || count.and_then(|count| count.checked_mul(item)).is_some_and(|bytes| bytes <= i64::MAX as usize)
}

/// The bits of `i8`, `si8` or `ui8`.
fn width(word: &[u8]) -> Option<usize> {
    let digits = word.strip_prefix(b"s").or(word.strip_prefix(b"u")).unwrap_or(word).strip_prefix(b"i")?;
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then(|| number(digits))
}

/// Decimal digits, or the largest number where there are too many.
fn number(digits: &[u8]) -> usize {
    digits.iter().fold(0usize, |number, digit| number.saturating_mul(10).saturating_add(usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_refused_with_its_line() {
        let text = "{\n".repeat(60_000);
        assert_eq!(check(text.as_bytes()), Err(Refused::Nesting { line: MAX_NESTING + 1 }));
    }

    #[test]
    fn comparisons_in_sets_hide_no_nesting() {
        let text = "affine.if affine_set<(d0) : (d0 >= 0)>(%i) {\n".repeat(300);
        assert_eq!(check(text.as_bytes()), Err(Refused::Nesting { line: MAX_NESTING }));
    }

    #[test]
    fn brackets_in_strings_comments_and_arrows_do_not_count() {
        let text = "// ((((\n\"(((\\\"(((\" () -> ()\n".repeat(5_000);
        assert_eq!(check(text.as_bytes()), Ok(()));
    }

    #[test]
    fn results_that_no_op_has_are_refused() {
        assert_eq!(check(b"\nreturn %0#1000000000 : i32"), Err(Refused::Results { line: 2 }));
        assert_eq!(check(b"return %0#99999999999999999999999 : i32"), Err(Refused::Results { line: 1 }));
        let many: String = (0..1000).map(|k| format!("use(%v{k}#65535)\n")).collect();
        assert!(check(many.as_bytes()).is_err());
        let one_op: String = (0..20_000).map(|k| format!("use(%v#{k})\n")).collect();
        assert_eq!(check(one_op.as_bytes()), Ok(()));
    }

    #[test]
    fn arrays_of_what_has_no_width_are_refused() {
        for (text, element) in [("array<index: 1>", "index"), ("array< // it is\n index>", "index"), ("array<!alias: 1>", "!alias")] {
            assert_eq!(check(text.as_bytes()), Err(Refused::Array { line: 1, element: element.to_owned() }), "{text}");
        }
        for text in ["array<i64: 1>", "\"array<index: 1>\"", "// array<index: 1>", "array<index", "!my.array<i8>"] {
            let refused = text == "array<index";
            assert_eq!(check(text.as_bytes()).is_err(), refused, "{text}");
        }
    }

    #[test]
    fn integers_of_millions_of_bits_are_refused() {
        for text in ["1 : i16777215", "tensor<4x?xsi5000>", "ui99999999999999999999999"] {
            assert!(matches!(check(text.as_bytes()), Err(Refused::Width { .. })), "{text}");
        }
        assert_eq!(check(b"%i9999 = f(@i9999, #i9999, !i9999, ^i9999) : i128, tensor<4096x16xi64>, max9999"), Ok(()));
    }

    #[test]
    fn aliases_of_aliases_are_written_out() {
        let laughs: String = (1..40).map(|k| format!("#a{k} = [#a{}, #a{}]\n", k - 1, k - 1)).collect();
        assert_eq!(check(laughs.as_bytes()), Err(Refused::Expansion { line: 24 }));
        let chain: String = (1..1000).map(|k| format!("!a{k} = tuple<!a{}>\n", k - 1)).collect();
        assert_eq!(check(chain.as_bytes()), Err(Refused::Nesting { line: MAX_NESTING + 1 }));
        let maps = format!(
            "#map = affine_map<(d0) -> (d0)>\n#set = affine_set<(d0) : (d0 == 0)>\n{}",
            "use(#map) {a = #dialect.b}\n".repeat(100_000)
        );
        assert_eq!(check(maps.as_bytes()), Ok(()));
        let places: String = (1..1000).map(|k| format!("#loc{k} = loc(callsite(#loc{} at #loc{}))\n", k - 1, k - 1)).collect();
        assert_eq!(check(places.as_bytes()), Ok(()));
    }

    #[test]
    fn shapes_without_a_product_are_refused() {
        for text in ["tensor<4611686018427387904x4xf32>", "memref<?x9223372036854775807xi8>", "tensor<4294967296x4294967296x0xi8>"] {
            assert!(matches!(check(text.as_bytes()), Err(Refused::Shape { .. })), "{text}");
        }
        assert_eq!(
            check(b"9223372036854775807 : i64, 0xFFFFFFFFFFFFFFFF, tensor<4611686018427387904x0xf32>, tensor<1000000x1000000xf64>"),
            Ok(())
        );
    }

    #[test]
    fn long_expressions_are_refused() {
        let sum = format!("affine_map<(d0) -> (d0{})>", " + (d0)".repeat(5_000));
        assert_eq!(check(sum.as_bytes()), Err(Refused::Operators { line: 1 }));
        let list = format!("array<i64: {}>\n{}", "-1, ".repeat(5_000), "%c = arith.constant -1 : i64\n".repeat(5_000));
        assert_eq!(check(list.as_bytes()), Ok(()));
    }
}
