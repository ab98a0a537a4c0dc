//! Recursive descent over the tokens.
//!
//! The subset is small and its depth is bounded here, which a general parser of Python does not do for a hostile text.

use std::rc::Rc;

use super::SyntaxError;
use super::ast::{Call, Class, Expr, Field, File, Function, Param, Stmt, StmtKind, Target, Targets};
use super::lexer::{Token, tokens};

/// The arguments of a call: those by place, and those by name.
type Arguments = (Vec<Expr>, Vec<(String, Expr)>);

/// Brackets and blocks in each other: more would be a danger to the stack, and no printer writes them.
const MAX_DEPTH: usize = 200;

/// Parses a file.
pub fn parse(text: &str) -> Result<File, SyntaxError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let mut file = File::default();
    loop {
        match parser.peek().clone() {
            Token::End => return Ok(file),
            Token::Newline => parser.at += 1,
            Token::Name(name) if name == "class" => file.classes.push(Rc::new(parser.class()?)),
            Token::Name(name) if name == "def" => file.functions.push(Rc::new(parser.function()?)),
            // Old versions begin with `op_version_set = 1` and with imports.
            Token::Name(name) if name == "op_version_set" || name == "import" => parser.rest_of_line(),
            _ => return parser.unexpected("a class or a function"),
        }
    }
}

struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, SyntaxError>;

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn error<T>(&self, why: impl Into<String>) -> Parsed<T> {
        Err(SyntaxError { line: self.line(), why: why.into() })
    }

    fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        self.error(format!("{:?} stands where {wanted} is expected", self.peek()))
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.accept(sign) { Ok(()) } else { self.unexpected(&format!("`{sign}`")) }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        self.at += usize::from(found);
        found
    }

    fn name(&mut self) -> Parsed<String> {
        let Token::Name(name) = self.peek() else { return self.unexpected("a name") };
        let name = name.clone();
        self.at += 1;
        Ok(name)
    }

    fn newline(&mut self) -> Parsed<()> {
        match self.peek() {
            Token::Newline => self.at += 1,
            Token::End => {}
            _ => return self.unexpected("the end of the line"),
        }
        while *self.peek() == Token::Newline {
            self.at += 1;
        }
        Ok(())
    }

    fn rest_of_line(&mut self) {
        while !matches!(self.peek(), Token::Newline | Token::End) {
            self.at += 1;
        }
    }

    /// Runs `parse` one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.error("it is nested too deeply");
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// `:` and an indented block of what `item` reads.
    fn block<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect(":")?;
        self.newline()?;
        if *self.peek() != Token::Indent {
            return self.unexpected("an indented block");
        }
        self.at += 1;
        let mut items = Vec::new();
        while *self.peek() != Token::Dedent {
            if *self.peek() == Token::End {
                return self.unexpected("the end of a block");
            }
            items.push(self.deeper(&mut item)?);
        }
        self.at += 1;
        Ok(items)
    }

    fn class(&mut self) -> Parsed<Class> {
        self.at += 1;
        let name = self.name()?;
        let mut base = None;
        if self.accept("(") {
            base = Some(self.name()?);
            self.expect(")")?;
        }
        let mut class = Class { name, base, fields: Vec::new(), methods: Vec::new() };
        self.block(|parser| {
            match parser.peek().clone() {
                Token::Name(word) if word == "def" => class.methods.push(Rc::new(parser.function()?)),
                Token::Name(word) if word == "pass" => {
                    parser.at += 1;
                    parser.newline()?;
                }
                _ => {
                    let field = parser.field()?;
                    class.fields.extend(field);
                }
            }
            Ok(())
        })?;
        Ok(class)
    }

    /// An attribute; ones of hooks have names that are no Python, `__annotations__["0"] = ..`.
    fn field(&mut self) -> Parsed<Option<Field>> {
        let name = self.name()?;
        if self.accept("[") {
            let Token::Str(name) = self.peek().clone() else { return self.unexpected("a string") };
            self.at += 1;
            self.expect("]")?;
            self.expect("=")?;
            let ty = Some(self.expr()?);
            self.newline()?;
            return Ok(Some(Field { name, ty, value: None }));
        }
        let ty = if self.accept(":") { Some(self.expr()?) } else { None };
        let value = if self.accept("=") { Some(self.expr()?) } else { None };
        self.newline()?;
        Ok(Some(Field { name, ty, value }))
    }

    fn function(&mut self) -> Parsed<Function> {
        let line = self.line();
        self.at += 1;
        let name = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.accept(")") {
            let name = self.name()?;
            let ty = if self.accept(":") { Some(self.expr()?) } else { None };
            let default = if self.accept("=") { Some(self.expr()?) } else { None };
            params.push(Param { name, ty, default });
            if !self.accept(",") && !self.is(")") {
                return self.unexpected("`,` or `)`");
            }
        }
        if self.accept("->") {
            self.expr()?;
        }
        let body = self.block(Self::stmt)?;
        Ok(Function { name, params, body, line })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let line = self.line();
        let kind = match self.peek().clone() {
            Token::Name(word) => match word.as_str() {
                "if" => {
                    self.at += 1;
                    let condition = self.expr()?;
                    let yes = self.block(Self::stmt)?;
                    let no = if self.word("else") { self.block(Self::stmt)? } else { Vec::new() };
                    StmtKind::If(condition, yes, no)
                }
                "for" => {
                    self.at += 1;
                    let name = self.name()?;
                    if !(self.word("in") && self.word("range")) {
                        return self.unexpected("`in range`");
                    }
                    self.expect("(")?;
                    let count = self.expr()?;
                    self.expect(")")?;
                    StmtKind::For(name, count, self.block(Self::stmt)?)
                }
                "while" => {
                    self.at += 1;
                    let condition = self.expr()?;
                    StmtKind::While(condition, self.block(Self::stmt)?)
                }
                "with" => {
                    self.at += 1;
                    let context = self.expr()?;
                    let name = if self.word("as") { Some(self.name()?) } else { None };
                    StmtKind::With(context, name, self.block(Self::stmt)?)
                }
                "def" => StmtKind::Def(Rc::new(self.function()?)),
                "return" => {
                    self.at += 1;
                    let value = if matches!(self.peek(), Token::Newline | Token::End) { None } else { Some(self.exprs()?) };
                    self.newline()?;
                    StmtKind::Return(value)
                }
                "pass" => {
                    self.at += 1;
                    self.newline()?;
                    StmtKind::Pass
                }
                _ => self.assignment()?,
            },
            _ => self.assignment()?,
        };
        Ok(Stmt { kind, line })
    }

    fn assignment(&mut self) -> Parsed<StmtKind> {
        let first = self.exprs()?;
        // `x: int = 3`
        if self.accept(":") {
            self.expr()?;
        }
        if !self.accept("=") {
            self.newline()?;
            return Ok(StmtKind::Expr(first));
        }
        let value = self.exprs()?;
        self.newline()?;
        let targets = match first {
            Expr::Tuple(parts) => parts.into_iter().map(target).collect::<Option<Vec<_>>>().map(Targets::Parts),
            one => target(one).map(Targets::One),
        };
        match targets {
            Some(targets) => Ok(StmtKind::Assign(targets, value)),
            None => self.error("nothing can be assigned to this"),
        }
    }

    /// One expression, or several with commas between as a tuple.
    fn exprs(&mut self) -> Parsed<Expr> {
        let first = self.expr()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.accept(",") {
            if matches!(self.peek(), Token::Newline | Token::End) || self.is("=") {
                break;
            }
            parts.push(self.expr()?);
        }
        Ok(Expr::Tuple(parts))
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            let line = parser.line();
            let mut expr = parser.atom()?;
            loop {
                if parser.accept(".") {
                    expr = Expr::Attr(Box::new(expr), parser.name()?);
                } else if parser.accept("(") {
                    let (args, named) = parser.arguments()?;
                    expr = Expr::Call(Box::new(Call { callee: expr, args, named, line }));
                } else if parser.accept("[") {
                    let index = if parser.is("]") { Expr::Tuple(Vec::new()) } else { parser.subscript()? };
                    parser.expect("]")?;
                    expr = Expr::Subscript(Box::new(expr), Box::new(index));
                } else {
                    return Ok(expr);
                }
            }
        })
    }

    /// What stands in brackets behind an expression, `Dict[str, Tensor]` included.
    fn subscript(&mut self) -> Parsed<Expr> {
        let mut parts = self.list("]", Self::expr)?;
        self.at -= 1;
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Tuple(parts) })
    }

    /// Items with commas between up to a closing bracket, which is taken.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.accept(close) {
            items.push(item(self)?);
            if !self.accept(",") && !self.is(close) {
                return self.unexpected(&format!("`,` or `{close}`"));
            }
        }
        Ok(items)
    }

    fn arguments(&mut self) -> Parsed<Arguments> {
        let (mut args, mut named) = (Vec::new(), Vec::new());
        self.list(")", |parser| {
            let value = parser.expr()?;
            match value {
                Expr::Name(name) if parser.is("=") => {
                    parser.at += 1;
                    named.push((name, parser.expr()?));
                }
                value => args.push(value),
            }
            Ok(())
        })?;
        Ok((args, named))
    }

    /// The complex number that begins with a real part, if one does: `1.+2.j`.
    fn complex(&mut self, real: f64) -> Option<Expr> {
        let sign = [("+", 1.0), ("-", -1.0)].into_iter().find(|(sign, _)| self.is(sign))?.1;
        let (Token::Imaginary(imag), _) = self.tokens.get(self.at + 1)? else { return None };
        let imag = *imag;
        self.at += 2;
        Some(Expr::Complex(real, sign * imag))
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        self.at += 1;
        Ok(match token {
            Token::Name(name) => Expr::Name(name),
            Token::Int(value) => self.complex(value as f64).unwrap_or(Expr::Int(value)),
            Token::Float(value) => self.complex(value).unwrap_or(Expr::Float(value)),
            Token::Imaginary(value) => Expr::Imaginary(value),
            Token::Str(text) => Expr::Str(text),
            Token::Sign("-") => match self.expr()? {
                Expr::Int(value) => Expr::Int(value.wrapping_neg()),
                Expr::Float(value) => Expr::Float(-value),
                Expr::Complex(real, imag) => Expr::Complex(-real, imag),
                other => Expr::Negative(Box::new(other)),
            },
            Token::Sign("[") => Expr::List(self.list("]", Self::expr)?),
            Token::Sign("{") => Expr::Dict(self.list("}", |parser| {
                let key = parser.expr()?;
                parser.expect(":")?;
                Ok((key, parser.expr()?))
            })?),
            Token::Sign("(") => {
                if self.accept(")") {
                    return Ok(Expr::Tuple(Vec::new()));
                }
                let first = self.expr()?;
                if self.accept(")") {
                    return Ok(first);
                }
                self.expect(",")?;
                let mut parts = vec![first];
                parts.extend(self.list(")", Self::expr)?);
                Expr::Tuple(parts)
            }
            _ => {
                self.at -= 1;
                return self.unexpected("an expression");
            }
        })
    }
}

fn target(expr: Expr) -> Option<Target> {
    match expr {
        Expr::Name(name) => Some(Target::Name(name)),
        Expr::Attr(of, name) => Some(Target::Attr(*of, name)),
        _ => None,
    }
}
