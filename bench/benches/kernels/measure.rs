//! Compiles the programs of a family and times them in turns.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use strata_runtime::compiler::Compiler;
use strata_runtime::{CallState, Session, Tensor};

use crate::workloads::Family;

/// About how long the calls of a round take, and how many rounds there are; the best counts.
const ROUND: Duration = Duration::from_millis(8);
const ROUNDS: usize = 25;

/// What a program took, and what it was predicted to take.
pub struct Measured {
    /// Seconds of a call.
    pub seconds: f64,
    /// Seconds that the cost model says for its kernels.
    pub predicted: Option<f64>,
}

/// A program with its tensors.
struct Program {
    session: Session,
    state: CallState,
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    calls: u32,
    best: f64,
}

/// Measures all sizes of a family: rounds take turns, so that what disturbs one disturbs all.
pub fn measure(compiler: &Compiler, family: &Family) -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut programs = family.sizes.iter().map(|sizes| Program::new(compiler, &(family.text)(sizes))).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..ROUNDS {
        programs.iter_mut().try_for_each(Program::round)?;
    }
    let measured = programs.into_iter().map(|program| {
        let kernels = &program.session.manifest().kernels;
        let predicted: Option<u64> = kernels.iter().map(|kernel| kernel.predicted_nanos).sum();
        Measured { seconds: program.best, predicted: predicted.map(|nanos| nanos as f64 / 1e9) }
    });
    Ok(measured.collect())
}

impl Program {
    fn new(compiler: &Compiler, text: &str) -> Result<Program, Box<dyn Error>> {
        let mut file = tempfile::Builder::new().suffix(".mlir").tempfile()?;
        file.write_all(text.as_bytes())?;
        let session = Session::load(&compiler.compile(file.path(), "{}")?, None)?;
        let mut inputs = Vec::new();
        for input in &session.manifest().inputs {
            let shape: Vec<i64> = input.shape.iter().map(|size| size.unwrap_or(1)).collect();
            let mut tensor = Tensor::uninit_in(input.dtype, &shape, &input.dim_order)?;
            // Small numbers of either sign, all of them f32.
            let mut state = 1u32;
            for bytes in tensor.bytes_mut().chunks_exact_mut(4) {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                bytes.copy_from_slice(&(f32::from((state >> 16) as i16) / 16_384.0).to_le_bytes());
            }
            inputs.push(tensor);
        }
        let outputs = session.run_refs(&inputs.iter().collect::<Vec<_>>())?;
        let mut program = Program { state: session.caller(), session, inputs, outputs, calls: 1, best: f64::INFINITY };
        program.round()?;
        program.calls = (ROUND.as_secs_f64() / program.best).clamp(1.0, 100_000.0) as u32;
        Ok(program)
    }

    fn round(&mut self) -> Result<(), Box<dyn Error>> {
        let inputs: Vec<_> = self.inputs.iter().collect();
        let start = Instant::now();
        for _ in 0..self.calls {
            self.session.run_onto(&mut self.state, &inputs, &mut self.outputs)?;
        }
        self.best = self.best.min(start.elapsed().as_secs_f64() / f64::from(self.calls));
        Ok(())
    }
}
