//! PTX of whole programs: NVIDIA's assembler takes it for every architecture, and keeps what belongs in registers there.
//!
//! The assembler is `$STRATA_PTXAS`, else `ptxas` in `PATH`. Where there is none the tests say so and look at the text alone.

use std::path::PathBuf;
use std::process::Command;

use strata_driver::{Numerics, Options, ptx, standard};

fn model(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../test/models").join(name)
}

fn program(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs").join(name)
}

/// What the assembler says of a text, or nothing where there is no assembler.
fn assemble(text: &str, device: &str) -> Option<String> {
    let assembler = std::env::var_os("STRATA_PTXAS").map_or_else(|| PathBuf::from("ptxas"), PathBuf::from);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernels.ptx");
    std::fs::write(&file, text).unwrap();
    let run =
        Command::new(&assembler).arg(format!("-arch={device}")).arg("-v").arg(&file).arg("-o").arg(folder.path().join("out")).output();
    let Ok(done) = run else {
        eprintln!("NOT ASSEMBLED: there is no ptxas (set STRATA_PTXAS, or put it into PATH)");
        return None;
    };
    let report = String::from_utf8_lossy(&done.stderr).into_owned() + &String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "ptxas -arch={device} refuses:\n{report}");
    Some(report)
}

fn check(path: PathBuf) {
    check_with(path, &Options::default());
}

fn check_with(path: PathBuf, options: &Options) {
    for device in ["sm_80", "sm_90", "sm_100"] {
        let options = Options { target: format!("cuda:{device}").parse().unwrap(), ..options.clone() };
        let text = ptx(standard(), &path, &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(text.contains(&format!(".target {device}")) && text.contains(".entry"), "{text}");
        assert!(!text.contains("__nv_"), "a function of NVIDIA's library is called");
        if let Some(report) = assemble(&text, device) {
            // Neither are registers spilled nor do arrays of a thread's own stay in memory.
            let kernels = || report.lines().filter(|line| line.contains("spill stores"));
            let local = kernels().filter(|line| line.trim() != "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads");
            assert!(kernels().next().is_some(), "the assembler reports no kernel:\n{report}");
            assert_eq!(local.count(), 0, "{}: local memory is used:\n{report}", path.display());
        }
    }
}

#[test]
fn a_chain_with_its_sum() {
    check(model("chain30.pt2"));
    check(program("dynamic_chain.mlir"));
}

#[test]
fn a_row_softmax_of_any_size() {
    check(program("row_softmax.mlir"));
}

#[test]
fn rows_come_and_go_sixteen_bytes_at_a_time() {
    check(program("wide.mlir"));
    let options = Options { target: "cuda:sm_80".parse().unwrap(), ..Options::default() };
    let text = ptx(standard(), &program("wide.mlir"), &options).unwrap();
    for move_of_four in ["ld.global.v4.b32", "st.global.v4.b32"] {
        assert!(text.contains(move_of_four), "{move_of_four}:\n{text}");
    }
}

#[test]
fn transposes() {
    check(program("turned.mlir"));
}

#[test]
fn attention() {
    check(program("attention.mlir"));
    check(program("attention_f16.mlir"));
    check(program("layer_f16.mlir"));
}

#[test]
fn reductions_of_few_rows() {
    check(program("few_rows.mlir"));
    // Blocks that meet order what they wrote.
    let options = Options { target: "cuda:sm_90".parse().unwrap(), ..Options::default() };
    let text = ptx(standard(), &program("few_rows.mlir"), &options).unwrap();
    let (before, after) = text.split_once("atom.global.inc.u32").unwrap();
    assert!([before, after].iter().all(|text| text.contains("fence.acq_rel.gpu")), "{text}");
}

#[test]
fn writes_at_computed_places() {
    check(program("scatter.mlir"));
}

#[test]
fn running_sums() {
    check(program("scans.mlir"));
    check(program("long_scans.mlir"));
}

#[test]
fn sorts() {
    check(program("sorts.mlir"));
}

#[test]
fn a_tiled_product() {
    check(program("product.mlir"));
}

#[test]
fn several_devices_share_an_artefact() {
    let options = Options { target: "cuda:sm_90,sm_80".parse().unwrap(), ..Options::default() };
    let artefact = strata_driver::compile(standard(), &program("product.mlir"), &options, None).unwrap();
    let modules = artefact.manifest.device.unwrap().modules;
    for (module, name) in modules.iter().zip(["sm_80", "sm_90"]) {
        assert!(module.architecture == name && module.ptx.contains(&format!(".target {name}")));
        assemble(&module.ptx, name);
    }
    assert_eq!(modules.len(), 2);
    assert!(ptx(standard(), &program("product.mlir"), &options).unwrap_err().to_string().contains("one device"));
    assert!("cuda:sm_80,sm_7".parse::<strata_driver::Target>().is_err());
}

#[test]
fn matrix_units() {
    check(program("product_f16.mlir"));
    check(program("product_wide.mlir"));
    check(program("conv_bf16.mlir"));
    check_with(program("product_f32.mlir"), &Options { numerics: Numerics::Fast, ..Options::default() });
}

#[test]
fn whole_models() {
    for name in ["bert.pt2", "resnet.pt2"] {
        check(model(name));
    }
}
