//! Files of tensors: what can be read is written and read again as the same. The same bytes as a file of weights are found or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use strata_runtime::manifest::{Manifest, Target, Weight, WeightSource};
use strata_runtime::weights::Weights;
use strata_runtime::{DType, Tensor, TensorFile};

fuzz_target!(|bytes: &[u8]| {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("a file");
    let mut manifest = Manifest::new("weights", Target::host());
    let number = |at: usize| bytes.get(at).map_or(1, |&byte| i64::from(byte as i8));
    let source = WeightSource { file: file.path().display().to_string(), entry: "w".into(), byte_offset: 0, strides: vec![number(9)], zeros: false };
    manifest.weights = vec![Weight { name: "w".into(), dtype: DType::F32, shape: vec![number(10)], source }];
    let _ = Weights::open(&manifest, None);
    let Ok(read) = TensorFile::read(file.path()) else { return };
    let named: Vec<(String, &Tensor)> = read.tensors.iter().map(|(name, tensor)| (name.clone(), tensor)).collect();
    TensorFile::write(file.path(), &named).expect("what was read can be written");
    let again = TensorFile::read(file.path()).expect("what was written can be read");
    assert!(
        named.iter().all(|(name, tensor)| again.tensors[name].bytes() == tensor.bytes() && again.tensors[name].shape() == tensor.shape())
    );
});
