//! In which types `torch.autocast("cpu")` computes: PyTorch's lists, as `torch._C._dispatch_has_kernel_for_dispatch_key(name, "AutocastCPU")`
//! says them, and operators that call a listed one inside.

use strata_core::ir::Value;

use super::dtype::DType::{self, BF16, F16, F32};
use super::op::*;
use super::{AtenOp, Operator};

use Policy::{Full, Inside, Lower, Widest};

/// How an operator's floats are cast. Floats of 64 bits, complex numbers and integers stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// To the type of autocast.
    Lower,
    /// To `f32`.
    Full,
    /// To `f32` where one of them is of that type.
    Widest,
    /// Operators inside of this one are cast, and others are not.
    Inside,
}

/// The operators with a policy, sorted. All others take their operands as they come.
#[rustfmt::skip]
const POLICIES: &[(Operator, Policy)] = &[
    (_ADDMM_ACTIVATION, Lower), (_CONVOLUTION_DEPRECATED, Lower), (_GRID_SAMPLER_2D_CPU_FALLBACK, Full), (_LU_WITH_INFO, Full),
    (_NATIVE_MULTI_HEAD_ATTENTION, Lower), (_TRANSFORMER_ENCODER_LAYER_FWD, Inside), (_TRILINEAR, Inside), (ADAPTIVE_AVG_POOL3D, Full),
    (ADAPTIVE_MAX_POOL3D, Full), (ADDBMM, Lower), (ADDMM, Lower), (AVG_POOL3D, Full), (BADDBMM, Lower), (BILINEAR, Inside),
    (BINARY_CROSS_ENTROPY, Full), (BINARY_CROSS_ENTROPY_WITH_LOGITS, Full), (BMM, Lower), (CAT, Widest), (CDIST, Full),
    (CHAIN_MATMUL, Lower), (CHOLESKY_INVERSE, Full), (CHOLESKY_SOLVE, Full), (CONV1D, Lower), (CONV1D_PADDING, Lower), (CONV2D, Lower),
    (CONV2D_PADDING, Lower), (CONV3D, Lower), (CONV3D_PADDING, Lower), (CONV_TBC, Lower), (CONV_TRANSPOSE1D, Lower),
    (CONV_TRANSPOSE2D_INPUT, Lower), (CONV_TRANSPOSE3D_INPUT, Lower), (CORRCOEF, Inside), (COSINE_EMBEDDING_LOSS, Full), (COV, Inside),
    (CROSS_ENTROPY_LOSS, Full), (CTC_LOSS_INTLIST, Full), (CTC_LOSS_TENSOR, Full), (EINSUM, Lower),
    (FAKE_QUANTIZE_PER_TENSOR_AFFINE, Full), (FFT_FFT, Full), (FFT_FFT2, Full), (FFT_FFTN, Full), (FFT_HFFT, Full), (FFT_IFFT, Full),
    (FFT_IFFT2, Full), (FFT_IFFTN, Full), (FFT_IHFFT, Full), (FFT_IRFFT, Full), (FFT_IRFFT2, Full), (FFT_IRFFTN, Full), (FFT_RFFT, Full),
    (FFT_RFFT2, Full), (FFT_RFFTN, Full), (FRACTIONAL_MAX_POOL2D, Full), (FRACTIONAL_MAX_POOL3D, Full), (GEQRF, Full),
    (GRID_SAMPLER, Full), (GRID_SAMPLER_2D, Full), (GRID_SAMPLER_3D, Full), (GRU_DATA, Inside), (GRU_INPUT, Inside), (GRU_CELL, Inside),
    (HINGE_EMBEDDING_LOSS, Full), (HUBER_LOSS, Full), (INDEX_COPY, Widest), (INNER, Lower), (INVERSE, Full), (KL_DIV, Full),
    (L1_LOSS, Full), (LINALG_CHOLESKY, Full), (LINALG_CHOLESKY_EX, Full), (LINALG_COND, Full), (LINALG_COND_P_STR, Full),
    (LINALG_EIG, Full), (LINALG_EIGH, Full), (LINALG_EIGVALS, Full), (LINALG_EIGVALSH, Full), (LINALG_HOUSEHOLDER_PRODUCT, Full),
    (LINALG_INV, Full), (LINALG_INV_EX, Full), (LINALG_LSTSQ, Full), (LINALG_MATMUL, Lower), (LINALG_MATRIX_POWER, Lower),
    (LINALG_MATRIX_RANK, Full), (LINALG_MATRIX_RANK_ATOL_RTOL_FLOAT, Full), (LINALG_MATRIX_RANK_ATOL_RTOL_TENSOR, Full),
    (LINALG_MATRIX_RANK_TOL_TENSOR, Full), (LINALG_MATRIX_SQRTH, Full), (LINALG_MULTI_DOT, Lower), (LINALG_PINV, Inside),
    (LINALG_PINV_ATOL_RTOL_FLOAT, Inside), (LINALG_PINV_ATOL_RTOL_TENSOR, Inside), (LINALG_PINV_RCOND_TENSOR, Inside),
    (LINALG_POLAR, Inside), (LINALG_QR, Full), (LINALG_SOLVE, Full), (LINALG_SVD, Full), (LINALG_SVDVALS, Full), (LINALG_TENSORINV, Full),
    (LINALG_TENSORSOLVE, Full), (LINALG_VECDOT, Lower), (LINEAR, Lower), (LSTM_DATA, Inside), (LSTM_INPUT, Inside), (LSTM_CELL, Inside),
    (LU_SOLVE, Full), (MARGIN_RANKING_LOSS, Full), (MATMUL, Lower), (MATRIX_POWER, Lower), (MAX_POOL3D, Full), (MAX_UNPOOL2D, Full),
    (MAX_UNPOOL3D, Full), (MKLDNN_RNN_LAYER, Inside), (MM, Lower), (MSE_LOSS, Full), (MULTI_MARGIN_LOSS, Full),
    (MULTILABEL_MARGIN_LOSS, Full), (MULTILABEL_MARGIN_LOSS_FORWARD, Full), (NANQUANTILE, Full), (NANQUANTILE_SCALAR, Full),
    (NLL_LOSS, Full), (NLL_LOSS2D, Full), (NLL_LOSS_ND, Full), (ORGQR, Full), (ORMQR, Full), (PINVERSE, Full), (POISSON_NLL_LOSS, Full),
    (POLAR, Full), (PRELU, Lower), (PROD, Full), (PROD_DIM_INT, Full), (QUANTILE, Full), (QUANTILE_SCALAR, Full),
    (REFLECTION_PAD1D, Full), (REFLECTION_PAD2D, Full), (REPLICATION_PAD1D, Full), (REPLICATION_PAD2D, Full), (REPLICATION_PAD3D, Full),
    (RNN_RELU_DATA, Inside), (RNN_RELU_INPUT, Inside), (RNN_RELU_CELL, Inside), (RNN_TANH_DATA, Inside), (RNN_TANH_INPUT, Inside),
    (RNN_TANH_CELL, Inside), (SCALED_DOT_PRODUCT_ATTENTION, Lower), (SMOOTH_L1_LOSS, Full), (SOFT_MARGIN_LOSS, Full), (STACK, Widest),
    (STFT, Full), (STFT_CENTER, Full), (SVD, Full), (TENSORDOT, Lower), (TRACE, Full), (TRIANGULAR_SOLVE, Full),
    (TRIPLET_MARGIN_LOSS, Full), (VIEW_AS_COMPLEX, Full),
];

