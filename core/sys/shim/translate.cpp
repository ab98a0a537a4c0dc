// translate.cpp: translations out of MLIR written in Rust, beside upstream's, in MLIR's own translate driver.
#include "support.h"
#include "mlir/IR/Operation.h"
#include "mlir/InitAllTranslations.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include <mutex>

using namespace mlir;

int strata_translate_main(int argc, char **argv, MlirStringRef name) {
  return succeeded(mlirTranslateMain(argc, argv, unwrap(name))) ? 0 : 1;
}

void strata_register_upstream_translations() {
  static std::once_flag once;
  std::call_once(once, registerAllTranslations);
}

void strata_register_translation(MlirStringRef name, MlirStringRef description, void *user,
                                 void (*dialects)(void *, MlirDialectRegistry),
                                 bool (*run)(void *, MlirOperation, void *)) {
  TranslateFromMLIRRegistration registration(
      unwrap(name), unwrap(description),
      [user, run](Operation *op, llvm::raw_ostream &out) { return success(run(user, wrap(op), &out)); },
      [user, dialects](DialectRegistry &registry) { dialects(user, wrap(&registry)); });
}

void strata_write(void *out, MlirStringRef text) { *static_cast<llvm::raw_ostream *>(out) << unwrap(text); }
