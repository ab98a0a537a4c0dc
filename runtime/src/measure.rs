//! What calls take, measured the way an embedding program calls: with outputs in place.

use std::time::{Duration, Instant};

use crate::call::CallState;
use crate::dlpack::DLTensor;
use crate::error::RunError;
use crate::profile::Launch;
use crate::session::Session;
use crate::tensor::Tensor;

/// Calls as they were measured.
pub struct Measured {
    /// Times of a call, in ascending order.
    pub samples: Vec<Duration>,
    /// The sizes of the inputs.
    pub inputs: Vec<Vec<i64>>,
    /// What the calls were made with; it knows the launches of all of them.
    pub state: CallState,
    /// How many calls these are.
    pub calls: usize,
    /// The launches of the last call, in order, of a program that was compiled to tell.
    pub launches: Vec<Launch>,
}

/// Samples shorter than this are not exact.
const SAMPLE: Duration = Duration::from_micros(20);

impl Measured {
    /// The time that so many of the samples stay below, from 0 to 1.
    pub fn at(&self, share: f64) -> Duration {
        self.samples[((self.samples.len() - 1) as f64 * share) as usize]
    }
}

impl Session {
    /// Calls the program again and again for about `budget`.
    pub fn measure(&self, inputs: &[&Tensor], budget: Duration) -> Result<Measured, RunError> {
        let results = self.run_refs(inputs)?;
        let described = |tensors: Vec<&Tensor>| tensors.into_iter().map(Tensor::dlpack).collect::<Vec<_>>();
        let (inputs, outputs) = (described(inputs.to_vec()), described(results.iter().collect()));
        let pointers = |tensors: &[DLTensor]| tensors.iter().map(|tensor| &raw const *tensor).collect::<Vec<_>>();
        // SAFETY: inputs and results live to the end of this function, and nobody else reads the results.
        unsafe { self.measure_pointers(&pointers(&inputs), &pointers(&outputs), budget) }
    }

    /// [`Self::measure`] of tensors of the caller.
    ///
    /// # Safety
    /// Inputs and outputs describe memory that stays through the calls; nobody else reads or writes the outputs meanwhile.
    pub unsafe fn measure_pointers(
        &self,
        inputs: &[*const DLTensor],
        outputs: &[*const DLTensor],
        budget: Duration,
    ) -> Result<Measured, RunError> {
        let mut state = self.caller();
        // SAFETY: the caller's promise.
        let call = |state: &mut CallState| unsafe { self.run_dlpack(state, inputs, outputs) };
        call(&mut state)?;
        let begin = Instant::now();
        call(&mut state)?;
        // A sample is long enough for the clock.
        let repeats = (SAMPLE.as_nanos() / begin.elapsed().as_nanos().max(1)).clamp(1, 1000) as u32;
        let mut samples = Vec::new();
        while samples.is_empty() || begin.elapsed() < budget {
            let start = Instant::now();
            for _ in 0..repeats {
                call(&mut state)?;
            }
            samples.push(start.elapsed() / repeats);
        }
        samples.sort();
        state.trace();
        call(&mut state)?;
        let launches = state.take_trace();
        // SAFETY: the caller's promise; a tensor of rank 0 may have no sizes.
        let sizes = |input: &*const DLTensor| unsafe {
            let input = &**input;
            if input.ndim > 0 { std::slice::from_raw_parts(input.shape, input.ndim as usize).to_vec() } else { Vec::new() }
        };
        Ok(Measured { calls: 3 + samples.len() * repeats as usize, samples, inputs: inputs.iter().map(sizes).collect(), state, launches })
    }
}
