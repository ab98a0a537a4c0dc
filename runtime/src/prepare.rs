//! Weights made of weights: `strata_prepare` computes them once for a session.

use std::sync::Arc;

use crate::call::CallState;
use crate::device::{Resident, session};
use crate::error::{LoadError, RunError};
use crate::image::LoadedImage;
use crate::manifest::Manifest;
use crate::tensor::Tensor;

/// Computes the prepared weights of a program from the data of its weights.
pub(crate) fn run(manifest: &Manifest, image: &LoadedImage, weights: &[usize]) -> Result<Vec<Tensor>, LoadError> {
    let declared = &manifest.prepared;
    let Some(prepare) = image.prepare().filter(|_| !declared.is_empty()) else {
        let missing = || LoadError::Manifest("it wants prepared weights and has no function that prepares them".into());
        return if declared.is_empty() { Ok(Vec::new()) } else { Err(missing()) };
    };
    let mut state = CallState::new(declared, 0);
    let mut call = state.call(weights);
    // SAFETY: the image was made for this ABI and its checksum holds; its weights are all there, of the declared sizes.
    let status = unsafe { prepare(&raw mut call) };
    if status != 0 || state.refused.is_some() {
        return Err(state.failure(status, &manifest.messages, &call.detail).into());
    }
    let tensors = state.take_outputs(declared)?;
    let fits = |(tensor, declared): (&Tensor, &crate::manifest::Output)| {
        tensor.shape().iter().map(|&size| Some(size)).eq(declared.shape.iter().copied())
    };
    match tensors.iter().zip(declared).find(|&pair| !fits(pair)) {
        None => Ok(tensors),
        Some((tensor, declared)) => {
            Err(RunError::Program(format!("prepared weight `{}` has the shape {:?}", declared.name, tensor.shape())).into())
        }
    }
}

/// [`run`] on a device, which keeps what it has prepared.
pub(crate) fn run_on(resident: &Arc<Resident>, manifest: &Manifest, image: &LoadedImage) -> Result<(), LoadError> {
    match image.prepare() {
        _ if manifest.prepared.is_empty() => Ok(()),
        None => Err(LoadError::Manifest("it wants prepared weights and has no function that prepares them".into())),
        Some(prepare) => {
            resident.keep_prepared(session::prepare(resident, resident.call(), manifest, prepare, &resident.weight_pointers())?);
            Ok(())
        }
    }
}
