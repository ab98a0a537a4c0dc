//! Random programs.

use strata_driver::Level;
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
    let mut graph = Graph { bitwise: rng.chance(50), special: rng.chance(25), ..Graph::default() };
    let flags = Level::optional_passes();
    graph.skip = flags.into_iter().filter(|_| rng.chance(50)).map(str::to_owned).collect();
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

    fn unary(&mut self) -> Option<usize> {
        if self.rng.chance(70) {
            let x = self.value(|t, _| t.is_float())?;
            let name = self.rng.pick(SMOOTH);
            return self.op(Op::Unary(name), &[x]);
        }
        let x = self.value(|_, exact| exact)?;
        let ty = self.graph.types[x].clone();
        if ty.is_float() {
            let name = self.rng.pick(&["floor", "ceil", "round", "trunc", "sign", "neg", "is_nan"]);
            return if name == "is_nan" { self.op(Op::IsNan, &[x]) } else { self.op(Op::Unary(name), &[x]) };
        }
        let name = if ty.dtype == DType::Bool { "not" } else { self.rng.pick(&["neg", "abs", "sign", "not"]) };
        self.op(Op::Unary(name), &[x])
    }

    fn binary(&mut self) -> Option<usize> {
        let x = self.value(|_, _| true)?;
        let ty = self.graph.types[x].clone();
        if ty.is_float() {
            if self.exact[x] && self.rng.chance(15) {
                let name = self.rng.pick(&["rem", "atan2", "nextafter"]);
                let y = self.partner(x, true)?;
                return self.op(Op::Binary(name), &[x, y]);
            }
            let name = self.rng.pick(&["add", "add", "sub", "mul", "mul", "div", "pow", "maximum", "minimum"]);
            let y = self.partner(x, false)?;
            return self.op(Op::Binary(name), &[x, y]);
        }
        if ty.dtype == DType::Bool {
            let y = self.partner(x, false)?;
            let name = self.rng.pick(&["and", "or", "xor", "maximum", "minimum"]);
            return self.op(Op::Binary(name), &[x, y]);
        }
        let name = self.rng.pick(&["add", "sub", "mul", "div", "rem", "pow", "maximum", "minimum", "and", "or", "xor", "shl", "shr"]);
        let mut y = self.partner(x, false)?;
        if matches!(name, "div" | "rem") {
            let one = self.splat_like(y, ty.dtype, 1.0)?;
            y = self.op(Op::Binary("maximum"), &[y, one])?;
        }
        self.op(Op::Binary(name), &[x, y])
    }

    fn compare(&mut self) -> Option<usize> {
        let x = self.value(|_, exact| exact)?;
        let y = self.partner(x, true)?;
        let name = self.rng.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
        self.op(Op::Compare(name), &[x, y])
    }

    fn select(&mut self) -> Option<usize> {
        let a = self.value(|_, _| true)?;
        let b = self.partner(a, false)?;
        let dims = self.graph.types[a].dims.clone();
        let condition = match self.find(|t, _| t.dtype == DType::Bool && t.dims == dims) {
            Some(condition) => condition,
            None => {
                let x = self.find(|t, exact| exact && t.dims == dims)?;
                let y = self.partner(x, true)?;
                self.op(Op::Compare("lt"), &[x, y])?
            }
        };
        self.op(Op::Select, &[condition, a, b])
    }

    fn convert(&mut self) -> Option<usize> {
        let to = self.dtype();
        let discontinuous = !crate::graph::is_float(to);
        let mut x = self.value(|t, exact| t.dtype != to && (exact || !discontinuous))?;
        let from = self.graph.types[x].dtype;
        if crate::graph::is_float(from) && discontinuous && to != DType::Bool {
            // Only numbers that the integers have.
            let magnitude = self.op(Op::Unary("abs"), &[x])?;
            let bound = self.splat_like(x, from, 100.0)?;
            let small = self.op(Op::Compare("lt"), &[magnitude, bound])?;
            let kept = if to == DType::U8 { magnitude } else { x };
            x = self.op(Op::Select, &[small, kept, bound])?;
        }
        self.op(Op::Convert(to), &[x])
    }

    fn create(&mut self) -> Option<usize> {
        let dtype = self.dtype();
        if self.rng.chance(50) && dtype != DType::Bool {
            let sizes = match self.find(|t, _| t.rank() > 0) {
                Some(x) => self.like(x),
                None => vec![Size::Fixed(self.rng.range(1, 9))],
            };
            let dim = self.rng.below(sizes.len()) as i64;
            return self.op(Op::Iota(dtype, sizes, dim), &[]);
        }
        let rank = self.rng.below(4);
        let shape: Vec<i64> = (0..rank).map(|_| self.rng.pick(&self.sizes)).collect();
        let seed = self.rng.bits();
        self.op(Op::Constant(dtype, shape, Const::Random(seed)), &[])
    }

    fn broadcast(&mut self) -> Option<usize> {
        let mut x = self.value(|t, _| t.rank() < 4)?;
        // To the shape of another value, where a reduction or a slice has lost dimensions.
        if self.rng.chance(60) {
            let rank = self.graph.types[x].rank();
            let goal = self.find(|t, _| t.rank() > rank)?;
            let (from, to) = (self.graph.types[x].dims.clone(), self.graph.types[goal].dims.clone());
            let (mut dims, mut next) = (Vec::new(), 0);
            for dim in &from {
                let fits = |d: &usize| to[*d] == *dim || dim.n == 1 && !dim.dynamic;
                let place = (next..to.len()).find(fits)?;
                dims.push(place as i64);
                next = place + 1;
            }
            let sizes = self.like(goal);
            return self.op(Op::Broadcast { dims, sizes }, &[x]);
        }
        if self.rng.chance(30) {
            let mut sizes = self.like(x);
            sizes.insert(0, Size::Fixed(1));
            x = self.op(Op::Reshape(sizes), &[x])?;
        }
        let rank = self.graph.types[x].rank();
        let total = rank + self.rng.below(3);
        let mut dims: Vec<i64> = (0..total as i64).collect();
        if self.rng.chance(30) {
            self.rng.shuffle(&mut dims);
        } else {
            let extra = total - rank;
            for _ in 0..extra {
                let at = self.rng.below(dims.len());
                let dim = dims.remove(at);
                dims.push(dim);
            }
        }
        let mut sizes: Vec<_> = (0..total).map(|_| Size::Fixed(self.rng.pick(&self.sizes))).collect();
        for d in 0..rank {
            let dim = self.graph.types[x].dims[d];
            if dim.n != 1 || dim.dynamic {
                sizes[dims[d] as usize] = self.keep(x, d);
            }
        }
        dims.truncate(rank);
        self.op(Op::Broadcast { dims, sizes }, &[x])
    }

    fn reshape(&mut self) -> Option<usize> {
        let x = self.value(|_, _| true)?;
        let ty = self.graph.types[x].clone();
        let mut sizes = self.like(x);
        match self.rng.below(4) {
            // A new dimension of one.
            0 => {
                let at = self.rng.below(sizes.len() + 1);
                sizes.insert(at, Size::Fixed(1));
            }
            // One fewer of one.
            1 => {
                let at = (0..ty.rank()).find(|&d| ty.dims[d].n == 1 && !ty.dims[d].dynamic)?;
                sizes.remove(at);
            }
            // Two become one.
            2 if ty.rank() >= 2 => {
                let at = self.rng.below(ty.rank() - 1);
                sizes.remove(at + 1);
                let (a, b) = (ty.dims[at], ty.dims[at + 1]);
                sizes[at] = if a.dynamic || b.dynamic { Size::Product(x, at, at + 1) } else { Size::Fixed(a.n * b.n) };
            }
            // One becomes two.
            _ => {
                let splits: Vec<(usize, i64)> = (0..ty.rank())
                    .flat_map(|d| (2..ty.dims[d].n).map(move |k| (d, k)))
                    .filter(|&(d, k)| !ty.dims[d].dynamic && ty.dims[d].n % k == 0)
                    .collect();
                if splits.is_empty() {
                    return None;
                }
                let (d, k) = self.rng.pick(&splits);
                sizes[d] = Size::Fixed(k);
                sizes.insert(d + 1, Size::Fixed(ty.dims[d].n / k));
            }
        }
        self.op(Op::Reshape(sizes), &[x])
    }

    fn some_dims(&mut self, rank: usize) -> Vec<i64> {
        let mut dims: Vec<i64> = (0..rank as i64).filter(|_| self.rng.chance(50)).collect();
        if dims.is_empty() {
            dims.push(self.rng.below(rank) as i64);
        }
        dims
    }

    fn view(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0)?;
        let (ty, rank) = (self.graph.types[x].clone(), self.graph.types[x].rank());
        match self.rng.below(6) {
            0 => {
                let mut perm: Vec<i64> = (0..rank as i64).collect();
                self.rng.shuffle(&mut perm);
                self.op(Op::Transpose(perm), &[x])
            }
            1 => {
                let (mut offsets, mut sizes, mut strides) = (vec![0; rank], self.like(x), vec![1; rank]);
                for d in self.some_dims(rank) {
                    let d = d as usize;
                    let n = ty.dims[d].n;
                    let (offset, stride) = (self.rng.range(0, n), self.rng.pick(&[1, 1, 2, 3]));
                    let most = (n - offset + stride - 1) / stride;
                    offsets[d] = offset;
                    strides[d] = stride;
                    sizes[d] = Size::Fixed(self.rng.range((most / 2).min(most), most));
                }
                self.op(Op::Slice { offsets, sizes, strides }, &[x])
            }
            2 => {
                let dims = self.some_dims(rank);
                self.op(Op::Reverse(dims), &[x])
            }
            3 => {
                let value = match self.find(|t, _| t.rank() == 0 && t.dtype == ty.dtype) {
                    Some(value) if self.rng.chance(60) => value,
                    _ => self.op(Op::Constant(ty.dtype, Vec::new(), Const::All(self.rng.clone().below(3) as f64)), &[])?,
                };
                let (mut low, mut high, mut interior) = (vec![0; rank], vec![0; rank], vec![0; rank]);
                for d in self.some_dims(rank) {
                    let d = d as usize;
                    (low[d], high[d], interior[d]) = (self.rng.range(-2, 3), self.rng.range(-2, 3), self.rng.pick(&[0, 0, 0, 1, 2]));
                }
                self.op(Op::Pad { low, high, interior }, &[x, value])
            }
            4 => {
                let dim = self.rng.below(rank);
                let rest = |t: &Ty| t.dims.iter().enumerate().filter(|(d, _)| *d != dim).map(|(_, dim)| *dim).collect::<Vec<_>>();
                let wanted = rest(&ty);
                let mut parts = vec![x];
                for _ in 0..self.rng.range(0, 3) {
                    parts.push(self.find(|t, _| t.dtype == ty.dtype && t.rank() == rank && rest(t) == wanted)?);
                }
                self.rng.shuffle(&mut parts);
                self.op(Op::Concat(dim as i64), &parts)
            }
            _ => {
                let k = self.rng.range(1, rank.min(2) as i64) as usize;
                let list = |rng: &mut Rng, most: i64| (0..k).map(|_| rng.range(1, most)).collect::<Vec<_>>();
                let (sizes, strides, dilations) = (list(&mut self.rng, 3), list(&mut self.rng, 2), list(&mut self.rng, 2));
                self.op(Op::Window { sizes, strides, dilations }, &[x])
            }
        }
    }

    fn kind(&mut self, dtype: DType) -> &'static str {
        match dtype {
            DType::Bool => self.rng.pick(&["and", "or", "max", "min"]),
            _ if crate::graph::is_float(dtype) => self.rng.pick(&["sum", "sum", "sum", "prod", "max", "min"]),
            _ => self.rng.pick(&["sum", "prod", "max", "min", "and", "or"]),
        }
    }

    fn reduction(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0)?;
        let ty = self.graph.types[x].clone();
        let kind = self.kind(ty.dtype);
        let dim = self.rng.below(ty.rank()) as i64;
        match self.rng.below(6) {
            0 => self.op(Op::Scan { dim, kind }, &[x]),
            1 if self.exact[x] && ty.dtype != DType::Bool => {
                let kind = self.rng.pick(&["max", "min"]);
                self.op(Op::ArgReduce { dim, kind }, &[x])
            }
            _ => {
                let dims = self.some_dims(ty.rank());
                self.op(Op::Reduce { dims, kind }, &[x])
            }
        }
    }

    fn dot(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.dtype != DType::Bool && t.rank() > 0)?;
        let ty = self.graph.types[x].clone();
        let y = match self.find(|t, _| t.dtype == ty.dtype && t.rank() > 0) {
            Some(y) if self.rng.chance(50) => y,
            _ => {
                let rank = self.rng.range(1, 3) as usize;
                self.argument_of(ty.dtype, rank)
            }
        };
        let other = self.graph.types[y].clone();
        let (mut left, mut right): (Vec<usize>, Vec<usize>) = ((0..ty.rank()).collect(), (0..other.rank()).collect());
        self.rng.shuffle(&mut left);
        self.rng.shuffle(&mut right);
        let (mut lhs_batch, mut rhs_batch, mut lhs_contract, mut rhs_contract) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for l in left {
            let Some(place) = right.iter().position(|&r| other.dims[r] == ty.dims[l]) else { continue };
            match self.rng.below(5) {
                0 | 1 => {
                    lhs_contract.push(l as i64);
                    rhs_contract.push(right.remove(place) as i64);
                }
                2 => {
                    lhs_batch.push(l as i64);
                    rhs_batch.push(right.remove(place) as i64);
                }
                _ => {}
            }
        }
        self.op(Op::Dot { lhs_batch, rhs_batch, lhs_contract, rhs_contract }, &[x, y])
    }

    fn conv(&mut self) -> Option<usize> {
        let x = match self.find(|t, _| t.dtype != DType::Bool && (3..=4).contains(&t.rank()) && t.elements() > 0) {
            Some(x) => x,
            None => {
                let dtype = self.rng.pick(&[DType::F32, DType::F64, DType::F16, DType::I32]);
                let rank = self.rng.range(3, 4) as usize;
                self.argument_of(dtype, rank)
            }
        };
        let ty = self.graph.types[x].clone();
        let space = ty.rank().checked_sub(2)?;
        let channels = ty.dims[1].n.max(1);
        let divisors: Vec<i64> = (1..=channels).filter(|g| channels % g == 0).collect();
        let groups = if self.rng.chance(60) { 1 } else { self.rng.pick(&divisors) };
        let mut shape = vec![groups * self.rng.range(1, 3), channels / groups];
        shape.extend((0..space).map(|_| self.rng.range(1, 3)));
        let w = self.fixed(ty.dtype, &shape, Fill::Plain);
        let list = |rng: &mut Rng, low: i64, high: i64| (0..space).map(|_| rng.range(low, high)).collect::<Vec<_>>();
        let rng = &mut self.rng;
        let spread = if rng.chance(25) { 2 } else { 1 };
        let crop = if rng.chance(15) { -1 } else { 0 };
        let conv = Op::Conv {
            strides: list(rng, 1, 2),
            low: list(rng, crop, 2),
            high: list(rng, crop, 2),
            lhs_dilation: list(rng, 1, spread),
            rhs_dilation: list(rng, 1, 2),
            groups,
        };
        self.op(conv, &[x, w])
    }

    /// Indices below n: a new argument, or numbers of the program made to fit.
    fn index(&mut self, n: i64, like: Option<usize>) -> Option<usize> {
        let dtype = self.rng.pick(&[DType::I64, DType::I64, DType::I32]);
        if let Some(like) = like {
            let Ty { dims, .. } = self.graph.types[like].clone();
            let dtype = self.graph.types[like].dtype;
            return Some(self.fixed(dtype, &dims.iter().map(|dim| dim.n).collect::<Vec<_>>(), Fill::Below(n)));
        }
        if self.rng.chance(30) {
            let x = self.find(|t, _| t.dtype == DType::I64 && t.rank() <= 2)?;
            let (zero, last) = (self.splat_like(x, DType::I64, 0.0)?, self.splat_like(x, DType::I64, (n - 1) as f64)?);
            let low = self.op(Op::Binary("maximum"), &[x, zero])?;
            return self.op(Op::Binary("minimum"), &[low, last]);
        }
        let rank = self.rng.below(3);
        let shape: Vec<i64> = (0..rank).map(|_| self.rng.pick(&self.sizes)).collect();
        Some(self.fixed(dtype, &shape, Fill::Below(n)))
    }

    /// Dimensions of x, and indices into them.
    fn indices(&mut self, x: usize) -> Option<(Vec<i64>, Vec<usize>)> {
        let ty = self.graph.types[x].clone();
        let mut dims: Vec<i64> = (0..ty.rank() as i64).collect();
        self.rng.shuffle(&mut dims);
        dims.truncate(if self.rng.chance(70) { 1 } else { 2 });
        let mut indices: Vec<usize> = Vec::new();
        for d in &dims {
            let n = ty.dims[*d as usize].n;
            let like = indices.first().copied();
            if like.is_some_and(|v| self.graph.types[v].is_dynamic()) {
                return None;
            }
            indices.push(self.index(n, like)?);
        }
        Some((dims, indices))
    }

    fn gather(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0 && t.elements() > 0)?;
        let (dims, mut inputs) = self.indices(x)?;
        inputs.insert(0, x);
        self.op(Op::Gather(dims), &inputs)
    }

    fn scatter(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0 && t.elements() > 0)?;
        let (dims, indices) = self.indices(x)?;
        let ty = self.graph.types[x].clone();
        let rest: Vec<Size> = (0..ty.rank()).filter(|d| !dims.contains(&(*d as i64))).map(|d| self.keep(x, d)).collect();
        let sizes: Vec<Size> = self.like(indices[0]).into_iter().chain(rest).collect();
        let wanted: Option<Vec<Dim>> = sizes.iter().map(|size| self.graph.resolve(size)).collect();
        let wanted = wanted?;
        let updates = match self.find(|t, _| t.dtype == ty.dtype && t.dims == wanted) {
            Some(updates) => updates,
            None if wanted.iter().all(|dim| !dim.dynamic) && self.rng.chance(60) => {
                let shape: Vec<i64> = wanted.iter().map(|dim| dim.n).collect();
                self.fixed(ty.dtype, &shape, Fill::Numbers)
            }
            // The parts of x itself, in other places.
            None => {
                let number = self.find(|t, _| t.dtype == ty.dtype && t.rank() == 0)?;
                self.op(Op::Broadcast { dims: Vec::new(), sizes }, &[number])?
            }
        };
        let kind = match ty.dtype {
            DType::Bool => "set",
            _ => self.rng.pick(&["set", "add", "add", "mul", "max", "min"]),
        };
        let inputs = [&[x, updates], &indices[..]].concat();
        self.op(Op::Scatter(dims, kind), &inputs)
    }

    /// Sorting, and boxes at computed places.
    fn other(&mut self) -> Option<usize> {
        let x = self.value(|t, exact| t.rank() > 0 && exact)?;
        let ty = self.graph.types[x].clone();
        if self.rng.chance(50) {
            let (dim, descending, positions) = (self.rng.below(ty.rank()) as i64, self.rng.chance(50), self.rng.chance(50));
            return self.op(Op::Sort { dim, descending, positions }, &[x]);
        }
        let sizes: Vec<i64> = ty.dims.iter().map(|dim| self.rng.range((dim.n - 3).max(0), dim.n)).collect();
        let offsets: Vec<usize> =
            ty.dims.iter().zip(&sizes).map(|(dim, n)| self.fixed(DType::I64, &[], Fill::Below(dim.n - n + 1))).collect();
        if self.rng.chance(50) {
            return self.op(Op::DynamicSlice(sizes), &[&[x], &offsets[..]].concat());
        }
        let update = self.fixed(ty.dtype, &sizes, Fill::Numbers);
        self.op(Op::DynamicUpdate, &[&[x, update], &offsets[..]].concat())
    }
}
