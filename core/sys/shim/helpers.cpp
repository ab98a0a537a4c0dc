// helpers.cpp: questions and small constructions on IR that the C API lacks.
#include "support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

MlirModule strata_parse_module(MlirContext context, MlirStringRef source, MlirStringRef name, int *signal) {
  MlirModule parsed{nullptr};
  strata::ParserWatch watch;
  *signal = strata::runGuarded([&] {
    ParserConfig config(unwrap(context));
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(unwrap(source), config, unwrap(name));
    parsed = MlirModule{module ? module.release().getAsOpaquePointer() : nullptr};
  });
  return parsed;
}

static DominanceInfo &unwrapDominance(StrataDominance *dominance) {
  return *reinterpret_cast<DominanceInfo *>(dominance);
}

StrataDominance *strata_dominance_create(MlirOperation scope) {
  return reinterpret_cast<StrataDominance *>(new DominanceInfo(unwrap(scope)));
}

void strata_dominance_destroy(StrataDominance *dominance) { delete &unwrapDominance(dominance); }

bool strata_value_dominates(StrataDominance *dominance, MlirValue value, MlirOperation user) {
  return unwrapDominance(dominance).dominates(unwrap(value), unwrap(user));
}

bool strata_op_properly_dominates(StrataDominance *dominance, MlirOperation a, MlirOperation b) {
  return unwrapDominance(dominance).properlyDominates(unwrap(a), unwrap(b));
}

bool strata_is_memory_effect_free(MlirOperation op) { return isMemoryEffectFree(unwrap(op)); }
bool strata_is_speculatable(MlirOperation op) { return isSpeculatable(unwrap(op)); }
bool strata_is_trivially_dead(MlirOperation op) { return isOpTriviallyDead(unwrap(op)); }

bool strata_has_trait(MlirOperation wrapped, uint64_t trait) {
  Operation *op = unwrap(wrapped);
  switch (trait) {
  case STRATA_TERMINATOR:
    return op->hasTrait<OpTrait::IsTerminator>();
  case STRATA_CONSTANT_LIKE:
    return op->hasTrait<OpTrait::ConstantLike>();
  case STRATA_COMMUTATIVE:
    return op->hasTrait<OpTrait::IsCommutative>();
  case STRATA_ISOLATED_FROM_ABOVE:
    return op->hasTrait<OpTrait::IsIsolatedFromAbove>();
  case STRATA_SYMBOL_TABLE:
    return op->hasTrait<OpTrait::SymbolTable>();
  case STRATA_SYMBOL:
    return isa<SymbolOpInterface>(op);
  case STRATA_CALL:
    return isa<CallOpInterface>(op);
  default: {
    StrataOpDef const *def = strata::getOpDef(op);
    return def && strata::has(def->traits, trait);
  }
  }
}

MlirOperation strata_clone_mapped(MlirOperation op, intptr_t n, MlirValue const *from, MlirValue const *to) {
  IRMapping mapping;
  for (intptr_t i = 0; i < n; ++i)
    mapping.map(unwrap(from[i]), unwrap(to[i]));
  return wrap(unwrap(op)->clone(mapping));
}

MlirOperation strata_resolve_call(MlirOperation call) {
  auto interface = dyn_cast<CallOpInterface>(unwrap(call));
  return wrap(interface ? interface.resolveCallable() : nullptr);
}

bool strata_symbol_uses(MlirOperation symbol, MlirOperation from, void (*sink)(void *, MlirOperation), void *data) {
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(unwrap(symbol), unwrap(from));
  if (!uses)
    return false;
  for (SymbolTable::SymbolUse use : *uses)
    sink(data, wrap(use.getUser()));
  return true;
}

MlirLocation strata_fuse_locations(MlirContext context, intptr_t n, MlirLocation const *locs) {
  SmallVector<Location> locations;
  for (intptr_t i = 0; i < n; ++i)
    locations.push_back(unwrap(locs[i]));
  return wrap(FusedLoc::get(unwrap(context), locations));
}
