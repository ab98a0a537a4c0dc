//! `rs-opt`'s own arguments, in terms of those that MLIR's driver knows.
//!
//! `--from=LEVEL --to=LEVEL` become, where `--to` stands, the named pipelines between the two levels on the way to `--target`, with
//! `--verify-levels` a check after each. The other [`OPTIONS`] are tasks of our own on a program and a list of passes.

use std::path::PathBuf;

use strata_core::registry::Registry;
use strata_runtime::OpLibraryFile;

use crate::check_semantics::{ELEMENTS, SECONDS};
use crate::levels::{Level, UnknownLevel, list};
use crate::options::Options;
use crate::pass_list;
use crate::pipelines::{Pipeline, all_pipelines, pipelines};

/// `rs-opt`'s own options and what they do, as `--help` shows them.
pub const OPTIONS: &[(&str, &str)] = &[
    (
        "--from=LEVEL --to=LEVEL",
        "the pipelines from one level (the first if left out) to another; --to stands among the passes in their order",
    ),
    ("--target=cpu|cuda:sm_90", "the machine whose levels these are; levels that only one has need none"),
    ("--operators=FILE", "operators that an exported program calls and PyTorch does not have: functions, each named after one"),
    ("--signature=TYPES", "the types of a call of a .pt archive of TorchScript or an .onnx model, as in f32[?x3x224x224],i64[2]={0 1}"),
    ("--verify-levels", "check each level's contract behind its pipeline"),
    (
        "--check-semantics[=sets=N,seed=N,elements=N,seconds=N]",
        "interpret the program before and behind each pass; name the pass and the first value that differ",
    ),
    ("--bisect[=sets=N,seed=N,elements=N,seconds=N]", "the same by binary search over the passes"),
    (
        "--check-gradients[=sets=N,seed=N,elements=N,seconds=N]",
        "compare the program's gradients, behind the passes, with finite differences in f64 by the interpreter",
    ),
    ("--load-op-library=FILE", "a library of C functions that the program calls, for these three; may be given more than once"),
    ("--load-torch-op=FILE", "an extension on PyTorch's stable ABI whose operators the program calls; may be given more than once"),
    ("--graph=dot|svg", "draw the ops behind the passes"),
    ("--incremental", "take passes' results from the store; run only what is not in it"),
    ("--explain-cache[=json]", "with --incremental: what was found, what was run again and which input changed"),
    ("--watch", "run again on each save of the file and show what changed"),
    (
        "--op-coverage[=PART]",
        "PyTorch's operators whose name contains PART, of the program if a file is given: compiled or missing, interpreted or not",
    ),
];

