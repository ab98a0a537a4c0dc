//! Manifests as text: what can be read is written and read again as the same, and weights that it names are found or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use strata_runtime::Manifest;
use strata_runtime::weights::Weights;

fuzz_target!(|bytes: &[u8]| {
    let Ok(manifest) = serde_json::from_slice::<Manifest>(bytes) else { return };
    let text = serde_json::to_vec(&manifest).expect("a manifest has only string keys");
    let again: Manifest = serde_json::from_slice(&text).expect("what we write can be read");
    // (Numbers that are none do not equal themselves.)
    assert_eq!(serde_json::to_vec(&again).expect("as above"), text);
    let _ = Weights::open(&manifest, None);
});
