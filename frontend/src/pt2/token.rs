//! Tokens shared by the two small expression languages of the format: sympy's `srepr` and python guards.

/// One token and where it starts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Int(i64),
    Float(f64),
    /// An operator or punctuation mark.
    Mark(&'static str),
}

const MARKS: [&str; 22] =
    ["**", "//", "==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ".", "&", "|"];
const MAX_TEXT: usize = 1 << 16;

/// Splits a text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("the expression has {} bytes, more than {MAX_TEXT}", text.len()));
    }
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '\'' | '"' => quoted(rest, first)?,
            '0'..='9' => number(rest)?,
            c if c.is_ascii_alphabetic() || c == '_' => {
                let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                (Token::Name(rest[..length].to_owned()), length)
            }
            _ => {
                let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
                let mark = mark.ok_or_else(|| format!("unexpected character {first:?} in {text:?}"))?;
                (Token::Mark(mark), mark.len())
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn quoted(rest: &str, quote: char) -> Result<(Token, usize), String> {
    let body = &rest[1..];
    let end = body.find(quote).ok_or("a quoted name does not end")?;
    if body[..end].contains('\\') {
        return Err("a quoted name holds an escape".to_owned());
    }
    Ok((Token::Text(body[..end].to_owned()), end + 2))
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    let bytes = rest.as_bytes();
    let mut end = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut float = false;
    if bytes.get(end) == Some(&b'.') {
        float = true;
        end += 1 + bytes[end + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let digits = bytes[(end + 1 + sign).min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 {
            float = true;
            end += 1 + sign + digits;
        }
    }
    let text = &rest[..end];
    let token = match float {
        true => text.parse().map(Token::Float).map_err(|error| format!("{text}: {error}"))?,
        false => text.parse().map(Token::Int).map_err(|error| format!("{text}: {error}"))?,
    };
    Ok((token, end))
}

/// A cursor over tokens with the helpers both parsers need, and a bound on nesting.
pub(super) struct Cursor {
    tokens: Vec<Token>,
    place: usize,
    depth: usize,
}

/// Deeper expressions are refused; PyTorch's own stay below ten.
const MAX_DEPTH: usize = 64;

impl Cursor {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        Ok(Self { tokens: tokens(text)?, place: 0, depth: 0 })
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.place)
    }

    pub(super) fn next(&mut self) -> Result<Token, String> {
        let token = self.tokens.get(self.place).cloned().ok_or("the expression ends too early")?;
        self.place += 1;
        Ok(token)
    }

    /// Takes a mark if it is next.
    pub(super) fn take(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Mark(next)) if *next == mark);
        self.place += usize::from(found);
        found
    }

    /// Takes a keyword if it is next.
    pub(super) fn take_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(next)) if next == name);
        self.place += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), String> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(format!("`{mark}` is expected, not {:?}", self.peek())),
        }
    }

    pub(super) fn end(&self) -> Result<(), String> {
        match self.peek() {
            None => Ok(()),
            Some(token) => Err(format!("the expression goes on with {token:?}")),
        }
    }

    /// Goes one level deeper; [`Cursor::leave`] comes back.
    pub(super) fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(format!("the expression is nested deeper than {MAX_DEPTH}")),
            false => Ok(()),
        }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}
