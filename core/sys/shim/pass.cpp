// pass.cpp: passes whose options and body come from a StrataPassDef, in MLIR's own registry.
#include "support.h"
#include "mlir/Pass/AnalysisManager.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace strata {

/// One cell per analysis of one op; MLIR owns it and drops it when a pass changes the op.
class Analyses {
public:
  explicit Analyses(Operation *) {}
  Analyses(Analyses const &) = delete;
  ~Analyses() {
    for (auto &[key, cell] : cells)
      cell->release();
  }
  bool isInvalidated(AnalysisManager::PreservedAnalyses const &preserved) {
    if (preserved.isAll())
      return false;
    for (auto &[key, cell] : cells)
      if (!preserved.isPreserved(TypeID::getFromOpaquePointer(key)))
        cell->release();
    return false;
  }
  void **cell(void const *key, void (*drop)(void *)) {
    std::unique_ptr<Cell> &cell = cells[key];
    if (!cell)
      cell = std::make_unique<Cell>();
    cell->drop = drop;
    return &cell->value;
  }

private:
  struct Cell {
    void *value = nullptr;
    void (*drop)(void *) = nullptr;
    void release() {
      if (value)
        drop(value);
      value = nullptr;
    }
  };
  llvm::DenseMap<void const *, std::unique_ptr<Cell>> cells;
};

} // namespace strata

using strata::Analyses;

namespace {

std::string text(MlirStringRef ref) { return unwrap(ref).str(); }

void emit(MlirStringCallback sink, void *data, StringRef value) { sink(wrap(value), data); }

class FnPass final : public Pass {
public:
  explicit FnPass(StrataPassDef const *def)
      : Pass(TypeID::getFromOpaquePointer(def), anchorOf(def)), def(def) {
    for (size_t i = 0; i < def->numOptions; ++i)
      addOption(def->options[i]);
  }

  StringRef getName() const final { return unwrap(def->name); }
  StringRef getArgument() const final { return unwrap(def->argument); }
  StringRef getDescription() const final { return unwrap(def->description); }
  void getDependentDialects(DialectRegistry &registry) const final {
    if (def->dependents)
      def->dependents(def->user, wrap(&registry));
  }
  bool canScheduleOn(RegisteredOperationName name) const final {
    std::optional<StringRef> anchor = anchorOf(def);
    return !anchor || *anchor == name.getStringRef();
  }
  std::unique_ptr<Pass> clonePass() const final { return std::make_unique<FnPass>(def); }
  void runOnOperation() final {
    if (!def->run(def->user, wrap(getOperation()), reinterpret_cast<StrataPass *>(this)))
      signalPassFailure();
  }

  using Pass::getAnalysisManager;
  using Pass::getOperation;
  using Pass::markAllAnalysesPreserved;
  using Pass::markAnalysesPreserved;
  using Pass::runPipeline;

  struct AnyOption {
    std::unique_ptr<Option<bool>> flag;
    std::unique_ptr<Option<int64_t>> integer;
    std::unique_ptr<Option<double>> number;
    std::unique_ptr<Option<std::string>> string;
    std::unique_ptr<ListOption<int64_t>> integers;
    std::unique_ptr<ListOption<std::string>> strings;
  };
  std::vector<AnyOption> options;

private:
  static std::optional<StringRef> anchorOf(StrataPassDef const *def) {
    StringRef anchor = unwrap(def->anchor);
    return anchor.empty() ? std::nullopt : std::optional<StringRef>(anchor);
  }

  template <typename T>
  std::unique_ptr<Option<T>> single(StrataOptionDef const &option, T initial) {
    return std::make_unique<Option<T>>(*this, unwrap(option.name), llvm::cl::desc(unwrap(option.description)),
                                       llvm::cl::init(std::move(initial)));
  }

  template <typename T>
  std::unique_ptr<ListOption<T>> list(StrataOptionDef const &option) {
    return std::make_unique<ListOption<T>>(*this, unwrap(option.name), llvm::cl::desc(unwrap(option.description)));
  }

