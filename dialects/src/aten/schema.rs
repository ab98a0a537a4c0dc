//! PyTorch's operator schemas as data: one row of `schemas.tsv` per overload, parsed when first asked for.
//!
//! The table is generated (`cargo xtask aten-table`); its format is described in `xtask/src/aten_table.rs`. Operators of PyTorch's
//! libraries stand in `libraries.tsv`, in the same format. The constants of [`super::op`] are generated from both.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use super::op;
use super::operator::Operator;

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let mut rows: Vec<_> = include_str!("schemas.tsv").lines().chain(include_str!("libraries.tsv").lines()).map(Row::new).collect();
    rows.sort_by_key(|row| row.name);
    rows
});

struct Row {
    name: &'static str,
    rest: &'static str,
    schema: OnceLock<Schema>,
}

/// The schema of one overload.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// `aten.add.Tensor`; overload `default` is left out (`aten.relu`).
    pub name: &'static str,
    /// The arguments in schema order.
    pub args: Vec<Arg>,
    /// The returns in schema order.
    pub returns: Vec<Return>,
    /// Facts such as `mutable`, `view`, `pointwise`, `reduction`, `core`, `decomposes`, `out`, `inplace`.
    pub flags: Vec<&'static str>,
}

/// One argument of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// The argument's name: also the name of its attribute.
    pub name: &'static str,
    /// The argument's type.
    pub ty: Type,
    /// Given by name only.
    pub kwarg_only: bool,
    /// The value that an omitted argument has.
    pub default: Option<DefaultValue>,
    /// `a` or `a!` (written): which storage the argument shares with a return.
    pub alias: Option<&'static str>,
}

/// One return of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return {
    /// The returned type.
    pub ty: Type,
    /// `a` or `a!` (written): which argument's storage it shares.
    pub alias: Option<&'static str>,
}

/// What an argument holds, without list and option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are PyTorch's")]
pub enum Kind {
    Tensor,
    Int,
    /// An integer that may be symbolic.
    SymInt,
    Float,
    Bool,
    Str,
    Scalar,
    ScalarType,
    Device,
    Layout,
    MemoryFormat,
    Generator,
    /// A type that no functional operator takes (`Storage`, `Stream`, quantisation objects).
    Other,
}

/// The type of an argument or return: a kind, as it is, as a list, or optional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    /// The kind of the value or of the list's elements.
    pub kind: Kind,
    /// `T[]`.
    pub list: bool,
    /// `T[n]`: the number of elements that one given element stands for.
    pub len: Option<u8>,
    /// `T?` or `T[]?`: may be None.
    pub optional: bool,
    /// `T?[]`: elements may be None.
    pub optional_elements: bool,
}

impl Type {
    /// The argument's values are operands of the op.
    pub fn is_tensor(self) -> bool {
        self.kind == Kind::Tensor
    }
}

/// A default value.
#[derive(Debug, Clone, PartialEq)]
pub enum DefaultValue {
    /// `None`.
    None,
    /// A bool.
    Bool(bool),
    /// An int; also the code of a ScalarType or MemoryFormat.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(String),
    /// A list of ints, possibly empty.
    Ints(Vec<i64>),
}

/// The schema of `name` (`aten.add.Tensor`, `aten.relu`), if PyTorch has it.
pub fn schema(name: &str) -> Option<&'static Schema> {
    let at = TABLE.binary_search_by(|row| row.name.cmp(name)).ok()?;
    Some(TABLE[at].schema())
}

/// The schema of a target as `torch.export` names it: `aten.relu.default` is `aten.relu`.
pub fn schema_of_target(target: &str) -> Option<&'static Schema> {
    schema(target.strip_suffix(".default").unwrap_or(target))
}

/// The names of all overloads, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.name)
}

/// What is known of an overload before its schema is parsed.
#[derive(Debug, Clone, Copy)]
pub struct RowFacts {
    /// The overload.
    pub name: &'static str,
    /// Whether it returns anything.
    pub returns: bool,
    flags: &'static str,
}

impl RowFacts {
    /// Whether the schema carries `flag`.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.split(' ').any(|f| f == flag)
    }
}

/// All overloads, sorted by name.
pub fn rows() -> impl Iterator<Item = RowFacts> {
    TABLE.iter().map(|row| {
        let mut cells = row.rest.split('\t');
        let flags = cells.next().unwrap_or_default();
        RowFacts { name: row.name, returns: cells.next().is_some_and(|returns| !returns.is_empty()), flags }
    })
}

impl Schema {
    /// The operator whose schema this is.
    pub fn operator(&self) -> Operator {
        Operator(self.name)
    }

