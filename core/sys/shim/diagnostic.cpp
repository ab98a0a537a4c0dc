// diagnostic.cpp: errors, warnings and remarks with notes; the C API can attach none.
#include "support.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

static void finish(InFlightDiagnostic &&diagnostic, MlirStringRef message, intptr_t numNotes,
                   MlirLocation const *noteLocs, MlirStringRef const *notes) {
  diagnostic << unwrap(message);
  for (intptr_t i = 0; i < numNotes; ++i) {
    std::optional<Location> loc;
    if (noteLocs[i].ptr)
      loc = unwrap(noteLocs[i]);
    diagnostic.attachNote(loc) << unwrap(notes[i]);
  }
}

void strata_emit_at_op(MlirOperation wrapped, int severity, MlirStringRef message, intptr_t numNotes,
                       MlirLocation const *noteLocs, MlirStringRef const *notes) {
  Operation *op = unwrap(wrapped);
  InFlightDiagnostic diagnostic = severity == 0   ? op->emitOpError()
                                  : severity == 1 ? op->emitWarning()
                                                  : op->emitRemark();
  finish(std::move(diagnostic), message, numNotes, noteLocs, notes);
}

void strata_emit_at(MlirLocation wrapped, int severity, MlirStringRef message, intptr_t numNotes,
                    MlirLocation const *noteLocs, MlirStringRef const *notes) {
  Location loc = unwrap(wrapped);
  InFlightDiagnostic diagnostic = severity == 0 ? emitError(loc) : severity == 1 ? emitWarning(loc) : emitRemark(loc);
  finish(std::move(diagnostic), message, numNotes, noteLocs, notes);
}
