//! Artefacts, whose checksums are made right: what is read is refused or can be loaded. Code is not called.
#![no_main]

#[path = "../../tests/runtime/program.rs"]
mod program;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use strata_runtime::image::LoadedImage;
use strata_runtime::Artefact;

fn good() -> &'static Artefact {
    static GOOD: OnceLock<Artefact> = OnceLock::new();
    GOOD.get_or_init(|| {
        let program = program::artefact(Box::leak(Box::new(program::weights_file())).path());
        program.pack(None).expect("its weights are there")
    })
}

fuzz_target!(|bytes: &[u8]| {
    let _ = Artefact::from_bytes(bytes);
    // The same bytes as changes of a good artefact, each of three: where, what.
    let mut manifest = serde(&good().manifest);
    for change in bytes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % manifest.len();
        manifest[at] = change[2];
    }
    let Ok(manifest) = serde_json::from_slice(&manifest) else { return };
    let changed = Artefact { manifest, ..good().clone() };
    let Ok(read) = Artefact::from_bytes(&changed.to_bytes()) else { return };
    let _ = LoadedImage::load(&read);
    let _ = strata_runtime::weights::Weights::of(&read, None);
    let _ = strata_runtime::header::header(&read.manifest);
});

fn serde(manifest: &strata_runtime::Manifest) -> Vec<u8> {
    serde_json::to_vec(manifest).expect("a manifest has only string keys")
}