/// Arguments that name a level that there is not, or levels in the wrong order.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ArgsError {
    #[error(transparent)]
    Unknown(#[from] UnknownLevel),
    #[error("there is no level '{level}' on the way to that target; its levels are {known}")]
    Elsewhere { level: Level, known: String },
    #[error("level '{from}' is not above '{to}'")]
    Order { from: Level, to: Level },
    #[error("{0} says nothing without --to=LEVEL; add the level to go down to")]
    NoTarget(&'static str),
    #[error("'{value}' is no value of {flag}; {wanted}")]
    Value { flag: &'static str, value: String, wanted: &'static str },
    #[error("--check-semantics, --check-gradients, --bisect, --graph and --incremental exclude each other; give one of them")]
    Tasks,
    #[error("one program can be checked at a time, not '{first}' and '{second}'")]
    Inputs { first: String, second: String },
    #[error("{0} looks at what passes do, and there are none; give them as flags, with --pass-pipeline, or with --from and --to")]
    NoPasses(&'static str),
    #[error("--load-op-library is for programs that are run; give it with --check-semantics, --bisect or --check-gradients")]
    Libraries,
    #[error("-o needs a file")]
    NoOutput,
    #[error("'{0}' is no option of {1}; passes are given as flags, with --pass-pipeline or with --from and --to")]
    Flag(String, &'static str),
    #[error(transparent)]
    Passes(#[from] pass_list::PassListError),
}

/// What `rs-opt` does itself instead of printing the program behind the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Names the pass that changes what the program computes.
    Check(Samples),
    /// The same, by binary search.
    Bisect(Samples),
    /// Compares gradients with finite differences.
    Gradients(Samples),
    /// Runs the passes through the database of what ran before.
    Incremental {
        /// Also say what was redone, and in which form.
        explain: Option<Explain>,
        /// Again whenever the file is saved.
        watch: bool,
    },
    /// Writes the op graph behind the passes.
    Graph {
        /// As a picture, by Graphviz.
        svg: bool,
    },
}

/// On what the interpreter runs a program, and how much a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// Input sets.
    pub sets: usize,
    /// Seed of the inputs.
    pub seed: u64,
    /// Elements of a tensor.
    pub elements: usize,
    /// Seconds of a run.
    pub seconds: u64,
}

/// The form of `--explain-cache`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explain {
    /// A line for each function and group of passes.
    Text,
    /// For tools.
    Json,
}

/// A task with what it works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// What to do.
    pub task: Task,
    /// The program; nothing is standard input.
    pub input: Option<PathBuf>,
    /// Where to write; nothing is standard output.
    pub output: Option<PathBuf>,
    /// The passes in order, one each.
    pub passes: Vec<String>,
    /// Libraries of kernels that the program calls.
    pub op_libraries: Vec<OpLibraryFile>,
    /// Whether the file holds several programs, between lines `// -----`.
    pub split: bool,
    /// Whether the program is written with locations.
    pub locations: bool,
}

impl Task {
    fn flag(self) -> &'static str {
        match self {
            Task::Check(_) => "--check-semantics",
            Task::Bisect(_) => "--bisect",
            Task::Gradients(_) => "--check-gradients",
            Task::Graph { .. } => "--graph",
            Task::Incremental { .. } => "--incremental",
        }
    }

    /// Whether the interpreter runs the program.
    fn runs(self) -> bool {
        matches!(self, Task::Check(_) | Task::Bisect(_) | Task::Gradients(_))
    }

    /// What two flags ask for together.
    fn and(self, other: Task) -> Result<Task, ArgsError> {
        match (self, other) {
            (Task::Incremental { explain, watch }, Task::Incremental { explain: more, watch: also }) => {
                Ok(Task::Incremental { explain: more.or(explain), watch: watch || also })
            }
            _ if self.flag() == other.flag() => Ok(other),
            _ => Err(ArgsError::Tasks),
        }
    }

    /// Reads a flag that names a task.
    fn of(arg: &str) -> Result<Option<Task>, ArgsError> {
        let (name, value) = arg.split_once('=').unwrap_or((arg, ""));
        match name {
            "--check-semantics" => samples("--check-semantics", value).map(|samples| Some(Task::Check(samples))),
            "--bisect" => samples("--bisect", value).map(|samples| Some(Task::Bisect(samples))),
            "--check-gradients" => samples("--check-gradients", value).map(|samples| Some(Task::Gradients(samples))),
            "--incremental" => Ok(Some(Task::Incremental { explain: None, watch: false })),
            "--watch" => Ok(Some(Task::Incremental { explain: None, watch: true })),
            "--explain-cache" => match value {
                "" => Ok(Some(Task::Incremental { explain: Some(Explain::Text), watch: false })),
                "json" => Ok(Some(Task::Incremental { explain: Some(Explain::Json), watch: false })),
                _ => Err(ArgsError::Value { flag: "--explain-cache", value: value.to_owned(), wanted: "write json or nothing" }),
            },
            "--graph" => match value {
                "dot" => Ok(Some(Task::Graph { svg: false })),
                "svg" => Ok(Some(Task::Graph { svg: true })),
                _ => Err(ArgsError::Value { flag: "--graph", value: value.to_owned(), wanted: "write dot or svg" }),
            },
            _ => Ok(None),
        }
    }
}

