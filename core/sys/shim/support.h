// support.h: small conversions shared by the shim's files.
#ifndef STRATA_SUPPORT_H
#define STRATA_SUPPORT_H

#include "strata.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace strata {

/// The Impl registered for every op of ours; an op's name points at it.
class OpImpl;

/// Whether the dialect was registered through strata_register_dialect.
bool isStrataDialect(mlir::Dialect const *dialect);

/// The definition behind an op name, or null when it is not one of ours.
StrataOpDef const *getOpDef(mlir::OperationName name);
inline StrataOpDef const *getOpDef(mlir::Operation *op) { return getOpDef(op->getName()); }

/// Registers one op in its dialect.
void registerOp(StrataOpDef const *def, mlir::Dialect *dialect);

/// Registers the types and attributes of a dialect.
void registerData(StrataDialectDef const *def, mlir::ExtensibleDialect *dialect);

/// Interfaces derived from trait and effect bits.
mlir::detail::InterfaceMap interfacesOf(StrataOpDef const *def);

/// Assembly of function-like ops.
mlir::ParseResult parseFunction(mlir::OpAsmParser &parser, mlir::OperationState &state);
void printFunction(mlir::Operation *op, mlir::OpAsmPrinter &printer);
mlir::LogicalResult verifyFunction(mlir::Operation *op);

/// While it lives, a signal in a thread that runs runGuarded ends what that runs. Otherwise signals are the process's, as before.
class ParserWatch {
public:
  ParserWatch();
  ~ParserWatch() { end(); }
  ParserWatch(ParserWatch const &) = delete;
  void end();

private:
  bool ended = false;
};

/// Runs a call and gives the number of the signal that ended it, or 0. What the call held then stays as it was.
int runGuarded(llvm::function_ref<void()> call);

inline bool has(uint64_t bits, uint64_t bit) { return (bits & bit) != 0; }

} // namespace strata

#endif // STRATA_SUPPORT_H
