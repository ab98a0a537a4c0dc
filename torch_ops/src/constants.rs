//! Numbers that extensions ask for by functions: element types, devices, layouts, orders in memory, tags of operators.

macro_rules! constants {
    ($($name:ident = $value:expr;)*) => {
        $(#[unsafe(no_mangle)]
        extern "C" fn $name() -> i32 {
            $value
        })*
    };
}

constants! {
    aoti_torch_dtype_uint8 = 0;
    aoti_torch_dtype_int8 = 1;
    aoti_torch_dtype_int16 = 2;
    aoti_torch_dtype_int32 = 3;
    aoti_torch_dtype_int64 = 4;
    aoti_torch_dtype_float16 = 5;
    aoti_torch_dtype_float32 = 6;
    aoti_torch_dtype_float64 = 7;
    aoti_torch_dtype_complex32 = 8;
    aoti_torch_dtype_complex64 = 9;
    aoti_torch_dtype_complex128 = 10;
    aoti_torch_dtype_bool = 11;
    aoti_torch_dtype_bfloat16 = 15;
    aoti_torch_dtype_float8_e5m2 = 23;
    aoti_torch_dtype_float8_e4m3fn = 24;
    aoti_torch_dtype_float8_e5m2fnuz = 25;
    aoti_torch_dtype_float8_e4m3fnuz = 26;
    aoti_torch_dtype_uint16 = 27;
    aoti_torch_dtype_uint32 = 28;
    aoti_torch_dtype_uint64 = 29;
    torch_dtype_float8_e8m0fnu = 44;
    torch_dtype_float4_e2m1fn_x2 = 45;
    aoti_torch_dtype_float8_e8m0fnu = 44;
    aoti_torch_dtype_float4_e2m1fn_x2 = 45;
    aoti_torch_device_type_cpu = 0;
    aoti_torch_device_type_cuda = 1;
    aoti_torch_device_type_xpu = 12;
    aoti_torch_device_type_mps = 13;
    aoti_torch_device_type_meta = 14;
    aoti_torch_device_type_privateuse1 = 20;
    aoti_torch_layout_strided = 0;
    aoti_torch_layout_sparse_coo = 1;
    aoti_torch_layout_sparse_csr = 2;
    aoti_torch_layout__mkldnn = 3;
    aoti_torch_layout_sparse_csc = 4;
    aoti_torch_layout_sparse_bsr = 5;
    aoti_torch_layout_sparse_bsc = 6;
    aoti_torch_layout_jagged = 7;
    aoti_torch_memory_format_contiguous_format = 0;
    aoti_torch_memory_format_preserve_format = 1;
    aoti_torch_memory_format_channels_last = 2;
    aoti_torch_memory_format_channels_last_3d = 3;
    torch_tag_core = 0;
    torch_tag_cudagraph_unsafe = 1;
    torch_tag_data_dependent_output = 2;
    torch_tag_dynamic_output_shape = 3;
    torch_tag_flexible_layout = 4;
    torch_tag_generated = 5;
    torch_tag_inplace = 6;
    torch_tag_inplace_view = 7;
    torch_tag_maybe_aliasing_or_mutating = 8;
    torch_tag_needs_contiguous_strides = 9;
    torch_tag_needs_exact_strides = 10;
    torch_tag_needs_fixed_stride_order = 11;
    torch_tag_nondeterministic_bitwise = 12;
    torch_tag_nondeterministic_seeded = 13;
    torch_tag_out = 14;
    torch_tag_out_variant = 15;
    torch_tag_pointwise = 16;
    torch_tag_pt2_compliant_tag = 17;
    torch_tag_reduction = 18;
    torch_tag_view_copy = 19;
}

/// An element type: PyTorch's number, bytes of an element, DLPack's code and bits where it is one of ours.
type DType = (i32, usize, Option<(u8, u8)>);

const DTYPES: [DType; 20] = [
    (0, 1, Some((1, 8))),
    (1, 1, Some((0, 8))),
    (2, 2, Some((0, 16))),
    (3, 4, Some((0, 32))),
    (4, 8, Some((0, 64))),
    (5, 2, Some((2, 16))),
    (6, 4, Some((2, 32))),
    (7, 8, Some((2, 64))),
    (8, 4, None),
    (9, 8, Some((5, 64))),
    (10, 16, Some((5, 128))),
    (11, 1, Some((6, 8))),
    (15, 2, Some((4, 16))),
    (23, 1, None),
    (24, 1, None),
    (25, 1, None),
    (26, 1, None),
    (27, 2, Some((1, 16))),
    (28, 4, Some((1, 32))),
    (29, 8, Some((1, 64))),
];

/// Bytes of an element.
pub(crate) fn element_size(dtype: i32) -> Option<usize> {
    DTYPES.iter().find(|(known, ..)| *known == dtype).map(|(_, bytes, _)| *bytes)
}

/// PyTorch's number of DLPack's code and bits.
pub(crate) fn of_dlpack(code: u8, bits: u8) -> Option<i32> {
    DTYPES.iter().find(|(.., dlpack)| *dlpack == Some((code, bits))).map(|(dtype, ..)| *dtype)
}

#[unsafe(no_mangle)]
extern "C" fn aoti_torch_dtype_element_size(dtype: i32) -> usize {
    element_size(dtype).unwrap_or(0)
}

/// The version of PyTorch whose functions these are: 2.15.
#[unsafe(no_mangle)]
extern "C" fn aoti_torch_abi_version() -> u64 {
    0x020f_0000_0000_0000
}
