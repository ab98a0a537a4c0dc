//! What was redone and why: `--explain-cache`.

use super::diagnostic::Diagnostic;
use serde::Serialize;
use std::fmt;

/// Where a result came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Passes ran.
    Computed,
    /// It was in the store on disk.
    Disk,
    /// It was known in this process.
    Memory,
}

impl How {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            How::Computed => "computed",
            How::Disk => "disk",
            How::Memory => "memory",
        }
    }
}

/// What is asked of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Query {
    /// A function or a module behind passes.
    Passes,
    /// A kernel's measured schedule.
    Schedule,
    /// The machine code of a kernel, or of the program around the kernels.
    Object,
    /// A compiled program.
    Image,
}

/// Which input made a result new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// It was not there before, or nothing was.
    New,
    /// The function, the kernel or the program is another, or what it refers to.
    Content,
    /// The passes are others.
    Passes,
}

impl Cause {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Cause::New => "new",
            Cause::Content => "changed",
            Cause::Passes => "passes changed",
        }
    }
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// What was asked for.
    pub query: Query,
    /// The function or the kernel; nothing for the module or the program.
    pub name: Option<String>,
    /// The passes, where it is about passes.
    pub passes: String,
    /// Where the result came from.
    pub how: How,
    /// What had changed, where something had.
    pub cause: Option<Cause>,
}

impl Record {
    /// Of what it is, as a report names it.
    pub fn subject(&self) -> String {
        let whole = if self.query == Query::Passes { "module" } else { "program" };
        self.name.as_deref().map_or_else(|| whole.to_owned(), |name| format!("@{name}"))
    }

    /// The passes, or what else was made of it.
    pub fn work(&self) -> &str {
        match self.query {
            Query::Passes => &self.passes,
            Query::Schedule => "schedule",
            Query::Object => "object",
            Query::Image => "image",
        }
    }
}

/// All answers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// In the order of the pipeline, and in it of the functions and kernels.
    pub records: Vec<Record>,
    /// The diagnostics of passes, when they ran or ran once, in the same order.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// How many results came about that way.
    pub fn count(&self, how: How) -> usize {
        self.records.iter().filter(|record| record.how == how).count()
    }

    /// How many answers to a query came about that way.
    pub fn count_of(&self, query: Query, how: How) -> usize {
        self.records.iter().filter(|record| record.query == query && record.how == how).count()
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for record in &self.records {
            let how = record.how.name();
            let cause = record.cause.map_or_else(String::new, |cause| format!(" ({})", cause.words()));
            writeln!(f, "{how:<9} {:<24} {}{cause}", record.subject(), record.work())?;
        }
        let [computed, disk, memory] = [How::Computed, How::Disk, How::Memory].map(|how| self.count(how));
        write!(f, "{computed} computed, {disk} from disk, {memory} from memory")
    }
}
