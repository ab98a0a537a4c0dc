// remark.cpp: MLIR's remark engine, which the C API does not have.
#include "support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

bool strata_has_remark_engine(MlirLocation loc) { return unwrap(loc)->getContext()->getRemarkEngine() != nullptr; }

void strata_remark_missed(MlirLocation loc, MlirStringRef category, MlirStringRef name, MlirStringRef function,
                          MlirStringRef reason) {
  // A remark only refers to its names, and `--remark-policy=final` keeps it until the context goes.
  auto keep = [&](MlirStringRef text) {
    return StringAttr::get(unwrap(loc)->getContext(), unwrap(text)).getValue();
  };
  remark::missed(unwrap(loc), remark::RemarkOpts::name(keep(name)).category(keep(category)).function(keep(function)))
      << remark::detail::Remark::Arg("Reason", unwrap(reason));
}
