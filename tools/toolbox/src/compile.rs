//! A model to the text of a level, to LLVM IR, assembly, an object, a shared library or an artefact.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, ValueEnum};
use strata_core::registry::Registry;
use strata_driver::{Held, Options, Target, describe_target, emit, explain_slow, gpu_named, lower, ptx};
use strata_lowering::codegen;
use strata_runtime::{Artefact, OpLibraryError, OpLibraryFile, OpLibraryKind, header, shared};
use strata_tools::cached;
use strata_tools::compile_options::CompileOptions;
use strata_tools::kernels::{self, Multiprocessor};
use strata_tools::saved;
use strata_tools::signature;
use strata_tools::start;
use strata_tools::{exported_folder, tuning, verify_weights};

use crate::plugins::with_plugins;

/// Compile a tensor program.
#[derive(Parser)]
#[command(name = "rs-compile", version)]
struct Arguments {
    /// The model: .pt2, .pt, .onnx, .mlir, or a folder saved by an exporter of transformers
    #[arg(required_unless_present = "print_target")]
    model: Option<PathBuf>,
    /// The machine to compile for
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda:sm_80,sm_90")]
    target: Target,
    /// LLVM's name of the CPU; default: this machine's
    #[arg(long, default_value = "")]
    cpu: String,
    /// Entries that differ from those of the CPU, or of the GPU with --target=cuda: a dictionary as --print-target prints it, or part of one
    #[arg(long, value_name = "FILE")]
    target_file: Option<PathBuf>,
    /// Print the description of the CPU, or of the GPU with --target=cuda:sm_90, and compile nothing
    #[arg(long, conflicts_with = "model")]
    print_target: bool,
    /// Measure the bandwidths of this machine for --print-target
    #[arg(long, conflicts_with = "cpu")]
    measure_target: bool,
    /// What to write
    #[arg(long, value_enum, default_value = "strata")]
    emit: Emit,
    /// The level of --emit=mlir; aten by default
    #[arg(long, value_name = "LEVEL", value_parser = clap::builder::PossibleValuesParser::new(strata_driver::Level::ALL.map(strata_driver::Level::name)))]
    to: Option<String>,
    /// The file to write; texts go to standard output by default. --emit=so writes a C header beside it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Sign the program of --emit=strata with this Ed25519 private key; the signature is a file beside it, for rs-run --verify-key
    #[arg(long, value_name = "PEM")]
    sign_key: Option<PathBuf>,
    /// Put the weights into the program of --emit=strata or so, which then needs no other file; FILE stands in for the one that the
    /// model names
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pack_weights: Option<Option<PathBuf>>,
    #[command(flatten)]
    compile: CompileOptions,
    /// Say which kernels run one element at a time although they take long, with the reason
    #[arg(long)]
    explain_slow: bool,
    /// Say what NVIDIA's assembler makes of each kernel for --target=cuda: registers, shared memory, spills, occupancy, bytes moved
    #[arg(long)]
    print_kernels: bool,
    /// Verify the IR after every pass
    #[arg(long)]
    verify: bool,
    /// Compare the checksums of the model's weights with their bytes first
    #[arg(long)]
    verify_weights: bool,
}

/// A form of the program.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Emit {
    /// The text of a level
    Mlir,
    /// LLVM IR
    Llvm,
    /// Assembly
    Asm,
    /// PTX of the kernels, for --target=cuda
    Ptx,
    /// The kernels' machine code, for --target=cuda, by NVIDIA's assembler
    Cubin,
    /// A relocatable object
    Obj,
    /// A shared library and its C header
    So,
    /// An artefact for rs-run
    Strata,
}

impl Emit {
    fn is_text(self) -> bool {
        matches!(self, Emit::Mlir | Emit::Llvm | Emit::Asm | Emit::Ptx)
    }
}

impl Arguments {
    fn options(&self) -> Result<Options, Box<dyn Error>> {
        let options: Options = serde_json::from_str(&self.compile.json()?)?;
        let read = |path: &PathBuf| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let target_entries = self.target_file.as_ref().map(read).transpose()?.unwrap_or_default();
        Ok(Options { target: self.target, cpu: self.cpu.clone(), target_entries, verify: self.verify, ..options })
    }

