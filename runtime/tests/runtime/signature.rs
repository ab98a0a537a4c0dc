//! A manifest that says something else than the code takes and gives is refused.

use strata_runtime::*;

use crate::program::{artefact, weights_file};

/// What reading says of the program with another manifest.
fn read(change: fn(&mut Manifest)) -> Result<Artefact, String> {
    let mut artefact = artefact(weights_file().path());
    artefact.manifest.layout.signature = Some(artefact.manifest.signature());
    change(&mut artefact.manifest);
    Artefact::from_bytes(&artefact.to_bytes()).map_err(|error| error.to_string())
}

#[test]
fn what_the_code_does_not_see_may_change() {
    let changes: [fn(&mut Manifest); 3] = [
        |manifest| manifest.inputs[0].name = "other".into(),
        |manifest| manifest.weights[0].source.file = "other.pt2".into(),
        |manifest| {
            let fixed = manifest::Input { value: Some(manifest::Scalar::Int(2)), ..manifest.inputs[0].clone() };
            manifest.inputs.insert(1, fixed);
        },
    ];
    for change in changes {
        assert!(read(change).is_ok());
    }
}

#[test]
fn what_the_code_sees_may_not() {
    let changes: [fn(&mut Manifest); 6] = [
        |manifest| manifest.inputs.clear(),
        |manifest| manifest.inputs[1].shape.push(None),
        |manifest| manifest.outputs.swap(0, 1),
        |manifest| manifest.outputs[0].dtype = DType::F64,
        |manifest| manifest.weights[0].shape = vec![2],
        |manifest| manifest.prepared.clear(),
    ];
    for change in changes {
        let found = read(change).err();
        assert!(found.as_ref().is_some_and(|error| error.contains("other inputs, outputs or weights")), "{found:?}");
    }
}
