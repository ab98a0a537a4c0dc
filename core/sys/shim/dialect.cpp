// dialect.cpp: dialects whose ops and constants come from a StrataDialectDef.
//
// MLIR keys a dialect's constructor by a C++ type. Definitions arrive at run
// time, so a fixed number of slot classes read theirs from a table.
#include "support.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/InliningUtils.h"
#include <mutex>

using namespace mlir;

namespace strata {

constexpr unsigned maxDialects = 64;

struct Slots {
  std::mutex mutex;
  StrataDialectDef const *defs[maxDialects] = {};
};

static Slots &slots() {
  static Slots table;
  return table;
}

/// Ops of ours have no hidden state, so any of them may be inlined anywhere.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  void handleTerminator(Operation *op, ValueRange replaced) const final {
    for (auto [old, value] : llvm::zip(replaced, op->getOperands()))
      old.replaceAllUsesWith(value);
  }
};

class StrataDialect : public ExtensibleDialect {
public:
  StrataDialect(StrataDialectDef const *def, MLIRContext *context, TypeID id)
      : ExtensibleDialect(unwrap(def->name), context, id), def(def) {
    for (size_t i = 0; i < def->numDependents; ++i)
      context->getOrLoadDialect(unwrap(def->dependents[i]));
    for (size_t i = 0; i < def->numOps; ++i)
      registerOp(&def->ops[i], this);
    registerData(def, this);
    addInterfaces<Inliner>();
  }

  Operation *materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) final {
    if (!def->materialize)
      return nullptr;
    MlirOperation op = def->materialize(def->user, wrap(getContext()), wrap(value), wrap(type), wrap(loc));
    return op.ptr ? builder.insert(unwrap(op)) : nullptr;
  }

  Type parseType(DialectAsmParser &parser) const final {
    StringRef name;
    Type type;
    if (parser.parseKeyword(&name))
      return {};
    OptionalParseResult parsed = parseOptionalDynamicType(name, parser, type);
    if (!parsed.has_value())
      parser.emitError(parser.getNameLoc()) << "the dialect '" << getNamespace() << "' has no type '" << name << "'";
    return parsed.has_value() && succeeded(*parsed) ? type : Type();
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type) const final {
    StringRef name;
    Attribute attr;
    if (parser.parseKeyword(&name))
      return {};
    OptionalParseResult parsed = parseOptionalDynamicAttr(name, parser, attr);
    if (!parsed.has_value())
      parser.emitError(parser.getNameLoc()) << "the dialect '" << getNamespace() << "' has no attribute '" << name << "'";
    return parsed.has_value() && succeeded(*parsed) ? attr : Attribute();
  }

  void printType(Type type, DialectAsmPrinter &printer) const final { (void)printIfDynamicType(type, printer); }
  void printAttribute(Attribute attr, DialectAsmPrinter &printer) const final { (void)printIfDynamicAttr(attr, printer); }

private:
  StrataDialectDef const *def;
};

template <unsigned I>
class SlotDialect final : public StrataDialect {
public:
  explicit SlotDialect(MLIRContext *context) : StrataDialect(slots().defs[I], context, TypeID::get<SlotDialect<I>>()) {}
  static StringRef getDialectNamespace() { return unwrap(slots().defs[I]->name); }
};

template <unsigned I>
static void insertSlot(DialectRegistry &registry) {
  registry.insert<SlotDialect<I>>();
}

template <unsigned... I>
static void insertInto(DialectRegistry &registry, unsigned slot, std::integer_sequence<unsigned, I...>) {
  static void (*const inserters[])(DialectRegistry &) = {insertSlot<I>...};
  inserters[slot](registry);
}

template <unsigned... I>
static bool isSlotId(TypeID id, std::integer_sequence<unsigned, I...>) {
  static const llvm::DenseSet<TypeID> ids = {TypeID::get<SlotDialect<I>>()...};
  return ids.contains(id);
}

bool isStrataDialect(Dialect const *dialect) {
  return dialect && isSlotId(dialect->getTypeID(), std::make_integer_sequence<unsigned, maxDialects>());
}

} // namespace strata

using namespace strata;

bool strata_register_dialect(MlirDialectRegistry registry, StrataDialectDef const *def) {
  std::lock_guard<std::mutex> lock(slots().mutex);
  for (unsigned slot = 0; slot < maxDialects; ++slot) {
    StrataDialectDef const *&entry = slots().defs[slot];
    if (!entry)
      entry = def;
    if (entry == def) {
      insertInto(*unwrap(registry), slot, std::make_integer_sequence<unsigned, maxDialects>());
      return true;
    }
  }
  return false;
}

void strata_register_upstream(MlirDialectRegistry wrapped, bool translations) {
  DialectRegistry &registry = *unwrap(wrapped);
  registerAllDialects(registry);
  registerAllExtensions(registry);
  if (translations) {
    registerAllToLLVMIRTranslations(registry);
    registerAllGPUToLLVMIRTranslations(registry);
  }
}

void strata_register_upstream_passes() {
  static std::once_flag once;
  std::call_once(once, registerAllPasses);
}
