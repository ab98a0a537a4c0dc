//! `rs-opt`'s own arguments, in terms of those that MLIR's driver knows.
//!
//! `--from=LEVEL --to=LEVEL` become the named pipelines between the two levels, with `--verify-levels` a check after each.

use crate::levels::{LEVELS, Level};

/// Arguments that name a level that there is not, or levels in the wrong order.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ArgsError {
    #[error("there is no level '{name}'; the levels are {known}")]
    Unknown { name: String, known: String },
    #[error("level '{from}' is not above '{to}'")]
    Order { from: String, to: String },
    #[error("--verify-levels needs --to=LEVEL")]
    NoTarget,
}

fn position(name: &str) -> Result<usize, ArgsError> {
    let known = || LEVELS.iter().map(|level| level.name).collect::<Vec<_>>().join(", ");
    LEVELS.iter().position(|level| level.name == name).ok_or_else(|| ArgsError::Unknown { name: name.to_owned(), known: known() })
}

/// Replaces our own arguments.
pub fn expand(args: &[String]) -> Result<Vec<String>, ArgsError> {
    let value = |name: &str| args.iter().find_map(|arg| arg.strip_prefix(&format!("--{name}=")).map(str::to_owned));
    let (from, to) = (value("from"), value("to"));
    let verify = args.iter().any(|arg| arg == "--verify-levels");
    let own = |arg: &String| arg.starts_with("--from=") || arg.starts_with("--to=") || arg == "--verify-levels";
    let mut expanded: Vec<String> = args.iter().filter(|arg| !own(arg)).cloned().collect();
    let Some(to) = to else {
        return if verify || from.is_some() { Err(ArgsError::NoTarget) } else { Ok(expanded) };
    };
    let last = position(&to)?;
    let first = from.as_deref().map_or(Ok(0), position)?;
    if first > last {
        return Err(ArgsError::Order { from: from.unwrap_or_default(), to });
    }
    for level in &LEVELS[first + 1..=last] {
        if !level.text(&crate::Options::default()).is_empty() {
            expanded.push(format!("--{}", Level::pipeline(level).name));
        }
        if verify {
            expanded.push(format!("--verify-level=level={}", level.name));
        }
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn check(args: &[&str], wanted: &[&str]) {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        assert_eq!(expand(&args).map_err(|error| error.to_string()), Ok(wanted.iter().map(|arg| (*arg).to_owned()).collect()));
    }

    #[test]
    fn levels_become_pipelines() {
        check(&["rs-opt", "--from=prim", "--to=loop", "in.mlir"], &["rs-opt", "in.mlir", "--strata-to-prim-fused", "--strata-to-loop"]);
    }

    #[test]
    fn contracts_are_checked_between_levels() {
        check(&["rs-opt", "--to=aten", "--verify-levels"], &["rs-opt", "--strata-to-aten", "--verify-level=level=aten"]);
    }

    #[test]
    fn unknown_levels_are_refused() {
        assert!(expand(&["rs-opt".into(), "--to=tile".into()]).is_err_and(|error| error.to_string().contains("there is no level 'tile'")));
    }
}