  void addOption(StrataOptionDef const &option) {
    StringRef initial = unwrap(option.initial);
    AnyOption any;
    switch (option.kind) {
    case STRATA_BOOL:
      any.flag = single<bool>(option, initial == "true");
      break;
    case STRATA_INT: {
      int64_t value = 0;
      (void)initial.getAsInteger(10, value);
      any.integer = single<int64_t>(option, value);
      break;
    }
    case STRATA_FLOAT: {
      double value = 0;
      (void)initial.getAsDouble(value);
      any.number = single<double>(option, value);
      break;
    }
    case STRATA_STRING:
      any.string = single<std::string>(option, initial.str());
      break;
    case STRATA_INTS:
      any.integers = list<int64_t>(option);
      break;
    default:
      any.strings = list<std::string>(option);
    }
    options.push_back(std::move(any));
  }

  StrataPassDef const *def;
};

FnPass &unwrapPass(StrataPass *pass) { return *reinterpret_cast<FnPass *>(pass); }

// Counts the passes that run on an op. Adaptors, which only hand ops on to others, have no argument.
struct Counting : PassInstrumentation {
  explicit Counting(uint64_t *count) : count(count) {}
  void runBeforePass(Pass *pass, Operation *) override {
    __atomic_fetch_add(count, pass->getArgument().empty() ? 0 : 1, __ATOMIC_RELAXED);
  }
  uint64_t *count;
};

} // namespace

void strata_register_pass(StrataPassDef const *def) {
  registerPass([def] { return std::make_unique<FnPass>(def); });
}

MlirPass strata_create_pass(StrataPassDef const *def) { return wrap(static_cast<Pass *>(new FnPass(def))); }

void strata_register_pipeline(MlirStringRef argument, MlirStringRef description, MlirStringRef pipeline) {
  std::string passes = text(pipeline);
  registerPassPipeline(
      unwrap(argument), unwrap(description),
      [passes](OpPassManager &manager, StringRef options, function_ref<LogicalResult(const Twine &)> error) {
        if (!options.empty())
          return error("the pipeline takes no options");
        std::string message;
        llvm::raw_string_ostream stream(message);
        if (failed(parsePassPipeline(passes, manager, stream)))
          return error(message);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}

bool strata_pass_exists(MlirStringRef argument) {
  return PassInfo::lookup(unwrap(argument)) || PassPipelineInfo::lookup(unwrap(argument));
}

bool strata_pass_bool(StrataPass *pass, size_t index) { return *unwrapPass(pass).options[index].flag; }
int64_t strata_pass_int(StrataPass *pass, size_t index) { return *unwrapPass(pass).options[index].integer; }
double strata_pass_float(StrataPass *pass, size_t index) { return *unwrapPass(pass).options[index].number; }

void strata_pass_string(StrataPass *pass, size_t index, MlirStringCallback sink, void *data) {
  emit(sink, data, unwrapPass(pass).options[index].string->getValue());
}

void strata_pass_ints(StrataPass *pass, size_t index, void (*sink)(void *, int64_t), void *data) {
  for (int64_t value : *unwrapPass(pass).options[index].integers)
    sink(data, value);
}

void strata_pass_strings(StrataPass *pass, size_t index, MlirStringCallback sink, void *data) {
  for (std::string const &value : *unwrapPass(pass).options[index].strings)
    emit(sink, data, value);
}

bool strata_pass_run_pipeline(StrataPass *wrapped, MlirStringRef pipeline, MlirOperation op, MlirStringCallback error,
                              void *data) {
  FnPass &pass = unwrapPass(wrapped);
  OpPassManager manager(unwrap(op)->getName().getStringRef());
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(parsePassPipeline(unwrap(pipeline), manager, stream))) {
    emit(error, data, message);
    return false;
  }
  return succeeded(pass.runPipeline(manager, unwrap(op)));
}

void strata_count_passes(MlirPassManager manager, uint64_t *count) {
  unwrap(manager)->addInstrumentation(std::make_unique<Counting>(count));
}

void strata_pass_preserve_all(StrataPass *pass) { unwrapPass(pass).markAllAnalysesPreserved(); }

void strata_pass_preserve(StrataPass *pass, void const *key) {
  unwrapPass(pass).markAnalysesPreserved(TypeID::get<Analyses>());
  unwrapPass(pass).markAnalysesPreserved(TypeID::getFromOpaquePointer(key));
}

void **strata_pass_analysis(StrataPass *wrapped, MlirOperation op, void const *key, void (*drop)(void *)) {
  FnPass &pass = unwrapPass(wrapped);
  AnalysisManager manager = pass.getAnalysisManager();
  if (unwrap(op) == pass.getOperation())
    return manager.getAnalysis<Analyses>().cell(key, drop);
  return manager.nest(unwrap(op)).getAnalysis<Analyses>().cell(key, drop);
}
