//! The functions of a program's text, found without parsing it: an edit then costs what it changed, and not the whole text.
//!
//! Only brackets, strings and comments are looked at. Whatever is not a plain list of functions is none of this file's business:
//! other symbols, aliases (`#map = ...`), a module with a name. Such a text is parsed as a whole.

use strata_core::upstream::func;

/// A text in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sections<'t> {
    /// What stands before the functions: `module`, with its attributes if it has any.
    pub head: String,
    /// In order.
    pub functions: Vec<Section<'t>>,
}

/// One function of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section<'t> {
    /// Its symbol.
    pub name: &'t str,
    /// All of it.
    pub text: &'t str,
    /// From its symbol to its body.
    pub head: &'t str,
    /// Whether it has a body.
    pub has_body: bool,
    /// The symbols that it mentions, its own too, as often as it does.
    pub mentions: Vec<&'t str>,
}

/// A piece of text outside of all brackets: a word, a sign, or a bracket with what is in it.
struct Token<'t> {
    text: &'t str,
    /// Where it starts.
    at: usize,
    /// The symbols in it, or its own.
    mentions: Vec<&'t str>,
}

/// The functions of a text. `None` when the text is not plain, or no text of MLIR.
pub(super) fn sections(text: &str) -> Option<Sections<'_>> {
    let tokens = tokens(text)?;
    let is_module = |word: &Token<'_>| matches!(word.text, "module" | "builtin.module");
    let (head, block) = match tokens.as_slice() {
        [word, block] if is_module(word) => ("module".to_owned(), block),
        [word, attributes, dictionary, block] if is_module(word) && attributes.text == "attributes" && dictionary.text.starts_with('{') => {
            (format!("module attributes {}", dictionary.text), block)
        }
        tokens => return Some(Sections { head: "module".to_owned(), functions: functions(text, tokens)? }),
    };
    let inner = tokens_of(block)?;
    // A module in a module is an op like any other.
    let functions = functions(text, &inner).filter(|_| inner.first().is_none_or(|first| first.text == FUNCTION))?;
    Some(Sections { head, functions })
}

const FUNCTION: &str = func::Func::NAME;

fn tokens_of<'t>(block: &Token<'t>) -> Option<Vec<Token<'t>>> {
    let inner = block.text.strip_prefix('{')?.strip_suffix('}')?;
    let mut inner = tokens(inner)?;
    inner.iter_mut().for_each(|token| token.at += block.at + 1);
    Some(inner)
}

fn functions<'t>(text: &'t str, tokens: &[Token<'t>]) -> Option<Vec<Section<'t>>> {
    let starts = (0..tokens.len()).filter(|&at| tokens[at].text == FUNCTION);
    let ends = starts.clone().skip(1).chain([tokens.len()]);
    let found: Vec<_> = starts.zip(ends).map(|(start, end)| function(text, &tokens[start..end])).collect::<Option<_>>()?;
    found.first().map_or(tokens.is_empty(), |first: &Section<'_>| tokens[0].text == FUNCTION && !first.name.is_empty()).then_some(found)
}

/// The function of these tokens: `func.func private @f(...) -> type attributes {...} {...} loc(...)`.
fn function<'t>(text: &'t str, tokens: &[Token<'t>]) -> Option<Section<'t>> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let symbol = 1 + usize::from(matches!(tokens.get(1)?.text, "private" | "public" | "nested"));
    let name = tokens.get(symbol)?.text.strip_prefix('@')?;
    let mut body = None;
    for (before, token) in tokens[symbol..].iter().zip(&tokens[symbol + 1..]) {
        let is_body = token.text.starts_with('{') && before.text != "attributes";
        // An op of another dialect has a dot in its name.
        if token.text.starts_with('@') || token.text.contains('.') && !token.text.starts_with(['(', '{', '[']) {
            return None;
        }
        if is_body && body.replace(token.at).is_some() {
            return None;
        }
    }
    let end = last.at + last.text.len();
    Some(Section {
        name,
        text: &text[first.at..end],
        head: text[tokens[symbol].at..body.unwrap_or(end)].trim_end(),
        has_body: body.is_some(),
        mentions: tokens.iter().flat_map(|token| token.mentions.iter().copied()).collect(),
    })
}

/// The tokens of a text. `None` for brackets that do not match and for what only programs that are not plain have outside of them.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let (mut found, mut open, mut at): (Vec<Token<'_>>, Vec<(usize, u8)>, usize) = (Vec::new(), Vec::new(), 0);
    let mut mentions: Vec<&str> = Vec::new();
    loop {
        if !open.is_empty() {
            at += bytes[at..].iter().take_while(|byte| !COUNTS[usize::from(**byte)]).count();
        }
        let Some(&byte) = bytes.get(at) else { break };
        let start = at;
        at += match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => text[at..].find('\n').unwrap_or(text.len() - at),
            b'"' => string(&bytes[at..])?,
            b'@' => 1 + word(&bytes[at + 1..]),
            _ => word(&bytes[at..]).max(1),
        };
        let outside = open.is_empty();
        match byte {
            b'(' | b'[' | b'{' => open.push((start, if byte == b'(' { b')' } else { byte + 2 })),
            b')' | b']' | b'}' => {
                let (from, _) = open.pop().filter(|(_, close)| *close == byte)?;
                if open.is_empty() {
                    found.push(Token { text: &text[from..at], at: from, mentions: std::mem::take(&mut mentions) });
                }
            }
            b'@' => {
                // A symbol in quotes has no word.
                mentions.push(text.get(start + 1..at).filter(|name| !name.is_empty())?);
                if outside {
                    found.push(Token { text: &text[start..at], at: start, mentions: std::mem::take(&mut mentions) });
                }
            }
            b'=' | b'#' | b'!' | b'^' | b'"' if outside => return None,
            b'/' => {}
            _ if outside && !byte.is_ascii_whitespace() => {
                found.push(Token { text: text.get(start..at)?, at: start, mentions: Vec::new() })
            }
            _ => {}
        }
    }
    open.is_empty().then_some(found)
}

