//! A program as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use strata_runtime::DType;

use crate::graph::{Const, Def, Dim, Fill, Graph, Op, Size, Ty};
use crate::rng::Rng;

/// How a program is written.
#[derive(Clone, Copy, Default)]
pub struct Style {
    /// Multiplies every rounded value by numbers close to 1, which this seed gives. All sizes become fixed ones.
    pub noise: Option<u64>,
    /// Nothing is said of the sizes of arguments: every `?` may be another one.
    pub loose: bool,
}

/// MLIR's name of an element type.
pub fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "f64",
        DType::F32 => "f32",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::I64 => "i64",
        DType::I32 => "i32",
        DType::I16 => "i16",
        DType::I8 => "i8",
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 => "ui64",
        DType::Bool => "i1",
        DType::C64 => "complex<f32>",
        DType::C128 => "complex<f64>",
        DType::F8E4M3FN => "f8E4M3FN",
        DType::F8E5M2 => "f8E5M2",
    }
}

fn list(values: &[i64]) -> String {
    if values.is_empty() {
        return "array<i64>".into();
    }
    format!("array<i64: {}>", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
}

/// A dense literal; `value` gives the element of a position.
fn dense(dtype: DType, shape: &[i64], value: &mut dyn FnMut() -> f64) -> String {
    fn nested(shape: &[i64], one: &mut dyn FnMut() -> String) -> String {
        match shape.split_first() {
            None => one(),
            Some((&n, rest)) => format!("[{}]", (0..n).map(|_| nested(rest, one)).collect::<Vec<_>>().join(", ")),
        }
    }
    if shape.contains(&0) {
        return "dense<>".into();
    }
    let mut one = || match dtype {
        DType::Bool => (value() != 0.0).to_string(),
        _ if crate::graph::is_float(dtype) => format!("{:.17e}", value()),
        _ => format!("{}", value() as i64),
    };
    format!("dense<{}>", nested(shape, &mut one))
}

/// The relative error that noise makes.
fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 2f64.powi(-51),
        DType::F32 => 2f64.powi(-22),
        DType::F16 => 2f64.powi(-10),
        _ => 2f64.powi(-7),
    }
}

struct Writer<'g> {
    graph: &'g Graph,
    style: Style,
    text: String,
    temporaries: usize,
    /// Values that go by another name for now.
    renamed: BTreeMap<usize, String>,
}

/// The program as a module; its arguments are those that the results need.
pub fn emit(graph: &Graph, style: Style) -> String {
    let mut writer = Writer { graph, style, text: String::new(), temporaries: 0, renamed: BTreeMap::new() };
    writer.module();
    writer.text
}