    /// Whether the schema carries `flag` (see [`Schema::flags`]).
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// Whether calling it writes to an argument.
    pub fn is_mutable(&self) -> bool {
        self.has("mutable")
    }

    /// Whether it counts in the storage of its first argument, which may hold more than that tensor: `as_strided` and what
    /// is made of it.
    pub fn addresses_storage(&self) -> bool {
        self.arg("storage_offset").is_some_and(|arg| arg.ty.kind == Kind::SymInt) && !self.args.iter().any(|arg| arg.name == "source")
    }

    /// Whether its result has the elements of its first argument in the order of their storage, row after row: `resize_` and `resize_as_`.
    pub fn reads_in_storage_order(&self) -> bool {
        matches!(self.operator(), op::RESIZE_ | op::RESIZE_AS_)
    }

    /// The position of argument `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.args.iter().position(|a| a.name == name)
    }

    /// The argument `name`.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|a| a.name == name)
    }

    /// The arguments whose values are operands, in operand order.
    pub fn tensor_args(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(|a| a.ty.is_tensor())
    }

    /// Whether the op needs `segments`: the number of operands of some tensor argument varies.
    pub fn has_segments(&self) -> bool {
        self.tensor_args().any(|a| a.ty.list || a.ty.optional)
    }
}

impl Schema {
    /// Reads a schema as an extension of PyTorch registers it: `ns::name.overload(Tensor x, *, float[] by=[]) -> Tensor`. It is kept for
    /// good, as those of the table are.
    pub fn parse(text: &str) -> Option<&'static Schema> {
        static PARSED: Mutex<BTreeMap<String, &'static Schema>> = Mutex::new(BTreeMap::new());
        // No code panics while it holds the lock.
        let mut parsed = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = parsed.get(text) {
            return Some(known);
        }
        let kept: &'static str = text.to_owned().leak();
        let (head, returns) = kept.rsplit_once("->")?;
        let (name, args) = head.trim().strip_suffix(')')?.split_once('(')?;
        let (mut named, mut list) = (false, Vec::new());
        for cell in cells(args) {
            match cell {
                "*" => named = true,
                cell => list.push(Arg { kwarg_only: named, ..parse_arg(cell) }),
            }
        }
        let returns = returns.trim();
        let returns = returns.strip_prefix('(').and_then(|list| list.strip_suffix(')')).unwrap_or(returns);
        let returns = cells(returns).map(|cell| parse_return(cell.split(' ').next().unwrap_or_default())).collect();
        let flags = if list.iter().any(Arg::is_written) { vec!["mutable"] } else { Vec::new() };
        let schema: &'static Schema = Box::leak(Box::new(Schema { name: name.replace("::", ".").leak(), args: list, returns, flags }));
        parsed.insert(text.to_owned(), schema);
        Some(schema)
    }
}

