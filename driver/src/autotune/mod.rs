//! `max-autotune`: schedules chosen by measurement.
//!
//! A schedule is data that lies on a kernel. A search gives a kernel other schedules, compiles each alone, runs it on this machine
//! with tensors of the kernel's own sizes, and keeps the fastest. The schedule of the cost model takes part, and is given up only for
//! one that beat it side by side, in the process that searches. Kernels that take longest come first; equal kernels are one.
//!
//! What was found is kept in the database, and in the store under the kind `schedule`, by the kernel, the machine and the compiler's
//! build: it is an input of every later compilation that asks for measured schedules, which then searches nothing.

mod bench;
mod search;
mod stored;

use crate::Error;
use crate::database::{Db, How, Query, Subject, Unit, asked};
use crate::options::{BUDGET, Options};
use crate::units::{Code, CodeId, alone};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use stored::Measured;
use strata_core::ir::{Module, Op};
use strata_dialects::loops;
use strata_dialects::target::Target;
use strata_lowering::KernelView;
use strata_lowering::loop_to_host::entry;
use strata_lowering::schedule::cost::seconds;
use strata_lowering::schedule::cpu::{apply, choice};
use strata_runtime::manifest::{Tuned, Tuning};
use strata_runtime::pool;
use strata_store::{Kind, Parts};

/// What a search works with.
#[derive(Clone, Copy)]
struct Tuner<'a> {
    db: &'a dyn Db,
    options: &'a Options,
    code: &'a Code,
}

/// Gives the kernels of a module at the level `loop-scheduled` the fastest schedules that are known or found within the budget.
pub fn tune(module: &Module<'_>, options: &Options, db: &dyn Db, code: &Code) -> Result<Vec<Tuned>, Error> {
    let tuner = Tuner { db, options, code };
    let budget = Duration::try_from_secs_f64(options.autotune_budget.unwrap_or(BUDGET)).map_err(|_| Error::Budget)?;
    // Equal kernels are one: the text is what they are known by.
    let mut known: HashMap<String, Vec<Op<'_>>> = HashMap::new();
    let mut order = Vec::new();
    for kernel in module.op().find_all(loops::Kernel::NAME) {
        let text = alone(kernel).to_string();
        let same = known.entry(text.clone()).or_default();
        if same.is_empty() {
            order.push(text);
        }
        same.push(kernel);
    }
    let calls = calls(module)?;
    let weight = |text: &String| known[text].iter().map(|&kernel| weight(kernel, &calls)).sum::<f64>();
    let mut weighed: Vec<(f64, String)> = order.into_iter().map(|text| (weight(&text), text)).collect();
    // Kernels that only prepare weights run once.
    weighed.retain(|kernel| kernel.0 > 0.0);
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (begin, mut left) = (Instant::now(), weighed.iter().map(|kernel| kernel.0).sum::<f64>());
    let mut tuned = Vec::new();
    for (weight, text) in weighed {
        let kernels = &known[&text];
        // Each kernel has its part of the time that is left, and what it does not need goes to those after it.
        let rest = budget.saturating_sub(begin.elapsed());
        let part = rest.mul_f64((weight / left.max(f64::MIN_POSITIVE)).min(1.0));
        left -= weight;
        let found = tuner.kernel(kernels[0], &text, (!rest.is_zero()).then_some(part));
        let best = choice(kernels[0]);
        kernels[1..].iter().for_each(|&kernel| _ = apply(kernel, best));
        tuned.extend(kernels.iter().map(|kernel| Tuned { kernel: kernel.str("sym_name").unwrap_or_default(), ..found.clone() }));
    }
    Ok(tuned)
}

