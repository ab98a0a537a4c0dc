//! What a program's code takes and gives, as a checksum beside the code: a manifest that says something else is that of another program.

use crate::manifest::{Manifest, Output};

impl Manifest {
    /// The checksum of the kinds, element types, sizes and orders of what the code reads and writes, in order.
    pub fn signature(&self) -> u32 {
        fn results(of: &[Output]) -> Vec<impl serde::Serialize + '_> {
            of.iter().map(|result| (result.kind, result.dtype, &result.shape, &result.dim_order)).collect()
        }
        // The code does not get scalars that were fixed at capture.
        let inputs = self.inputs.iter().filter(|input| input.value.is_none());
        let inputs: Vec<_> = inputs.map(|input| (input.kind, input.dtype, &input.shape, &input.dim_order)).collect();
        let weights: Vec<_> = self.weights.iter().map(|weight| (weight.dtype, &weight.shape)).collect();
        let all = (inputs, results(&self.outputs), weights, results(&self.prepared));
        crc32fast::hash(&serde_json::to_vec(&all).unwrap_or_default())
    }
}