impl Writer<'_> {
    fn ty(&self, ty: &Ty) -> String {
        let mut text = "tensor<".to_owned();
        for dim in &ty.dims {
            let _ = match self.dynamic(*dim) {
                true => write!(text, "?x"),
                false => write!(text, "{}x", dim.n),
            };
        }
        text + element(ty.dtype) + ">"
    }

    fn dynamic(&self, dim: Dim) -> bool {
        dim.dynamic && self.style.noise.is_none()
    }

    fn type_of(&self, value: usize) -> String {
        self.ty(&self.graph.types[value])
    }

    /// Half of the tensors of the call lie in another order than row-major.
    fn dim_order(&self, value: usize) -> String {
        let (rank, draw) = (self.graph.types[value].dims.len(), value + self.graph.types.len());
        if rank < 2 || draw.is_multiple_of(2) {
            return String::new();
        }
        let mut dims: Vec<_> = (0..rank).collect();
        dims.rotate_left(1 + draw / 2 % (rank - 1));
        if draw.is_multiple_of(3) {
            dims.swap(0, rank - 1);
        }
        let dims: Vec<_> = dims.iter().map(usize::to_string).collect();
        format!(", capture.dim_order = array<i64: {}>", dims.join(", "))
    }

    fn line(&mut self, text: &str) {
        self.text += "  ";
        self.text += text;
        self.text += "\n";
    }

    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("%t{}", self.temporaries)
    }

    fn module(&mut self) {
        let graph = self.graph;
        let live = graph.live();
        let args = (0..live.len()).filter(|&v| live[v] && matches!(graph.defs[v], Def::Arg(..)));
        let args: Vec<_> = args.collect();
        let argument =
            |&v: &usize| format!("%v{v}: {} {{capture.kind = \"input\", capture.name = \"v{v}\"{}}}", self.type_of(v), self.dim_order(v));
        let declared: Vec<_> = args.iter().map(argument).collect();
        let result = |&v: &usize| format!("{} {{capture.kind = \"output\"{}}}", self.type_of(v), self.dim_order(v));
        let results: Vec<_> = graph.outputs.iter().map(result).collect();
        self.text =
            format!("func.func @main({})\n    -> ({}) attributes {{capture.entry}} {{\n", declared.join(",\n    "), results.join(", "));
        self.symbols(&args);
        let exact = graph.exact();
        for value in (0..live.len()).filter(|&v| live[v]) {
            if let Def::Op(op, inputs) = &graph.defs[value] {
                let noisy = self.style.noise.filter(|_| !exact[value] && graph.types[value].is_float() && computes(op));
                match noisy {
                    None => self.op(value, &format!("%v{value}"), op, inputs),
                    Some(seed) => self.noisy(value, op, inputs, seed),
                }
            }
        }
        let names: Vec<_> = graph.outputs.iter().map(|v| format!("%v{v}")).collect();
        let types: Vec<_> = graph.outputs.iter().map(|&v| self.type_of(v)).collect();
        self.line(&format!("return {} : {}", names.join(", "), types.join(", ")));
        self.text += "}\n";
    }

    fn symbols(&mut self, args: &[usize]) {
        let mut known: Vec<usize> = Vec::new();
        for &value in args {
            let Def::Arg(ty, symbols, _) = &self.graph.defs[value] else { continue };
            if self.style.noise.is_some() || self.style.loose || !ty.is_dynamic() {
                continue;
            }
            let mut bound = false;
            for (d, symbol) in symbols.iter().enumerate() {
                let Some(symbol) = symbol else { continue };
                if known.contains(symbol) {
                    bound = true;
                    continue;
                }
                known.push(*symbol);
                let ty = self.type_of(value);
                self.line(&format!(
                    "%s{symbol} = capture.dim %v{value} {{dim = {d} : i64, symbol = \"s{symbol}\", min = 0 : i64, max = 9223372036854775807 : i64}} : ({ty}) -> index"
                ));
            }
            if bound {
                let mut mine: Vec<_> = symbols.iter().flatten().copied().collect();
                mine.sort_unstable();
                mine.dedup();
                let place = |s: &usize| mine.iter().position(|m| m == s).unwrap_or_default();
                let sizes = ty.dims.iter().zip(symbols).map(|(dim, symbol)| match symbol {
                    Some(symbol) => format!("s{}", place(symbol)),
                    None => dim.n.to_string(),
                });
                let sizes = sizes.collect::<Vec<_>>().join(", ");
                let parameters = (0..mine.len()).map(|k| format!("s{k}")).collect::<Vec<_>>().join(", ");
                let operands = mine.iter().map(|s| format!(", %s{s}")).collect::<String>();
                let types = ", index".repeat(mine.len());
                let ty = self.type_of(value);
                self.line(&format!(
                    "capture.bind_dims %v{value}{operands} {{shape = affine_map<()[{parameters}] -> ({sizes})>}} : ({ty}{types}) -> ()"
                ));
            }
        }
    }

    fn noisy(&mut self, value: usize, op: &Op, inputs: &[usize], seed: u64) {
        if accumulates(op) {
            // Terms are off, too: their sum may be much smaller than they are.
            for (k, &input) in inputs.iter().enumerate().filter(|(_, input)| self.graph.types[**input].is_float()) {
                let name = format!("%v{value}_{k}");
                self.multiplied(
                    &name,
                    &format!("%v{input}"),
                    &self.graph.types[input].clone(),
                    &mut Rng::new(seed, (value * 16 + k + 100_000) as u64),
                );
                self.renamed.insert(input, name);
            }
        }
        let raw = format!("%raw{value}");
        self.op(value, &raw, op, inputs);
        self.renamed.clear();
        self.multiplied(&format!("%v{value}"), &raw, &self.graph.types[value].clone(), &mut Rng::new(seed, value as u64));
    }

    /// A value times numbers close to 1, of which none is 1: an element that no noise moved would not be excused for its last bit.
    fn multiplied(&mut self, result: &str, x: &str, ty: &Ty, rng: &mut Rng) {
        let (text, epsilon) = (self.ty(ty), epsilon(ty.dtype));
        let factors = dense(ty.dtype, &ty.shape(), &mut || rng.pick(&[1.0 - epsilon, 1.0 + epsilon]));
        self.line(&format!("{result}_noise = prim.constant {{value = {factors} : {text}}} : () -> {text}"));
        self.line(&format!("{result} = prim.mul {x}, {result}_noise : ({text}, {text}) -> {text}"));
    }

    /// The `index` operands for the dynamic ones of these sizes.
    fn indices(&mut self, sizes: &[Size]) -> Vec<String> {
        let mut names = Vec::new();
        for size in sizes {
            if !self.graph.resolve(size).is_some_and(|dim| self.dynamic(dim)) {
                continue;
            }
            let mut dim = |value: usize, dim: usize| {
                let (name, ty) = (self.temporary(), self.type_of(value));
                self.line(&format!("{name} = prim.dim %v{value} {{dim = {dim} : i64}} : ({ty}) -> index"));
                name
            };
            match size {
                Size::Fixed(_) => {}
                Size::Like(value, d) => names.push(dim(*value, *d)),
                Size::Product(value, a, b) => {
                    let (a, b) = (dim(*value, *a), dim(*value, *b));
                    let name = self.temporary();
                    self.line(&format!("{name} = arith.muli {a}, {b} : index"));
                    names.push(name);
                }
            }
        }
        names
    }

    /// 0-d tensors as `index` values.
    fn offsets(&mut self, inputs: &[usize]) -> Vec<String> {
        let mut names = Vec::new();
        for &input in inputs {
            let (item, name) = (self.temporary(), self.temporary());
            let ty = element(self.graph.types[input].dtype);
            self.line(&format!("{item} = prim.item %v{input} : (tensor<{ty}>) -> {ty}"));
            self.line(&format!("{name} = arith.index_cast {item} : {ty} to index"));
            names.push(name);
        }
        names
    }

    fn op(&mut self, value: usize, result: &str, op: &Op, inputs: &[usize]) {
        let ty = self.graph.types[value].clone();
        let (mut tensors, mut indices) = (inputs, Vec::new());
        let (name, attrs) = match op {
            Op::Unary(name) | Op::Binary(name) | Op::Compare(name) => ((*name).to_owned(), String::new()),
            Op::IsNan => ("is_nan".into(), String::new()),
            Op::Select => ("select".into(), String::new()),
            Op::Convert(_) => ("convert".into(), String::new()),
            Op::Constant(dtype, shape, kind) => {
                let literal = match kind {
                    Const::All(value) => dense(*dtype, &[], &mut || *value),
                    Const::Random(seed) => {
                        let mut rng = Rng::new(*seed, 7);
                        dense(*dtype, shape, &mut || {
                            rng.range(if *dtype == DType::U8 { 0 } else { -8 }, 8) as f64
                                / if crate::graph::is_float(*dtype) { 4.0 } else { 1.0 }
                        })
                    }
                };
                let ty = self.ty(&ty);
                let literal = if shape.contains(&0) { "dense<>".into() } else { literal };
                ("constant".into(), format!("value = {literal} : {ty}"))
            }
            Op::Iota(_, sizes, dim) => {
                indices = self.indices(sizes);
                ("iota".into(), format!("dim = {dim} : i64"))
            }
            Op::Broadcast { dims, sizes } => {
                indices = self.indices(sizes);
                ("broadcast".into(), format!("dims = {}", list(dims)))
            }
            Op::Reshape(sizes) => {
                indices = self.indices(sizes);
                ("reshape".into(), String::new())
            }
            Op::Transpose(perm) => ("transpose".into(), format!("perm = {}", list(perm))),
            Op::Reverse(dims) => ("reverse".into(), format!("dims = {}", list(dims))),
            Op::Slice { offsets, sizes, strides } => {
                indices = self.indices(sizes);
                let given = sizes.iter().filter_map(|size| self.graph.resolve(size));
                let given: Vec<_> = given.map(|dim| if self.dynamic(dim) { i64::MIN } else { dim.n }).collect();
                ("slice".into(), format!("offsets = {}, sizes = {}, strides = {}", list(offsets), list(&given), list(strides)))
            }
            Op::Pad { low, high, interior } => {
                ("pad".into(), format!("low = {}, high = {}, interior = {}", list(low), list(high), list(interior)))
            }
            Op::Concat(dim) => ("concat".into(), format!("dim = {dim} : i64")),
            Op::Window { sizes, strides, dilations } => {
                ("sliding_window".into(), format!("sizes = {}, strides = {}, dilations = {}", list(sizes), list(strides), list(dilations)))
            }
            Op::Reduce { dims, kind } => ("reduce".into(), format!("dims = {}, kind = \"{kind}\"", list(dims))),
            Op::ArgReduce { dim, kind } => ("arg_reduce".into(), format!("dim = {dim} : i64, kind = \"{kind}\"")),
            Op::Scan { dim, kind } => ("scan".into(), format!("dim = {dim} : i64, kind = \"{kind}\"")),
            Op::SegmentReduce { kind } => ("segment_reduce".into(), format!("kind = \"{kind}\"")),
            Op::Dot { lhs_batch, rhs_batch, lhs_contract, rhs_contract } => (
                "dot".into(),
                format!(
                    "lhs_batch = {}, rhs_batch = {}, lhs_contract = {}, rhs_contract = {}",
                    list(lhs_batch),
                    list(rhs_batch),
                    list(lhs_contract),
                    list(rhs_contract)
                ),
            ),
            Op::Conv { strides, low, high, lhs_dilation, rhs_dilation, groups } => (
                "conv".into(),
                format!(
                    "strides = {}, low = {}, high = {}, lhs_dilation = {}, rhs_dilation = {}, groups = {groups} : i64",
                    list(strides),
                    list(low),
                    list(high),
                    list(lhs_dilation),
                    list(rhs_dilation)
                ),
            ),
            Op::Gather(dims) => ("gather".into(), format!("dims = {}", list(dims))),
            Op::Scatter(dims, kind) => ("scatter".into(), format!("dims = {}, kind = \"{kind}\"", list(dims))),
            Op::DynamicSlice(sizes) => {
                tensors = &inputs[..1];
                indices = self.offsets(&inputs[1..]);
                ("dynamic_slice".into(), format!("sizes = {}", list(sizes)))
            }
            Op::DynamicUpdate => {
                tensors = &inputs[..2];
                indices = self.offsets(&inputs[2..]);
                ("dynamic_update".into(), String::new())
            }
            Op::Sort { dim, descending, positions } => {
                let x = inputs[0];
                let (operand, all) = (self.type_of(x), Ty { dtype: DType::I64, ..self.graph.types[x].clone() });
                let (other, places) = (self.temporary(), self.ty(&all));
                let names = if *positions { format!("{other}, {result}") } else { format!("{result}, {other}") };
                self.line(&format!(
                    "{names} = prim.sort %v{x} {{dim = {dim} : i64, descending = {descending}}} : ({operand}) -> ({operand}, {places})"
                ));
                return;
            }
        };
        let operands: Vec<_> = tensors
            .iter()
            .map(|v| self.renamed.get(v).cloned().unwrap_or_else(|| format!("%v{v}")))
            .chain(indices.iter().cloned())
            .collect();
        let types: Vec<_> = tensors.iter().map(|&v| self.type_of(v)).chain(indices.iter().map(|_| "index".into())).collect();
        let attrs = if attrs.is_empty() { attrs } else { format!(" {{{attrs}}}") };
        let ty = self.ty(&ty);
        self.line(&format!("{result} = prim.{name} {}{attrs} : ({}) -> {ty}", operands.join(", "), types.join(", ")));
    }
}

