//! What a schema says of the words on a kernel's stack: `(Tensor x, float[] factors, int? times=None) -> Tensor`.

/// What an argument holds, without list and option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tensor,
    /// A tensor that the kernel writes to.
    Written,
    /// A number, by its kind in `strata_ops.h`.
    Number(i32),
}

/// An argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Param {
    pub kind: Kind,
    pub list: bool,
    pub optional: bool,
}

/// The arguments of an operator, and how many tensors it returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    pub params: Vec<Param>,
    pub returns: usize,
}

/// Reads a schema behind the operator's name; why its kernel cannot be called here otherwise.
pub(crate) fn signature(schema: &str) -> Result<Signature, String> {
    let no_schema = || format!("`{schema}` is no schema");
    let (args, returns) = schema.rsplit_once("->").ok_or_else(no_schema)?;
    let args = args.trim().strip_prefix('(').and_then(|args| args.strip_suffix(')')).ok_or_else(no_schema)?;
    let params = parts(args).filter(|arg| *arg != "*").map(param).collect::<Result<_, _>>()?;
    let returns = returns.trim();
    let returns = match returns.strip_prefix('(').and_then(|list| list.strip_suffix(')')) {
        Some(list) => parts(list).collect(),
        None => vec![returns],
    };
    match returns.iter().find(|ty| ty.split(' ').next() != Some("Tensor")) {
        Some(ty) => Err(format!("it returns `{ty}`, and only tensors are taken")),
        None => Ok(Signature { params, returns: returns.len() }),
    }
}

/// The parts of a list: commas in brackets and quotes are not between them.
fn parts(list: &str) -> impl Iterator<Item = &str> {
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
    list.split(between).map(str::trim).filter(|part| !part.is_empty())
}

/// `float? scale=None`, `Tensor(a!) out`.
fn param(text: &str) -> Result<Param, String> {
    let ty = text.split_once(' ').map_or(text, |(ty, _)| ty);
    let unknown = || format!("it takes `{text}`, which is none of Tensor, int, float, bool, and lists and options of them");
    let (element, optional) = ty.strip_suffix('?').map_or((ty, false), |element| (element, true));
    let (element, list) = match element.strip_suffix(']').and_then(|list| list.split_once('[')) {
        Some((element, _)) => (element, true),
        None => (element, false),
    };
    let (name, alias) = element.split_once('(').map_or((element, ""), |(name, alias)| (name, alias));
    let kind = match (name, alias.contains('!')) {
        ("Tensor", true) if !list && !optional => Kind::Written,
        ("Tensor", false) => Kind::Tensor,
        ("int" | "SymInt", _) => Kind::Number(1),
        ("float", _) => Kind::Number(2),
        ("bool", _) => Kind::Number(3),
        _ => return Err(unknown()),
    };
    Ok(Param { kind, list, optional })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_their_kinds() {
        let param = |kind, list, optional| Param { kind, list, optional };
        let found =
            signature("(Tensor x, Tensor(a!) out, Tensor[] more, *, float? scale=None, int[2]? shifts=[1, 2], bool flag=False) -> ()");
        let params = vec![
            param(Kind::Tensor, false, false),
            param(Kind::Written, false, false),
            param(Kind::Tensor, true, false),
            param(Kind::Number(2), false, true),
            param(Kind::Number(1), true, true),
            param(Kind::Number(3), false, false),
        ];
        assert_eq!(found, Ok(Signature { params, returns: 0 }));
        assert_eq!(signature("() -> (Tensor, Tensor b)").map(|signature| signature.returns), Ok(2));
    }

    #[test]
    fn what_no_stack_holds_is_refused() {
        for (schema, part) in [
            ("(str text) -> Tensor", "it takes `str text`"),
            ("(Tensor(a!)? x) -> Tensor", "it takes `Tensor(a!)? x`"),
            ("(Tensor?[] x) -> Tensor", "it takes `Tensor?[] x`"),
            ("(Tensor x) -> int", "it returns `int`"),
            ("(Tensor x) -> Tensor(a)", "it returns `Tensor(a)`"),
            ("(Tensor x)", "is no schema"),
        ] {
            let why = signature(schema).expect_err(schema);
            assert!(why.contains(part), "{why}");
        }
    }
}
