// pattern.cpp: rewrite patterns whose body is a function pointer, and the drivers that apply them.
#include "support.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace {

class FnPattern final : public RewritePattern {
public:
  FnPattern(StrataPatternDef const &def, MLIRContext *context)
      : RewritePattern(unwrap(def.root), PatternBenefit(def.benefit), context), def(def) {
    setDebugName(unwrap(def.name));
  }
  struct AnyOp {};
  FnPattern(StrataPatternDef const &def, MLIRContext *context, AnyOp)
      : RewritePattern(MatchAnyOpTypeTag(), PatternBenefit(def.benefit), context), def(def) {
    setDebugName(unwrap(def.name));
  }
  ~FnPattern() {
    if (def.drop)
      def.drop(def.user);
  }
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    RewriterBase *base = &rewriter;
    return success(def.rewrite(def.user, wrap(op), wrap(base)));
  }

private:
  StrataPatternDef def;
};

/// Patterns are owned by the set that C's handle points at.
FrozenRewritePatternSet take(MlirRewritePatternSet set) {
  RewritePatternSet *patterns = unwrap(set);
  FrozenRewritePatternSet frozen(std::move(*patterns));
  delete patterns;
  return frozen;
}

} // namespace

void strata_add_pattern(MlirRewritePatternSet set, StrataPatternDef const *def) {
  RewritePatternSet &patterns = *unwrap(set);
  MLIRContext *context = patterns.getContext();
  if (unwrap(def->root).empty())
    patterns.add(std::make_unique<FnPattern>(*def, context, FnPattern::AnyOp()));
  else
    patterns.add(std::make_unique<FnPattern>(*def, context));
}

void strata_add_canonicalization_patterns(MlirRewritePatternSet set, MlirStringRef opName, MlirContext context) {
  if (auto name = RegisteredOperationName::lookup(unwrap(opName), unwrap(context)))
    name->getCanonicalizationPatterns(*unwrap(set), unwrap(context));
}

int32_t strata_apply_greedily(MlirOperation op, MlirRewritePatternSet set, StrataGreedyConfig const *config) {
  GreedyRewriteConfig greedy;
  greedy.setMaxIterations(config->maxIterations)
      .setMaxNumRewrites(config->maxRewrites)
      .setUseTopDownTraversal(config->topDown)
      .enableFolding(config->fold)
      .setStrictness(static_cast<GreedyRewriteStrictness>(config->strictness))
      .setRegionSimplificationLevel(static_cast<GreedySimplifyRegionLevel>(config->simplifyRegions));
  bool changed = false;
  FrozenRewritePatternSet patterns = take(set);
  if (failed(applyPatternsGreedily(unwrap(op), patterns, greedy, &changed)))
    return 0;
  return changed ? 2 : 1;
}

void strata_walk_and_apply(MlirOperation op, MlirRewritePatternSet set) {
  FrozenRewritePatternSet patterns = take(set);
  walkAndApplyPatterns(unwrap(op), patterns);
}