/// How the operands of an op are cast.
pub fn policy(op: &AtenOp<'_>) -> Option<Policy> {
    let operator = op.schema().operator();
    let found = POLICIES.binary_search_by_key(&operator, |(listed, _)| *listed).ok()?;
    match operator {
        EINSUM => product(op),
        // A product of all with all is a sum of products, and one with a number is a multiplication.
        INNER | TENSORDOT => {
            let scalar = |value: Value<'_>| value.ty().is_tensor() && value.ty().rank() == 0;
            let tensors = op.op().operands().into_iter().chain(op.op().results()).all(|value| !scalar(value));
            tensors.then_some(Lower)
        }
        MATRIX_POWER | LINALG_MATRIX_POWER => op.int("n").is_ok_and(|n| n.abs() > 1).then_some(Lower),
        _ => Some(POLICIES[found].1),
    }
}

/// `einsum` multiplies matrices where a letter of two operands is summed over, and elements otherwise.
fn product(op: &AtenOp<'_>) -> Option<Policy> {
    let equation = op.str("equation").unwrap_or_default();
    let (operands, result) = equation.split_once("->").map_or((equation.as_str(), None), |(operands, result)| (operands, Some(result)));
    let terms: Vec<_> = operands.split(',').collect();
    let [a, b] = terms.as_slice() else { return (terms.len() > 2).then_some(Inside) };
    let shared = |letter: &char| letter.is_alphabetic() && b.contains(*letter);
    let summed = |letter: char| result.is_none_or(|result| !result.contains(letter));
    a.chars().filter(shared).any(summed).then_some(Lower)
}

/// The type that a policy casts an operand to, where it casts: `lower` is the type of autocast, `all` are the operands.
pub fn cast(policy: Policy, operand: DType, lower: DType, all: &[DType]) -> Option<DType> {
    let to = match policy {
        Lower => lower,
        Full => F32,
        Widest if all.contains(&F32) => F32,
        Widest | Inside => return None,
    };
    (matches!(operand, F16 | BF16 | F32) && operand != to).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_sorted() {
        assert!(POLICIES.is_sorted_by_key(|(operator, _)| operator));
    }

    #[test]
    fn only_floats_up_to_32_bits_are_cast() {
        assert_eq!(cast(Lower, F32, BF16, &[F32]), Some(BF16));
        assert_eq!(cast(Lower, BF16, BF16, &[BF16]), None);
        assert_eq!(cast(Full, F16, BF16, &[F16]), Some(F32));
        assert_eq!(cast(Widest, BF16, BF16, &[BF16, F32]), Some(F32));
        assert_eq!(cast(Widest, BF16, BF16, &[BF16, DType::I64]), None);
        assert_eq!(cast(Lower, DType::F64, BF16, &[DType::F64]), None);
    }
}