/// `sets=3,seed=1,elements=1048576,seconds=20`, each of which may be left out.
fn samples(flag: &'static str, text: &str) -> Result<Samples, ArgsError> {
    let mut samples = Samples { sets: 3, seed: 1, elements: ELEMENTS, seconds: SECONDS };
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let wrong = || ArgsError::Value {
            flag,
            value: part.to_owned(),
            wanted: "write sets=N (1 to 1000), seed=N, elements=N (of a tensor, at least 1), seconds=N (of a run, 1 to 86400), with commas between",
        };
        let (name, value) = part.split_once('=').ok_or_else(wrong)?;
        let number: u64 = value.parse().map_err(|_| wrong())?;
        match name {
            "sets" if (1..=1000).contains(&number) => samples.sets = number as usize,
            "seed" => samples.seed = number,
            "elements" if number > 0 => samples.elements = usize::try_from(number).unwrap_or(usize::MAX),
            "seconds" if (1..=86_400).contains(&number) => samples.seconds = number,
            _ => return Err(wrong()),
        }
    }
    Ok(samples)
}

/// The task that the arguments (without the program's name) ask for, if they do.
pub fn job(registry: &'static Registry, args: &[String]) -> Result<Option<Job>, ArgsError> {
    let mut task = None;
    for arg in args {
        task = match (task, Task::of(arg)?) {
            (Some(task), Some(found)) => Some(Task::and(task, found)?),
            (task, found) => found.or(task),
        };
    }
    if !task.is_some_and(Task::runs) && args.iter().any(|arg| arg.starts_with("--load-op-library")) {
        return Err(ArgsError::Libraries);
    }
    let Some(task) = task else { return Ok(None) };
    let mut job = Job { task, input: None, output: None, passes: Vec::new(), op_libraries: Vec::new(), split: false, locations: false };
    // Passes stand where their flags do.
    let args: Vec<String> = args.iter().filter(|arg| !matches!(Task::of(arg), Ok(Some(_)))).cloned().collect();
    // Two levels may have no pass between them.
    let args_name_levels = args.iter().any(|arg| arg.starts_with("--to="));
    let args = expand(registry, &args)?;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.strip_prefix('-') {
            None | Some("") => {
                let path = (arg != "-").then(|| PathBuf::from(arg));
                if let Some(first) = job.input.replace(path.unwrap_or_else(|| "-".into())) {
                    let first = first.display().to_string();
                    return Err(ArgsError::Inputs { first, second: arg.clone() });
                }
            }
            Some("o") => job.output = Some(args.next().ok_or(ArgsError::NoOutput)?.into()),
            Some(flag) => {
                let flag = flag.strip_prefix('-').unwrap_or(flag);
                let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
                match (name, value) {
                    ("split-input-file", None) => job.split = true,
                    ("mlir-print-debuginfo", None) => job.locations = true,
                    ("load-op-library", Some(file)) => job.op_libraries.push(OpLibraryFile::kernels(file)),
                    ("load-torch-op", Some(file)) => job.op_libraries.push(OpLibraryFile::torch(file)),
                    ("o", Some(value)) => job.output = Some(value.into()),
                    ("pass-pipeline", Some(text)) => job.passes.extend(pass_list::split(text)?),
                    ("pass-pipeline", None) => {
                        let text = args.next().ok_or(ArgsError::Value {
                            flag: "--pass-pipeline",
                            value: String::new(),
                            wanted: "write passes",
                        })?;
                        job.passes.extend(pass_list::split(text)?);
                    }
                    (name, None) if all_pipelines().any(|pipeline| pipeline.name == name) => {
                        let pipeline = all_pipelines().find(|pipeline| pipeline.name == name);
                        job.passes.extend(pass_list::split(
                            &pipeline.map(|pipeline| pipeline.text(registry, &Options::default())).unwrap_or_default(),
                        )?);
                    }
                    (name, options) => {
                        let nest = pass_list::nest(registry, name).ok_or_else(|| ArgsError::Flag(arg.clone(), task.flag()))?;
                        let options = options.map(|options| format!("{{{options}}}")).unwrap_or_default();
                        job.passes.push(nest.around(&format!("{name}{options}")));
                    }
                }
            }
        }
    }
    let asks_of_passes = matches!(task, Task::Check(_) | Task::Bisect(_));
    if asks_of_passes && job.passes.is_empty() && !args_name_levels {
        return Err(ArgsError::NoPasses(task.flag()));
    }
    job.input = job.input.filter(|path| path.as_os_str() != "-");
    Ok(Some(job))
}

