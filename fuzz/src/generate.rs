//! Random programs.

mod combine;
mod indexed;
mod pointwise;
mod view;

use strata_driver::{Target, optional_passes, standard};
use strata_runtime::DType;

use crate::graph::{Const, Def, Dim, Fill, Graph, Op, Size, Ty};
use crate::rng::Rng;

const DTYPES: &[DType] =
    &[DType::F32, DType::F32, DType::F32, DType::F64, DType::I64, DType::I64, DType::I32, DType::Bool, DType::F16, DType::BF16, DType::U8];

const SMOOTH: &[&str] = &[
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "lgamma", "digamma", "neg", "abs",
];

/// A program that grows.
pub struct Generator {
    pub rng: Rng,
    pub graph: Graph,
    exact: Vec<bool>,
    /// Sizes of this program's dynamic dimensions.
    symbols: Vec<i64>,
    sizes: Vec<i64>,
}

/// The program of a seed.
pub fn generate(seed: u64) -> Graph {
    let mut rng = Rng::new(seed, 1);
    let mut graph = Graph { strict: rng.chance(50), special: rng.chance(25), ..Graph::default() };
    // From numbers of their own: a seed stays the program that it is when a pass is added.
    let mut choice = Rng::new(seed, 2);
    graph.skip = optional_passes(standard(), Target::Cpu).into_iter().filter(|_| choice.chance(50)).map(str::to_owned).collect();
    let symbols = match rng.chance(35) {
        true => (0..rng.range(1, 3)).map(|_| rng.range(0, 9)).collect(),
        false => Vec::new(),
    };
    // Few sizes in one program, so that shapes meet.
    let sizes = (0..4).map(|_| if rng.chance(12) { rng.pick(&[0, 16, 17, 33, 64]) } else { rng.range(1, 9) }).collect();
    let mut generator = Generator { rng, graph, exact: Vec::new(), symbols, sizes };
    let (count, mut tries) = (generator.rng.range(1, 25) as usize, 0);
    let first = generator.dtype();
    generator.argument(first);
    let (mut ops, mut made) = (0, Vec::new());
    while ops < count && tries < 400 {
        tries += 1;
        if let Some(value) = generator.step() {
            made.push(value);
            ops += 1;
        }
    }
    generator.outputs(&made);
    generator.graph
}

impl Generator {
    fn dtype(&mut self) -> DType {
        self.rng.pick(DTYPES)
    }

    fn push(&mut self, def: Def) -> Option<usize> {
        let value = self.graph.push(def)?;
        self.exact = self.graph.exact();
        Some(value)
    }

    fn op(&mut self, op: Op, inputs: &[usize]) -> Option<usize> {
        self.push(Def::Op(op, inputs.to_vec()))
    }

    fn outputs(&mut self, made: &[usize]) {
        let mut used = vec![false; self.graph.defs.len()];
        for value in 0..used.len() {
            self.graph.uses(value).into_iter().for_each(|u| used[u] = true);
        }
        for &value in made {
            if (!used[value] || self.rng.chance(10)) && self.graph.outputs.len() < 6 {
                self.graph.outputs.push(value);
            }
        }
        if self.graph.outputs.is_empty() {
            self.graph.outputs.push(self.graph.defs.len() - 1);
        }
    }

    fn argument(&mut self, dtype: DType) -> usize {
        let rank = self.rng.pick(&[0usize, 1, 1, 2, 2, 2, 3, 3, 4]);
        self.argument_of(dtype, rank)
    }

    fn argument_of(&mut self, dtype: DType, rank: usize) -> usize {
        let (mut dims, mut symbols) = (Vec::new(), Vec::new());
        for _ in 0..rank {
            let dynamic = !self.symbols.is_empty() && self.rng.chance(45);
            let symbol = dynamic.then(|| self.rng.below(self.symbols.len()));
            let n = symbol.map_or_else(|| self.rng.pick(&self.sizes), |s| self.symbols[s]);
            dims.push(Dim { n, dynamic });
            symbols.push(symbol);
        }
        self.new_argument(Ty { dtype, dims }, symbols, Fill::Numbers)
    }

