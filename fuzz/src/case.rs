//! A case: the program of a seed, and what shrinking has changed about it. Its text is short enough for a report.

use std::fmt;
use std::str::FromStr;

use crate::generate::generate;
use crate::graph::{Const, Def, Fill, Graph, Op, Size, Ty};

/// One change of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edit {
    /// The k-th result is gone.
    Drop(usize),
    /// A value is an argument.
    Input(usize),
    /// A value is a constant of one number.
    One(usize),
    /// A value is its own k-th operand.
    Forward(usize, usize),
    /// A value is the only result.
    Only(usize),
    /// A size is another everywhere.
    Size(usize, usize),
    /// All sizes are known.
    Fixed,
    /// Inputs are ordinary numbers.
    Plain,
    /// The k-th pass that the second compilation leaves out is not left out.
    Keep(usize),
}

/// A seed with changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub seed: u64,
    pub edits: Vec<Edit>,
}

impl Case {
    /// The case with one more change.
    pub fn with(&self, edit: Edit) -> Case {
        let mut case = self.clone();
        case.edits.push(edit);
        case
    }

    /// The program; none when a change makes no sense.
    pub fn graph(&self) -> Option<Graph> {
        let mut graph = generate(self.seed);
        for edit in &self.edits {
            edit.apply(&mut graph)?;
        }
        Some(graph)
    }
}

impl Edit {
    fn apply(self, graph: &mut Graph) -> Option<()> {
        match self {
            Edit::Drop(k) => {
                (graph.outputs.len() > 1 && k < graph.outputs.len()).then_some(())?;
                graph.outputs.remove(k);
            }
            Edit::Only(value) => {
                graph.types.get(value)?;
                graph.outputs = vec![value];
            }
            Edit::Input(value) => {
                let ty = graph.types.get(value)?.clone();
                let weights = |def: &Def| matches!(def, Def::Op(Op::Conv { .. }, inputs) if inputs.contains(&value));
                let fill = if graph.defs.iter().any(weights) { Fill::Plain } else { Fill::Numbers };
                let symbols = ty.dims.iter().enumerate().map(|(d, dim)| dim.dynamic.then_some(1000 + value * 8 + d)).collect();
                graph.defs[value] = Def::Arg(ty, symbols, fill);
            }
            Edit::One(value) => {
                let ty = graph.types.get(value)?.clone();
                (!ty.is_dynamic()).then_some(())?;
                graph.defs[value] = Def::Op(Op::Constant(ty.dtype, ty.shape(), Const::All(1.0)), Vec::new());
            }
            Edit::Forward(value, k) => {
                let Def::Op(_, inputs) = graph.defs.get(value)? else { return None };
                let input = *inputs.get(k)?;
                (graph.types[input] == graph.types[value]).then_some(())?;
                let swap = |v: &mut usize| *v = if *v == value { input } else { *v };
                graph.outputs.iter_mut().for_each(swap);
                for def in &mut graph.defs {
                    if let Def::Op(op, inputs) = def {
                        inputs.iter_mut().for_each(swap);
                        op.sizes().iter_mut().for_each(|size| match size {
                            Size::Like(v, _) | Size::Product(v, ..) => swap(v),
                            Size::Fixed(_) => {}
                        });
                    }
                }
            }
            Edit::Size(from, to) => {
                let (from, to) = (from as i64, to as i64);
                let swap = |n: &mut i64| *n = if *n == from { to } else { *n };
                for def in &mut graph.defs {
                    match def {
                        Def::Arg(ty, ..) => ty.dims.iter_mut().for_each(|dim| swap(&mut dim.n)),
                        Def::Op(op, _) => {
                            if let Op::Constant(_, shape, _) | Op::DynamicSlice(shape) = op {
                                shape.iter_mut().for_each(swap);
                            }
                            op.sizes().iter_mut().for_each(|size| {
                                if let Size::Fixed(n) = size {
                                    swap(n);
                                }
                            });
                        }
                    }
                }
            }
            Edit::Fixed => {
                let types: Vec<Ty> = graph.types.clone();
                for def in &mut graph.defs {
                    match def {
                        Def::Arg(ty, symbols, _) => {
                            ty.dims.iter_mut().for_each(|dim| dim.dynamic = false);
                            symbols.iter_mut().for_each(|symbol| *symbol = None);
                        }
                        Def::Op(op, _) => op.sizes().iter_mut().for_each(|size| match *size {
                            Size::Fixed(_) => {}
                            Size::Like(v, d) => *size = Size::Fixed(types[v].dims[d].n),
                            Size::Product(v, a, b) => *size = Size::Fixed(types[v].dims[a].n * types[v].dims[b].n),
                        }),
                    }
                }
            }
            Edit::Plain => graph.special = false,
            Edit::Keep(k) => {
                (k < graph.skip.len()).then_some(())?;
                graph.skip.remove(k);
            }
        }
        graph.retype().then_some(())
    }

