//! MLIR's opt driver on a registry. Our own options ([`OPTIONS`]) are done here, everything else by MLIR.

use std::error::Error;
use std::process::ExitCode;

use strata_core::registry::Registry;
use strata_driver::{OPTIONS, coverage_of, coverage_table, expand, job, opt_input};
use strata_tools::{exported_folder, start};

use crate::plugins::with_plugins;

/// The whole of an opt tool.
pub fn opt(registry: Registry, args: Vec<String>) -> ExitCode {
    start("rs-opt", || {
        let (registry, args) = with_plugins(registry, &args)?;
        run(registry, &args)
    })
}

fn run(registry: &'static Registry, args: &[String]) -> Result<bool, Box<dyn Error>> {
    let args = &programs(args)?;
    for arg in args.iter().skip(1) {
        if let Some(part) = arg.strip_prefix("--op-coverage") {
            let (part, file) = (part.trim_start_matches('='), args.iter().skip(1).find(|arg| !arg.starts_with('-')));
            if let Some(other) = args.iter().skip(1).find(|other| *other != arg && Some(*other) != file) {
                return Err(format!("--op-coverage looks at a program as it is, and `{other}` does nothing beside it; leave it out").into());
            }
            print!("{}", file.map_or_else(|| Ok(coverage_table(part)), |file| coverage_of(registry, file, part))?);
            return Ok(true);
        }
        if matches!(arg.as_str(), "--help" | "-help" | "-h" | "--help-hidden") {
            println!("STRATA'S OWN OPTIONS:\n");
            OPTIONS.iter().for_each(|(option, what)| println!("  {option:<34} {what}"));
            println!("\nMLIR'S OPTIONS, WITH OUR PASSES AND PIPELINES:\n");
        }
    }
    if let Some(job) = job(registry, args.get(1..).unwrap_or_default())? {
        return Ok(job.run(registry)?);
    }
    let (args, exported) = opt_input(registry, &complete(expand(registry, args)?))?;
    let done = strata_core::opt_main(registry, "rs-opt: Strata's optimizer driver\n", &args) == 0;
    // (The file of a .pt2's text is there until now.)
    if let Some(exported) = exported.filter(|_| !done) {
        eprintln!("rs-opt: {}: refused as said above, by its text at the level capture", exported.path.display());
    }
    Ok(done)
}

/// The arguments with the program of a folder in the place of the folder.
fn programs(args: &[String]) -> Result<Vec<String>, String> {
    let program = |(place, arg): (usize, &String)| match place > 0 && !arg.starts_with('-') {
        true => exported_folder::program(arg.into()).map(|path| path.display().to_string()),
        false => Ok(arg.clone()),
    };
    args.iter().enumerate().map(program).collect()
}

/// `--mlir-print-ir-after-change` says when to print, and MLIR wants to be told behind which passes, too: behind all where nobody does.
fn complete(mut args: Vec<String>) -> Vec<String> {
    let named = |name: &str| args.iter().any(|arg| arg.trim_start_matches('-').split('=').next() == Some(name));
    if named("mlir-print-ir-after-change") && !named("mlir-print-ir-after") && !named("mlir-print-ir-after-all") {
        args.push("--mlir-print-ir-after-all".to_owned());
    }
    args
}