/// The bytes that count between brackets: others are nine of ten, and passed over one by one they took half of the time of an edit.
const COUNTS: [bool; 256] = {
    let (mut counts, mut at) = ([false; 256], 0);
    while at < COUNTING.len() {
        counts[COUNTING[at] as usize] = true;
        at += 1;
    }
    counts
};
const COUNTING: &[u8] = b"/\"@()[]{}";

/// The length of the word that a text begins with.
fn word(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')).count()
}

/// The length of the string that a text begins with.
fn string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<Vec<(&str, &str, bool, String)>> {
        let sections = sections(text)?.functions;
        Some(sections.into_iter().map(|s| (s.name, s.head, s.has_body, s.mentions.join(" "))).collect())
    }

    #[test]
    fn functions_and_what_they_mention() {
        let text = "// func.func @no() {}\nmodule {\n  func.func @a(%x: i32 {note = \"a } \\\" // b\"}) -> (i32, f32) attributes {k} {\n    \
                    call @b.c(%x) : (i32) -> () // @no\n  } loc(\"f\":1:2)\n  func.func private @b.c(i32)\n}";
        assert_eq!(
            found(text),
            Some(vec![
                ("a", "@a(%x: i32 {note = \"a } \\\" // b\"}) -> (i32, f32) attributes {k}", true, "a b.c".to_owned()),
                ("b.c", "@b.c(i32)", false, "b.c".to_owned()),
            ])
        );
        let whole = sections(text).expect("it is plain").functions;
        assert!(whole[0].text.starts_with("func.func @a(") && whole[0].text.ends_with("loc(\"f\":1:2)"), "{}", whole[0].text);
        assert_eq!(whole[1].text, "func.func private @b.c(i32)");
    }

    #[test]
    fn nothing_is_plain() {
        assert_eq!(found(""), Some(vec![]));
        assert_eq!(found("module {\n}"), Some(vec![]));
    }

    #[test]
    fn a_module_keeps_its_attributes() {
        let found = sections("module // here\n attributes {a = {b = \"}\"}}\n{ func.func @a() {} }").expect("it is plain");
        assert_eq!((found.head.as_str(), found.functions.len()), ("module attributes {a = {b = \"}\"}}", 1));
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_parser() {
        for text in [
            "#map = affine_map<(d0) -> (d0)>\nfunc.func @a() {}",
            "module @name { func.func @a() {} }",
            "module { module { func.func @a() {} } }",
            "func.func @a() {} loop.kernel @k {}",
            "func.func @a() {} \"loop.kernel\"() : () -> ()",
            "loop.kernel @k {}",
            "func.func @\"quoted name\"() {}",
            "func.func @a() { ",
            "func.func @a() { ) }",
            "func.func @a() -> !llvm.ptr {}",
            "func.func @a() {\"}",
            "func.func @a() {} {}",
            "func.func",
            "func.func @a() {} }",
            "é",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
