//! The manifest of a compiled program.

use crate::Error;
use crate::levels::Level;
use std::collections::HashMap;
use std::path::Path;
use strata_core::ir::{ElementType, Op};
use strata_dialects::capture;
use strata_dialects::host;
use strata_dialects::loops;
use strata_frontend::{Source, Stored, Weights};
use strata_lowering::KernelView;
use strata_lowering::codegen::{ENTRY, LinkedImage, PREPARE, Target};
use strata_lowering::loop_to_host::{Argument, Program, entry};
use strata_lowering::schedule::cost;
use strata_runtime::manifest::{
    Access, Guard, Import, Input, InputKind, Kernel, Layout, LevelSize, Output, OutputKind, Relocation, Resume, Saved, Segment, StageTime,
    Tuned, Weight, WeightSource,
};
use strata_runtime::{Artefact, DType, DimOrder, Image, Manifest, OpLibraries, manifest};

/// What the compilation noted about a program on its way down.
#[derive(Default)]
pub struct Notes {
    /// Texts of the status codes.
    pub messages: Vec<String>,
    /// How long each stage took.
    pub timings: Vec<StageTime>,
    /// What the program was at each level.
    pub levels: Vec<LevelSize>,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
    /// Those whose schedules were to be measured.
    pub tuned: Vec<Tuned>,
    /// Sizes of the entry's arguments in a call that it takes.
    pub sample: Vec<Vec<i64>>,
    /// Bytes of the call's arena.
    pub arena: Option<u64>,
    /// What a backward reads of the forward.
    pub saved: Option<Saved>,
}

impl Notes {
    /// Notes the size of a program at a level; at the level of scheduled kernels also the kernels, at the host level the arena.
    pub fn level(&mut self, level: Level, module: Op<'_>) {
        let dialect = level.dialect();
        let mut ops = 0;
        module.walk(&mut |op| ops += u64::from(op.dialect() == dialect));
        self.levels.push(LevelSize { name: level.name().to_owned(), ops, dialect: dialect.to_owned() });
        if level == Level::LoopScheduled {
            let kernels = module.find_all(loops::Kernel::NAME).into_iter().filter_map(KernelView::new);
            let called = called(module);
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            let target = Target::of(module).unwrap_or_default();
            let kernels = kernels.filter_map(|kernel| {
                let name = kernel.op.str("sym_name")?;
                let launches = called.iter().filter(|call| **call == name).count() as u64;
                (launches > 0).then_some((kernel, name, launches))
            });
            let described = kernels.map(|(kernel, name, launches)| Kernel {
                name,
                launches,
                bytes: kernel.bytes(),
                flops: kernel.flops(),
                predicted_nanos: cost::seconds(&kernel, &target, threads).map(|seconds| (1e9 * seconds) as u64),
            });
            self.kernels = described.collect();
        }
        if level == Level::Prim {
            let saved = entry(module).ok().and_then(|entry| entry.ints(capture::SAVED));
            self.saved = saved.and_then(|saved| Some(Saved { before: *saved.first()? as u64, bytes: *saved.get(1)? as u64 }));
        }
        if level == Level::Host {
            let entry = module.body(0).ops().into_iter().find(|op| op.attr(host::ENTRY).is_some());
            self.arena = entry.and_then(|op| op.int(host::ARENA_BYTES)).map(|bytes| bytes as u64);
        }
    }
}

/// The kernels that a call launches: not those that only prepare weights.
pub(crate) fn called(module: Op<'_>) -> Vec<String> {
    let calls = entry(module).map(|entry| entry.find_all(loops::Call::NAME)).unwrap_or_default();
    calls.into_iter().filter_map(|call| call.attr("callee").and_then(|callee| callee.as_symbol())).collect()
}

