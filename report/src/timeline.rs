//! A timeline in Chrome's trace event format: `chrome://tracing` and Perfetto open it.

use serde_json::{Value, json};

use crate::{Program, Report};

/// The rows of a program, as threads of a process.
const PASSES: u32 = 1;
const STAGES: u32 = 2;
const CALL: u32 = 3;

impl Report {
    /// The compilation and one call of each program: a process for each, times in microseconds.
    pub fn timeline(&self) -> String {
        let programs = self.programs.iter().enumerate();
        let events: Vec<Value> = programs.flat_map(|(number, program)| events(number, program)).collect();
        json!({ "displayTimeUnit": "ms", "traceEvents": events }).to_string()
    }
}

fn events(process: usize, program: &Program) -> Vec<Value> {
    let named = |thread: u32, name: &str| json!({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}});
    let span = |thread: u32, name: &str, start: f64, micros: f64, args: Value| json!({"ph": "X", "name": name, "pid": process, "tid": thread, "ts": start, "dur": micros, "args": args});
    let mut events = vec![
        json!({"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": program.name}}),
        named(PASSES, "compilation, pass by pass"),
        named(STAGES, "compilation, as it usually runs"),
        named(CALL, "one call"),
    ];
    for level in &program.compilation.levels {
        // A level lasts from its first pass to its last.
        if let (Some(first), Some(last)) = (level.passes.first(), level.passes.last()) {
            let micros = last.start + last.micros - first.start;
            events.push(span(PASSES, &level.name, first.start as f64, micros as f64, json!({"level": level.description})));
        }
        for pass in &level.passes {
            let args = json!({"ops before": pass.before, "ops after": pass.after, "changed": pass.changed});
            events.push(span(PASSES, &pass.text, pass.start as f64, pass.micros as f64, args));
        }
    }
    let mut start = 0;
    // Parts of the stage `code` ran inside of it, on several threads.
    for stage in program.compilation.stages.iter().filter(|stage| !stage.name.contains(':')) {
        events.push(span(STAGES, &stage.name, start as f64, stage.micros as f64, json!({})));
        start += stage.micros;
    }
    for launch in program.call.iter().flat_map(|call| &call.launches) {
        events.push(span(CALL, &launch.kernel, launch.start as f64 / 1e3, launch.nanos as f64 / 1e3, json!({})));
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Compilation, Launch, Level, Pass};

    #[test]
    fn passes_and_launches_are_spans() {
        let pass = |text: &str, start, micros| Pass { text: text.into(), start, micros, ..Pass::default() };
        let level = Level { name: "prim".into(), passes: vec![pass("cse", 5, 2), pass("a{\"b\"}", 9, 1)], ..Level::default() };
        let launches = vec![Launch { kernel: "k0".into(), start: 1500, nanos: 250 }];
        let call = Some(Call { launches, ..Call::default() });
        let compilation = Compilation { levels: vec![level], ..Compilation::default() };
        let program = Program { name: "m".into(), compilation, guards: vec![], weight_bytes: 0, call };
        let report = Report { programs: vec![program], ..Report::default() };
        let timeline: Value = serde_json::from_str(&report.timeline()).expect("it is JSON");
        let spans: Vec<_> = timeline["traceEvents"].as_array().expect("a list").iter().filter(|event| event["ph"] == "X").collect();
        let shown: Vec<_> = spans.iter().map(|span| (span["name"].as_str(), span["ts"].as_f64(), span["dur"].as_f64())).collect();
        let wanted = [
            (Some("prim"), Some(5.0), Some(5.0)),
            (Some("cse"), Some(5.0), Some(2.0)),
            (Some("a{\"b\"}"), Some(9.0), Some(1.0)),
            (Some("k0"), Some(1.5), Some(0.25)),
        ];
        assert_eq!(shown, wanted);
    }
}
