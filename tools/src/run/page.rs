//! `rs-run --report=html`: one page about the compilation of a model and a call of it, and a timeline for `chrome://tracing`.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use strata_report::{Call, Program, Report};
use strata_runtime::manifest::OutputKind;
use strata_runtime::{OpLibraryFile, Session, Tensor, specialised};
use strata_tools::compiler;

use super::backend::in_order;

/// How long calls are measured.
const BUDGET: Duration = Duration::from_secs(1);

/// How the model is compiled for its page.
pub struct Page<'a> {
    /// The model.
    pub model: &'a Path,
    /// The compiler's options as JSON.
    pub options: &'a str,
    /// Whether pieces of code come from and go to the store.
    pub cache: bool,
    /// The file of the weights, if not the one that the program names.
    pub weights: Option<&'a Path>,
    /// The libraries of the user whose kernels the program calls.
    pub op_libraries: &'a [OpLibraryFile],
}

impl Page<'_> {
    /// Compiles the model, part by part where graph breaks divide it; calls it on these inputs, and writes the page and the timeline to the
    /// current folder. `made` makes up inputs for a program that came without.
    ///
    /// # Errors
    /// What the compiler says, what a call fails with, and files that cannot be written.
    pub fn write(
        &self,
        inputs: Option<Vec<&Tensor>>,
        made: impl FnOnce(&Session) -> Result<Vec<Tensor>, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let name = self.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (mut report, compiler) = (Report::new(&name), compiler::open()?);
        let mut options: Map<String, Value> = serde_json::from_str(self.options)?;
        options.insert("profile".into(), true.into());
        options.insert("cache".into(), self.cache.into());
        if let (Some("off"), Some(inputs)) = (options.get("dynamic").and_then(Value::as_str), &inputs) {
            let shapes: Vec<_> = inputs.iter().map(|input| input.shape().to_vec()).collect();
            options.entry("sizes").or_insert_with(|| specialised::sizes_text(&shapes).into());
        }
        let mut values: Option<Vec<Tensor>> = inputs.map(|inputs| inputs.into_iter().cloned().collect());
        let mut made = Some(made);
        loop {
            let (artefact, record) = compiler.record(self.model, None, &Value::Object(options.clone()).to_string())?;
            let session = Session::load(&artefact.with_op_libraries(self.op_libraries)?, self.weights)?;
            let inputs = match (values.take(), made.take()) {
                (Some(values), _) => values,
                (None, Some(make)) => make(&session)?,
                (None, None) => Vec::new(),
            };
            let inputs: Vec<&Tensor> = inputs.iter().collect();
            let placed = in_order(&session, &inputs)?;
            let inputs: Vec<&Tensor> = placed.iter().map(|tensor| &**tensor).collect();
            let results = session.run_refs(&inputs)?;
            let call = Call::of(&session, &session.measure(&inputs, BUDGET)?);
            report.programs.push(Program::new(session.manifest(), serde_json::from_str(&record)?, Some(call)));
            let Some(next) = session.manifest().resume.clone() else { break };
            report.notes.push(format!("graph break: {}; the program resumes at `{}`", next.reason, next.part));
            options.insert("part".into(), next.part.into());
            let outputs = results.into_iter().zip(&session.manifest().outputs).filter(|(_, out)| out.kind == OutputKind::Output);
            values = Some(outputs.map(|(tensor, _)| tensor).collect());
        }
        for (ending, text) in [("report.html", report.page()?), ("trace.json", report.timeline())] {
            let file = format!("{name}.{ending}");
            fs::write(&file, text).map_err(|error| format!("{file}: {error}"))?;
            println!("wrote {file}");
        }
        Ok(())
    }
}