    /// Everything that might make a program smaller, the boldest first.
    pub fn of(graph: &Graph) -> Vec<Edit> {
        let live = graph.live();
        let mut edits: Vec<Edit> = Vec::new();
        let ops: Vec<usize> = (0..live.len()).filter(|&v| live[v] && matches!(graph.defs[v], Def::Op(..))).collect();
        if graph.outputs.len() > 1 || ops.len() > 1 {
            edits.extend(ops.iter().filter(|v| graph.outputs != [**v]).map(|&v| Edit::Only(v)));
        }
        edits.extend((0..graph.outputs.len()).map(Edit::Drop));
        edits.extend(ops.iter().rev().map(|&v| Edit::Input(v)));
        for &value in ops.iter().rev() {
            let Def::Op(op, inputs) = &graph.defs[value] else { continue };
            edits.extend((0..inputs.len()).map(|k| Edit::Forward(value, k)));
            if !matches!(op, Op::Constant(..)) {
                edits.push(Edit::One(value));
            }
        }
        edits.extend((0..graph.skip.len()).map(Edit::Keep));
        let any = |f: &dyn Fn(usize) -> bool| (0..live.len()).any(|v| live[v] && f(v));
        if any(&|v| graph.types[v].is_dynamic()) {
            edits.push(Edit::Fixed);
        }
        if graph.special {
            edits.push(Edit::Plain);
        }
        let mut sizes: Vec<usize> =
            (0..live.len()).filter(|&v| live[v]).flat_map(|v| graph.types[v].shape()).map(|n| n as usize).filter(|&n| n > 1).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for &size in sizes.iter().rev() {
            edits.extend([1, 2, size / 2, size - 1].into_iter().filter(|n| *n < size && *n > 0).map(|n| Edit::Size(size, n)));
        }
        edits
    }
}

impl Op {
    /// The sizes that operands do not give.
    pub fn sizes(&mut self) -> &mut [Size] {
        match self {
            Op::Iota(_, sizes, _) | Op::Broadcast { sizes, .. } | Op::Reshape(sizes) | Op::Slice { sizes, .. } => sizes,
            _ => &mut [],
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seed)?;
        for edit in &self.edits {
            match edit {
                Edit::Drop(k) => write!(f, ",d{k}"),
                Edit::Input(v) => write!(f, ",i{v}"),
                Edit::One(v) => write!(f, ",c{v}"),
                Edit::Forward(v, k) => write!(f, ",f{v}.{k}"),
                Edit::Only(v) => write!(f, ",o{v}"),
                Edit::Size(a, b) => write!(f, ",s{a}.{b}"),
                Edit::Fixed => write!(f, ",x0"),
                Edit::Plain => write!(f, ",p0"),
                Edit::Keep(k) => write!(f, ",k{k}"),
            }?;
        }
        Ok(())
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Case, String> {
        let wrong = || format!("`{text}` is not a case: a seed, then changes as in `17,o5,i3`");
        let mut parts = text.trim().split(',');
        let seed = parts.next().and_then(|seed| seed.parse().ok()).ok_or_else(wrong)?;
        let mut edits = Vec::new();
        for part in parts {
            let (kind, rest) = part.split_at_checked(1).ok_or_else(wrong)?;
            let (a, b) = rest.split_once('.').unwrap_or((rest, "0"));
            let (a, b): (usize, usize) = (a.parse().map_err(|_| wrong())?, b.parse().map_err(|_| wrong())?);
            edits.push(match kind {
                "d" => Edit::Drop(a),
                "i" => Edit::Input(a),
                "c" => Edit::One(a),
                "f" => Edit::Forward(a, b),
                "o" => Edit::Only(a),
                "s" => Edit::Size(a, b),
                "x" => Edit::Fixed,
                "p" => Edit::Plain,
                "k" => Edit::Keep(a),
                _ => return Err(wrong()),
            });
        }
        Ok(Case { seed, edits })
    }
}
