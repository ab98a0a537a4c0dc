//! Broken `.mlir` files: the lit tests' programs and the levels of exported ones, files that register operators, and text of StableHLO,
//! changed token by token.

use std::path::{Path, PathBuf};

use strata_driver::{Level, Options, lower};

use super::{Broken, Corpus, Failure, files, json, root};
use crate::rng::Rng;

/// Programs whose levels are among the texts.
const MODELS: &[&str] =
    &["test/models/chain30.pt2", "test/conformance/own/aliases/nested.pt2", "test/conformance/own/control/running_sum.pt2"];

/// How names of files end that are text of MLIR.
const MLIR: &str = "mlir";

/// Programs with the files that register their operators.
const REGISTRATIONS: &[(&str, &[&str])] = &[
    ("add_into.json", &["registered.mlir"]),
    ("neighbours.json", &["kernels.mlir"]),
    ("scaled_silu.json", &["registered.mlir"]),
    ("slopes.json", &["gradients.mlir", "gradients_of_aten.mlir"]),
];

/// Texts with what is run on each.
pub struct Texts {
    texts: Vec<Text>,
    /// All tokens of all texts: what others say in a place.
    tokens: Vec<String>,
    /// How the files' names end.
    ending: &'static str,
}

struct Text {
    tokens: Vec<String>,
    commands: Vec<String>,
}

impl Texts {
    /// The lit tests, the levels of a few programs, and the texts of a folder.
    pub fn read(more: Option<&Path>) -> Result<Texts, Failure> {
        let mut texts = Vec::new();
        let mut found = files(&root().join("test"), "mlir")?;
        if let Some(more) = more {
            found.extend(files(more, "mlir")?);
        }
        for path in found {
            let text = std::fs::read_to_string(&path)?;
            let mut commands: Vec<String> = text.lines().filter_map(command).collect();
            commands.extend(["rs-run --no-cache %s", "rs-compile --no-cache %s -o out"].map(str::to_owned));
            let program: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            texts.push(Text { tokens: tokens(&program.join("\n")), commands });
        }
        for model in MODELS {
            let model = root().join(model);
            for level in Level::ALL.into_iter().filter(|level| *level <= Level::Cpu) {
                let text = lower(strata_driver::standard(), &model, level.name(), &Options::default())?;
                let commands = match level.name() {
                    "cpu" => vec!["rs-opt %s --lower-to-llvm".to_owned()],
                    name => vec![format!("rs-opt %s --from={name} --to=cpu"), "rs-opt %s --check-semantics=seconds=5 --cse".to_owned()],
                };
                texts.push(Text { tokens: tokens(&text), commands });
            }
        }
        Ok(Texts::new(texts, "mlir"))
    }

    /// Files that register operators for the programs of the lit tests.
    pub fn registrations(more: Option<&Path>) -> Result<Texts, Failure> {
        let inputs = root().join("test/pipeline/Inputs");
        let mut texts = Vec::new();
        for (program, registrations) in REGISTRATIONS {
            let commands = [format!("rs-opt {} --operators=%s --to=host", inputs.join(program).display())];
            for path in registrations.iter().map(|name| inputs.join(name)).chain(more_files(more, "mlir")?) {
                texts.push(Text { tokens: tokens(&std::fs::read_to_string(&path)?), commands: commands.to_vec() });
            }
        }
        Ok(Texts::new(texts, "mlir"))
    }

    /// Programs of JAX.
    pub fn stablehlo(more: Option<&Path>) -> Result<Texts, Failure> {
        const ENDING: &str = "stablehlo.mlir";
        let commands = ["rs-opt %s --to=host", "rs-run --no-cache %s"].map(str::to_owned);
        let found = files(&root().join("test"), MLIR)?.into_iter().chain(more_files(more, MLIR)?);
        let mut texts = Vec::new();
        for path in found.filter(|path| path.to_string_lossy().ends_with(ENDING)) {
            texts.push(Text { tokens: tokens(&std::fs::read_to_string(&path)?), commands: commands.to_vec() });
        }
        Ok(Texts::new(texts, ENDING))
    }

