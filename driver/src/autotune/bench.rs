//! One kernel as a program of its own: compiled with one schedule or another, and timed on tensors of its own sizes.

use super::Tuner;
use crate::Error;
use crate::artefact::{self, Notes, dtype};
use crate::levels::Level;
use crate::options;
use crate::pipelines::pipeline_to;
use crate::run_levels::run_pipeline;
use crate::units;
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};
use strata_core::ir::{Attr, Builder, Module, Op, OpSpec};
use strata_core::upstream::func;
use strata_dialects::capture;
use strata_dialects::loops;
use strata_lowering::codegen;
use strata_lowering::loop_to_cpu::messages;
use strata_lowering::loop_to_host::{Program, entry};
use strata_lowering::schedule::cpu::apply;
use strata_runtime::compare::{Tolerance, compare};
use strata_runtime::{CallState, DType, Session, Tensor};

/// About how long the calls of a round take.
pub const ROUND: Duration = Duration::from_micros(400);
/// The same for the last word, at most. Caches are shared: for some milliseconds a candidate finds more in them than callers ever
/// will, for another one has left it there.
pub const LONG: Duration = Duration::from_millis(20);

/// A kernel on the bench.
pub struct Bench<'a, 'c> {
    tuner: &'a Tuner<'a>,
    kernel: Op<'c>,
    inputs: Vec<Tensor>,
    /// What the kernel gives as it is; where the candidates write, too.
    expected: Vec<Tensor>,
    outputs: Cell<Vec<Tensor>>,
}

/// The kernel with one schedule, ready to run.
pub struct Candidate {
    session: Session,
    state: CallState,
    /// Seconds of the first call that counts, and of a call in the round between the faster and the slower ones when it was last compared.
    pub first: f64,
    pub usual: f64,
}

impl<'a, 'c> Bench<'a, 'c> {
    /// A bench for a kernel whose sizes are known.
    pub fn new(tuner: &'a Tuner<'a>, kernel: Op<'c>) -> Result<Self, Error> {
        let mut inputs = Vec::new();
        for arg in kernel.body(0).args() {
            let element = arg.ty().element_type().ok_or(Error::NoEntry)?;
            let mut tensor = Tensor::uninit(dtype(element), &arg.ty().shape()).map_err(|error| Error::Run(error.to_string()))?;
            fill(&mut tensor);
            inputs.push(tensor);
        }
        let mut bench = Self { tuner, kernel, inputs, expected: Vec::new(), outputs: Cell::default() };
        let session = bench.compile(strata_lowering::schedule::cpu::choice(kernel))?;
        let results = session.run_refs(&bench.inputs()).map_err(|error| Error::Run(error.to_string()))?;
        bench.outputs.set(results.clone());
        bench.expected = results;
        Ok(bench)
    }

