//! A textual pipeline as a list of passes, each with its nesting: `a,func.func(b,c)` is `a`, `func.func(b)`, `func.func(c)`.

use strata_core::pass::PassManager;
use strata_core::registry::Registry;

/// Text that is no pipeline.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the pipeline '{text}': {reason}")]
pub struct PassListError {
    text: String,
    reason: &'static str,
}

/// Splits a pipeline into single passes. Running them one after the other is running the pipeline.
pub fn split(text: &str) -> Result<Vec<String>, PassListError> {
    let text = text.trim();
    let inner = text.strip_prefix("builtin.module(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    nested(inner, 0).map_err(|reason| PassListError { text: text.to_owned(), reason })
}

/// Nesting is bounded: the text comes from outside.
const DEPTH: usize = 16;

fn nested(text: &str, depth: usize) -> Result<Vec<String>, &'static str> {
    if depth > DEPTH {
        return Err("it nests too deep");
    }
    let mut passes = Vec::new();
    for part in top_level(text)? {
        let anchor = part.split_once('(').filter(|(anchor, _)| !anchor.contains('{'));
        match anchor.and_then(|(anchor, rest)| Some((anchor, rest.strip_suffix(')')?))) {
            Some((anchor, inner)) => passes.extend(nested(inner, depth + 1)?.into_iter().map(|pass| format!("{anchor}({pass})"))),
            None => passes.push(part.to_owned()),
        }
    }
    Ok(passes)
}

/// The parts between the commas that stand in no bracket.
fn top_level(text: &str) -> Result<Vec<&str>, &'static str> {
    let (mut open, mut start, mut parts) = (Vec::new(), 0, Vec::new());
    for (at, char) in text.char_indices() {
        match char {
            '(' => open.push(')'),
            '{' => open.push('}'),
            ')' | '}' if open.pop() != Some(char) => return Err("a bracket closes what is not open"),
            ',' if open.is_empty() => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !open.is_empty() {
        return Err("a bracket is not closed");
    }
    parts.push(text[start..].trim());
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect())
}

/// The ops that a pass given by its name runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nest {
    /// The module.
    Module,
    /// The functions in it.
    Functions,
}

impl Nest {
    /// The pass as a part of a module's pipeline.
    pub fn around(self, pass: &str) -> String {
        match self {
            Nest::Module => pass.to_owned(),
            Nest::Functions => format!("func.func({pass})"),
        }
    }
}

/// Where the pass or pipeline of that name runs, ours or MLIR's; nothing where there is none.
pub fn nest(registry: &'static Registry, name: &str) -> Option<Nest> {
    let context = registry.pooled_context();
    let known = |nest: &Nest| PassManager::parse((&*context).into(), "builtin.module", &nest.around(name)).is_ok();
    [Nest::Module, Nest::Functions].into_iter().find(known)
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(text: &str, wanted: Result<&[&str], &str>) {
        let found = split(text).map_err(|error| error.reason);
        assert_eq!(found, wanted.map(|passes| passes.iter().map(|pass| (*pass).to_owned()).collect()));
    }

    #[test]
    fn nests_are_taken_apart() {
        check("builtin.module(a{x=1,2},func.func(b,c{y=(1,2)}),d)", Ok(&["a{x=1,2}", "func.func(b)", "func.func(c{y=(1,2)})", "d"]));
        check(" a , func.func(b) ", Ok(&["a", "func.func(b)"]));
        check("", Ok(&[]));
    }

    #[test]
    fn brackets_match() {
        check("a,func.func(b", Err("a bracket is not closed"));
        check("a)", Err("a bracket closes what is not open"));
    }
}