    /// The model; without one there is nothing to compile.
    fn model(&self) -> &Path {
        self.model.as_deref().unwrap_or(Path::new(""))
    }

    /// The compiled program; says what was measured where somebody asks.
    fn artefact(&self, registry: &'static Registry, options: &Options) -> Result<Artefact, Box<dyn Error>> {
        let artefact = self.cached(registry, options)?;
        if let Some(library) = self.compile.op_libraries().into_iter().find(|given| !artefact.calls(given)) {
            return Err(OpLibraryError::Unused { library }.into());
        }
        let artefact = match &self.pack_weights {
            Some(file) => artefact.pack(file.as_deref())?,
            None => artefact,
        };
        if self.print_kernels {
            eprintln!("{}", kernels::table(&artefact.manifest, |architecture| multiprocessor(registry, options, architecture)));
        }
        if self.compile.explain_autotune {
            eprintln!("{}: {}", self.model().display(), tuning::explain(&artefact.manifest));
        }
        if let Some(line) = saved::line(&artefact.manifest) {
            eprintln!("{}: {line}", self.model().display());
        }
        Ok(artefact)
    }

    /// The compiled program, from the cache if it is there.
    fn cached(&self, registry: &'static Registry, options: &Options) -> Result<Artefact, Box<dyn Error>> {
        let store = (!self.compile.no_cache).then(cached::open_store).flatten().map(Arc::new);
        if let Some(store) = store.as_ref().filter(|_| self.compile.explain_cache) {
            let parts = cached::parts(self.model(), &serde_json::to_string(options)?, &registry.build())?;
            eprintln!("{}: {}", self.model().display(), cached::explain(store, &parts));
        }
        let (artefact, report) = Held::new(registry).compile(self.model(), options, store.as_ref())?;
        if self.compile.explain_cache {
            eprintln!("{report}");
        }
        Ok(Arc::unwrap_or_clone(artefact))
    }

    /// The file to write, for forms that are no text.
    fn file(&self, kind: &str) -> PathBuf {
        self.output.clone().unwrap_or_else(|| Path::new(self.model().file_name().unwrap_or_default()).with_extension(kind))
    }

    fn write_text(&self, text: &str) -> Result<(), Box<dyn Error>> {
        match &self.output {
            Some(path) if path.as_os_str() != "-" => write(path, text.as_bytes()),
            _ => Ok(std::io::stdout().write_all(text.as_bytes())?),
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))?)
}

/// The whole of a compiler.
pub fn compile(registry: Registry, args: Vec<String>) -> ExitCode {
    start("rs-compile", || {
        let (registry, args) = with_plugins(registry, &args)?;
        let mut arguments = Arguments::parse_from(args);
        arguments.model = arguments.model.take().map(exported_folder::program).transpose()?;
        compile_to(registry, &arguments).map(|()| true)
    })
}

/// What a multiprocessor of an architecture has, as the target says.
fn multiprocessor(registry: &'static Registry, options: &Options, architecture: &str) -> Option<Multiprocessor> {
    let gpu = gpu_named((&*registry.pooled_context()).into(), options, architecture).ok()?;
    let number = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    Some(Multiprocessor {
        blocks: number(gpu.blocks),
        registers: (number(gpu.registers), number(gpu.registers_at_a_time)),
        shared: (number(gpu.shared.bytes), number(gpu.shared.bytes_kept)),
        threads: number(gpu.threads),
        warp: number(gpu.warp),
    })
}

