//! A program compiled from C by the system's compiler and linked into a flat image.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use strata_runtime::manifest::*;
use strata_runtime::*;

/// The flat image of `program.c`.
fn image() -> Vec<u8> {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE
        .get_or_init(|| {
            // Another crate's tests include this file too.
            let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
            let here = crates.map(|folder| folder.join("tests/runtime")).find(|folder| folder.exists()).unwrap();
            let out = tempfile::NamedTempFile::new().unwrap();
            let status = Command::new("cc")
                .args(["-O1", "-fPIE", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none"])
                .args(["-fno-toplevel-reorder", "-Wl,--build-id=none", "-Wl,--oformat,binary", "-Wl,-e,strata_entry"])
                .arg(format!("-Wl,-T,{}", here.join("program.ld").display()))
                .arg(here.join("program.c"))
                .arg("-o")
                .arg(out.path())
                .status()
                .unwrap();
            assert!(status.success());
            std::fs::read(out.path()).unwrap()
        })
        .clone()
}

/// The artefact of `program.c`, with its weights in a file.
pub fn artefact(weights: &Path) -> Artefact {
    let mut manifest = Manifest::new("axpy", Target::host());
    let segment = |offset, access| Segment { offset, bytes: 0x1000, access };
    manifest.layout = Layout {
        entry: 0,
        prepare: Some(0x800),
        signature: None,
        memory_bytes: 0x3000,
        segments: vec![segment(0, Access::Execute), segment(0x1000, Access::Read), segment(0x2000, Access::Read)],
        imports: ["strata_output", "strata_workspace", "strata_parallel", "expf"]
            .iter()
            .enumerate()
            .map(|(k, name)| Import { name: name.to_string(), offset: 0x2000 + 8 * k as u64 })
            .collect(),
        relocations: vec![Relocation { offset: 0x2020, target: 0x1000 }],
    };
    let input = |name: &str| Input {
        name: name.into(),
        kind: InputKind::Tensor,
        dtype: DType::F32,
        shape: vec![None],
        sample: Vec::new(),
        dim_order: DimOrder::ROW_MAJOR,
        value: None,
    };
    manifest.inputs = vec![input("x"), input("y")];
    let result =
        |name: &str, kind, dtype, shape| Output { kind, name: name.into(), dtype, shape, dim_order: DimOrder::ROW_MAJOR, in_place: false };
    manifest.outputs =
        vec![result("out", OutputKind::Output, DType::F32, vec![None]), result("calls", OutputKind::Mutation, DType::I64, vec![])];
    let weight = |name: &str, dtype, shape| Weight {
        name: name.into(),
        dtype,
        shape,
        source: WeightSource { file: weights.display().to_string(), entry: name.into(), ..WeightSource::default() },
    };
    manifest.weights = vec![weight("w", DType::F32, vec![1]), weight("calls", DType::I64, vec![])];
    manifest.prepared = vec![result("root", OutputKind::Prepared, DType::F32, vec![Some(1)])];
    manifest.messages = vec!["input {0}, dimension {1}: found {2}, wanted {3}".into(), "{2} has no root".into()];
    Artefact { manifest, image: Image { bytes: image() }, packed: None, op_libraries: Default::default() }
}

/// The weights of the program.
pub fn weights_file() -> tempfile::NamedTempFile {
    weights_with(4.0)
}

/// Other weights of the program.
pub fn weights_with(w: f32) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let w = Tensor::from_slice(DType::F32, &[1], &[w]).unwrap();
    let calls = Tensor::from_slice(DType::I64, &[], &[0i64]).unwrap();
    TensorFile::write(file.path(), &[("w".into(), &w), ("calls".into(), &calls)]).unwrap();
    file
}
