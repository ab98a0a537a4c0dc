//! What was redone and why: `--explain-cache`.

use super::said::Said;
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

/// Which input made a result new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The function was not there before, or nothing was.
    New,
    /// The function is another, or what it refers to.
    Function,
    /// The passes are others.
    Passes,
}

impl Cause {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Cause::New => "new",
            Cause::Function => "function changed",
            Cause::Passes => "passes changed",
        }
    }
}

/// One group of passes on one function, or on the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The function; nothing for the module.
    pub function: Option<String>,
    /// The passes.
    pub passes: String,
    /// Where the result came from.
    pub how: How,
    /// What had changed, where something had.
    pub cause: Option<Cause>,
}

/// All groups of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// In the order of the pipeline, and in it of the functions.
    pub records: Vec<Record>,
    /// What passes said, when they ran or ran once, in the same order.
    pub said: Vec<Said>,
}

impl Report {
    /// How many results came about that way.
    pub fn count(&self, how: How) -> usize {
        self.records.iter().filter(|record| record.how == how).count()
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
            let function = record.function.as_deref().map_or_else(|| "module".to_owned(), |name| format!("@{name}"));
            writeln!(f, "{how:<9} {function:<24} {}{cause}", record.passes)?;
        }
        let [computed, disk, memory] = [How::Computed, How::Disk, How::Memory].map(|how| self.count(how));
        write!(f, "{computed} computed, {disk} from disk, {memory} from memory")
    }
}
