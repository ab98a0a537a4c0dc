//! Index paths: at which index of a value a kernel reads it, in terms of the kernel's dimensions.
//!
//! A path is one [`Step`] per dimension of the value. Steps are interned, so two equal paths are equal lists of numbers.
//! Paths need not be computable: they tell whether two reads are the same read, and along which kernel dimensions a read repeats.

use crate::analysis::{Dims, Expr};
use std::collections::HashMap;
use strata_core::ir::Op;
use strata_dialects::prim::{self, view::windowed};

/// The index along one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// The index of a kernel dimension.
    Dim(usize),
    /// Always 0: the dimension has size 1.
    Zero,
    /// Something else, computed from other steps by the op named.
    Via(String, Vec<StepId>),
}

/// An interned step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepId(u32);

/// One step per dimension of the value read.
pub type Path = Vec<StepId>;

/// The interner.
#[derive(Default)]
pub struct Paths {
    steps: Vec<(Step, u64)>,
    ids: HashMap<Step, StepId>,
}

impl Paths {
    fn intern(&mut self, step: Step) -> StepId {
        if let Some(&id) = self.ids.get(&step) {
            return id;
        }
        // Kernels have few dimensions; those past the 64th count as used everywhere, which only makes cost estimates lower.
        let used = match &step {
            Step::Dim(dim) => 1u64.checked_shl(*dim as u32).unwrap_or(0),
            Step::Zero => 0,
            Step::Via(_, from) => from.iter().fold(0, |used, id| used | self.steps[id.0 as usize].1),
        };
        let id = StepId(self.steps.len() as u32);
        self.steps.push((step.clone(), used));
        self.ids.insert(step, id);
        id
    }

    /// The index of a kernel dimension.
    pub fn dim(&mut self, dim: usize) -> StepId {
        self.intern(Step::Dim(dim))
    }

    /// Index 0 of a dimension of size 1.
    pub fn zero(&mut self) -> StepId {
        self.intern(Step::Zero)
    }

    fn via(&mut self, what: String, from: &[StepId]) -> StepId {
        self.intern(Step::Via(what, from.to_vec()))
    }

    /// The kernel dimensions that a path depends on, as a bit mask.
    pub fn dims_used(&self, path: &[StepId]) -> u64 {
        path.iter().fold(0, |used, id| used | self.steps[id.0 as usize].1)
    }

    /// The path at which a reshape that splits dimensions of its operand reads it: an index of the operand is computed from those of the
    /// dimensions that it became. `None` for all other reshapes.
    pub fn through_split<'c>(&mut self, dims: &mut Dims<'c>, op: Op<'c>, path: &[StepId]) -> Option<Path> {
        let constant = |sizes: Vec<Expr>| sizes.iter().map(Expr::as_constant).collect::<Vec<_>>();
        let (sizes, result) = (dims.sizes(op.operand(0)), dims.sizes(op.result(0)));
        let parts = constant(result.clone());
        let (mut read, mut at) = (Vec::new(), 0);
        for size in &sizes {
            if at < result.len() && dims.equal(size, &result[at]) {
                read.push(*path.get(at)?);
                at += 1;
                continue;
            }
            let (whole, first, mut product) = (size.as_constant()?, at, 1i64);
            if whole == 1 {
                read.push(self.zero());
                continue;
            }
            while product < whole {
                product = product.checked_mul((*parts.get(at)?)?)?;
                at += 1;
            }
            if product != whole {
                return None;
            }
            read.push(self.via(format!("split {:?}", &parts[first..at]), path.get(first..at)?));
        }
        parts[at..].iter().all(|&part| part == Some(1)).then_some(read)
    }

    /// The path at which a view reads operand `operand` when its result is read at `path`.
    /// `None`: the view is a reshape that is more than dimensions of size 1 coming and going.
    pub fn through<'c>(&mut self, dims: &mut Dims<'c>, op: Op<'c>, operand: usize, path: &[StepId]) -> Option<Path> {
        let sizes = dims.sizes(op.operand(operand));
        let one = |size: &Expr| size.as_constant() == Some(1);
        let ints = |name: &str| op.ints(name).unwrap_or_default();
        let name = op.name();
        Some(match name {
            prim::Broadcast::NAME => {
                let (map, result) = (ints("dims"), dims.sizes(op.result(0)));
                (0..sizes.len())
                    .map(|dim| {
                        let to = *map.get(dim)? as usize;
                        let repeats = one(&sizes[dim]) && !one(result.get(to)?);
                        if repeats { Some(self.zero()) } else { path.get(to).copied() }
                    })
                    .collect::<Option<_>>()?
            }
            prim::Transpose::NAME => {
                let mut read = vec![self.zero(); sizes.len()];
                for (position, dim) in ints("perm").into_iter().enumerate() {
                    *read.get_mut(dim as usize)? = *path.get(position)?;
                }
                read
            }
            prim::Reshape::NAME => {
                let result = dims.sizes(op.result(0));
                let mut rest = result.iter().zip(path).filter(|(size, _)| !one(size));
                let mut read = Vec::new();
                for size in &sizes {
                    if one(size) {
                        read.push(self.zero());
                        continue;
                    }
                    let (other, step) = rest.next()?;
                    if !dims.equal(size, other) {
                        return None;
                    }
                    read.push(*step);
                }
                if rest.next().is_some() {
                    return None;
                }
                read
            }
            prim::Slice::NAME => {
                let (offsets, strides) = (ints("offsets"), ints("strides"));
                let result = dims.sizes(op.result(0));
                // Offsets that are operands are told apart by the text of the operand's definition place: the op itself.
                let place = if offsets.contains(&strata_core::ir::DYNAMIC) { format!("{:?}", op.to_raw().ptr) } else { String::new() };
                (0..sizes.len())
                    .map(|dim| {
                        let (offset, stride) = (*offsets.get(dim)?, *strides.get(dim)?);
                        let whole = offset == 0 && stride == 1 && dims.equal(&sizes[dim], result.get(dim)?);
                        let step = *path.get(dim)?;
                        Some(if whole { step } else { self.via(format!("slice {offset} {stride} {place}"), &[step]) })
                    })
                    .collect::<Option<_>>()?
            }
            prim::Reverse::NAME => {
                let reversed = ints("dims");
                (0..sizes.len())
                    .map(|dim| {
                        let step = *path.get(dim)?;
                        Some(if reversed.contains(&(dim as i64)) { self.via(format!("reverse {}", sizes[dim]), &[step]) } else { step })
                    })
                    .collect::<Option<_>>()?
            }
            // The padding value is a 0-d tensor: every element reads it at the empty path.
            prim::Pad::NAME if operand > 0 => Vec::new(),
            prim::SlidingWindow::NAME => {
                let slid = windowed(sizes.len(), ints("sizes").len(), op.ints("dims"));
                (0..sizes.len())
                    .map(|dim| {
                        let step = *path.get(dim)?;
                        let Some(at) = slid.iter().position(|&slid| slid == dim) else { return Some(step) };
                        let inner = *path.get(sizes.len() + at)?;
                        let moved = (ints("strides").get(at).copied(), ints("dilations").get(at).copied());
                        Some(self.via(format!("window {moved:?}"), &[step, inner]))
                    })
                    .collect::<Option<_>>()?
            }
            // `pad`, `concat` and whatever comes: told apart by the op and the operand.
            _ => {
                let what = format!("{name} {:?} {operand}", op.to_raw().ptr);
                path.iter().map(|&step| self.via(what.clone(), &[step])).collect()
            }
        })
    }
}
