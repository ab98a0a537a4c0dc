//! Runs a kernel: the threads of a block in lock-step, one instruction at a time, those that are on.

use super::super::value::{InterpError, fail};
use super::code::{Code, Do, Join, Reg, Step};
use super::copies::Copies;
use super::memory::{Memories, Who};
use super::scalar::{bits_of, compare_floats, convert, float, fused, low, signed};

/// Lanes of a warp.
pub(super) const WARP: usize = 32;

/// Turns of a loop before a run is given up as endless.
const TURNS: u64 = 1 << 28;

/// One block of threads.
pub struct BlockRun<'a, 'm> {
    pub(super) code: &'a Code,
    pub(super) memory: &'a mut Memories<'m>,
    pub(super) values: Vec<u64>,
    block: u64,
    epoch: u32,
    /// What is under way, by thread.
    pub(super) copies: Vec<Copies>,
}

impl<'a, 'm> BlockRun<'a, 'm> {
    /// Runs a block of the grid on arguments that all threads share.
    pub fn run(code: &'a Code, memory: &'a mut Memories<'m>, arguments: &[u64], block: u64) -> Result<(), InterpError> {
        memory.next_block();
        let mut run = Self {
            code,
            memory,
            values: vec![0; code.registers * code.threads],
            block,
            epoch: 0,
            copies: vec![Copies::default(); code.threads],
        };
        let all: Vec<usize> = (0..code.threads).collect();
        for (&reg, &value) in code.arguments.iter().zip(arguments) {
            run.each(&all, reg, |_, _| Ok(value))?;
        }
        run.steps(&code.steps, &all)
    }

    pub(super) fn get(&self, reg: Reg, thread: usize) -> u64 {
        self.values[reg * self.code.threads + thread]
    }

    fn each(&mut self, on: &[usize], to: Reg, f: impl Fn(&Self, usize) -> Result<u64, InterpError>) -> Result<(), InterpError> {
        for &thread in on {
            let value = f(self, thread)?;
            self.values[to * self.code.threads + thread] = value;
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step], on: &[usize]) -> Result<(), InterpError> {
        for step in steps {
            self.step(&step.what, on).map_err(|error| error.at(step.origin.0, &step.origin.1))?;
        }
        Ok(())
    }

