//! `./x fuzz edits`: random edits of random programs, where the passes that an edit needs give what all passes give.

use std::time::Instant;

use salsa::Setter;
use strata_core::ir::{Context, Module};
use strata_core::pass::PassManager;
use strata_driver::incremental::{Database, Form, Pipeline, Source, run};

use crate::emit::{Style, emit, signature};
use crate::generate::generate;
use crate::rng::Rng;

/// Edits of one program, before the next begins.
const EDITS: u64 = 50;

/// Passes with and without barriers between those on functions.
const PIPELINES: &[&str] = &[
    "func.func(canonicalize,cse,simplify-views,fuse-elementwise,fuse-reductions)",
    "func.func(simplify-constants,simplify-converts,simplify-algebra,cse),canonicalize,func.func(fuse-elementwise)",
    "cse,func.func(simplify-sizes,simplify-sums),inline,func.func(fuse-elementwise,fuse-reductions)",
    "func.func(channels-last,simplify-views),symbol-dce,func.func(cse)",
];

/// A program that is edited, function by function.
struct Program {
    rng: Rng,
    functions: Vec<Function>,
    /// The last numbers given out.
    names: usize,
    seed: u64,
}

#[derive(Clone)]
struct Function {
    text: String,
    /// The number of the function that it calls.
    calls: Option<usize>,
    number: usize,
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut program = Program { rng: Rng::new(seed, 3), functions: Vec::new(), names: 0, seed };
        for _ in 0..4 {
            program.insert();
        }
        program
    }

    fn text(&self) -> String {
        self.functions.iter().map(|function| function.text.as_str()).collect()
    }

    /// One more function of the generator's, perhaps with one that calls it.
    fn insert(&mut self) {
        self.names += 1;
        let number = self.names;
        let graph = generate(self.rng.bits());
        let plain = emit(&graph, Style::default()).replace(" attributes {capture.entry}", "");
        let text = plain.replacen("func.func @main(", &format!("func.func private @f{number}("), 1);
        let at = self.rng.below(self.functions.len() + 1);
        self.functions.insert(at, Function { text, calls: None, number });
        if self.rng.chance(50) {
            let (inputs, outputs) = signature(&graph);
            let results: Vec<_> = (0..outputs.len()).map(|at| format!("%r#{at}")).collect();
            let arguments: Vec<_> = inputs.iter().enumerate().map(|(at, ty)| format!("%a{at}: {ty}")).collect();
            let names: Vec<_> = (0..inputs.len()).map(|at| format!("%a{at}")).collect();
            let (types, inputs) = (outputs.join(", "), inputs.join(", "));
            let text = format!(
                "func.func @g{number}({}) -> ({types}) {{\n  %r:{} = call @f{number}({}) : ({inputs}) -> ({types})\n  return {} : {types}\n}}\n",
                arguments.join(", "),
                outputs.len(),
                names.join(", "),
                results.join(", ")
            );
            let at = self.rng.below(self.functions.len() + 1);
            self.functions.insert(at, Function { text, calls: Some(number), number: 0 });
        }
    }

    fn edit(&mut self) {
        let at = self.rng.below(self.functions.len());
        let number = self.functions[at].number;
        match self.rng.below(8) {
            0 => self.insert(),
            1 if self.functions.len() > 3 && !self.functions.iter().any(|other| other.calls == Some(number)) => {
                self.functions.remove(at);
            }
            2 => {
                let other = self.rng.below(self.functions.len());
                self.functions.swap(at, other);
            }
            3 => self.change(at, |text| text.replace("%v", "%value")),
            4 => self.change(at, |text| text.replacen('\n', "   // a } that means \"nothing\n\n", 3)),
            5 if self.functions[at].text.contains(" loc(") => self.change(at, |text| text.replace("there", "elsewhere")),
            5 => self.change(at, |text| text.replacen("\n}\n", " loc(\"there\":1:2)\n}\n", 1)),
            6 => self.change(at, |text| text.replacen("\"sum\"", "\"max\"", 1)),
            _ => self.change(at, |text| text.replacen(": 1]", ": 0]", 1).replacen("prim.add ", "prim.sub ", 1)),
        }
    }

    fn change(&mut self, at: usize, edit: impl Fn(&str) -> String) {
        self.functions[at].text = edit(&self.functions[at].text);
    }
}

/// Makes so many edits from a seed on; true when none made a difference.
pub fn edits(count: u64, seed: u64) -> bool {
    let (start, mut wrong, mut refused, mut same) = (Instant::now(), 0, 0, 0);
    for seed in seed..seed + count.div_ceil(EDITS) {
        let context = strata_driver::standard().context();
        let mut program = Program::new(seed);
        let passes = PIPELINES[(program.seed % PIPELINES.len() as u64) as usize];
        let mut db = Database::new(strata_driver::standard(), None);
        let source = Source::new(&db, "program".into(), program.text(), Form::Written);
        let Ok(pipeline) = Pipeline::parse(&db, passes) else { return false };
        let mut undo = program.functions.clone();
        for edit in 0..EDITS {
            let found = run(&db, source, pipeline).map(|(text, _)| text);
            match (found, plain(&context, source.text(&db), passes)) {
                (Ok(found), Some(wanted)) if found == wanted => same += 1,
                (Err(_), None) => refused += 1,
                (found, wanted) => {
                    wrong += 1;
                    println!("== seed {seed}, edit {edit}, {passes}\n{}", difference(&found, &wanted));
                }
            }
            let before = program.functions.clone();
            if program.rng.chance(10) {
                program.functions = undo;
            } else {
                program.edit();
            }
            undo = before;
            source.set_text(&mut db).to(program.text());
        }
    }
    println!("fuzz edits: {same} the same, {refused} refused by both, {wrong} wrong in {:.1} s", start.elapsed().as_secs_f64());
    wrong == 0
}

/// The result of all passes on the whole program.
fn plain(context: &Context, text: &str, passes: &str) -> Option<String> {
    let module = Module::parse(context, text, "program").ok()?;
    PassManager::parse(module.cx(), "builtin.module", passes).ok()?.run(module.op()).ok()?;
    Some(module.to_string())
}

/// The first line that differs.
fn difference(found: &Result<String, String>, wanted: &Option<String>) -> String {
    let (Ok(found), Some(wanted)) = (found, wanted) else { return format!("found {found:?}\nwanted {wanted:?}") };
    let pair = found.lines().zip(wanted.lines()).find(|(a, b)| a != b);
    pair.map_or_else(|| "one is longer".to_owned(), |(found, wanted)| format!("found  {found}\nwanted {wanted}"))
}