/// The parts of a list. Commas in brackets and quotes are not between them.
fn cells(list: &'static str) -> impl Iterator<Item = &'static str> {
    let (mut depth, mut quoted) = (0, false);
    let between = move |c: char| {
        match c {
            '\'' | '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0 && !quoted
    };
    list.split(between).map(str::trim).filter(|cell| !cell.is_empty())
}

impl Arg {
    /// Whether a call writes to it.
    pub fn is_written(&self) -> bool {
        self.alias.is_some_and(|alias| alias.contains('!'))
    }
}

impl Row {
    fn new(line: &'static str) -> Row {
        let (name, rest) = line.split_once('\t').unwrap_or((line, ""));
        Row { name, rest, schema: OnceLock::new() }
    }

    fn schema(&'static self) -> &'static Schema {
        self.schema.get_or_init(|| {
            let mut cells = self.rest.split('\t');
            let flags = cells.next().unwrap_or_default().split_whitespace().collect();
            let returns = cells.next().unwrap_or_default().split_whitespace().map(parse_return).collect();
            Schema { name: self.name, flags, returns, args: cells.map(parse_arg).collect() }
        })
    }
}

fn parse_return(cell: &'static str) -> Return {
    let (ty, alias) = split_alias(cell);
    Return { ty: parse_type(ty), alias }
}

fn parse_arg(cell: &'static str) -> Arg {
    let (kwarg_only, cell) = cell.strip_prefix('*').map_or((false, cell), |rest| (true, rest));
    let (ty, rest) = cell.split_once(' ').unwrap_or((cell, ""));
    let (name, default) = rest.split_once('=').map_or((rest, None), |(n, d)| (n, Some(parse_default(d))));
    let (ty, alias) = split_alias(ty);
    Arg { name, ty: parse_type(ty), kwarg_only, default, alias }
}

/// `Tensor(a!)` is the type `Tensor` and the alias `a!`.
fn split_alias(text: &'static str) -> (&'static str, Option<&'static str>) {
    match text.split_once('(') {
        Some((ty, rest)) => (ty, Some(rest.trim_end_matches(')'))),
        None => (text, None),
    }
}

fn parse_type(text: &str) -> Type {
    let (text, optional) = text.strip_suffix('?').map_or((text, false), |t| (t, true));
    let (text, list, len) = match text.strip_suffix(']').and_then(|t| t.rsplit_once('[')) {
        Some((element, len)) => (element, true, len.parse().ok()),
        None => (text, false, None),
    };
    let (text, optional_elements) = text.strip_suffix('?').map_or((text, false), |t| (t, true));
    let kind = match text {
        "Tensor" => Kind::Tensor,
        "int" => Kind::Int,
        "SymInt" => Kind::SymInt,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "str" => Kind::Str,
        "Scalar" => Kind::Scalar,
        "ScalarType" => Kind::ScalarType,
        "Device" => Kind::Device,
        "Layout" => Kind::Layout,
        "MemoryFormat" => Kind::MemoryFormat,
        "Generator" => Kind::Generator,
        _ => Kind::Other,
    };
    Type { kind, list, len, optional, optional_elements }
}

fn parse_default(text: &str) -> DefaultValue {
    if let Some(list) = text.strip_prefix('[') {
        let numbers = list.trim_end_matches(']').split(',').map(str::trim).filter(|number| !number.is_empty());
        let numbers = numbers.map(str::parse).collect::<Result<_, _>>();
        return numbers.map_or_else(|_| DefaultValue::Str(text.to_owned()), DefaultValue::Ints);
    }
    if let Some(quoted) = text.strip_prefix('\'') {
        return DefaultValue::Str(quoted.strip_suffix('\'').unwrap_or(quoted).to_owned());
    }
    match text {
        "None" => DefaultValue::None,
        "True" => DefaultValue::Bool(true),
        "False" => DefaultValue::Bool(false),
        number => match (number.parse(), number.parse()) {
            (Ok(int), _) => DefaultValue::Int(int),
            (_, Ok(float)) => DefaultValue::Float(float),
            _ => DefaultValue::Str(number.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_parses_and_the_table_is_sorted() {
        assert!(names().is_sorted());
        for name in names() {
            let schema = schema(name).expect(name);
            assert!(schema.args.iter().all(|a| !a.name.is_empty()), "{name}");
        }
        assert!(names().count() > 3000);
    }

    #[test]
    fn schemas_of_extensions_parse() {
        let text = "my::mix.out(Tensor x, Tensor? bias, int[2] by=[1, 2], *, str how='a, b', Tensor(a!) out) -> (Tensor, Tensor y)";
        let schema = Schema::parse(text).expect("a schema");
        assert_eq!((schema.name, schema.args.len(), schema.returns.len()), ("my.mix.out", 5, 2));
        assert_eq!(schema.args[1].ty, Type { kind: Kind::Tensor, list: false, len: None, optional: true, optional_elements: false });
        assert_eq!(schema.args[2].default, Some(DefaultValue::Ints(vec![1, 2])));
        assert!(schema.args[3].kwarg_only && schema.args[4].is_written() && schema.is_mutable());
        assert!(std::ptr::eq(schema, Schema::parse(text).expect("the same schema")));
        assert!(Schema::parse("my::none() -> ()").is_some_and(|schema| schema.args.is_empty() && schema.returns.is_empty()));
        assert_eq!(Schema::parse("my::none()"), None);
    }

    #[test]
    fn arguments_have_their_types_and_defaults() {
        let add = schema("aten.add.Tensor").expect("in the table");
        assert_eq!(add.args[2].default, Some(DefaultValue::Int(1)));
        assert!(add.args[2].kwarg_only && add.has("pointwise") && !add.has_segments());
        let conv = schema_of_target("aten.conv2d.default").expect("in the table");
        assert_eq!(conv.args[3].ty, Type { kind: Kind::SymInt, list: true, len: Some(2), optional: false, optional_elements: false });
        assert_eq!(conv.args[3].default, Some(DefaultValue::Ints(vec![1, 1])));
        assert!(conv.has_segments());
        let index = schema("aten.index.Tensor").expect("in the table");
        assert!(index.args[1].ty.optional_elements && index.args[1].ty.list);
        assert!(schema("aten.add_.Tensor").expect("in the table").is_mutable());
        let storage = |name| schema(name).expect("in the table").addresses_storage();
        assert!(storage("aten.as_strided") && storage("prims.as_strided_scatter") && !storage("aten.set_.source_Tensor_storage_offset"));
    }
}
