//! ONNX's numbered element types.

use strata_core::ir::ElementType;

/// The element type of a number of `TensorProto.DataType`, where the IR has it.
pub(super) fn element(number: i64) -> Result<ElementType, String> {
    use ElementType::*;
    Ok(match number {
        1 => F32,
        2 => U8,
        3 => I8,
        4 => U16,
        5 => I16,
        6 => I32,
        7 => I64,
        9 => Bool,
        10 => F16,
        11 => F64,
        12 => U32,
        13 => U64,
        14 => C64,
        15 => C128,
        16 => BF16,
        _ => return Err(format!("tensors of {} are not imported; store and compute them in another element type", name(number))),
    })
}

/// The name of a number that stands for no element type of the IR.
fn name(number: i64) -> String {
    match number {
        0 => "an element type that is not said".to_owned(),
        8 => "strings".to_owned(),
        17 => "float8e4m3fn".to_owned(),
        18 => "float8e4m3fnuz".to_owned(),
        19 => "float8e5m2".to_owned(),
        20 => "float8e5m2fnuz".to_owned(),
        21 => "uint4".to_owned(),
        22 => "int4".to_owned(),
        23 => "float4e2m1".to_owned(),
        24 => "float8e8m0".to_owned(),
        25 => "uint2".to_owned(),
        26 => "int2".to_owned(),
        _ => format!("element type {number}"),
    }
}