    fn new_argument(&mut self, ty: Ty, symbols: Vec<Option<usize>>, fill: Fill) -> usize {
        match self.push(Def::Arg(ty.clone(), symbols, fill)) {
            Some(value) => value,
            // Too large: a number instead.
            None => {
                self.graph.defs.push(Def::Arg(Ty::fixed(ty.dtype, &[]), Vec::new(), fill));
                self.graph.types.push(Ty::fixed(ty.dtype, &[]));
                self.exact = self.graph.exact();
                self.graph.defs.len() - 1
            }
        }
    }

    /// A fixed argument of this type.
    fn fixed(&mut self, dtype: DType, shape: &[i64], fill: Fill) -> usize {
        self.new_argument(Ty::fixed(dtype, shape), vec![None; shape.len()], fill)
    }

    fn find(&mut self, fits: impl Fn(&Ty, bool) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.graph.types.len()).filter(|&v| fits(&self.graph.types[v], self.exact[v])).collect();
        if all.is_empty() {
            return None;
        }
        // Recent values more often, for deep programs.
        let (a, b) = (self.rng.pick(&all), self.rng.pick(&all));
        Some(if self.rng.chance(50) { a.max(b) } else { a })
    }

    /// A value that fits, or at times a new argument.
    fn value(&mut self, fits: impl Fn(&Ty, bool) -> bool) -> Option<usize> {
        if self.rng.chance(15) {
            for _ in 0..4 {
                let dtype = self.dtype();
                let fresh = self.argument(dtype);
                if fits(&self.graph.types[fresh], true) {
                    return Some(fresh);
                }
            }
        }
        self.find(fits)
    }

    /// Another value of the same type.
    fn partner(&mut self, x: usize, exact: bool) -> Option<usize> {
        let ty = self.graph.types[x].clone();
        let found = self.find(|t, e| *t == ty && (e || !exact))?;
        if found != x || self.rng.chance(15) {
            return Some(found);
        }
        if self.rng.chance(50) || exact && !self.exact[x] {
            let value = self.rng.range(-3, 5) as f64 + if ty.is_float() && self.rng.chance(50) { 0.5 } else { 0.0 };
            return self.splat_like(x, ty.dtype, if ty.dtype == DType::U8 { value.abs() } else { value });
        }
        // Another order of a value of the same elements.
        match ty.rank() {
            0 => Some(x),
            rank => {
                let dim = self.rng.below(rank) as i64;
                self.op(Op::Reverse(vec![dim]), &[x])
            }
        }
    }

    fn like(&self, x: usize) -> Vec<Size> {
        (0..self.graph.types[x].rank()).map(|d| self.keep(x, d)).collect()
    }

    fn keep(&self, x: usize, d: usize) -> Size {
        let dim = self.graph.types[x].dims[d];
        if dim.dynamic { Size::Like(x, d) } else { Size::Fixed(dim.n) }
    }

    /// One number in the shape of x.
    fn splat_like(&mut self, x: usize, dtype: DType, value: f64) -> Option<usize> {
        if !self.graph.types[x].is_dynamic() && self.rng.chance(50) {
            let shape = self.graph.types[x].shape();
            return self.op(Op::Constant(dtype, shape, Const::All(value)), &[]);
        }
        let number = self.op(Op::Constant(dtype, Vec::new(), Const::All(value)), &[])?;
        let sizes = self.like(x);
        self.op(Op::Broadcast { dims: Vec::new(), sizes }, &[number])
    }

    fn step(&mut self) -> Option<usize> {
        match self.rng.below(34) {
            0..4 => self.unary(),
            4..9 => self.binary(),
            9 => self.compare(),
            10..12 => self.select(),
            12..14 => self.convert(),
            14 => self.create(),
            15..18 => self.broadcast(),
            18..20 => self.reshape(),
            20..26 => self.view(),
            26..29 => self.reduction(),
            29 => self.dot(),
            30 => self.conv(),
            31 => self.gather(),
            32 => self.scatter(),
            _ => self.other(),
        }
    }
}
