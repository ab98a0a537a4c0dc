//! LLVM's own FileCheck as a function on two texts.

use crate::ir::{print_into, string_ref};
use mlir_sys::MlirStringRef;
use strata_core_sys::{StrataFileCheck, strata_filecheck};

/// How to check; the fields are FileCheck's flags.
#[derive(Clone, Debug, Default)]
pub struct FileCheck {
    /// `--check-prefixes`; empty is `CHECK`.
    pub prefixes: Vec<String>,
    /// `--comment-prefixes`; empty is `COM` and `RUN`.
    pub comment_prefixes: Vec<String>,
    /// `--implicit-check-not`.
    pub implicit_check_not: Vec<String>,
    /// `-DNAME=VALUE` and `-D#NAME=VALUE`, without the `-D`.
    pub defines: Vec<String>,
    /// `--strict-whitespace`.
    pub strict_whitespace: bool,
    /// `--match-full-lines`.
    pub match_full_lines: bool,
    /// `--ignore-case`.
    pub ignore_case: bool,
    /// `--allow-empty`.
    pub allow_empty: bool,
    /// `--allow-unused-prefixes`.
    pub allow_unused_prefixes: bool,
    /// `--enable-var-scope`.
    pub enable_var_scope: bool,
    /// `--allow-deprecated-dag-overlap`.
    pub allow_deprecated_dag_overlap: bool,
    /// `-v`.
    pub verbose: bool,
    /// `-vv`.
    pub very_verbose: bool,
}

/// What FileCheck found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All directives matched.
    Matched,
    /// A directive did not match.
    Mismatch,
    /// The check file or the request is wrong, or the input is empty.
    BadInput,
}

impl FileCheck {
    /// Checks `input` against the directives in `checks`; gives the verdict and FileCheck's messages.
    pub fn run(&self, check_name: &str, checks: &str, input_name: &str, input: &str) -> (Verdict, String) {
        let refs = |texts: &[String]| texts.iter().map(|text| string_ref(text)).collect::<Vec<MlirStringRef>>();
        let (prefixes, comments) = (refs(&self.prefixes), refs(&self.comment_prefixes));
        let (nots, defines) = (refs(&self.implicit_check_not), refs(&self.defines));
        let request = StrataFileCheck {
            num_prefixes: prefixes.len(),
            prefixes: prefixes.as_ptr(),
            num_comment_prefixes: comments.len(),
            comment_prefixes: comments.as_ptr(),
            num_implicit_nots: nots.len(),
            implicit_nots: nots.as_ptr(),
            num_defines: defines.len(),
            defines: defines.as_ptr(),
            strict_whitespace: self.strict_whitespace,
            match_full_lines: self.match_full_lines,
            ignore_case: self.ignore_case,
            allow_empty: self.allow_empty,
            allow_unused_prefixes: self.allow_unused_prefixes,
            enable_var_scope: self.enable_var_scope,
            allow_deprecated_dag_overlap: self.allow_deprecated_dag_overlap,
            verbose: self.verbose,
            very_verbose: self.very_verbose,
        };
        let mut messages = String::new();
        // SAFETY: all strings and lists are alive for the call, and `messages` outlives it.
        let status = unsafe {
            strata_filecheck(
                &raw const request,
                string_ref(check_name),
                string_ref(checks),
                string_ref(input_name),
                string_ref(input),
                print_into,
                (&raw mut messages).cast(),
            )
        };
        let verdict = match status {
            0 => Verdict::Matched,
            1 => Verdict::Mismatch,
            _ => Verdict::BadInput,
        };
        (verdict, messages)
    }
}
