//! Types of results.

use strata_runtime::DType;

use crate::graph::{Def, Dim, Graph, Op, Size, Ty};

impl Graph {
    /// The dimension that a size describes.
    pub fn resolve(&self, size: &Size) -> Option<Dim> {
        Some(match size {
            Size::Fixed(n) => Dim { n: *n, dynamic: false },
            Size::Like(value, dim) => *self.types.get(*value)?.dims.get(*dim)?,
            Size::Product(value, a, b) => {
                let dims = &self.types.get(*value)?.dims;
                let (a, b) = (dims.get(*a)?, dims.get(*b)?);
                Dim { n: a.n * b.n, dynamic: a.dynamic || b.dynamic }
            }
        })
    }

    fn sizes(&self, sizes: &[Size]) -> Option<Vec<Dim>> {
        sizes.iter().map(|size| self.resolve(size)).collect()
    }

    /// The type of a value; none when its operands do not fit.
    pub fn infer(&self, def: &Def) -> Option<Ty> {
        let (op, inputs) = match def {
            Def::Arg(ty, ..) => return Some(ty.clone()),
            Def::Op(op, inputs) => (op, inputs),
        };
        let types: Option<Vec<&Ty>> = inputs.iter().map(|&input| self.types.get(input)).collect();
        let types = types?;
        let same = |a: &Ty, b: &Ty| a.dims == b.dims;
        Some(match op {
            Op::Constant(dtype, shape, _) => Ty::fixed(*dtype, shape),
            Op::Iota(dtype, sizes, dim) => {
                let dims = self.sizes(sizes)?;
                dims.get(*dim as usize)?;
                Ty { dtype: *dtype, dims }
            }
            _ => {
                let x = *types.first()?;
                let with = |dims: Vec<Dim>| Ty { dtype: x.dtype, dims };
                match op {
                    Op::Unary(_) => x.clone(),
                    Op::Binary(_) if types[0] == types[1] => x.clone(),
                    Op::Compare(_) if types[0] == types[1] => Ty { dtype: DType::Bool, dims: x.dims.clone() },
                    Op::IsNan => Ty { dtype: DType::Bool, dims: x.dims.clone() },
                    Op::Select if x.dtype == DType::Bool && types[1] == types[2] && same(x, types[1]) => types[1].clone(),
                    Op::Convert(dtype) => Ty { dtype: *dtype, dims: x.dims.clone() },
                    Op::Broadcast { dims, sizes } => {
                        let sizes = self.sizes(sizes)?;
                        let fits = dims.iter().zip(&x.dims).all(|(d, from)| {
                            let to = sizes[*d as usize];
                            to.n == from.n || (from.n == 1 && !from.dynamic)
                        });
                        with(fits.then_some(sizes)?)
                    }
                    Op::Reshape(sizes) => {
                        let dims = self.sizes(sizes)?;
                        let same = dims.iter().map(|dim| dim.n).product::<i64>() == x.elements();
                        with(same.then_some(dims)?)
                    }
                    Op::Transpose(perm) => with(perm.iter().map(|&d| x.dims[d as usize]).collect()),
                    Op::Reverse(_) => x.clone(),
                    Op::Slice { offsets, sizes, strides } => {
                        let dims = self.sizes(sizes)?;
                        let inside = (0..x.rank()).all(|d| {
                            dims[d].n == 0 && offsets[d] <= x.dims[d].n
                                || dims[d].n > 0 && offsets[d] + (dims[d].n - 1) * strides[d] < x.dims[d].n
                        });
                        with(inside.then_some(dims)?)
                    }
                    Op::Pad { low, high, interior } => {
                        let dims = (0..x.rank()).map(|d| {
                            let Dim { n, dynamic } = x.dims[d];
                            let grown = n + (n - 1).max(0) * interior[d] + low[d] + high[d];
                            (low[d] >= -n && high[d] >= -n && grown >= 0).then_some(Dim { n: grown, dynamic })
                        });
                        with(dims.collect::<Option<_>>()?)
                    }
                    Op::Concat(dim) => {
                        let d = *dim as usize;
                        let mut dims = x.dims.clone();
                        let rest = |ty: &Ty| ty.dims.iter().enumerate().filter(|(k, _)| *k != d).map(|(_, dim)| *dim).collect::<Vec<_>>();
                        for other in &types[1..] {
                            (other.rank() == x.rank() && rest(other) == rest(x) && other.dtype == x.dtype).then_some(())?;
                            dims[d] = Dim { n: dims[d].n + other.dims[d].n, dynamic: dims[d].dynamic || other.dims[d].dynamic };
                        }
                        with(dims)
                    }
                    Op::Window { sizes, strides, dilations } => {
                        let lead = x.rank() - sizes.len();
                        let mut dims = x.dims[..lead].to_vec();
                        for k in 0..sizes.len() {
                            let Dim { n, dynamic } = x.dims[lead + k];
                            let span = n - (sizes[k] - 1) * dilations[k] - 1;
                            dims.push((span >= 0).then_some(Dim { n: span / strides[k] + 1, dynamic })?);
                        }
                        dims.extend(sizes.iter().map(|&n| Dim { n, dynamic: false }));
                        with(dims)
                    }
                    Op::Reduce { dims, .. } => with(without(x, dims)),
                    Op::ArgReduce { dim, .. } => {
                        (x.dims[*dim as usize].n > 0).then_some(())?;
                        Ty { dtype: DType::I64, dims: without(x, &[*dim]) }
                    }
                    Op::Scan { .. } => x.clone(),
                    Op::SegmentReduce { .. } => {
                        let cut = types[1].rank().checked_sub(1).filter(|&cut| cut < x.rank())?;
                        (types[1] == types[2] && types[1].dims[..cut] == x.dims[..cut]).then_some(())?;
                        with([&types[1].dims[..], &x.dims[cut + 1..]].concat())
                    }
                    Op::Sort { positions, .. } => Ty { dtype: if *positions { DType::I64 } else { x.dtype }, dims: x.dims.clone() },
                    Op::Dot { lhs_batch, rhs_batch, lhs_contract, rhs_contract } => {
                        let y = types[1];
                        let pairs = lhs_batch.iter().zip(rhs_batch).chain(lhs_contract.iter().zip(rhs_contract));
                        let fits = pairs.clone().all(|(l, r)| x.dims[*l as usize] == y.dims[*r as usize]) && x.dtype == y.dtype;
                        fits.then_some(())?;
                        let mut dims: Vec<_> = lhs_batch.iter().map(|&d| x.dims[d as usize]).collect();
                        dims.extend(without(x, &[&lhs_batch[..], lhs_contract].concat()));
                        dims.extend(without(y, &[&rhs_batch[..], rhs_contract].concat()));
                        with(dims)
                    }
                    Op::Conv { strides, low, high, lhs_dilation, rhs_dilation, groups } => {
                        let w = types[1];
                        let fits =
                            x.dtype == w.dtype && x.rank() == w.rank() && x.dims[1].n == w.dims[1].n * groups && w.dims[0].n % groups == 0;
                        (fits && !w.is_dynamic()).then_some(())?;
                        let mut dims = vec![x.dims[0], w.dims[0]];
                        for k in 0..strides.len() {
                            let Dim { n, dynamic } = x.dims[k + 2];
                            let span = (n - 1) * lhs_dilation[k] + low[k] + high[k] - (w.dims[k + 2].n - 1) * rhs_dilation[k];
                            dims.push((span >= 0 && n > 0).then_some(Dim { n: span / strides[k] + 1, dynamic })?);
                        }
                        with(dims)
                    }
                    Op::Gather(dims) => {
                        let index = types[1];
                        types[1..].iter().all(|ty| *ty == index).then_some(())?;
                        with([index.dims.clone(), without(x, dims)].concat())
                    }
                    Op::Scatter(dims, _) => {
                        let index = types[2];
                        let wanted = [index.dims.clone(), without(x, dims)].concat();
                        (types[2..].iter().all(|ty| *ty == index) && types[1].dims == wanted && types[1].dtype == x.dtype).then_some(())?;
                        x.clone()
                    }
                    Op::DynamicSlice(sizes) => {
                        sizes.iter().zip(&x.dims).all(|(n, dim)| *n <= dim.n).then_some(())?;
                        with(sizes.iter().map(|&n| Dim { n, dynamic: false }).collect())
                    }
                    Op::DynamicUpdate => {
                        let fits = types[1].dims.iter().zip(&x.dims).all(|(u, n)| u.n <= n.n) && types[1].dtype == x.dtype;
                        fits.then(|| x.clone())?
                    }
                    _ => return None,
                }
            }
        })
    }
}

fn without(ty: &Ty, dims: &[i64]) -> Vec<Dim> {
    ty.dims.iter().enumerate().filter(|(d, _)| !dims.contains(&(*d as i64))).map(|(_, dim)| *dim).collect()
}
