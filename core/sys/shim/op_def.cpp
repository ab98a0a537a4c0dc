// op_def.cpp: an MLIR op whose hooks are function pointers of a StrataOpDef.
//
// Holds the one assembly form of all ops:
//   %r = ns.op @symbol(%a, %b)[^bb1] {attrs} : (T1, T2) -> T3 {region}
// `: T` stands for "all operands and results have type T"; without operands,
// results and regions there is no type. Attributes live in the discardable
// dictionary: the ops have no properties.
#include "support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace strata {

static bool hasTraitId(uint64_t bits, TypeID id) {
  static const std::pair<TypeID, uint64_t> table[] = {
      {TypeID::get<OpTrait::IsTerminator>(), STRATA_TERMINATOR},
      {TypeID::get<OpTrait::ReturnLike>(), STRATA_RETURN_LIKE},
      {TypeID::get<OpTrait::ConstantLike>(), STRATA_CONSTANT_LIKE},
      {TypeID::get<OpTrait::IsCommutative>(), STRATA_COMMUTATIVE},
      {TypeID::get<OpTrait::IsIdempotent>(), STRATA_IDEMPOTENT},
      {TypeID::get<OpTrait::IsInvolution>(), STRATA_INVOLUTION},
      {TypeID::get<OpTrait::SameOperandsAndResultType>(), STRATA_SAME_OPERANDS_AND_RESULT_TYPE},
      {TypeID::get<OpTrait::SameTypeOperands>(), STRATA_SAME_TYPE_OPERANDS},
      {TypeID::get<OpTrait::SameOperandsAndResultShape>(), STRATA_SAME_OPERANDS_AND_RESULT_SHAPE},
      {TypeID::get<OpTrait::SameOperandsAndResultElementType>(), STRATA_SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE},
      {TypeID::get<OpTrait::IsIsolatedFromAbove>(), STRATA_ISOLATED_FROM_ABOVE},
      {TypeID::get<OpTrait::SingleBlock>(), STRATA_SINGLE_BLOCK},
      {TypeID::get<OpTrait::NoTerminator>(), STRATA_NO_TERMINATOR},
      {TypeID::get<OpTrait::SymbolTable>(), STRATA_SYMBOL_TABLE},
      {TypeID::get<OpTrait::HasRecursiveMemoryEffects>(), STRATA_RECURSIVE_EFFECTS},
      {TypeID::get<OpTrait::AffineScope>(), STRATA_AFFINE_SCOPE},
      {TypeID::get<OpTrait::AutomaticAllocationScope>(), STRATA_AUTOMATIC_ALLOCATION_SCOPE},
      {TypeID::get<OpTrait::Elementwise>(), STRATA_ELEMENTWISE},
  };
  for (auto &[trait, bit] : table)
    if (trait == id)
      return has(bits, bit);
  return false;
}

//===-- assembly ------------------------------------------------------------===//

static ParseResult parseOp(StrataOpDef const *def, OpAsmParser &parser, OperationState &state) {
  StringRef symbolAttr = unwrap(def->symbolAttr);
  if (!symbolAttr.empty()) {
    if (symbolAttr == SymbolTable::getSymbolAttrName()) {
      StringAttr name;
      if (parser.parseSymbolName(name, symbolAttr, state.attributes))
        return failure();
    } else {
      SymbolRefAttr symbol;
      if (parser.parseAttribute(symbol, symbolAttr, state.attributes))
        return failure();
    }
  }
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SMLoc operandsLoc = parser.getCurrentLocation();
  if (symbolAttr.empty()) {
    if (parser.parseOperandList(operands))
      return failure();
  } else if (parser.parseOperandList(operands, OpAsmParser::Delimiter::OptionalParen)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalLSquare())) {
    do {
      Block *successor;
      if (parser.parseSuccessor(successor))
        return failure();
      state.addSuccessors(successor);
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRSquare())
      return failure();
  }
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  if (succeeded(parser.parseOptionalColon())) {
    Type type;
    llvm::SMLoc typeLoc = parser.getCurrentLocation();
    if (parser.parseType(type))
      return failure();
    if (auto signature = dyn_cast<FunctionType>(type)) {
      if (signature.getNumInputs() != operands.size())
        return parser.emitError(typeLoc) << "expected " << operands.size() << " operand types, found "
                                         << signature.getNumInputs();
      if (parser.resolveOperands(operands, signature.getInputs(), operandsLoc, state.operands))
        return failure();
      state.addTypes(signature.getResults());
    } else {
      if (parser.resolveOperands(operands, type, state.operands))
        return failure();
      state.types.append(def->shortResults, type);
    }
  } else if (!operands.empty()) {
    return parser.emitError(parser.getCurrentLocation()) << "expected ':' and the op's type";
  }
  for (intptr_t i = 0; def->numRegions < 0 || i < def->numRegions; ++i) {
    auto region = std::make_unique<Region>();
    OptionalParseResult parsed =
        parser.parseOptionalRegion(*region, {}, has(def->traits, STRATA_ISOLATED_FROM_ABOVE));
    if (!parsed.has_value()) {
      if (def->numRegions < 0)
        break;
      return parser.emitError(parser.getCurrentLocation()) << "expected " << def->numRegions << " region(s)";
    }
    if (failed(*parsed))
      return failure();
    state.addRegion(std::move(region));
  }
  return success();
}

