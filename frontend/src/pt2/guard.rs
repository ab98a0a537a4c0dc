//! Guards of the program: python conditions over the sizes of the call's arguments, read into an expression tree.
//!
//! `L['a'][1].size()[0] == L['a'][0].size()[0]` becomes a comparison of two symbols; a table says that the first
//! stands for dimension 0 of the argument reached from `a` by index 1.

use super::{
    expr::{Expr, Func},
    pytree::Key,
    token::{Cursor, Token},
};

/// A condition on the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// The condition as it was written.
    pub text: String,
    /// The condition; its symbols are the names of `places`.
    pub expr: Expr,
    /// What each symbol of `expr` stands for.
    pub places: Vec<(String, Place)>,
}

/// A number that the call brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// How the argument is reached: a name, then indices and keys.
    pub path: Vec<Key>,
    /// The dimension, or `None` for an argument that is a number itself.
    pub dim: Option<i64>,
}

impl Guard {
    /// Reads one condition. One on what an argument is a view of (`L['x']._base`) says how the program was captured: calls bring no such
    /// thing, and there is nothing to check.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let mut reader = Reader { cursor: Cursor::new(text)?, places: Vec::new(), of_base: false };
        let expr = reader.disjunction()?;
        reader.cursor.end()?;
        expr.check_powers()?;
        Ok((!reader.of_base).then(|| Self { text: text.to_owned(), expr, places: reader.places }))
    }
}

struct Reader {
    cursor: Cursor,
    places: Vec<(String, Place)>,
    /// Whether something is said of what an argument is a view of.
    of_base: bool,
}

const COMPARISONS: [(&str, Func); 6] =
    [("==", Func::Eq), ("!=", Func::Ne), ("<=", Func::Le), (">=", Func::Ge), ("<", Func::Lt), (">", Func::Gt)];

impl Reader {
    fn nested(&mut self, parse: fn(&mut Self) -> Result<Expr, String>) -> Result<Expr, String> {
        self.cursor.enter()?;
        let result = parse(self);
        self.cursor.leave();
        result
    }

    fn disjunction(&mut self) -> Result<Expr, String> {
        let mut operands = vec![self.conjunction()?];
        while self.cursor.take_name("or") {
            operands.push(self.conjunction()?);
        }
        Ok(joined(Func::Or, operands))
    }

    fn conjunction(&mut self) -> Result<Expr, String> {
        let mut operands = vec![self.negation()?];
        while self.cursor.take_name("and") {
            operands.push(self.negation()?);
        }
        Ok(joined(Func::And, operands))
    }

    fn negation(&mut self) -> Result<Expr, String> {
        match self.cursor.take_name("not") {
            true => Ok(Expr::Call(Func::Not, vec![self.nested(Self::negation)?])),
            false => self.comparison(),
        }
    }

    /// A comparison; `a < b <= c` means `a < b and b <= c`.
    fn comparison(&mut self) -> Result<Expr, String> {
        let mut left = self.sum()?;
        let mut links = Vec::new();
        while let Some((_, func)) = COMPARISONS.iter().find(|(mark, _)| self.cursor.take(mark)) {
            let right = self.sum()?;
            links.push(Expr::Call(*func, vec![left, right.clone()]));
            left = right;
        }
        Ok(if links.is_empty() { left } else { joined(Func::And, links) })
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut operands = vec![self.product()?];
        loop {
            if self.cursor.take("+") {
                operands.push(self.product()?);
            } else if self.cursor.take("-") {
                operands.push(Expr::Call(Func::Mul, vec![Expr::Int(-1), self.product()?]));
            } else {
                return Ok(joined(Func::Add, operands));
            }
        }
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut left = self.factor()?;
        loop {
            let func = match () {
                () if self.cursor.take("*") => Func::Mul,
                () if self.cursor.take("//") => Func::FloorDiv,
                () if self.cursor.take("%") => Func::PythonMod,
                () => return Ok(left),
            };
            left = Expr::Call(func, vec![left, self.factor()?]);
        }
    }

    fn factor(&mut self) -> Result<Expr, String> {
        if self.cursor.take("-") {
            return Ok(match self.nested(Self::factor)? {
                Expr::Int(value) => Expr::Int(-value),
                operand => Expr::Call(Func::Mul, vec![Expr::Int(-1), operand]),
            });
        }
        let base = self.atom()?;
        match self.cursor.take("**") {
            true => Ok(Expr::Call(Func::Pow, vec![base, self.nested(Self::factor)?])),
            false => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<Expr, String> {
        match self.cursor.next()? {
            Token::Int(value) => Ok(Expr::Int(value)),
            Token::Float(value) => Ok(Expr::Float(value)),
            Token::Mark("(") => {
                let inner = self.nested(Self::disjunction)?;
                self.cursor.expect(")")?;
                Ok(inner)
            }
            Token::Name(name) => match name.as_str() {
                "True" => Ok(Expr::Bool(true)),
                "False" => Ok(Expr::Bool(false)),
                "L" => self.place(),
                "torch" | "math" => {
                    self.cursor.expect(".")?;
                    match self.cursor.next()? {
                        Token::Name(name) => self.call(&name),
                        token => Err(format!("a function name is expected, not {token:?}")),
                    }
                }
                name => self.call(name),
            },
            token => Err(format!("a value is expected, not {token:?}")),
        }
    }

    fn call(&mut self, name: &str) -> Result<Expr, String> {
        self.cursor.expect("(")?;
        let mut operands = Vec::new();
        while !self.cursor.take(")") {
            operands.push(self.nested(Self::disjunction)?);
            if !self.cursor.take(",") {
                self.cursor.expect(")")?;
                break;
            }
        }
        Ok(Expr::Call(Func::named(name, operands.len())?, operands))
    }

    /// What follows `L`: a path, then `.size()[d]` for a tensor.
    fn place(&mut self) -> Result<Expr, String> {
        let mut path = Vec::new();
        while self.cursor.take("[") {
            path.push(match self.cursor.next()? {
                Token::Int(index) => Key::Index(usize::try_from(index).map_err(|_| "an index is negative")?),
                Token::Text(name) => Key::Name(name),
                token => return Err(format!("an index or a name is expected, not {token:?}")),
            });
            self.cursor.expect("]")?;
        }
        let mut dim = None;
        if self.cursor.take(".") {
            let mut name = self.cursor.next()?;
            while name == Token::Name("_base".into()) {
                self.of_base = true;
                self.cursor.expect(".")?;
                name = self.cursor.next()?;
            }
            match name {
                Token::Name(name) if name == "size" || name == "shape" => {
                    if name == "size" {
                        self.cursor.expect("(")?;
                        self.cursor.expect(")")?;
                    }
                }
                token => return Err(format!("only sizes can be guarded, not {token:?}")),
            }
            self.cursor.expect("[")?;
            match self.cursor.next()? {
                Token::Int(index) => dim = Some(index),
                token => return Err(format!("a dimension is expected, not {token:?}")),
            }
            self.cursor.expect("]")?;
        }
        let place = Place { path, dim };
        let name = match self.places.iter().find(|(_, known)| *known == place) {
            Some((name, _)) => name.clone(),
            None => {
                let name = format!("v{}", self.places.len());
                self.places.push((name.clone(), place));
                name
            }
        };
        Ok(Expr::Symbol(name))
    }
}

fn joined(func: Func, mut operands: Vec<Expr>) -> Expr {
    match operands.len() {
        1 => operands.remove(0),
        _ => Expr::Call(func, operands),
    }
}
