//! The manifest of a compiled program.

use crate::Error;
use std::path::Path;
use strata_core::ir::ElementType;
use strata_frontend::Weights;
use strata_lowering::codegen::{LinkedImage, Target};
use strata_lowering::loop_to_host::Program;
use strata_runtime::manifest::{Access, Guard, Import, Input, InputKind, Kernel, Layout, Output, OutputKind, Relocation, Segment, StageTime, Weight, WeightSource};
use strata_runtime::{Artefact, DType, Image, Manifest, manifest};

/// Puts an artefact together.
pub fn build(
    program: &Program,
    weights: Option<&Weights>,
    path: &Path,
    image: LinkedImage,
    target: &Target,
    messages: Vec<String>,
    timings: Vec<StageTime>,
) -> Result<Artefact, Error> {
    let entry = image.symbol("strata_entry").ok_or(Error::NoEntry)?;
    let kernels = image.symbols.iter().filter(|symbol| is_kernel(&symbol.name));
    let kernels = kernels.map(|symbol| Kernel { name: symbol.name.clone(), bytes: None, flops: None }).collect();
    let guards = messages.iter().skip(1).map(|text| Guard { text: text.clone(), source: String::new() }).collect();
    let inputs = program.arguments.iter().filter(|argument| argument.is_input()).map(|argument| Input {
        name: argument.name.clone(),
        kind: match (argument.tensor, argument.element) {
            (true, _) => InputKind::Tensor,
            (_, ElementType::Bool) => InputKind::Bool,
            (_, element) if element.is_float() => InputKind::Float,
            _ => InputKind::Int,
        },
        dtype: dtype(argument.element),
        shape: argument.shape.clone(),
        value: None,
    });
    let outputs = program.results.iter().map(|result| Output {
        kind: if result.kind == "mutation" { OutputKind::Mutation } else { OutputKind::Output },
        name: result.name.clone(),
        dtype: dtype(result.element),
        shape: result.shape.clone(),
    });
    let mut listed = Vec::new();
    for argument in program.arguments.iter().filter(|argument| !argument.is_input()) {
        listed.push(weight(argument, weights, path)?);
    }
    let name = path.file_stem().map_or_else(|| program.name.clone(), |stem| stem.to_string_lossy().into_owned());
    Ok(Artefact {
        manifest: Manifest {
            name,
            target: manifest::Target { arch: "x86_64".into(), cpu: target.cpu.clone(), features: target.feature_list() },
            layout: layout(&image, entry),
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            weights: listed,
            messages,
            guards,
            kernels,
            workspace_bytes: None,
            timings,
        },
        image: Image { bytes: image.bytes },
    })
}

/// Kernels are the functions `k<number>...` that are no tasks.
fn is_kernel(name: &str) -> bool {
    name.strip_prefix('k').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) && !name.ends_with(".task")
}

/// Where the data of a parameter, buffer or constant is.
pub fn weight(argument: &strata_lowering::loop_to_host::Argument, weights: Option<&Weights>, path: &Path) -> Result<Weight, Error> {
    let missing = || Error::Weight { name: argument.name.clone(), reason: "the file brings no data for it".into() };
    let (_, place) = weights.ok_or_else(missing)?.table.iter().find(|(name, _)| *name == argument.name).ok_or_else(missing)?;
    let shape: Vec<i64> = place.sizes.iter().map(|&size| size as i64).collect();
    let bytes = argument.element.bytes();
    Ok(Weight {
        name: argument.name.clone(),
        dtype: dtype(argument.element),
        shape,
        source: WeightSource {
            file: path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string(),
            entry: place.entry.clone(),
            byte_offset: (place.offset * bytes) as u64,
            strides: place.strides.iter().map(|&stride| stride as i64).collect(),
        },
    })
}

fn layout(image: &LinkedImage, entry: u64) -> Layout {
    let segment = |range: &std::ops::Range<u64>, access| Segment { offset: range.start, bytes: range.end - range.start, access };
    let segments = [segment(&image.text, Access::Execute), segment(&image.rodata, Access::Read), segment(&image.data, Access::Write)];
    let mut segments: Vec<_> = segments.into_iter().filter(|segment| segment.bytes > 0).collect();
    segments.sort_by_key(|segment| segment.offset);
    Layout {
        entry,
        memory_bytes: [&image.text, &image.rodata, &image.data].iter().map(|range| range.end).max().unwrap_or(0).max(image.bytes.len() as u64),
        segments,
        imports: image.imports.iter().map(|(name, offset)| Import { name: name.clone(), offset: *offset }).collect(),
        relocations: image.relocations.iter().map(|&(offset, target)| Relocation { offset, target }).collect(),
    }
}

/// The runtime's name of an element type.
pub fn dtype(element: ElementType) -> DType {
    match element {
        ElementType::F64 => DType::F64,
        ElementType::F32 => DType::F32,
        ElementType::F16 => DType::F16,
        ElementType::BF16 => DType::BF16,
        ElementType::I64 | ElementType::Index => DType::I64,
        ElementType::I32 => DType::I32,
        ElementType::I16 => DType::I16,
        ElementType::I8 => DType::I8,
        ElementType::U8 => DType::U8,
        ElementType::U16 => DType::U16,
        ElementType::U32 => DType::U32,
        ElementType::U64 => DType::U64,
        ElementType::Bool => DType::Bool,
        ElementType::C64 => DType::C64,
        ElementType::C128 => DType::C128,
    }
}
