// opt_main.cpp: MLIR's own tool drivers (opt, language server, reducer) on a registry made in Rust.
#include "support.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include <csignal>
#include <cstdlib>

using namespace mlir;

int strata_opt_main(int argc, char **argv, MlirStringRef name, MlirDialectRegistry wrapped,
                    bool (*check)(MlirStringRef, MlirStringRef), void (*crashed)(MlirStringRef, int)) {
  std::signal(SIGPIPE, SIG_DFL); // Rust's start-up ignores it; a printer without a reader should end quietly
  DialectRegistry &registry = *unwrap(wrapped);
  auto [input, output] = registerAndParseCLIOptions(argc, argv, unwrap(name), registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses() || config.shouldRunReproducer())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM signals(argc, argv);
  std::string message;
  auto source = openInputFile(input, &message);
  auto result = source ? openOutputFile(output, &message) : nullptr;
  if (!result) {
    llvm::errs() << message << "\n";
    return EXIT_FAILURE;
  }
  if (!check(wrap(StringRef(input)), wrap(source->getBuffer())))
    return EXIT_FAILURE;
  // Passes are set up when the text has been parsed: what crashes from there on is a crash of the program.
  strata::ParserWatch parser;
  config.setPassPipelineSetupFn([&parser, argv, passes = config](PassManager &manager) {
    parser.end();
    // What is wrong with options of passes is in no file.
    ScopedDiagnosticHandler handler(manager.getContext(), [argv](Diagnostic &diagnostic) {
      if (std::string text = diagnostic.str(); !text.empty())
        llvm::errs() << llvm::sys::path::filename(argv[0]) << ": " << text << "\n";
    });
    return passes.setupPassPipeline(manager);
  });
  LogicalResult done = failure();
  if (int signal = strata::runGuarded([&] { done = MlirOptMain(result->os(), std::move(source), registry, config); })) {
    crashed(wrap(StringRef(input)), signal);
    // Nothing is torn down: the crash may have left locks taken.
    llvm::errs().flush();
    _Exit(EXIT_FAILURE);
  }
  if (failed(done))
    return EXIT_FAILURE;
  result->keep();
  return EXIT_SUCCESS;
}

int strata_lsp_main(int argc, char **argv, MlirDialectRegistry registry, void (*crashed)(MlirStringRef, int)) {
  // The server parses and does little else; the last document asked about is the one that it parses.
  std::string document = "<document>";
  auto dialects = [&](llvm::lsp::URIForFile const &uri) -> DialectRegistry & {
    document = uri.file().str();
    return *unwrap(registry);
  };
  strata::ParserWatch parser;
  LogicalResult done = failure();
  if (int signal = strata::runGuarded([&] { done = MlirLspServerMain(argc, argv, dialects); })) {
    crashed(wrap(StringRef(document)), signal);
    _Exit(EXIT_FAILURE);
  }
  return asMainReturnCode(done);
}

int strata_reduce_main(int argc, char **argv, MlirDialectRegistry registry) {
  MLIRContext context(*unwrap(registry));
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}

void strata_add_flag(MlirStringRef name, MlirStringRef description, void *user, void (*set)(void *user)) {
  // LLVM's options live as long as the process, as do the strings and the target behind them.
  auto *flag = new llvm::cl::opt<bool>(unwrap(name), llvm::cl::desc(unwrap(description)), llvm::cl::init(false));
  flag->setCallback([user, set](bool const &on) {
    if (on)
      set(user);
  });
}
