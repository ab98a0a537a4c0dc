//! Reads the directives of one test file, and refuses what looks like a directive but is none.
//!
//! A misspelt `CHEKC:` would make a test pass for ever, so every comment that starts with a word in capitals and
//! a colon must be a directive the test really uses.

use std::collections::BTreeMap;

/// A test file's commands and conditions.
#[derive(Debug, Default, PartialEq)]
pub struct Script {
    /// The commands, in order.
    pub runs: Vec<Run>,
    /// Features that must all be present, else the test is unsupported.
    pub requires: Vec<String>,
    /// Features one of which makes a failure the expected result; `*` is always present.
    pub xfail: Vec<String>,
}

/// One `RUN:` command with continuation lines joined.
#[derive(Debug, PartialEq)]
pub struct Run {
    /// Line number of its first line, from 1.
    pub line: usize,
    /// The text after `RUN:`, not yet substituted.
    pub command: String,
}

/// Something wrong with the test file itself.
#[derive(Debug, PartialEq)]
pub struct Fault {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong and the way out.
    pub message: String,
}

/// Words in capitals that a comment may start with and that mean nothing to the runner.
const PLAIN: [&str; 2] = ["NOTE", "COM"];
/// What FileCheck allows after a prefix.
const SUFFIXES: [&str; 6] = ["NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY"];

/// Parses `text`; all faults are reported together.
pub fn parse(text: &str) -> Result<Script, Vec<Fault>> {
    let mut script = Script::default();
    let mut faults = Vec::new();
    let mut open = false;
    for (line, comment) in comments(text) {
        let Some((word, rest)) = directive(comment) else {
            open = false;
            continue;
        };
        if word == "RUN" {
            add_run(&mut script.runs, &mut open, line, rest);
            continue;
        }
        open = false;
        match word {
            "REQUIRES" => script.requires.extend(names(rest)),
            "XFAIL" => script.xfail.extend(names(rest)),
            _ => {}
        }
    }
    if let Some(run) = script.runs.last().filter(|_| open) {
        faults.push(Fault { line: run.line, message: "the last RUN line ends in `\\` and nothing follows".into() });
    }
    if script.runs.is_empty() {
        faults.push(Fault { line: 1, message: "no `RUN:` line; a file that is only read by tests belongs in a folder `Inputs`".into() });
    }
    check_words(text, &script, &mut faults);
    if faults.is_empty() { Ok(script) } else { Err(faults) }
}

/// Every line that is a comment, with its number and the text after the comment mark.
fn comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let line = line.trim_start();
        let comment = line.strip_prefix("//").or_else(|| line.strip_prefix('#')).or_else(|| line.strip_prefix(';'))?;
        Some((index + 1, comment.trim()))
    })
}

/// Splits `WORD: rest`, where WORD is at least three characters of capitals, digits, `-`, `_` and FileCheck's `{LITERAL}`.
fn directive(comment: &str) -> Option<(&str, &str)> {
    let (word, rest) = comment.split_once(':')?;
    let plain = word.strip_suffix("{LITERAL}").unwrap_or(word);
    let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (plain.len() >= 3 && plain.starts_with(|c: char| c.is_ascii_uppercase()) && plain.chars().all(capital)).then_some((word, rest.trim()))
}

fn add_run(runs: &mut Vec<Run>, open: &mut bool, line: usize, rest: &str) {
    let (text, more) = match rest.strip_suffix('\\') {
        Some(text) => (text.trim_end(), true),
        None => (rest, false),
    };
    match runs.last_mut().filter(|_| *open) {
        Some(run) => {
            run.command.push(' ');
            run.command.push_str(text);
        }
        None => runs.push(Run { line, command: text.to_string() }),
    }
    *open = more;
}

fn names(list: &str) -> impl Iterator<Item = String> {
    list.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_string)
}