static void printType(StrataOpDef const *def, Operation *op, OpAsmPrinter &p) {
  if (op->getNumOperands() == 0 && op->getNumResults() == 0) {
    if (op->getNumRegions() != 0)
      p << " : () -> ()";
    return;
  }
  Type type = op->getNumOperands() != 0 ? op->getOperand(0).getType() : op->getResult(0).getType();
  auto isSame = [&](Type other) { return other == type; };
  bool uniform = llvm::all_of(op->getOperandTypes(), isSame) && llvm::all_of(op->getResultTypes(), isSame) &&
                 static_cast<intptr_t>(op->getNumResults()) == def->shortResults && !isa<FunctionType>(type);
  p << " : ";
  if (uniform)
    p << type;
  else
    p.printFunctionalType(op);
}

static void printOp(StrataOpDef const *def, Operation *op, OpAsmPrinter &p) {
  StringRef symbolAttr = unwrap(def->symbolAttr);
  Attribute symbol = symbolAttr.empty() ? Attribute() : op->getAttr(symbolAttr);
  if (auto name = dyn_cast_or_null<StringAttr>(symbol)) {
    p << ' ';
    p.printSymbolName(name);
  } else if (symbol) {
    p << ' ' << symbol;
  }
  if (!symbolAttr.empty()) {
    if (op->getNumOperands() != 0)
      p << '(' << op->getOperands() << ')';
  } else if (op->getNumOperands() != 0) {
    p << ' ' << op->getOperands();
  }
  if (op->getNumSuccessors() != 0) {
    p << " [";
    llvm::interleaveComma(op->getSuccessors(), p, [&](Block *block) { p.printSuccessor(block); });
    p << ']';
  }
  p.printOptionalAttrDict(op->getAttrs(), symbol ? ArrayRef<StringRef>(symbolAttr) : ArrayRef<StringRef>());
  printType(def, op, p);
  for (Region &region : op->getRegions()) {
    p << ' ';
    p.printRegion(region, /*printEntryBlockArgs=*/true, /*printBlockTerminators=*/true, /*printEmptyBlock=*/true);
  }
}

//===-- the op's model --------------------------------------------------------===//

class OpImpl final : public OperationName::Impl {
public:
  OpImpl(StrataOpDef const *def, Dialect *dialect)
      : Impl(unwrap(def->name), dialect, TypeID::getFromOpaquePointer(def), interfacesOf(def)), def(def) {}

  StrataOpDef const *def;

  LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands, SmallVectorImpl<OpFoldResult> &results) final {
    uint64_t traits = def->traits;
    if (has(traits, STRATA_CONSTANT_LIKE)) {
      if (Attribute value = op->getAttr("value")) {
        results.push_back(value);
        return success();
      }
      return failure();
    }
    if (def->fold) {
      SmallVector<MlirAttribute> wrapped;
      for (Attribute operand : operands)
        wrapped.push_back(wrap(operand));
      if (def->fold(def->user, wrap(op), wrapped.size(), wrapped.data(), &results))
        return success();
      results.clear();
    }
    if (has(traits, STRATA_COMMUTATIVE) && succeeded(OpTrait::impl::foldCommutative(op, operands, results)))
      return success();
    OpFoldResult folded;
    if (has(traits, STRATA_IDEMPOTENT))
      folded = OpTrait::impl::foldIdempotent(op);
    if (!folded && has(traits, STRATA_INVOLUTION))
      folded = OpTrait::impl::foldInvolution(op);
    if (!folded)
      return failure();
    if (folded.dyn_cast<Value>() != op->getResult(0))
      results.push_back(folded);
    return success();
  }
  void getCanonicalizationPatterns(RewritePatternSet &set, MLIRContext *context) final {
    if (def->canonicalize)
      def->canonicalize(def->user, wrap(&set), wrap(context));
  }
  bool hasTrait(TypeID id) final { return hasTraitId(def->traits, id); }
  OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    StrataOpDef const *def = this->def;
    return [def](OpAsmParser &parser, OperationState &state) {
      return has(def->traits, STRATA_FUNCTION) ? parseFunction(parser, state) : parseOp(def, parser, state);
    };
  }
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) final {
    StringRef name = unwrap(def->name);
    if (!defaultDialect.empty() && name.starts_with(defaultDialect) && name[defaultDialect.size()] == '.' &&
        name.count('.') == 1)
      name = name.drop_front(defaultDialect.size() + 1);
    printer << name;
    if (has(def->traits, STRATA_FUNCTION))
      printFunction(op, printer);
    else
      printOp(def, op, printer);
  }
  LogicalResult verifyInvariants(Operation *op) final { return success(def->verify(def->user, wrap(op))); }
  LogicalResult verifyRegionInvariants(Operation *op) final {
    if (has(def->traits, STRATA_ISOLATED_FROM_ABOVE) && failed(OpTrait::impl::verifyIsIsolatedFromAbove(op)))
      return failure();
    if (has(def->traits, STRATA_SYMBOL_TABLE) && failed(detail::verifySymbolTable(op)))
      return failure();
    return success(!def->verifyRegions || def->verifyRegions(def->user, wrap(op)));
  }

  // Attributes are discardable ones, there are no properties.
  bool isOwn(StringRef name) const {
    for (size_t i = 0; i < def->numAttrs; ++i)
      if (unwrap(def->attrs[i]) == name)
        return true;
    return false;
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}
  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) final {
    if (!isOwn(name))
      return std::nullopt;
    return op->getDiscardableAttr(name);
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) final { op->setDiscardableAttr(name, value); }
  void populateInherentAttrs(Operation *, NamedAttrList &) final {}
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>) final {
    return success();
  }
  int getOpPropertyByteSize() final { return 0; }
  void initProperties(OperationName, OpaqueProperties, OpaqueProperties) final {}
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties) final {}
  LogicalResult setPropertiesFromAttr(OperationName name, OpaqueProperties, Attribute,
                                      function_ref<InFlightDiagnostic()> emitError) final {
    emitError() << "'" << name << "' keeps its attributes in {...}, it has no <{properties}>";
    return failure();
  }
  Attribute getPropertiesAsAttr(Operation *) final { return {}; }
  void copyProperties(OpaqueProperties, OpaqueProperties) final {}
  bool compareProperties(OpaqueProperties, OpaqueProperties) final { return true; }
  llvm::hash_code hashProperties(OpaqueProperties) final { return llvm::hash_code(0); }
};

