//! `rs-filecheck`: LLVM's FileCheck, called as a library, with two more errors and `--bless`.
//!
//! A directive with an unknown ending (`CHECK-NXT:`) and a prefix without lines are errors, because such a test can never fail.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use strata_core::filecheck::{FileCheck, Verdict};
use strata_test::{bless, script};

/// Check text against the directives in a file.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The file with the directives
    checks: PathBuf,
    /// The text to check; standard input without it
    #[arg(long, default_value = "-")]
    input_file: String,
    /// Prefix of the directives; may be repeated
    #[arg(long, value_delimiter = ',')]
    check_prefix: Vec<String>,
    /// Prefixes of the directives
    #[arg(long, value_delimiter = ',')]
    check_prefixes: Vec<String>,
    /// Prefixes of lines to ignore
    #[arg(long, value_delimiter = ',')]
    comment_prefixes: Vec<String>,
    /// Text that must not stand between matches
    #[arg(long)]
    implicit_check_not: Vec<String>,
    /// Define a variable: NAME=VALUE, or #NAME=EXPRESSION
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    define: Vec<String>,
    /// Blanks count
    #[arg(long)]
    strict_whitespace: bool,
    /// A pattern covers its whole line
    #[arg(long)]
    match_full_lines: bool,
    /// Upper and lower case are equal
    #[arg(long)]
    ignore_case: bool,
    /// The input may be empty
    #[arg(long)]
    allow_empty: bool,
    /// A prefix may have no lines
    #[arg(long)]
    allow_unused_prefixes: bool,
    /// Forget variables without `$` at each CHECK-LABEL
    #[arg(long)]
    enable_var_scope: bool,
    /// CHECK-DAG lines may match the same text
    #[arg(long)]
    allow_deprecated_dag_overlap: bool,
    /// Show what matched
    #[arg(short, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Accepted for LLVM's sake; the input is shown when a check fails
    #[arg(long, hide = true)]
    dump_input: Option<String>,
    /// Rewrite the directives of the file if they fail
    #[arg(long)]
    bless: bool,
}

fn main() -> ExitCode {
    match check(&Arguments::parse_from(std::env::args().map(long_flag))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("rs-filecheck: {message}");
            ExitCode::from(2)
        }
    }
}

/// LLVM takes long flags behind one dash as well.
fn long_flag(arg: String) -> String {
    let long = arg.len() > 3 && arg.starts_with('-') && !arg.starts_with("--") && !arg.starts_with("-D");
    if long { format!("-{arg}") } else { arg }
}

fn check(arguments: &Arguments) -> Result<bool, String> {
    let name = arguments.checks.display().to_string();
    let checks = fs::read_to_string(&arguments.checks).map_err(|error| format!("{name}: {error}"))?;
    let (input_name, input) = read_input(&arguments.input_file)?;
    let mut prefixes = [&arguments.check_prefix[..], &arguments.check_prefixes[..]].concat();
    if prefixes.is_empty() {
        prefixes.push("CHECK".into());
    }
    let faults = script::faults_of_prefixes(&checks, &prefixes, arguments.allow_unused_prefixes || arguments.bless);
    if !faults.is_empty() {
        faults.iter().for_each(|fault| eprintln!("{name}:{}: error: {}", fault.line, fault.message));
        return Ok(false);
    }
    let request = FileCheck {
        prefixes: prefixes.clone(),
        comment_prefixes: arguments.comment_prefixes.clone(),
        implicit_check_not: arguments.implicit_check_not.clone(),
        defines: arguments.define.clone(),
        strict_whitespace: arguments.strict_whitespace,
        match_full_lines: arguments.match_full_lines,
        ignore_case: arguments.ignore_case,
        allow_empty: arguments.allow_empty,
        allow_unused_prefixes: arguments.allow_unused_prefixes,
        enable_var_scope: arguments.enable_var_scope,
        allow_deprecated_dag_overlap: arguments.allow_deprecated_dag_overlap,
        verbose: arguments.verbose > 0,
        very_verbose: arguments.verbose > 1,
    };
    let (verdict, messages) = request.run(&name, &checks, &input_name, &input);
    if arguments.bless && verdict != Verdict::Matched {
        let [prefix] = &prefixes[..] else {
            return Err(format!("{name}: --bless writes the lines of one prefix, not of {}", prefixes.join(",")));
        };
        fs::write(&arguments.checks, bless::rewrite(&checks, prefix, &input)).map_err(|error| format!("{name}: {error}"))?;
        println!("blessed {name}");
        return Ok(true);
    }
    eprint!("{messages}");
    if verdict == Verdict::Mismatch {
        eprintln!("the input was:");
        input.lines().enumerate().for_each(|(index, line)| eprintln!("{:>5}: {line}", index + 1));
    }
    Ok(verdict == Verdict::Matched)
}

fn read_input(file: &str) -> Result<(String, String), String> {
    if file != "-" {
        return fs::read_to_string(file).map(|text| (file.to_string(), text)).map_err(|error| format!("{file}: {error}"));
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| format!("standard input: {error}"))?;
    Ok(("<stdin>".into(), String::from_utf8_lossy(&bytes).into_owned()))
}