fn position(pipelines: &[&Pipeline], level: Level) -> Result<usize, ArgsError> {
    let elsewhere = || ArgsError::Elsewhere { level, known: list(pipelines.iter().map(|pipeline| pipeline.level)) };
    pipelines.iter().position(|pipeline| pipeline.level == level).ok_or_else(elsewhere)
}

/// The pipelines that a level is reached by: those of the target, or of the one that has the level.
fn pipelines_to(target: Option<String>, to: Level) -> Result<Vec<&'static Pipeline>, ArgsError> {
    let target = target.unwrap_or_else(|| if to <= Level::Cpu { "cpu" } else { "cuda" }.to_owned());
    let wrong = |_| ArgsError::Value { flag: "--target", value: target.clone(), wanted: "write cpu or cuda:sm_90" };
    Ok(pipelines(target.parse().map_err(wrong)?))
}

/// Replaces our own arguments.
pub fn expand(registry: &Registry, args: &[String]) -> Result<Vec<String>, ArgsError> {
    let value = |name: &str| args.iter().find_map(|arg| arg.strip_prefix(&format!("--{name}=")).map(str::to_owned));
    let (from, to, target) = (value("from"), value("to"), value("target"));
    let verify = args.iter().any(|arg| arg == "--verify-levels");
    let own =
        |arg: &String| arg.starts_with("--from=") || arg.starts_with("--to=") || arg.starts_with("--target=") || arg == "--verify-levels";
    let others = |args: &[String]| args.iter().filter(|arg| !own(arg)).cloned().collect::<Vec<_>>();
    let Some(to) = to else {
        let given = [(from.is_some(), "--from=LEVEL"), (target.is_some(), "--target"), (verify, "--verify-levels")];
        return match given.into_iter().find(|(given, _)| *given) {
            Some((_, flag)) => Err(ArgsError::NoTarget(flag)),
            None => Ok(others(args)),
        };
    };
    let to: Level = to.parse()?;
    let pipelines = pipelines_to(target, to)?;
    let last = position(&pipelines, to)?;
    let first = from.map_or(Ok(0), |from| position(&pipelines, from.parse()?))?;
    if first > last {
        return Err(ArgsError::Order { from: pipelines[first].level, to });
    }
    let mut levels = Vec::new();
    for pipeline in &pipelines[first + 1..=last] {
        if !pipeline.text(registry, &Options::default()).is_empty() {
            levels.push(format!("--{}", pipeline.name));
        }
        if verify {
            levels.push(format!("--verify-level=level={}", pipeline.level));
        }
    }
    let place = args.iter().position(|arg| arg.starts_with("--to=")).unwrap_or(args.len());
    let (before, behind) = args.split_at(place);
    Ok([others(before), levels, others(behind)].concat())
}

#[cfg(test)]
mod tests {
    use super::{expand, job};
    use crate::standard;

    fn check(args: &[&str], wanted: &[&str]) {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        assert_eq!(expand(standard(), &args).map_err(|error| error.to_string()), Ok(wanted.iter().map(|arg| (*arg).to_owned()).collect()));
    }

    #[test]
    fn levels_become_pipelines() {
        check(&["rs-opt", "in.mlir", "--from=prim", "--to=loop"], &["rs-opt", "in.mlir", "--strata-to-prim-fused", "--strata-to-loop"]);
    }

