//! Tokens: names, numbers, strings, signs, and the beginnings and ends of lines and blocks.

use super::SyntaxError;

/// A token.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Token {
    Name(String),
    Int(i64),
    Float(f64),
    Imaginary(f64),
    Str(String),
    Sign(&'static str),
    Newline,
    Indent,
    Dedent,
    End,
}

const SIGNS: &[&str] = &["->", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=", "-", "+"];
/// No printer nests deeper.
const MAX_INDENT: usize = 256;

/// The tokens of a text with their lines.
pub fn tokens(text: &str) -> Result<Vec<(Token, u32)>, SyntaxError> {
    let mut lexer = Lexer { rest: text, line: 1, open: 0, indents: vec![0], tokens: Vec::new() };
    lexer.all()?;
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    /// Open brackets: lines do not end inside of them.
    open: usize,
    indents: Vec<usize>,
    tokens: Vec<(Token, u32)>,
}

impl<'t> Lexer<'t> {
    fn error<T>(&self, why: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { line: self.line, why: why.into() })
    }

    fn push(&mut self, token: Token) {
        self.tokens.push((token, self.line));
    }

    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn all(&mut self) -> Result<(), SyntaxError> {
        let mut fresh = true;
        loop {
            if fresh {
                fresh = false;
                self.indent()?;
            }
            self.take_while(|c| c == ' ' || c == '\r');
            match self.rest.chars().next() {
                None => break,
                Some('\n') => {
                    self.take(1);
                    if self.open == 0 {
                        self.push(Token::Newline);
                        fresh = true;
                    }
                    self.line = self.line.saturating_add(1);
                }
                Some('#') => drop(self.take_while(|c| c != '\n')),
                Some('"' | '\'') => self.string()?,
                Some(c) if c.is_ascii_digit() => self.number()?,
                Some(c) if c.is_alphabetic() || c == '_' => {
                    let name = self.take_while(|c| c.is_alphanumeric() || c == '_').to_owned();
                    self.push(Token::Name(name));
                }
                Some(c) => {
                    let Some(sign) = SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) else {
                        return self.error(format!("{c:?} is no sign of the printed subset of Python"));
                    };
                    self.take(sign.len());
                    match *sign {
                        "(" | "[" | "{" => self.open += 1,
                        ")" | "]" | "}" => self.open = self.open.saturating_sub(1),
                        _ => {}
                    }
                    self.push(Token::Sign(sign));
                }
            }
        }
        self.push(Token::Newline);
        for _ in 1..self.indents.len() {
            self.push(Token::Dedent);
        }
        self.push(Token::End);
        Ok(())
    }

    /// The blanks before a line; empty lines and comments count for nothing.
    fn indent(&mut self) -> Result<(), SyntaxError> {
        let width = self.take_while(|c| c == ' ').len();
        if self.rest.starts_with(['\n', '#', '\r']) || self.rest.is_empty() {
            return Ok(());
        }
        let current = self.indents.last().copied().unwrap_or(0);
        if width > current {
            if self.indents.len() >= MAX_INDENT {
                return self.error("blocks are nested too deeply");
            }
            self.indents.push(width);
            self.push(Token::Indent);
        }
        while self.indents.last().is_some_and(|current| width < *current) {
            self.indents.pop();
            self.push(Token::Dedent);
        }
        if self.indents.last() != Some(&width) {
            return self.error("the indentation fits no block");
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let digit = |c: char| c.is_ascii_digit();
        let start = self.rest;
        self.take_while(digit);
        let mut float = false;
        if self.rest.starts_with('.') {
            float = true;
            self.take(1);
            self.take_while(digit);
        }
        if self.rest.starts_with(['e', 'E']) {
            float = true;
            self.take(1);
            if self.rest.starts_with(['+', '-']) {
                self.take(1);
            }
            self.take_while(digit);
        }
        let text = &start[..start.len() - self.rest.len()];
        let wrong = |_| SyntaxError { line: self.line, why: format!("`{text}` is no number") };
        let token = if self.rest.starts_with('j') {
            Token::Imaginary(text.parse().map_err(|error: std::num::ParseFloatError| wrong(error.to_string()))?)
        } else if float {
            Token::Float(text.parse().map_err(|error: std::num::ParseFloatError| wrong(error.to_string()))?)
        } else {
            // The least number is printed as the negative of one that is no i64.
            match text {
                "9223372036854775808" => Token::Int(i64::MIN),
                _ => Token::Int(text.parse().map_err(|error: std::num::ParseIntError| wrong(error.to_string()))?),
            }
        };
        if matches!(token, Token::Imaginary(_)) {
            self.take(1);
        }
        self.push(token);
        Ok(())
    }

    fn string(&mut self) -> Result<(), SyntaxError> {
        let quote = self.take(1);
        let mut bytes = Vec::new();
        loop {
            let Some(c) = self.rest.chars().next() else { return self.error("a string does not end") };
            self.take(c.len_utf8());
            match c {
                _ if quote.starts_with(c) => break,
                '\n' => return self.error("a string does not end on its line"),
                '\\' => self.escape(&mut bytes)?,
                c => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { return self.error("a string is not UTF-8") };
        self.push(Token::Str(text));
        Ok(())
    }

    /// What follows a backslash.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let Some(c) = self.rest.chars().next() else { return self.error("a string does not end") };
        let radix = match c {
            '0'..='7' => Some((8, 3)),
            'x' => Some((16, 2)),
            _ => None,
        };
        if let Some((radix, most)) = radix {
            if c == 'x' {
                self.take(1);
            }
            let digits: String = self.rest.chars().take(most).take_while(|c| c.is_digit(radix)).collect();
            self.take(digits.len());
            match u8::from_str_radix(&digits, radix) {
                Ok(byte) => bytes.push(byte),
                Err(_) => return self.error(format!("`\\{digits}` is no byte")),
            }
            return Ok(());
        }
        self.take(c.len_utf8());
        match c {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'f' => bytes.push(12),
            'v' => bytes.push(11),
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        Ok(())
    }
}