impl Tuner<'_> {
    /// The best schedule that is stored or found in this time, on the kernel; where there is no time, the one that it has.
    fn kernel(&self, kernel: Op<'_>, text: &str, time: Option<Duration>) -> Tuned {
        let parts = stored::parts(self.db, text, self.code);
        let untuned = |reason: &str| Tuned {
            kernel: String::new(),
            key: stored::key(&parts),
            entry: String::new(),
            how: Tuning::Untuned(reason.to_owned()),
            gain: None,
        };
        if !self.options.cpu.is_empty() {
            return untuned("what is compiled for another CPU cannot be measured here");
        }
        let name = kernel.str("sym_name").unwrap_or_default();
        let subject = Subject { query: Query::Schedule, name: Some(&name), content: text, passes: (0, "") };
        let (unit, code_id) = (Unit::new(self.db, text), CodeId::new(self.db, self.code.clone()));
        let (place, question) = (stored::schedule(self.db, unit, code_id), asked(Query::Schedule, unit, code_id));
        let entry = |measured: &Measured| self.db.store().map(|_| measured.hash()).unwrap_or_default();
        let known = |measured: Measured| Tuned { entry: entry(&measured), how: Tuning::Stored, gain: Some(measured.gain), ..untuned("") };
        if let Some(measured) = place.get().cloned().or_else(|| self.on_disk(&parts))
            && self.usable(&measured, &parts, kernel)
        {
            if place.set(measured.clone()).is_ok() {
                self.db.note(question, How::Disk);
            }
            self.db.record(question, subject, self.db.changed(subject));
            return known(measured);
        }
        if kernel.body(0).args().iter().any(|arg| !arg.ty().is_tensor() || arg.ty().num_elements().is_none()) {
            return untuned("its sizes are symbolic; --dynamic=off compiles for those of a call");
        }
        let Some(time) = time else { return untuned("the budget was spent on kernels that take longer") };
        let measured = match search::search(self, kernel, time) {
            Ok(gain) => Measured::of(kernel, gain),
            Err(error) => return untuned(&format!("it cannot be measured: {error}")),
        };
        if let Some(store) = self.db.store() {
            // A store that takes nothing costs the next compilation a search, not this one its result.
            _ = store.put(Kind::Schedule, &parts, &measured.to_bytes());
        }
        self.db.note(question, How::Computed);
        self.db.record(question, subject, self.db.changed(subject));
        // Another thread may have been faster with the same.
        _ = place.set(measured.clone());
        Tuned { how: Tuning::Searched, ..known(measured) }
    }

    /// The schedule that the store has. An entry that cannot be read is told and counts as none.
    fn on_disk(&self, parts: &Parts) -> Option<Measured> {
        let data = self.db.store()?.get(&parts.key(Kind::Schedule)).data()?;
        serde_json::from_slice(&data).map_err(|error| refused(parts, &error)).ok()
    }

    /// Puts a schedule on its kernel. One that is none of this kernel is told and counts as none.
    fn usable(&self, measured: &Measured, parts: &Parts, kernel: Op<'_>) -> bool {
        let put = measured.put_on(kernel);
        if !put {
            refused(parts, &"it is no schedule of this kernel");
        }
        put
    }
}

fn refused(parts: &Parts, reason: &dyn std::fmt::Display) {
    eprintln!("warning: cache entry {} is not used: {reason}", stored::key(parts));
}

/// The kernels that a call launches, each as often as it does.
fn calls(module: &Module<'_>) -> Result<Vec<String>, Error> {
    let calls = entry(module.op())?.find_all(loops::Call::NAME).into_iter();
    Ok(calls.filter_map(|call| call.attr("callee")?.as_symbol()).collect())
}

/// How much of a program's time a kernel takes, about.
fn weight(kernel: Op<'_>, calls: &[String]) -> f64 {
    let name = kernel.str("sym_name").unwrap_or_default();
    let (view, target) = (KernelView::new(kernel), Target::of(kernel).unwrap_or_default());
    let seconds = view.and_then(|view| seconds(&view, &target, pool::global().threads())).unwrap_or(f64::MIN_POSITIVE);
    seconds * calls.iter().filter(|call| **call == name).count() as f64
}
