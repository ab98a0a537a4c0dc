//! Convolutions: which element of the input meets which weight.

use super::Error;
use super::kernel::{Kernel, constant_scalar};
use super::reduction::multiply;
use super::sizes::{Size, arith, conv_layout, features, size_of};
use super::stage::Stage;
use super::view::{join, within};
use strata_core::ir::{AffineExpr, ElementType, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};

/// The dims of the weights that a convolution sums over, in the order of memory.
pub fn summed(op: Op<'_>) -> Result<Vec<usize>, Error> {
    let layout = conv_layout(op)?;
    let mut dims = layout.rhs.space;
    dims.push(layout.rhs.channel);
    dims.sort_unstable();
    Ok(dims)
}

/// One product of a convolution: the padded, dilated input under the window times the weight; `inner` are the indices along the
/// dims that are [`summed`].
pub fn element<'c>(
    kernel: &mut Kernel<'c>,
    stage: &mut Stage<'c>,
    op: Op<'c>,
    from: ElementType,
    accumulated: ElementType,
    indices: &[AffineExpr<'c>],
    inner: &[AffineExpr<'c>],
) -> Result<Value<'c>, Error> {
    let cx = kernel.cx();
    let ints = |name: &str| op.ints(name).unwrap_or_default();
    let (input, weight) = (op.operand(0), op.operand(1));
    let layout = conv_layout(op)?;
    let feature = indices[layout.result.channel];
    let mut weight_at = vec![feature; weight.ty().rank()];
    for (dim, &index) in summed(op)?.into_iter().zip(inner) {
        weight_at[dim] = index;
    }
    let in_group = weight_at[layout.rhs.channel];
    let groups = op.int("groups").unwrap_or(1);
    let channel = if groups == 1 {
        in_group
    } else {
        // Output channel o belongs to group o / (O / groups).
        let outputs = features(kernel.fusion, op, &layout)?;
        let per_group = arith(kernel.fusion, arith::FloorDivSI::NAME, outputs, Size::Static(groups));
        let per_group = kernel.size_expr(per_group);
        let inputs = kernel.size(weight, layout.rhs.channel)?;
        let inputs = kernel.size_expr(inputs);
        feature.floor_div(per_group) * inputs + in_group
    };
    let mut source = vec![cx.constant(0); input.ty().rank()];
    (source[layout.lhs.batch], source[layout.lhs.channel]) = (indices[layout.result.batch], channel);
    let mut inside = None;
    let (strides, low, high) = (ints("strides"), ints("low"), ints("high"));
    for dim in 0..strides.len() {
        let dilation = ints("rhs_dilation").get(dim).copied().unwrap_or(1);
        let spread = ints("lhs_dilation").get(dim).copied().unwrap_or(1);
        let moved = indices[layout.result.space[dim]] * cx.constant(strides[dim]);
        let mut position = moved + weight_at[layout.rhs.space[dim]] * cx.constant(dilation) - cx.constant(low[dim]);
        if spread > 1 {
            let step = cx.constant(spread);
            let value = stage.index(kernel, position.modulo(step));
            let zero = stage.b.const_index(0);
            let test = arith::cmpi(&mut stage.b, CmpIPredicate::Eq, value, zero);
            inside = Some(join(stage, inside, test));
            position = position.floor_div(step);
        }
        if low[dim] > 0 || high[dim] > 0 || spread > 1 {
            let size = size_of(kernel.fusion, input, layout.lhs.space[dim])?;
            let size = kernel.size_expr(size);
            inside = Some(within(kernel, stage, inside, position, size));
        }
        source[layout.lhs.space[dim]] = position;
    }
    if let Some(panels) = layout.panels {
        let panel = kernel.size(weight, layout.rhs.batch)?;
        let panel = kernel.size_expr(panel);
        (weight_at[panels], weight_at[layout.rhs.batch]) = (feature.floor_div(panel), feature.modulo(panel));
    }
    let guarded = stage.guard(inside.is_some());
    let element = kernel.element(stage, input, &source)?;
    stage.guarded = guarded;
    let factor = kernel.element(stage, weight, &weight_at)?;
    // A guarded read outside of an input is zero already; a computed value, a constant or an element between two is not.
    let computed = input.defining_op().is_some_and(|def| def.parent() == Some(kernel.fusion)) || kernel.is_one_element(input);
    let between = ints("lhs_dilation").iter().any(|&dilation| dilation > 1);
    let element = match inside {
        Some(inside) if computed || between => {
            let zero = constant_scalar(&mut stage.b, &[0; 16], from).ok_or_else(|| Error::at(op, "its zero cannot be written"))?;
            arith::select(&mut stage.b, inside, element, zero)
        }
        _ => element,
    };
    multiply(stage, op, [element, factor], accumulated)
}