/// Puts an artefact together.
pub fn build(
    program: &Program,
    weights: Option<&Weights>,
    path: &Path,
    image: LinkedImage,
    target: &Target,
    notes: Notes,
) -> Result<Artefact, Error> {
    let layout = layout(&image)?;
    let messages = notes.messages;
    let called = program.arguments.iter().filter(|argument| argument.is_input());
    let declared = called.map(|argument| {
        let sizes: Vec<_> = argument.shape.iter().map(|size| size.map_or_else(|| "?".to_owned(), |size| size.to_string())).collect();
        Guard {
            text: format!("{} is {}[{}]", argument.name, argument.element, sizes.join(", ")),
            source: format!("input {}", argument.index),
        }
    });
    let conditions = messages.iter().skip(1).map(|text| Guard { text: text.clone(), source: String::new() });
    let guards = declared.chain(conditions).collect();
    let sampled = program.arguments.iter().zip(notes.sample.into_iter().chain(std::iter::repeat(Vec::new())));
    let inputs = sampled.filter(|(argument, _)| argument.is_input()).map(|(argument, sample)| Input {
        name: argument.name.clone(),
        kind: match (argument.tensor, argument.element) {
            (true, _) => InputKind::Tensor,
            (_, ElementType::Bool) => InputKind::Bool,
            (_, element) if element.is_float() => InputKind::Float,
            _ => InputKind::Int,
        },
        dtype: dtype(argument.element),
        shape: argument.shape.clone(),
        // What is static is said by the shape.
        sample: if argument.shape.contains(&None) { sample } else { Vec::new() },
        dim_order: order(argument.dim_order.as_ref()),
        value: None,
    });
    let outputs = program.results.iter().map(|result| Output {
        kind: if result.kind == "mutation" { OutputKind::Mutation } else { OutputKind::Output },
        name: result.name.clone(),
        dtype: dtype(result.element),
        shape: result.shape.clone(),
        dim_order: order(result.dim_order.as_ref()),
        in_place: result.in_place,
    });
    let places = Places::new(weights, path);
    let listed = program.arguments.iter().filter(|argument| argument.is_weight()).map(|argument| places.weight(argument));
    let listed = listed.collect::<Result<_, _>>()?;
    let prepared = program.arguments.iter().filter(|argument| argument.is_prepared()).map(|argument| Output {
        kind: OutputKind::Prepared,
        name: argument.name.clone(),
        dtype: dtype(argument.element),
        shape: argument.shape.clone(),
        dim_order: DimOrder::ROW_MAJOR,
        in_place: false,
    });
    let name = path.file_stem().map_or_else(|| program.name.clone(), |stem| stem.to_string_lossy().into_owned());
    let mut artefact = Artefact {
        manifest: Manifest {
            name,
            origin: None,
            target: manifest::Target { arch: target.arch().into(), cpu: target.cpu.clone(), features: target.feature_list() },
            layout,
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            weights: listed,
            packed: None,
            prepared: prepared.collect(),
            messages,
            op_libraries: Vec::new(),
            guards,
            resume: program.next.as_ref().map(|next| Resume { part: next.resume.clone(), reason: next.reason.clone() }),
            kernels: notes.kernels,
            device: None,
            workspace_bytes: notes.arena,
            saved: notes.saved,
            timings: notes.timings,
            levels: notes.levels,
            tuned: notes.tuned,
        },
        image: Image { bytes: image.bytes },
        packed: None,
        op_libraries: OpLibraries::default(),
    };
    artefact.manifest.layout.signature = Some(artefact.manifest.signature());
    Ok(artefact)
}

/// Where the weights of a program lie.
pub(crate) enum Places<'w> {
    /// In the archive that the program came in, by their names.
    Archive { file: String, known: HashMap<&'w str, &'w Stored> },
    /// The program came as text; whoever loads it brings them.
    Given,
}

impl<'w> Places<'w> {
    /// Of the weights that a file brings, if it brings any.
    pub fn new(weights: Option<&'w Weights>, path: &Path) -> Self {
        let Some(weights) = weights else { return Self::Given };
        Self::Archive {
            file: path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string(),
            known: weights.table.iter().map(|(name, place)| (name.as_str(), place)).collect(),
        }
    }

