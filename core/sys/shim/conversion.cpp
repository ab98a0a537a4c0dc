// conversion.cpp: MLIR's dialect conversion with type conversions, legality and patterns as function pointers.
#include "support.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {

/// User data that is dropped with the last copy of the callback that holds it.
std::shared_ptr<void> keep(void *user, void (*drop)(void *)) {
  return std::shared_ptr<void>(user, [drop](void *data) {
    if (drop)
      drop(data);
  });
}

/// A target that remembers its context, from which op names are made.
struct Target : ConversionTarget {
  explicit Target(MLIRContext &context) : ConversionTarget(context), context(context) {}
  MLIRContext &context;
};

TypeConverter *unwrapConverter(StrataTypeConverter *converter) { return reinterpret_cast<TypeConverter *>(converter); }
Target *unwrapTarget(StrataTarget *target) { return reinterpret_cast<Target *>(target); }
ConversionPatternRewriter &unwrapRewriter(MlirRewriterBase rewriter) {
  return *static_cast<ConversionPatternRewriter *>(unwrap(rewriter));
}

class FnConversionPattern final : public ConversionPattern {
public:
  FnConversionPattern(StrataConversionPatternDef const &def, TypeConverter const &converter, MLIRContext *context)
      : ConversionPattern(converter, unwrap(def.root), PatternBenefit(def.benefit), context), def(def) {
    setDebugName(unwrap(def.name));
  }
  struct AnyOp {};
  FnConversionPattern(StrataConversionPatternDef const &def, TypeConverter const &converter, MLIRContext *context, AnyOp)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), PatternBenefit(def.benefit), context), def(def) {
    setDebugName(unwrap(def.name));
  }
  ~FnConversionPattern() {
    if (def.drop)
      def.drop(def.user);
  }
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const final {
    SmallVector<MlirValue> values;
    SmallVector<intptr_t> offsets = {0};
    for (ValueRange group : operands) {
      for (Value value : group)
        values.push_back(wrap(value));
      offsets.push_back(values.size());
    }
    RewriterBase *base = &rewriter;
    return success(
        def.rewrite(def.user, wrap(op), operands.size(), values.data(), offsets.data(), wrap(base)));
  }

private:
  StrataConversionPatternDef def;
};

bool isLegalForTypes(TypeConverter const &converter, Operation *op) {
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    auto type = dyn_cast<FunctionType>(function.getFunctionType());
    return type && converter.isSignatureLegal(type) && converter.isLegal(&function.getFunctionBody());
  }
  return converter.isLegal(op);
}

} // namespace

StrataTypeConverter *strata_type_converter_create() {
  return reinterpret_cast<StrataTypeConverter *>(new TypeConverter());
}

void strata_type_converter_destroy(StrataTypeConverter *converter) { delete unwrapConverter(converter); }

void strata_type_converter_add(StrataTypeConverter *converter, void *user, void (*drop)(void *),
                               int32_t (*convert)(void *, MlirType, void *)) {
  std::shared_ptr<void> data = keep(user, drop);
  unwrapConverter(converter)->addConversion(
      [data, convert](Type type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        int32_t answer = convert(data.get(), wrap(type), &results);
        if (answer < 0)
          return std::nullopt;
        return success(answer == 1);
      });
}

void strata_push_type(void *sink, MlirType type) { static_cast<SmallVectorImpl<Type> *>(sink)->push_back(unwrap(type)); }

void strata_type_converter_materialize(StrataTypeConverter *converter, int32_t kind, void *user, void (*drop)(void *),
                                       MlirOperation (*build)(void *, MlirType, intptr_t, MlirValue const *,
                                                              MlirLocation)) {
  std::shared_ptr<void> data = keep(user, drop);
  auto materialize = [data, build](OpBuilder &builder, Type type, ValueRange inputs, Location loc) -> Value {
    SmallVector<MlirValue> values;
    for (Value input : inputs)
      values.push_back(wrap(input));
    MlirOperation op = build(data.get(), wrap(type), values.size(), values.data(), wrap(loc));
    return op.ptr ? builder.insert(unwrap(op))->getResult(0) : Value();
  };
  if (kind == 0)
    unwrapConverter(converter)->addSourceMaterialization(materialize);
  else
    unwrapConverter(converter)->addTargetMaterialization(materialize);
}

bool strata_convert_type(StrataTypeConverter *converter, MlirType type, void (*sink)(void *, MlirType), void *data) {
  SmallVector<Type> results;
  if (failed(unwrapConverter(converter)->convertType(unwrap(type), results)))
    return false;
  for (Type result : results)
    sink(data, wrap(result));
  return true;
}