    fn new(texts: Vec<Text>, ending: &'static str) -> Texts {
        let mut tokens: Vec<String> = texts.iter().flat_map(|text| text.tokens.iter().cloned()).collect();
        tokens.sort();
        tokens.dedup();
        Texts { texts, tokens, ending }
    }
}

/// The files of a folder that the user names.
fn more_files(more: Option<&Path>, ending: &str) -> std::io::Result<Vec<PathBuf>> {
    more.map_or(Ok(Vec::new()), |more| files(more, ending))
}

/// What a test runs on itself, without what looks at the output. What it expects to fail may be a wrong flag.
fn command(line: &str) -> Option<String> {
    let run = line.trim_start().strip_prefix("// RUN:")?.trim();
    let run = run.split(['|', '>', '\\']).next()?.trim().trim_end_matches(" 2");
    let ours = ["rs-opt", "rs-run", "rs-compile"].iter().any(|tool| run.starts_with(tool));
    (ours && run.contains("%s") && !["%S", "%t", "%T", "&&", ";", "--watch"].iter().any(|part| run.contains(part))).then(|| run.to_owned())
}

/// Words with their marks, strings, and each other character for itself; white space is a token too.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let mut token = String::from(first);
        let mut take = |wanted: &dyn Fn(char) -> bool| {
            while let Some(&next) = chars.peek() {
                if !wanted(next) {
                    break;
                }
                token.push(next);
                chars.next();
            }
        };
        match first {
            '"' => {
                take(&|c| c != '"' && c != '\n');
                token.extend(chars.next());
            }
            c if c.is_whitespace() => take(&char::is_whitespace),
            c if c.is_ascii_digit() => take(&|c| c.is_ascii_digit()),
            c if c.is_ascii_alphabetic() || "%@#!^_".contains(c) => take(&|c| c.is_ascii_alphanumeric() || "_.$".contains(c)),
            _ => {}
        }
        tokens.push(token);
    }
    tokens
}

impl Corpus for Texts {
    fn broken(&self, rng: &mut Rng) -> Broken {
        let text = &self.texts[rng.below(self.texts.len())];
        let mut tokens = text.tokens.clone();
        for _ in 0..1 + rng.below(2) {
            self.edit(&mut tokens, rng);
        }
        let mut bytes = tokens.concat().into_bytes();
        if rng.chance(3) {
            super::break_bytes(&mut bytes, rng);
        }
        Broken { bytes, ending: self.ending, command: text.commands[rng.below(text.commands.len())].clone() }
    }
}

impl Texts {
    fn edit(&self, tokens: &mut Vec<String>, rng: &mut Rng) {
        if tokens.is_empty() {
            return;
        }
        let numbers: Vec<usize> = (0..tokens.len()).filter(|&at| tokens[at].starts_with(|c: char| c.is_ascii_digit())).collect();
        let at = rng.below(tokens.len());
        let end = (at + 1 + rng.below(12)).min(tokens.len());
        match rng.below(12) {
            0..=5 if !numbers.is_empty() => tokens[numbers[rng.below(numbers.len())]] = rng.pick(&json::NUMBERS).to_string(),
            6 => drop(tokens.drain(at..end)),
            7 => {
                let piece = tokens[at..end].to_vec();
                let to = rng.below(tokens.len() + 1);
                tokens.splice(to..to, piece);
            }
            8 => {
                let other = rng.below(tokens.len());
                tokens.swap(at, other);
            }
            9 => tokens[at] = tokens[rng.below(tokens.len())].clone(),
            10 => {
                tokens[at] = rng
                    .pick(&["?", "*", "-", "index", "none", "f32", "i1", "bf16", "f8E5M2", "complex<f32>", "dense<>", "[]", "{}", "%0"])
                    .into()
            }
            _ => tokens[at] = self.tokens[rng.below(self.tokens.len())].clone(),
        }
    }
}