/// The check prefixes that the test's FileCheck commands use.
pub fn prefixes(script: &Script) -> Vec<String> {
    let mut found = Vec::new();
    for run in &script.runs {
        for command in run.command.split(['|', ';', '&']) {
            let mut words = command.split_whitespace();
            if !words.any(|word| matches!(word.rsplit('/').next(), Some("FileCheck" | "rs-filecheck"))) {
                continue;
            }
            let before = found.len();
            while let Some(word) = words.next() {
                let flag = word.trim_start_matches('-');
                let value = match flag.split_once('=') {
                    Some(("check-prefix" | "check-prefixes", value)) => value,
                    None if flag == "check-prefix" || flag == "check-prefixes" => words.next().unwrap_or(""),
                    _ => continue,
                };
                found.extend(value.trim_matches(['"', '\'']).split(',').map(str::to_string));
            }
            if found.len() == before {
                found.push("CHECK".into());
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// True for `PREFIX`, `PREFIX-NEXT`, `PREFIX-COUNT-2`, each with or without `{LITERAL}`.
pub fn is_check(word: &str, prefix: &str) -> bool {
    let word = word.strip_suffix("{LITERAL}").unwrap_or(word);
    match word.strip_prefix(prefix) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|suffix| {
            SUFFIXES.contains(&suffix)
                || suffix.strip_prefix("COUNT-").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        }),
        None => false,
    }
}

/// What FileCheck itself would pass over: directives of `prefixes` with an unknown ending, and prefixes without lines.
pub fn faults_of_prefixes(text: &str, prefixes: &[String], allow_unused: bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    for prefix in prefixes {
        let mut used = false;
        for (line, word) in text.lines().enumerate().flat_map(|(index, line)| words_with(line, prefix).map(move |word| (index + 1, word))) {
            used |= is_check(word, prefix);
            if !is_check(word, prefix) && !prefixes.iter().any(|other| is_check(word, other)) {
                faults.push(Fault {
                    line,
                    message: format!("`{word}:` is no directive; after `{prefix}` comes one of -{}, -COUNT-n", SUFFIXES.join(", -")),
                });
            }
        }
        if !used && !allow_unused {
            faults.push(Fault { line: 1, message: format!("no line is checked under the prefix `{prefix}`") });
        }
    }
    faults
}

/// The words of a line that start with `prefix` or `prefix-` and end in a colon.
fn words_with<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(prefix).filter_map(move |(at, _)| {
        let starts_word = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        let (word, _) = line[at..].split_once(':')?;
        let rest = word.strip_prefix(prefix)?;
        let directive = rest.is_empty() || rest == "{LITERAL}" || (rest.starts_with('-') && !rest.contains(' '));
        (starts_word && directive).then_some(word)
    })
}

/// Reports words in capitals that are no directive of this test, directives without a colon, and prefixes without lines.
fn check_words(text: &str, script: &Script, faults: &mut Vec<Fault>) {
    let prefixes = prefixes(script);
    let mut uses: BTreeMap<&str, usize> = prefixes.iter().map(|prefix| (prefix.as_str(), 0)).collect();
    for (line, comment) in comments(text) {
        let mut fault = |message: String| faults.push(Fault { line, message });
        let Some((word, _)) = directive(comment) else {
            let first = comment.split_whitespace().next().unwrap_or("");
            let bare = first.trim_end_matches(':');
            if first == "RUN" || prefixes.iter().any(|prefix| prefix.len() >= 3 && is_check(first, prefix)) {
                fault(format!("`{first}` looks like a directive without its colon; write `{first}:` right after the comment mark"));
            } else if first.ends_with(':') && ["RUN", "REQUIRES", "XFAIL", "CHECK"].contains(&bare.to_uppercase().as_str()) {
                fault(format!("directives are written in capitals: `{}:`", bare.to_uppercase()));
            }
            continue;
        };
        if ["RUN", "REQUIRES", "XFAIL"].contains(&word) || PLAIN.contains(&word) {
            continue;
        }
        match prefixes.iter().find(|prefix| is_check(word, prefix)) {
            Some(prefix) => *uses.entry(prefix).or_default() += 1,
            None => fault(format!(
                "`{word}:` is no directive of this test (check prefixes: {}); other comments start with `NOTE:` or a small letter",
                if prefixes.is_empty() { "none".into() } else { prefixes.join(", ") }
            )),
        }
    }
    // A check may also stand behind code on its line; FileCheck finds it there.
    for (prefix, _) in uses.into_iter().filter(|(prefix, count)| *count == 0 && !text.contains(&format!("{prefix}:"))) {
        faults.push(Fault { line: 1, message: format!("no line is checked under the prefix `{prefix}` that a RUN line names") });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        parse(text).expect_err("the text is wrong").into_iter().map(|fault| format!("{}: {}", fault.line, fault.message)).collect()
    }

    #[test]
    fn joins_continued_lines() {
        let script = parse("// RUN: rs-opt %s \\\n// RUN:   --cse | FileCheck %s\n// CHECK: x\n// RUN: true").unwrap();
        assert_eq!(script.runs[0], Run { line: 1, command: "rs-opt %s --cse | FileCheck %s".into() });
        assert_eq!(script.runs[1], Run { line: 4, command: "true".into() });
    }

    #[test]
    fn reads_conditions() {
        let script = parse("# REQUIRES: cuda, avx2\n# XFAIL: *\n# RUN: true").unwrap();
        assert_eq!(script.requires, ["cuda", "avx2"]);
        assert_eq!(script.xfail, ["*"]);
    }

    #[test]
    fn knows_the_check_directives() {
        let text = "// RUN: a | FileCheck %s --check-prefixes=ONE,TWO\n// ONE-COUNT-2: x\n// TWO-NOT{LITERAL}: [[y]]\n// NOTE: free text";
        assert!(parse(text).is_ok());
    }

    #[test]
    fn refuses_misspelt_directives() {
        let text = "// RUN: a | FileCheck %s\n// CHECK: a\n// CHECK-NXT: b\n// CHEKC: c\n// CHECK d\n// AFTER: e\n// run: f";
        let faults = faults(text);
        assert_eq!(faults.len(), 5, "{faults:#?}");
        assert!(faults[0].starts_with("3: `CHECK-NXT:` is no directive"));
        assert!(faults[2].contains("without its colon"));
        assert!(faults[4].contains("capitals"));
    }

    #[test]
    fn finds_faults_of_prefixes_anywhere_in_a_line() {
        let prefixes = ["CHECK".to_string(), "ONE".to_string()];
        let faults = faults_of_prefixes("%0 = x // CHECK-NEXT: a\n; CHECK-NXT: b\n# XCHECK-FOO: c\n", &prefixes, false);
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [2, 1]);
        assert!(faults[1].message.contains("`ONE`"));
    }

    #[test]
    fn refuses_unused_prefixes_and_missing_runs() {
        assert!(faults("// RUN: a | FileCheck %s --check-prefix=GONE")[0].contains("`GONE`"));
        assert!(faults("func.func @f()")[0].contains("no `RUN:` line"));
        assert!(faults("// RUN: a \\\n")[0].contains("nothing follows"));
    }
}
