// interfaces.cpp: MLIR's op interfaces, answered from the bits of a StrataOpDef.
//
// A FallbackModel gets the Operation, and through it the definition, so one
// model serves all ops: memory effects, speculation, symbols, calls, functions.
#include "support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace strata {

static constexpr llvm::StringLiteral calleeName = "callee";
static constexpr llvm::StringLiteral typeName = "function_type";
static constexpr llvm::StringLiteral argAttrsName = "arg_attrs";
static constexpr llvm::StringLiteral resAttrsName = "res_attrs";

struct Effects : MemoryEffectOpInterface::FallbackModel<Effects> {
  void getEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    uint64_t bits = getOpDef(op)->effects;
    if (has(bits, STRATA_READ))
      effects.emplace_back(MemoryEffects::Read::get());
    if (has(bits, STRATA_WRITE))
      effects.emplace_back(MemoryEffects::Write::get());
    if (has(bits, STRATA_ALLOCATE))
      for (OpResult result : op->getResults())
        effects.emplace_back(MemoryEffects::Allocate::get(), result);
    if (has(bits, STRATA_FREE))
      for (OpOperand &operand : op->getOpOperands())
        effects.emplace_back(MemoryEffects::Free::get(), &operand);
  }
};

struct Speculation_ : ConditionallySpeculatable::FallbackModel<Speculation_> {
  Speculation::Speculatability getSpeculatability(Operation *op) const {
    StrataOpDef const *def = getOpDef(op);
    if (has(def->traits, STRATA_RECURSIVE_EFFECTS))
      return Speculation::RecursivelySpeculatable;
    return has(def->effects, STRATA_SPECULATABLE) ? Speculation::Speculatable : Speculation::NotSpeculatable;
  }
};

struct Symbol : SymbolOpInterface::FallbackModel<Symbol> {
  using Visibility = SymbolTable::Visibility;
  StringAttr getNameAttr(Operation *op) const { return SymbolTable::getSymbolName(op); }
  void setName(Operation *op, StringAttr name) const { op->setAttr(SymbolTable::getSymbolAttrName(), name); }
  Visibility getVisibility(Operation *op) const { return SymbolTable::getSymbolVisibility(op); }
  bool isNested(Operation *op) const { return getVisibility(op) == Visibility::Nested; }
  bool isPrivate(Operation *op) const { return getVisibility(op) == Visibility::Private; }
  bool isPublic(Operation *op) const { return getVisibility(op) == Visibility::Public; }
  void setVisibility(Operation *op, Visibility visibility) const { SymbolTable::setSymbolVisibility(op, visibility); }
  void setNested(Operation *op) const { setVisibility(op, Visibility::Nested); }
  void setPrivate(Operation *op) const { setVisibility(op, Visibility::Private); }
  void setPublic(Operation *op) const { setVisibility(op, Visibility::Public); }
  std::optional<SymbolTable::UseRange> getSymbolUses(Operation *op, Operation *from) const {
    return SymbolTable::getSymbolUses(op, from);
  }
  bool symbolKnownUseEmpty(Operation *op, Operation *from) const { return SymbolTable::symbolKnownUseEmpty(op, from); }
  LogicalResult replaceAllSymbolUses(Operation *op, StringAttr name, Operation *from) const {
    return SymbolTable::replaceAllSymbolUses(op, name, from);
  }
  bool isOptionalSymbol(Operation *) const { return false; }
  bool canDiscardOnUseEmpty(Operation *op) const { return getVisibility(op) != Visibility::Public; }
  bool isDeclaration(Operation *op) const {
    return has(getOpDef(op)->traits, STRATA_FUNCTION) && op->getRegion(0).empty();
  }
};

struct ArgAttrs : ArgAndResultAttrsOpInterface::FallbackModel<ArgAttrs> {
  ArrayAttr getArgAttrsAttr(Operation *op) const { return op->getAttrOfType<ArrayAttr>(argAttrsName); }
  ArrayAttr getResAttrsAttr(Operation *op) const { return op->getAttrOfType<ArrayAttr>(resAttrsName); }
  void setArgAttrsAttr(Operation *op, ArrayAttr attrs) const { op->setAttr(argAttrsName, attrs); }
  void setResAttrsAttr(Operation *op, ArrayAttr attrs) const { op->setAttr(resAttrsName, attrs); }
  Attribute removeArgAttrsAttr(Operation *op) const { return op->removeAttr(argAttrsName); }
  Attribute removeResAttrsAttr(Operation *op) const { return op->removeAttr(resAttrsName); }
};