    /// The weight that an argument stands for.
    pub fn weight(&self, argument: &Argument) -> Result<Weight, Error> {
        let fail = |reason: &str| Error::Weight { name: argument.name.clone(), reason: reason.into() };
        let sizes = || argument.shape.iter().copied().collect::<Option<Vec<i64>>>().ok_or_else(|| fail("its sizes must be known"));
        let (shape, source) = match self {
            _ if argument.is_state() => (sizes()?, WeightSource { zeros: true, ..WeightSource::given(&argument.name) }),
            Self::Archive { file, known } => {
                let place = known.get(argument.name.as_str()).ok_or_else(|| fail("the file brings no data for it"))?;
                let source = match &place.source {
                    Source::Entry(entry) => WeightSource { file: file.clone(), entry: entry.clone(), ..WeightSource::default() },
                    Source::File(path) if path.as_os_str() == file.as_str() => {
                        WeightSource { file: file.clone(), ..WeightSource::default() }
                    }
                    Source::File(path) => {
                        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
                        let beside = path.strip_prefix(folder).map_err(|_| fail("its file is not in the folder of the program"))?;
                        WeightSource { file: file.clone(), beside: beside.display().to_string(), ..WeightSource::default() }
                    }
                    Source::Inline(bytes) => WeightSource { inline: bytes.to_vec(), ..WeightSource::default() },
                };
                let strides = place.strides.iter().map(|&stride| stride as i64).collect();
                let source = WeightSource { byte_offset: place.offset as u64, strides, ..source };
                (place.sizes.iter().map(|&size| size as i64).collect(), source)
            }
            Self::Given => (sizes()?, WeightSource::given(&argument.name)),
        };
        Ok(Weight { name: argument.name.clone(), dtype: dtype(argument.element), shape, source })
    }
}

fn layout(image: &LinkedImage) -> Result<Layout, Error> {
    let segment = |range: &std::ops::Range<u64>, access| Segment { offset: range.start, bytes: range.end - range.start, access };
    let segments = [segment(&image.text, Access::Execute), segment(&image.rodata, Access::Read), segment(&image.data, Access::Write)];
    let mut segments: Vec<_> = segments.into_iter().filter(|segment| segment.bytes > 0).collect();
    segments.sort_by_key(|segment| segment.offset);
    Ok(Layout {
        entry: image.symbol(ENTRY).ok_or(Error::NoEntry)?,
        prepare: image.symbol(PREPARE),
        signature: None,
        memory_bytes: [&image.text, &image.rodata, &image.data]
            .iter()
            .map(|range| range.end)
            .max()
            .unwrap_or(0)
            .max(image.bytes.len() as u64),
        segments,
        imports: image.imports.iter().map(|(name, offset)| Import { name: name.clone(), offset: *offset }).collect(),
        relocations: image.relocations.iter().map(|&(offset, target)| Relocation { offset, target }).collect(),
    })
}

/// The runtime's form of an order of dims.
fn order(dims: Option<&Vec<usize>>) -> DimOrder {
    // The level's reader takes only lists with each dim once.
    dims.and_then(|dims| DimOrder::try_from(dims.clone()).ok()).unwrap_or_default()
}

/// The runtime's name of an element type.
pub fn dtype(element: ElementType) -> DType {
    match element {
        ElementType::F64 => DType::F64,
        ElementType::F32 => DType::F32,
        ElementType::F16 => DType::F16,
        ElementType::BF16 => DType::BF16,
        ElementType::F8E4M3FN => DType::F8E4M3FN,
        ElementType::F8E5M2 => DType::F8E5M2,
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

/// The element type of a dtype of the runtime's.
pub fn element_type(dtype: DType) -> ElementType {
    match dtype {
        DType::F64 => ElementType::F64,
        DType::F32 => ElementType::F32,
        DType::F16 => ElementType::F16,
        DType::BF16 => ElementType::BF16,
        DType::F8E4M3FN => ElementType::F8E4M3FN,
        DType::F8E5M2 => ElementType::F8E5M2,
        DType::I64 => ElementType::I64,
        DType::I32 => ElementType::I32,
        DType::I16 => ElementType::I16,
        DType::I8 => ElementType::I8,
        DType::U8 => ElementType::U8,
        DType::U16 => ElementType::U16,
        DType::U32 => ElementType::U32,
        DType::U64 => ElementType::U64,
        DType::Bool => ElementType::Bool,
        DType::C64 => ElementType::C64,
        DType::C128 => ElementType::C128,
    }
}