    /// Does something with a copy of the kernel.
    pub fn scratch<R>(&self, work: impl FnOnce(Op<'c>) -> R) -> R {
        let module = units::alone(self.kernel);
        work(module.op().find_all(loops::Kernel::NAME)[0])
    }

    /// The kernel with this schedule.
    pub fn candidate(&self, choice: Attr<'c>) -> Result<Candidate, Error> {
        let session = self.compile(choice)?;
        let mut candidate = Candidate { state: session.caller(), session, first: 0.0, usual: f64::INFINITY };
        self.call(&mut candidate)?;
        candidate.first = self.call(&mut candidate)?;
        candidate.usual = candidate.first;
        Ok(candidate)
    }

    /// Whether it gives what the kernel gives as it is. Sums may be taken in another order.
    pub fn agrees(&self, candidate: &mut Candidate) -> bool {
        if self.call(candidate).is_err() {
            return false;
        }
        let outputs = self.outputs.take();
        let same = outputs.iter().zip(&self.expected).all(|(found, wanted)| {
            let tolerance = match wanted.dtype() {
                DType::F32 | DType::C64 => Tolerance { rtol: 1e-3, atol: 1e-3 },
                DType::F16 | DType::BF16 => Tolerance { rtol: 3e-2, atol: 3e-2 },
                _ => Tolerance { rtol: 1e-8, atol: 1e-8 },
            };
            compare(found, wanted, tolerance).is_ok_and(|difference| difference.wrong == 0)
        });
        self.outputs.set(outputs);
        same
    }

    /// Calls it for a round of about this time: seconds of a call. Its first half does not count, for it finds the caches as another
    /// candidate left them.
    pub fn round(&self, candidate: &mut Candidate, length: Duration) -> Result<f64, Error> {
        let calls = (length.as_secs_f64() / candidate.first.max(1e-9)).clamp(1.0, 1000.0) as u32;
        for _ in 0..calls {
            self.call(candidate)?;
        }
        Ok((0..calls).map(|_| self.call(candidate)).sum::<Result<f64, Error>>()? / f64::from(calls))
    }

    fn call(&self, candidate: &mut Candidate) -> Result<f64, Error> {
        let mut outputs = self.outputs.take();
        let start = Instant::now();
        let done = candidate.session.run_onto(&mut candidate.state, &self.inputs(), &mut outputs);
        let time = start.elapsed().as_secs_f64();
        self.outputs.set(outputs);
        done.map(|()| time).map_err(|error| Error::Run(error.to_string()))
    }

    fn inputs(&self) -> Vec<&Tensor> {
        self.inputs.iter().collect()
    }

    /// A program that calls the kernel once.
    fn compile(&self, choice: Attr<'c>) -> Result<Session, Error> {
        let module = calling(self.kernel);
        module.op().find_all(loops::Kernel::NAME).into_iter().for_each(|kernel| _ = apply(kernel, choice));
        let program = Program::of(entry(module.op())?)?;
        let host = pipeline_to(Level::Host, options::Target::Cpu).ok_or(Error::NoEntry)?;
        run_pipeline(self.tuner.db.registry(), &module, host, self.tuner.options)?;
        // Candidates are many, and most are met once: nothing keeps them.
        let objects = units::objects_now(self.tuner.db.registry(), &module, self.tuner.code)?;
        let bytes: Vec<_> = objects.bytes.iter().map(Vec::as_slice).collect();
        let image = codegen::link_as(&bytes, &objects.aliases)?;
        let notes = Notes { messages: messages(module.op()), ..Notes::default() };
        let artefact = artefact::build(&program, None, Path::new("kernel"), image, &self.tuner.code.target, notes)?;
        Session::load(&artefact, None).map_err(|error| Error::Run(error.to_string()))
    }
}

/// A module with the kernel and an entry that calls it.
fn calling(kernel: Op<'_>) -> Module<'_> {
    let module = units::alone(kernel);
    let (cx, location) = (kernel.cx(), kernel.location());
    let inputs: Vec<_> = kernel.body(0).args().into_iter().map(|arg| arg.ty()).collect();
    let results: Vec<_> = kernel.body(0).terminator().map(|op| op.operand_types()).unwrap_or_default();
    let kinds = |kind: &str, count: usize| {
        let one = |at: usize| cx.dict_attr(&[(capture::KIND, cx.str_attr(kind)), (capture::NAME, cx.str_attr(&format!("{kind}{at}")))]);
        cx.array_attr(&(0..count).map(one).collect::<Vec<_>>())
    };
    let func = Builder::at_end(module.body(), location).op(OpSpec {
        name: func::Func::NAME,
        attrs: &[
            ("sym_name", cx.str_attr("main")),
            ("function_type", cx.type_attr(cx.function(&inputs, &results))),
            ("arg_attrs", kinds("input", inputs.len())),
            ("res_attrs", kinds("output", results.len())),
            (capture::ENTRY, cx.unit()),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let block = func.region(0).append_block(&inputs, location);
    let mut b = Builder::at_end(block, location);
    let call = b.op(OpSpec {
        name: loops::Call::NAME,
        operands: &block.args(),
        results: &results,
        attrs: &[("callee", cx.symbol_attr(units::NAME))],
        ..OpSpec::default()
    });
    func::ret(&mut b, &call.results());
    module
}

/// Small numbers that repeat from run to run, positive where they are floats; zeros where they may be indices.
fn fill(tensor: &mut Tensor) {
    let (dtype, mut seed) = (tensor.dtype(), 0x9e37_79b9_7f4a_7c15u64);
    let mut unit = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        0.25 + (seed >> 40) as f64 / (1u64 << 25) as f64
    };
    let part = if matches!(dtype, DType::C64 | DType::C128) { dtype.size() / 2 } else { dtype.size() };
    for bytes in tensor.bytes_mut().chunks_exact_mut(part) {
        match dtype {
            DType::F64 | DType::C128 => bytes.copy_from_slice(&unit().to_le_bytes()),
            DType::F32 | DType::C64 => bytes.copy_from_slice(&(unit() as f32).to_le_bytes()),
            DType::BF16 => bytes.copy_from_slice(&((unit() as f32).to_bits() >> 16).to_le_bytes()[..2]),
            // A quarter and more, in half precision.
            DType::F16 => bytes.copy_from_slice(&(0x3400 | (unit() * 1024.0) as u16 & 0x3ff).to_le_bytes()),
            _ => bytes.fill(0),
        }
    }
}