    #[test]
    fn levels_stand_among_the_passes_in_the_order_given() {
        check(&["rs-opt", "--cse", "--to=aten", "--canonicalize"], &["rs-opt", "--cse", "--strata-to-aten", "--canonicalize"]);
        check(&["rs-opt", "--from=aten", "--cse", "--to=prim", "--sccp"], &["rs-opt", "--cse", "--strata-to-prim", "--sccp"]);
    }

    #[test]
    fn contracts_are_checked_between_levels() {
        check(&["rs-opt", "--to=aten", "--verify-levels"], &["rs-opt", "--strata-to-aten", "--verify-level=level=aten"]);
    }

    fn check_job(args: &[&str], wanted: Result<&[&str], &str>) {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let found = job(standard(), &args).map_err(|error| error.to_string()).map(|job| job.expect("a task is asked for").passes);
        assert_eq!(found, wanted.map(|passes| passes.iter().map(|pass| (*pass).to_owned()).collect()).map_err(str::to_owned));
    }

    #[test]
    fn passes_are_taken_in_order() {
        check_job(
            &["--check-semantics", "in.mlir", "--cse", "--schedule-cpu=vector-bits=256"],
            Ok(&["cse", "schedule-cpu{vector-bits=256}"]),
        );
        check_job(
            &["--bisect", "--pass-pipeline=builtin.module(cse,func.func(cse,sccp))"],
            Ok(&["cse", "func.func(cse)", "func.func(sccp)"]),
        );
        check_job(&["--check-semantics=sets=2,seed=9", "--from=aten", "--to=aten", "-"], Ok(&[]));
    }

    #[test]
    fn passes_on_functions_are_nested() {
        check_job(
            &["--incremental", "--fuse-elementwise", "--canonicalize", "--simplify-algebra=numerics=fast"],
            Ok(&["func.func(fuse-elementwise)", "canonicalize", "func.func(simplify-algebra{numerics=fast})"]),
        );
    }

    #[test]
    fn wrong_arguments_are_refused() {
        check_job(
            &["--check-semantics", "--bisect"],
            Err("--check-semantics, --check-gradients, --bisect, --graph and --incremental exclude each other; give one of them"),
        );
        let text =
            "--bisect looks at what passes do, and there are none; give them as flags, with --pass-pipeline, or with --from and --to";
        check_job(&["--bisect", "in.mlir"], Err(text));
        check_job(&["--graph=png"], Err("'png' is no value of --graph; write dot or svg"));
        let text = "'sets=0' is no value of --bisect; write sets=N (1 to 1000), seed=N, elements=N (of a tensor, at least 1), seconds=N (of a run, 1 to 86400), with commas between";
        check_job(&["--bisect=sets=0"], Err(text));
        for flag in ["--bisect=seconds=0", "--bisect=elements=0", "--bisect=seconds=1e9", "--bisect=size=3", "--bisect=sets"] {
            assert!(job(standard(), &[flag.to_owned()]).is_err(), "{flag}");
        }
        let text = "'--no-such-pass' is no option of --bisect; passes are given as flags, with --pass-pipeline or with --from and --to";
        check_job(&["--bisect", "--no-such-pass"], Err(text));
        check_job(&["--bisect", "a.mlir", "b.mlir"], Err("one program can be checked at a time, not 'a.mlir' and 'b.mlir'"));
    }

    #[test]
    fn what_says_nothing_without_a_level_is_refused() {
        for flag in ["--from=prim", "--target=cuda:sm_90", "--verify-levels"] {
            let error = expand(standard(), &["rs-opt".into(), flag.into()]).expect_err(flag).to_string();
            assert!(error.ends_with("says nothing without --to=LEVEL; add the level to go down to"), "{error}");
        }
    }

    #[test]
    fn unknown_levels_are_refused() {
        assert!(
            expand(standard(), &["rs-opt".into(), "--to=tile".into()])
                .is_err_and(|error| error.to_string().contains("there is no level 'tile'"))
        );
    }
}