fn compile_to(registry: &'static Registry, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let options = arguments.options()?;
    if arguments.print_target {
        if arguments.to.is_some() || arguments.emit != Emit::Strata {
            return Err("--print-target describes a machine and compiles nothing: --to and --emit do nothing beside it".into());
        }
        if options.target != Target::Cpu && (arguments.measure_target || !options.cpu.is_empty()) {
            return Err("--print-target describes the GPU that --target names: --cpu and --measure-target are about CPUs".into());
        }
        let described = describe_target(registry, &options, arguments.measure_target)?;
        return arguments.write_text(&format!("{described}\n"));
    }
    // (Not by `requires`: what conflicts with an argument that is there is not required.)
    if arguments.measure_target {
        return Err("--measure-target measures this machine for --print-target, and does nothing without it".into());
    }
    if arguments.to.is_some() && arguments.emit != Emit::Mlir {
        return Err("--to=LEVEL says which text --emit=mlir writes, and does nothing without it".into());
    }
    let is_program = matches!(arguments.emit, Emit::So | Emit::Strata);
    if arguments.print_kernels && (options.target == Target::Cpu || !is_program) {
        return Err("--print-kernels is about programs for --target=cuda (--emit=strata, so), and does nothing here".into());
    }
    if arguments.compile.says_of_cache() && !is_program {
        return Err("--no-cache, --explain-cache and --explain-autotune are about programs (--emit=strata, so), and do nothing here".into());
    }
    if !arguments.cpu.is_empty() && matches!(arguments.emit, Emit::Ptx | Emit::Cubin) {
        return Err("--cpu is about code of the CPU, which --emit=ptx and cubin have none of; leave it out".into());
    }
    if arguments.output.as_deref() == Some(Path::new("-")) && !arguments.emit.is_text() {
        return Err("-o - is standard output, for texts (--emit=mlir, llvm, asm, ptx); the other forms need a file".into());
    }
    if arguments.verify_weights {
        verify_weights::of_model(arguments.model())?;
    }
    if options.target != Target::Cpu && !matches!(arguments.emit, Emit::Mlir | Emit::Ptx | Emit::Cubin | Emit::So | Emit::Strata) {
        return Err("for a CUDA device --emit=mlir, ptx, cubin, so and strata are there; the others are forms of CPU code alone".into());
    }
    if arguments.sign_key.is_some() && arguments.emit != Emit::Strata {
        return Err("--sign-key signs what --emit=strata writes; the other forms have no signature".into());
    }
    if arguments.pack_weights.is_some() && !is_program {
        return Err("--pack-weights is about programs (--emit=strata, so); the other forms hold no weights".into());
    }
    let libraries = arguments.compile.op_libraries();
    let useless = |library: &&OpLibraryFile| match library.kind {
        OpLibraryKind::C | OpLibraryKind::Ptx => !is_program,
        // The importer reads their schemas.
        OpLibraryKind::Torch => false,
    };
    if let Some(library) = libraries.iter().find(useless) {
        let flag = library.kind.flag();
        return Err(format!(
            "{flag} is about programs (--emit=strata, so); the other forms name the kernels that they call, and need none"
        )
        .into());
    }
    if arguments.explain_slow {
        if options.target != Target::Cpu {
            return Err("--explain-slow is about kernels of the CPU, and does nothing here".into());
        }
        explain_slow(registry, arguments.model(), &options)?.iter().for_each(|slow| eprintln!("{slow}"));
    }
    // A key that is none is told before the work.
    let key = arguments.sign_key.as_deref().map(signature::signing_key).transpose()?;
    let code = |wanted| emit(registry, arguments.model(), &options, &wanted);
    match arguments.emit {
        Emit::Mlir => arguments.write_text(&lower(registry, arguments.model(), arguments.to.as_deref().unwrap_or("aten"), &options)?),
        Emit::Ptx => arguments.write_text(&ptx(registry, arguments.model(), &options)?),
        Emit::Cubin => Ok(kernels::cubin(&ptx(registry, arguments.model(), &options)?, &arguments.file("cubin"))?),
        Emit::Llvm => arguments.write_text(&code(codegen::Options { ir: true, ..Default::default() })?.ir.unwrap_or_default()),
        Emit::Asm => arguments.write_text(&code(codegen::Options { assembly: true, ..Default::default() })?.assembly.unwrap_or_default()),
        Emit::Obj => write(&arguments.file("o"), &code(codegen::Options::default())?.object),
        Emit::So => {
            let (artefact, path) = (arguments.artefact(registry, &options)?, arguments.file("so"));
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            write(&path, &shared::library(&artefact, &name)?)?;
            write(&path.with_extension("h"), header::header(&artefact.manifest).as_bytes())
        }
        Emit::Strata => {
            let (artefact, path) = (arguments.artefact(registry, &options)?, arguments.file("strata"));
            if let Some(key) = key {
                signature::sign(&path, &artefact.to_bytes(), &key)?;
            }
            Ok(artefact.write(&path)?)
        }
    }
}