    fn step(&mut self, what: &Do, on: &[usize]) -> Result<(), InterpError> {
        match *what {
            Do::Set { to, value } => self.each(on, to, |_, _| Ok(value)),
            Do::Move { to, from } => self.each(on, to, |run, t| Ok(run.get(from, t))),
            Do::Two { to, a, b, f, bits, result } => self.each(on, to, |run, t| {
                let value = f(run.get(a, t), run.get(b, t), bits).ok_or_else(|| fail("integer division by zero"))?;
                Ok(low(value, result))
            }),
            Do::One { to, a, f, bits } => self.each(on, to, |run, t| Ok(low(f(run.get(a, t), bits), bits))),
            Do::Floats { to, a, b, f, ty } => {
                self.each(on, to, |run, t| Ok(bits_of(f(float(run.get(a, t), ty), float(run.get(b, t), ty)), ty)))
            }
            Do::Float { to, a, f, ty } => self.each(on, to, |run, t| Ok(bits_of(f(float(run.get(a, t), ty)), ty))),
            Do::Test { to, a, f, ty } => self.each(on, to, |run, t| Ok(f(float(run.get(a, t), ty)).into())),
            Do::Compare { to, a, b, predicate, ty } => {
                self.each(on, to, |run, t| Ok(compare_floats(predicate, float(run.get(a, t), ty), float(run.get(b, t), ty)).into()))
            }
            Do::Fused { to, a, b, c, ty } => self.each(on, to, |run, t| Ok(fused(run.get(a, t), run.get(b, t), run.get(c, t), ty))),
            Do::Product { low: lower, high, a, b, bits } => {
                for &t in on {
                    let product = u128::from(self.get(a, t)) * u128::from(self.get(b, t));
                    self.values[lower * self.code.threads + t] = low(product as u64, bits);
                    self.values[high * self.code.threads + t] = low((product >> bits) as u64, bits);
                }
                Ok(())
            }
            Do::Select { to, condition, a, b } => {
                self.each(on, to, |run, t| Ok(if run.get(condition, t) != 0 { run.get(a, t) } else { run.get(b, t) }))
            }
            Do::Convert { to, a, ref name, from, result } => {
                let bits = if result == strata_core::ir::ElementType::Bool { 1 } else { result.bits() };
                self.each(on, to, |run, t| {
                    convert(name, run.get(a, t), from, result).map(|value| low(value, bits)).ok_or_else(|| fail("no such conversion"))
                })
            }
            Do::Offset { to, pointer, index, size } => {
                self.each(on, to, |run, t| Ok(run.get(pointer, t).wrapping_add(run.get(index, t).wrapping_mul(size))))
            }
            Do::Aligned { pointer, to } => {
                let crooked = on.iter().find(|&&t| !self.get(pointer, t).is_multiple_of(to));
                crooked.map_or(Ok(()), |t| Err(fail(format!("thread {t} accesses memory that is not aligned to {to} bytes"))))
            }
            Do::Load { to, pointer, at, size } => {
                for &t in on {
                    let value = self.memory.load(self.get(pointer, t).wrapping_add(at), size, self.who(t))?;
                    self.values[to * self.code.threads + t] = value;
                }
                Ok(())
            }
            Do::Store { from, pointer, at, size } => {
                for &t in on {
                    let who = self.who(t);
                    self.memory.store(self.get(pointer, t).wrapping_add(at), size, self.values[from * self.code.threads + t], who)?;
                }
                Ok(())
            }
            Do::Atomic { to, from, pointer, size, join } => {
                for &t in on {
                    let (who, value) = (self.who(t), self.get(from, t));
                    let joined = |before: u64| match join {
                        Join::Integers(f, bits) => f(before, value, bits).map_or(before, |value| low(value, bits)),
                        Join::Floats(f, ty) => bits_of(f(float(before, ty), float(value, ty)), ty),
                    };
                    let before = self.memory.exchange(self.get(pointer, t), size, joined, who)?;
                    self.values[to * self.code.threads + t] = before;
                }
                Ok(())
            }
            Do::Thread { to } => self.each(on, to, |_, t| Ok(t as u64)),
            Do::Block { to } => self.each(on, to, |run, _| Ok(run.block)),
            Do::Shuffle { to, from, distance, width } => self.shuffle(on, (to, from), (distance, width)),
            Do::Part { to, a, shift, bits } => self.each(on, to, |run, t| Ok(low(run.get(a, t) >> shift, bits))),
            Do::Matrices { to, pointer, turned } => self.matrices(on, (to, pointer), turned),
            Do::StartCopy { to, from, size } => self.start_copy(on, to, from, size),
            Do::Group => {
                self.group(on);
                Ok(())
            }
            Do::Arrive { left } => self.arrive(on, left),
            Do::Matrix(ref product) => self.matrix(on, product),
            Do::Barrier => {
                if on.len() != self.code.threads {
                    return Err(fail(format!("barrier: only {} of {} threads come to it", on.len(), self.code.threads)));
                }
                self.epoch += 1;
                Ok(())
            }
            Do::Fence => {
                on.iter().for_each(|&t| self.memory.fence(self.who(t)));
                Ok(())
            }
            Do::If { condition, ref then, ref otherwise } => {
                let (yes, no): (Vec<_>, Vec<_>) = on.iter().copied().partition(|&t| self.get(condition, t) != 0);
                if !yes.is_empty() {
                    self.steps(then, &yes)?;
                }
                if no.is_empty() { Ok(()) } else { self.steps(otherwise, &no) }
            }
            Do::For { number, end, step, ref body } => {
                let mut on = on.to_vec();
                for _ in 0..TURNS {
                    on.retain(|&t| signed(self.get(number, t), 64) < signed(self.get(end, t), 64));
                    if on.is_empty() {
                        return Ok(());
                    }
                    self.steps(body, &on)?;
                    self.each(&on, number, |run, t| Ok(run.get(number, t).wrapping_add(run.get(step, t))))?;
                }
                Err(fail("the loop does not end"))
            }
        }
    }

    pub(super) fn who(&self, thread: usize) -> Who {
        Who { thread, block: self.block, epoch: self.epoch }
    }

    /// Each lane reads another one of its warp, which must be on.
    fn shuffle(&mut self, on: &[usize], (to, from): (Reg, Reg), (distance, width): (Reg, Reg)) -> Result<(), InterpError> {
        let mut active = vec![false; self.code.threads];
        on.iter().for_each(|&thread| active[thread] = true);
        let before: Vec<u64> = (0..self.code.threads).map(|thread| self.get(from, thread)).collect();
        self.each(on, to, |run, thread| {
            let (lane, width) = (thread % WARP, run.get(width, thread) as usize);
            let other = lane ^ run.get(distance, thread) as usize;
            let other = if other / width.max(1) == lane / width.max(1) { thread - lane + other } else { thread };
            match active.get(other) {
                Some(true) => Ok(before[other]),
                _ => Err(fail(format!("shuffle: thread {thread} reads thread {other}, which is not there"))),
            }
        })
    }
}