/// Whether an op adds or multiplies many terms, as the series of the gamma functions do in the operand's own type.
fn accumulates(op: &Op) -> bool {
    match op {
        Op::Reduce { kind, .. } | Op::Scan { kind, .. } | Op::SegmentReduce { kind } | Op::Scatter(_, kind) => {
            matches!(*kind, "sum" | "prod" | "add" | "mul")
        }
        Op::Dot { .. } | Op::Conv { .. } | Op::Binary("add" | "sub") | Op::Unary("digamma" | "lgamma") => true,
        _ => false,
    }
}

/// Whether an op makes new numbers, instead of moving those that are there.
fn computes(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Convert(_)
            | Op::Reduce { .. }
            | Op::Scan { .. }
            | Op::SegmentReduce { .. }
            | Op::Dot { .. }
            | Op::Conv { .. }
            | Op::Scatter(..)
    )
}

/// The types of the arguments that the text takes and of its results.
pub fn signature(graph: &Graph) -> (Vec<String>, Vec<String>) {
    let writer = Writer { graph, style: Style::default(), text: String::new(), temporaries: 0, renamed: BTreeMap::new() };
    let inputs = arguments(graph).into_iter().map(|(value, ..)| writer.type_of(value)).collect();
    (inputs, graph.outputs.iter().map(|&value| writer.type_of(value)).collect())
}

/// The arguments that the text takes, in order.
pub fn arguments(graph: &Graph) -> Vec<(usize, Ty, Fill)> {
    let live = graph.live();
    let all = graph.defs.iter().enumerate().filter(|(v, _)| live[*v]);
    all.filter_map(|(v, def)| match def {
        Def::Arg(ty, _, fill) => Some((v, ty.clone(), *fill)),
        Def::Op(..) => None,
    })
    .collect()
}