StrataOpDef const *getOpDef(OperationName name) {
  if (!name.isRegistered() || !isStrataDialect(name.getDialect()))
    return nullptr;
  return static_cast<OpImpl *>(static_cast<OperationName::Impl *>(name.getAsOpaquePointer()))->def;
}

void registerOp(StrataOpDef const *def, Dialect *dialect) {
  RegisteredOperationName::insert(std::make_unique<OpImpl>(def, dialect), {});
}

} // namespace strata

//===-- C ABI -------------------------------------------------------------------===//

using namespace strata;

StrataOpDef const *strata_op_def(MlirOperation op) { return getOpDef(unwrap(op)); }

StrataOpDef const *strata_op_def_by_name(MlirContext context, MlirStringRef name) {
  auto registered = RegisteredOperationName::lookup(unwrap(name), unwrap(context));
  return registered ? getOpDef(*registered) : nullptr;
}

bool strata_verify_traits(MlirOperation wrapped, uint64_t traits) {
  Operation *op = unwrap(wrapped);
  using Verifier = LogicalResult (*)(Operation *);
  static const std::pair<uint64_t, Verifier> table[] = {
      {STRATA_TERMINATOR, OpTrait::impl::verifyIsTerminator},
      {STRATA_SAME_OPERANDS_AND_RESULT_TYPE, OpTrait::impl::verifySameOperandsAndResultType},
      {STRATA_SAME_TYPE_OPERANDS, OpTrait::impl::verifySameTypeOperands},
      {STRATA_SAME_OPERANDS_AND_RESULT_SHAPE, OpTrait::impl::verifySameOperandsAndResultShape},
      {STRATA_SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE, OpTrait::impl::verifySameOperandsAndResultElementType},
      {STRATA_IDEMPOTENT, OpTrait::impl::verifyIsIdempotent},
      {STRATA_INVOLUTION, OpTrait::impl::verifyIsInvolution},
      {STRATA_ELEMENTWISE, OpTrait::impl::verifyElementwise},
      {STRATA_SYMBOL, mlir::detail::verifySymbol},
      {STRATA_FUNCTION, verifyFunction},
  };
  for (auto &[bit, verify] : table)
    if (has(traits, bit) && failed(verify(op)))
      return false;
  return true;
}

void strata_fold_attribute(void *sink, MlirAttribute attribute) {
  static_cast<SmallVectorImpl<OpFoldResult> *>(sink)->push_back(unwrap(attribute));
}

void strata_fold_value(void *sink, MlirValue value) {
  static_cast<SmallVectorImpl<OpFoldResult> *>(sink)->push_back(unwrap(value));
}

bool strata_fold_op(MlirOperation op, void (*result)(void *, MlirAttribute, MlirValue), void *data) {
  SmallVector<OpFoldResult> results;
  if (failed(unwrap(op)->fold(results)))
    return false;
  for (OpFoldResult folded : results)
    if (auto attribute = dyn_cast<Attribute>(folded))
      result(data, wrap(attribute), wrap(Value()));
    else
      result(data, wrap(Attribute()), wrap(cast<Value>(folded)));
  return true;
}
