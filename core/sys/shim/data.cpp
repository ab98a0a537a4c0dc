// data.cpp: types and attributes of our dialects, with named parameters.
//
// MLIR's dynamic types and attributes hold a list of attributes; a StrataDataDef
// names the parameters and checks them. The assembly form of both is
//   ns.name<first = 16, second = "text">
#include "support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace strata {

static LogicalResult verifyParams(StrataDataDef const *def, function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<Attribute> params) {
  std::string message;
  auto append = [](MlirStringRef text, void *data) { *static_cast<std::string *>(data) += unwrap(text).str(); };
  SmallVector<MlirAttribute> wrapped;
  for (Attribute param : params)
    wrapped.push_back(wrap(param));
  if (def->verify(def->user, wrapped.size(), wrapped.data(), append, &message))
    return success();
  return emitError() << "'" << unwrap(def->name) << "' " << message;
}

static ParseResult parseParams(StrataDataDef const *def, AsmParser &parser, SmallVectorImpl<Attribute> &params) {
  if (def->numParams == 0)
    return success();
  if (parser.parseLess())
    return failure();
  for (size_t i = 0; i < def->numParams; ++i) {
    Attribute param;
    if ((i && parser.parseComma()) || parser.parseKeyword(unwrap(def->params[i])) || parser.parseEqual() ||
        parser.parseAttribute(param))
      return failure();
    params.push_back(param);
  }
  return parser.parseGreater();
}

static void printParams(StrataDataDef const *def, AsmPrinter &printer, ArrayRef<Attribute> params) {
  if (params.empty())
    return;
  printer << '<';
  for (size_t i = 0; i < params.size(); ++i) {
    printer << (i ? ", " : "") << unwrap(def->params[i]) << " = ";
    auto typed = dyn_cast<TypedAttr>(params[i]);
    // The parser takes a number without type for one of 64 bits.
    if (typed && (typed.getType().isSignlessInteger(64) || typed.getType().isF64()) && !isa<ElementsAttr>(typed))
      printer.printAttributeWithoutType(typed);
    else
      printer.printAttribute(params[i]);
  }
  printer << '>';
}

template <typename Definition>
static std::unique_ptr<Definition> define(StrataDataDef const *def, ExtensibleDialect *dialect) {
  StringRef name = unwrap(def->name).split('.').second;
  return Definition::get(
      name, dialect,
      [def](function_ref<InFlightDiagnostic()> emitError, ArrayRef<Attribute> params) {
        return verifyParams(def, emitError, params);
      },
      [def](AsmParser &parser, SmallVectorImpl<Attribute> &params) { return parseParams(def, parser, params); },
      [def](AsmPrinter &printer, ArrayRef<Attribute> params) { printParams(def, printer, params); });
}

void registerData(StrataDialectDef const *def, ExtensibleDialect *dialect) {
  for (size_t i = 0; i < def->numTypes; ++i)
    dialect->registerDynamicType(define<DynamicTypeDefinition>(&def->types[i], dialect));
  for (size_t i = 0; i < def->numAttrs; ++i)
    dialect->registerDynamicAttr(define<DynamicAttrDefinition>(&def->attrs[i], dialect));
}

static ExtensibleDialect *dialectOf(MLIRContext *context, StringRef name) {
  return dyn_cast_or_null<ExtensibleDialect>(context->getLoadedDialect(name.split('.').first));
}

static SmallVector<Attribute> unwrapAll(intptr_t n, MlirAttribute const *attrs) {
  SmallVector<Attribute> list;
  for (intptr_t i = 0; i < n; ++i)
    list.push_back(unwrap(attrs[i]));
  return list;
}

} // namespace strata

//===-- C ABI -------------------------------------------------------------------===//

using namespace strata;

MlirType strata_type_get(MlirContext context, MlirStringRef name, intptr_t n, MlirAttribute const *params) {
  ExtensibleDialect *dialect = dialectOf(unwrap(context), unwrap(name));
  auto *def = dialect ? dialect->lookupTypeDefinition(unwrap(name).split('.').second) : nullptr;
  return wrap(def ? Type(DynamicType::get(def, unwrapAll(n, params))) : Type());
}

MlirAttribute strata_attr_get(MlirContext context, MlirStringRef name, intptr_t n, MlirAttribute const *params) {
  ExtensibleDialect *dialect = dialectOf(unwrap(context), unwrap(name));
  auto *def = dialect ? dialect->lookupAttrDefinition(unwrap(name).split('.').second) : nullptr;
  return wrap(def ? Attribute(DynamicAttr::get(def, unwrapAll(n, params))) : Attribute());
}

bool strata_type_is(MlirType type, MlirStringRef name) {
  auto dynamic = dyn_cast<DynamicType>(unwrap(type));
  auto [dialect, rest] = unwrap(name).split('.');
  return dynamic && dynamic.getTypeDef()->getName() == rest &&
         dynamic.getTypeDef()->getDialect()->getNamespace() == dialect;
}

bool strata_attr_is(MlirAttribute attr, MlirStringRef name) {
  auto dynamic = dyn_cast<DynamicAttr>(unwrap(attr));
  auto [dialect, rest] = unwrap(name).split('.');
  return dynamic && dynamic.getAttrDef()->getName() == rest &&
         dynamic.getAttrDef()->getDialect()->getNamespace() == dialect;
}

MlirAttribute strata_type_param(MlirType type, intptr_t index) {
  auto dynamic = dyn_cast<DynamicType>(unwrap(type));
  bool inside = dynamic && index < intptr_t(dynamic.getParams().size());
  return wrap(inside ? dynamic.getParams()[index] : Attribute());
}

MlirAttribute strata_attr_param(MlirAttribute attr, intptr_t index) {
  auto dynamic = dyn_cast<DynamicAttr>(unwrap(attr));
  bool inside = dynamic && index < intptr_t(dynamic.getParams().size());
  return wrap(inside ? dynamic.getParams()[index] : Attribute());
}