bool strata_is_legal_signature(StrataTypeConverter *converter, MlirOperation op) {
  return isLegalForTypes(*unwrapConverter(converter), unwrap(op));
}

StrataTarget *strata_target_create(MlirContext context) {
  return reinterpret_cast<StrataTarget *>(new Target(*unwrap(context)));
}

void strata_target_destroy(StrataTarget *target) { delete unwrapTarget(target); }

void strata_target_dialect(StrataTarget *target, MlirStringRef dialect, int32_t action) {
  if (action == 0)
    unwrapTarget(target)->addLegalDialect(unwrap(dialect));
  else
    unwrapTarget(target)->addIllegalDialect(unwrap(dialect));
}

static OperationName opName(StrataTarget *target, MlirStringRef op) {
  return OperationName(unwrap(op), &unwrapTarget(target)->context);
}

void strata_target_op(StrataTarget *target, MlirStringRef op, int32_t action) {
  if (action == 0)
    unwrapTarget(target)->addLegalOp(opName(target, op));
  else
    unwrapTarget(target)->addIllegalOp(opName(target, op));
}

void strata_target_dynamic(StrataTarget *target, MlirStringRef op, void *user, void (*drop)(void *),
                           int32_t (*legal)(void *, MlirOperation)) {
  std::shared_ptr<void> data = keep(user, drop);
  auto callback = [data, legal](Operation *op) -> std::optional<bool> {
    int32_t answer = legal(data.get(), wrap(op));
    return answer < 0 ? std::nullopt : std::optional<bool>(answer == 1);
  };
  if (unwrap(op).empty())
    unwrapTarget(target)->markUnknownOpDynamicallyLegal(callback);
  else
    unwrapTarget(target)->addDynamicallyLegalOp(opName(target, op), callback);
}

void strata_target_recursively_legal(StrataTarget *target, MlirStringRef op) {
  unwrapTarget(target)->markOpRecursivelyLegal(opName(target, op), {});
}

void strata_add_conversion_pattern(MlirRewritePatternSet set, StrataTypeConverter *converter,
                                   StrataConversionPatternDef const *def) {
  RewritePatternSet &patterns = *unwrap(set);
  TypeConverter &types = *unwrapConverter(converter);
  MLIRContext *context = patterns.getContext();
  if (unwrap(def->root).empty())
    patterns.add(std::make_unique<FnConversionPattern>(*def, types, context, FnConversionPattern::AnyOp()));
  else
    patterns.add(std::make_unique<FnConversionPattern>(*def, types, context));
}

void strata_add_function_conversion(MlirRewritePatternSet set, StrataTypeConverter *converter, MlirStringRef opName) {
  populateFunctionOpInterfaceTypeConversionPattern(unwrap(opName), *unwrap(set), *unwrapConverter(converter));
}

void strata_add_structural_conversion(MlirRewritePatternSet set, StrataTypeConverter *converter, StrataTarget *target) {
  TypeConverter &types = *unwrapConverter(converter);
  RewritePatternSet &patterns = *unwrap(set);
  ConversionTarget &legality = *unwrapTarget(target);
  scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, legality);
  populateCallOpTypeConversionPattern(patterns, types);
  populateReturnOpTypeConversionPattern(patterns, types);
  populateBranchOpInterfaceTypeConversionPattern(patterns, types);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, types);
  legality.addDynamicallyLegalOp<func::FuncOp, func::CallOp, func::ReturnOp>(
      [&types](Operation *op) { return isLegalForTypes(types, op); });
}

bool strata_convert_region_types(MlirRewriterBase rewriter, MlirRegion region, StrataTypeConverter *converter) {
  return succeeded(unwrapRewriter(rewriter).convertRegionTypes(unwrap(region), *unwrapConverter(converter)));
}

void strata_replace_with_multiple(MlirRewriterBase rewriter, MlirOperation wrapped, intptr_t const *offsets,
                                  MlirValue const *values) {
  Operation *op = unwrap(wrapped);
  SmallVector<SmallVector<Value>> groups;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    groups.emplace_back();
    for (intptr_t j = offsets[i]; j < offsets[i + 1]; ++j)
      groups.back().push_back(unwrap(values[j]));
  }
  unwrapRewriter(rewriter).replaceOpWithMultiple(op, std::move(groups));
}

bool strata_apply_conversion(MlirOperation op, StrataTarget *target, MlirRewritePatternSet set, bool full) {
  RewritePatternSet *owned = unwrap(set);
  FrozenRewritePatternSet patterns(std::move(*owned));
  delete owned;
  ConversionTarget &legality = *unwrapTarget(target);
  return succeeded(full ? applyFullConversion(unwrap(op), legality, patterns)
                        : applyPartialConversion(unwrap(op), legality, patterns));
}
