//! Windows that move over the spatial dimensions of a tensor `[N, C, ..]`: kernel, steps, padding.

use strata_core::ir::{self, DYNAMIC};

use crate::onnx::call::Call;
use crate::onnx::error::Eval;

/// The window of a convolution or pooling, one number for each spatial dimension.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub kernel: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    /// Before and behind each dimension.
    pub pads: Vec<[i64; 2]>,
    pub ceil: bool,
}

impl Window {
    /// The window of a node whose kernel has these sizes, over a tensor.
    pub fn of(c: &Call<'_, '_, '_>, x: ir::Value<'_>, kernel: Vec<i64>) -> Eval<Self> {
        let rank = kernel.len();
        if x.ty().rank() != rank + 2 {
            return Err(format!("its window has {rank} dimensions, and its input {}", x.ty().rank()).into());
        }
        let list = |name: &str| -> Eval<Vec<i64>> {
            let list = c.ints(name).unwrap_or_else(|| vec![1; rank]);
            if list.len() == rank && list.iter().all(|value| (1..1 << 31).contains(value)) {
                Ok(list)
            } else {
                Err(format!("its {name} {list:?} are not {rank} numbers from 1 up").into())
            }
        };
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        if kernel.iter().any(|size| !(1..1 << 31).contains(size)) {
            return Err(format!("its kernel of sizes {kernel:?} is no window").into());
        }
        let pads = c.ints("pads").unwrap_or_else(|| vec![0; 2 * rank]);
        if pads.len() != 2 * rank || pads.iter().any(|pad| !(-(1 << 31)..1 << 31).contains(pad)) {
            return Err(format!("its pads {pads:?} are not {} numbers", 2 * rank).into());
        }
        let pads = (0..rank).map(|dim| [pads[dim], pads[dim + rank]]).collect();
        let mut window = Self { kernel, strides, dilations, pads, ceil: c.flag("ceil_mode", false) };
        match c.text("auto_pad", "NOTSET")? {
            "NOTSET" => {}
            "VALID" => window.pads.fill([0, 0]),
            mode @ ("SAME_UPPER" | "SAME_LOWER") => {
                for dim in 0..rank {
                    let size = x.ty().shape()[dim + 2];
                    if size == DYNAMIC && window.strides[dim] != 1 {
                        return Err("auto_pad of a size that only a call knows is imported with strides of 1 only".into());
                    }
                    let steps = if size == DYNAMIC { 0 } else { (size + window.strides[dim] - 1) / window.strides[dim] - 1 };
                    let size = if size == DYNAMIC { 1 } else { size };
                    let all = steps.saturating_mul(window.strides[dim]).saturating_add(window.reach(dim)).saturating_sub(size).max(0);
                    window.pads[dim] = if mode == "SAME_UPPER" { [all / 2, all - all / 2] } else { [all - all / 2, all / 2] };
                }
            }
            other => return Err(format!("its auto_pad {other:?} is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER").into()),
        }
        Ok(window)
    }

    /// How many elements a window covers.
    pub fn reach(&self, dim: usize) -> i64 {
        (self.kernel[dim] - 1) * self.dilations[dim] + 1
    }

    /// Whether the padding is the same on both sides, which `aten` asks for.
    pub fn symmetric(&self) -> bool {
        self.pads.iter().all(|[before, behind]| before == behind && *before >= 0)
    }

    /// The padding of both sides, where it is the same.
    pub fn padding(&self) -> Vec<i64> {
        self.pads.iter().map(|pads| pads[0]).collect()
    }

    /// The pads as `aten.constant_pad_nd` takes them, the last dimension first.
    pub fn flat_pads(&self) -> Vec<i64> {
        self.pads.iter().rev().flatten().copied().collect()
    }

    /// Pads further behind, so that whole windows reach as far as `ceil_mode` lets the last ones.
    pub fn completed(&self, x: ir::Value<'_>) -> Eval<Self> {
        let mut window = self.clone();
        if !self.ceil {
            return Ok(window);
        }
        for dim in 0..self.kernel.len() {
            let size = x.ty().shape()[dim + 2];
            if size == DYNAMIC {
                return Err("ceil_mode over a size that only a call knows is not imported".into());
            }
            let stride = self.strides[dim];
            let padded = size + self.pads[dim][0] + self.pads[dim][1];
            let mut steps = (padded - self.reach(dim) + stride - 1).div_euclid(stride);
            // A window that would begin behind the tensor is none.
            if steps * stride >= size + self.pads[dim][0] {
                steps -= 1;
            }
            window.pads[dim][1] += (steps * stride + self.reach(dim) - padded).max(0);
        }
        window.ceil = false;
        Ok(window)
    }
}
