//! Programs at the level `prim`, as data that can be changed and typed again.

use strata_runtime::DType;

/// A dimension: its size in this call, and whether its type says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dim {
    pub n: i64,
    pub dynamic: bool,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Ty {
    pub dtype: DType,
    pub dims: Vec<Dim>,
}

/// A size of a result that the operands do not give.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    Fixed(i64),
    /// That of a value's dimension.
    Like(usize, usize),
    /// The product of two dimensions of a value.
    Product(usize, usize, usize),
}

/// What an argument holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    Numbers,
    /// Ordinary numbers: what a zero of padding times infinity is, is nobody's promise.
    Plain,
    /// Integers from 0 to below this.
    Below(i64),
}

/// What a constant holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Const {
    All(f64),
    Random(u64),
}

type List = Vec<i64>;

/// An operator with its attributes.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Unary(&'static str),
    Binary(&'static str),
    Compare(&'static str),
    IsNan,
    Select,
    Convert(DType),
    Constant(DType, List, Const),
    Iota(DType, Vec<Size>, i64),
    Broadcast { dims: List, sizes: Vec<Size> },
    Reshape(Vec<Size>),
    Transpose(List),
    Slice { offsets: List, sizes: Vec<Size>, strides: List },
    Reverse(List),
    Pad { low: List, high: List, interior: List },
    Concat(i64),
    Window { sizes: List, strides: List, dilations: List },
    Reduce { dims: List, kind: &'static str },
    ArgReduce { dim: i64, kind: &'static str },
    Scan { dim: i64, kind: &'static str },
    SegmentReduce { kind: &'static str },
    Dot { lhs_batch: List, rhs_batch: List, lhs_contract: List, rhs_contract: List },
    Conv { strides: List, low: List, high: List, lhs_dilation: List, rhs_dilation: List, groups: i64 },
    Gather(List),
    Scatter(List, &'static str),
    DynamicSlice(List),
    DynamicUpdate,
    Sort { dim: i64, descending: bool, positions: bool },
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Def {
    /// An argument; each dynamic dimension has a symbol.
    Arg(Ty, Vec<Option<usize>>, Fill),
    Op(Op, Vec<usize>),
}

/// A program: values in order, and those that are its results.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub defs: Vec<Def>,
    pub types: Vec<Ty>,
    pub outputs: Vec<usize>,
    /// No product and sum share a rounding.
    pub strict: bool,
    /// Inputs have NaN, infinities, very large and very small values among them.
    pub special: bool,
    /// Optimisations that the second compilation leaves out.
    pub skip: Vec<String>,
}

impl Ty {
    pub fn fixed(dtype: DType, shape: &[i64]) -> Ty {
        Ty { dtype, dims: shape.iter().map(|&n| Dim { n, dynamic: false }).collect() }
    }

    pub fn shape(&self) -> Vec<i64> {
        self.dims.iter().map(|dim| dim.n).collect()
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    pub fn elements(&self) -> i64 {
        self.dims.iter().map(|dim| dim.n).product()
    }

    pub fn is_dynamic(&self) -> bool {
        self.dims.iter().any(|dim| dim.dynamic)
    }

    pub fn is_float(&self) -> bool {
        is_float(self.dtype)
    }
}

/// Whether this is a type of floats.
pub fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
}

impl Graph {
    /// Adds a value when it can be typed, and is not too large.
    pub fn push(&mut self, def: Def) -> Option<usize> {
        let ty = self.infer(&def)?;
        let fits = ty.dims.iter().all(|dim| (0..=300).contains(&dim.n)) && ty.elements() <= 6000 && ty.rank() <= 6;
        fits.then(|| {
            self.defs.push(def);
            self.types.push(ty);
            self.defs.len() - 1
        })
    }

    /// Types all values again after a change; false when the program makes no sense any more.
    pub fn retype(&mut self) -> bool {
        let defs = std::mem::take(&mut self.defs);
        self.types.clear();
        defs.into_iter().all(|def| self.push(def).is_some())
    }

    /// Values that a value is made of.
    pub fn uses(&self, value: usize) -> Vec<usize> {
        let Def::Op(op, inputs) = &self.defs[value] else { return Vec::new() };
        let sizes: &[Size] = match op {
            Op::Iota(_, sizes, _) | Op::Broadcast { sizes, .. } | Op::Reshape(sizes) | Op::Slice { sizes, .. } => sizes,
            _ => &[],
        };
        let of_sizes = sizes.iter().filter_map(|size| match size {
            Size::Like(v, _) | Size::Product(v, ..) if self.resolve(size)?.dynamic => Some(*v),
            _ => None,
        });
        inputs.iter().copied().chain(of_sizes).collect()
    }

    /// Which values the results need.
    pub fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.defs.len()];
        self.outputs.iter().for_each(|&value| live[value] = true);
        for value in (0..live.len()).rev() {
            if live[value] {
                self.uses(value).into_iter().for_each(|used| live[used] = true);
            }
        }
        live
    }

    /// Whether elements are read at indices for a value that is only asked for its size: compiled code does not read them then.
    pub fn reads_for_sizes(&self) -> bool {
        let (live, mut computed) = (self.live(), vec![false; self.defs.len()]);
        self.outputs.iter().for_each(|&value| computed[value] = true);
        for value in (0..computed.len()).rev() {
            if let (true, Def::Op(_, inputs)) = (computed[value], &self.defs[value]) {
                inputs.iter().for_each(|&input| computed[input] = true);
            }
        }
        let indexed = |def: &Def| matches!(def, Def::Op(Op::Gather(..) | Op::Scatter(..), _));
        (0..live.len()).any(|value| live[value] && !computed[value] && indexed(&self.defs[value]))
    }

    /// Whether it is left open where partial results overflow, and so what is infinite and what is NaN: products of many numbers
    /// are taken in any order, and sums of very large ones may be factored.
    pub fn overflow_is_open(&self) -> bool {
        let live = self.live();
        let defs = self.defs.iter().zip(&self.types).zip(live).filter(|((_, ty), live)| *live && ty.is_float());
        defs.into_iter().any(|((def, _), _)| match def {
            Def::Op(Op::Reduce { kind, .. } | Op::Scan { kind, .. } | Op::SegmentReduce { kind } | Op::Scatter(_, kind), _) => {
                match *kind {
                    "prod" | "mul" => true,
                    "sum" | "add" => self.special && !self.strict,
                    _ => false,
                }
            }
            Def::Op(Op::Dot { .. } | Op::Conv { .. }, _) => self.special && !self.strict,
            _ => false,
        })
    }

    /// Whether compiled code has to give exactly the interpreter's bits, for each value.
    pub fn exact(&self) -> Vec<bool> {
        let mut exact = Vec::new();
        for (def, ty) in self.defs.iter().zip(&self.types) {
            let is = match def {
                Def::Arg(..) => true,
                Def::Op(op, inputs) => {
                    inputs.iter().all(|&input| exact[input])
                        && match op {
                            _ if !ty.is_float() => true,
                            Op::Unary(name) => matches!(*name, "neg" | "abs" | "sign" | "floor" | "ceil" | "round" | "trunc"),
                            Op::Binary(name) => {
                                matches!(*name, "maximum" | "minimum" | "nextafter")
                                    || self.strict && matches!(*name, "add" | "sub" | "mul" | "div")
                            }
                            Op::Reduce { kind, .. } | Op::Scan { kind, .. } | Op::SegmentReduce { kind } => matches!(*kind, "max" | "min"),
                            Op::Scatter(_, kind) => matches!(*kind, "max" | "min" | "set"),
                            Op::Dot { .. } | Op::Conv { .. } => false,
                            Op::Convert(to) => *to == DType::F64 || is_float(self.types[inputs[0]].dtype),
                            _ => true,
                        }
                }
            };
            exact.push(is);
        }
        exact
    }
}