struct Call : CallOpInterface::FallbackModel<Call> {
  CallInterfaceCallable getCallableForCallee(Operation *op) const {
    return op->getAttrOfType<SymbolRefAttr>(calleeName);
  }
  void setCalleeFromCallable(Operation *op, CallInterfaceCallable callee) const {
    op->setAttr(calleeName, cast<SymbolRefAttr>(callee));
  }
  Operation::operand_range getArgOperands(Operation *op) const { return op->getOperands(); }
  MutableOperandRange getArgOperandsMutable(Operation *op) const { return MutableOperandRange(op); }
  Operation *resolveCallableInTable(Operation *op, SymbolTableCollection *table) const {
    return call_interface_impl::resolveCallable(cast<CallOpInterface>(op), table);
  }
  Operation *resolveCallable(Operation *op) const {
    return call_interface_impl::resolveCallable(cast<CallOpInterface>(op));
  }
};

static FunctionType functionType(Operation *op) {
  auto attr = op->getAttrOfType<TypeAttr>(typeName);
  return attr ? dyn_cast<FunctionType>(attr.getValue()) : FunctionType();
}

struct Callable : CallableOpInterface::FallbackModel<Callable> {
  Region *getCallableRegion(Operation *op) const {
    Region &body = op->getRegion(0);
    return body.empty() ? nullptr : &body;
  }
  ArrayRef<Type> getArgumentTypes(Operation *op) const { return functionType(op).getInputs(); }
  ArrayRef<Type> getResultTypes(Operation *op) const { return functionType(op).getResults(); }
};

struct Function : FunctionOpInterface::FallbackModel<Function> {
  Type getFunctionType(Operation *op) const { return functionType(op); }
  void setFunctionTypeAttr(Operation *op, TypeAttr type) const { op->setAttr(typeName, type); }
  Type cloneTypeWith(Operation *op, TypeRange inputs, TypeRange results) const {
    return functionType(op).clone(inputs, results);
  }
  LogicalResult verifyBody(Operation *) const { return success(); }
  LogicalResult verifyType(Operation *) const { return success(); }
};

detail::InterfaceMap interfacesOf(StrataOpDef const *def) {
  detail::InterfaceMap map;
  uint64_t traits = def->traits;
  if (has(def->effects, STRATA_EFFECTS_KNOWN))
    map.insertModels<Effects>();
  if (has(def->effects, STRATA_EFFECTS_KNOWN) || has(traits, STRATA_RECURSIVE_EFFECTS))
    map.insertModels<Speculation_>();
  if (has(traits, STRATA_SYMBOL | STRATA_FUNCTION))
    map.insertModels<Symbol>();
  if (has(traits, STRATA_CALL | STRATA_FUNCTION))
    map.insertModels<ArgAttrs>();
  if (has(traits, STRATA_CALL))
    map.insertModels<Call>();
  if (has(traits, STRATA_FUNCTION))
    map.insertModels<Callable, Function>();
  return map;
}

//===-- function-like ops ------------------------------------------------------===//

ParseResult parseFunction(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  auto build = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                  function_interface_impl::VariadicFlag,
                  std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, state, /*allowVariadic=*/false,
                                                  builder.getStringAttr(typeName), build,
                                                  builder.getStringAttr(argAttrsName), builder.getStringAttr(resAttrsName));
}

void printFunction(Operation *op, OpAsmPrinter &printer) {
  MLIRContext *context = op->getContext();
  function_interface_impl::printFunctionOp(printer, cast<FunctionOpInterface>(op), /*isVariadic=*/false, typeName,
                                           StringAttr::get(context, argAttrsName),
                                           StringAttr::get(context, resAttrsName));
}

LogicalResult verifyFunction(Operation *op) {
  FunctionType type = functionType(op);
  if (!type)
    return op->emitOpError() << "needs the attribute '" << typeName << "' with a function type";
  if (op->getNumRegions() != 1)
    return op->emitOpError() << "needs exactly one region";
  if (failed(mlir::detail::verifySymbol(op)))
    return failure();
  auto checkAttrs = [&](StringRef name, size_t count) -> LogicalResult {
    auto attrs = op->getAttrOfType<ArrayAttr>(name);
    if (attrs && attrs.size() != count)
      return op->emitOpError() << "'" << name << "' has " << attrs.size() << " entries for " << count << " values";
    return success();
  };
  if (failed(checkAttrs(argAttrsName, type.getNumInputs())) || failed(checkAttrs(resAttrsName, type.getNumResults())))
    return failure();
  Region &body = op->getRegion(0);
  if (!body.empty() && TypeRange(body.front().getArgumentTypes()) != TypeRange(type.getInputs()))
    return op->emitOpError() << "the body's arguments differ from the inputs of " << type;
  return success();
}

} // namespace strata
