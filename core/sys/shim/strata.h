// strata.h: the C ABI between MLIR's C++ extension points and the Rust crate above.
//
// The shim decides nothing. Each file hands one of MLIR's extension points (ops,
// dialects, interfaces, passes, patterns, conversion, tools) to function pointers
// that Rust fills in. Definitions are leaked by Rust and live as long as the process.
#ifndef STRATA_H
#define STRATA_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/Rewrite.h"
#include "mlir-c/Support.h"
#include <stdint.h>

extern "C" {

//===-- ops ----------------------------------------------------------------===//

// Bits of StrataOpDef::traits; the same list, in the same order, is in dialect/traits.rs.
enum StrataTrait {
  STRATA_TERMINATOR = 1 << 0,
  STRATA_RETURN_LIKE = 1 << 1,
  STRATA_CONSTANT_LIKE = 1 << 2,
  STRATA_COMMUTATIVE = 1 << 3,
  STRATA_IDEMPOTENT = 1 << 4,
  STRATA_INVOLUTION = 1 << 5,
  STRATA_SAME_OPERANDS_AND_RESULT_TYPE = 1 << 6,
  STRATA_SAME_TYPE_OPERANDS = 1 << 7,
  STRATA_SAME_OPERANDS_AND_RESULT_SHAPE = 1 << 8,
  STRATA_SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE = 1 << 9,
  STRATA_ISOLATED_FROM_ABOVE = 1 << 10,
  STRATA_SINGLE_BLOCK = 1 << 11,
  STRATA_NO_TERMINATOR = 1 << 12,
  STRATA_SYMBOL = 1 << 13,
  STRATA_SYMBOL_TABLE = 1 << 14,
  STRATA_RECURSIVE_EFFECTS = 1 << 15,
  STRATA_AFFINE_SCOPE = 1 << 16,
  STRATA_AUTOMATIC_ALLOCATION_SCOPE = 1 << 17,
  STRATA_ELEMENTWISE = 1 << 18,
  STRATA_CALL = 1 << 19,
  STRATA_FUNCTION = 1 << 20,
};

// Bits of StrataOpDef::effects.
enum StrataEffect {
  STRATA_EFFECTS_KNOWN = 1 << 0, // without it the op has unknown effects
  STRATA_READ = 1 << 1,
  STRATA_WRITE = 1 << 2,
  STRATA_ALLOCATE = 1 << 3,
  STRATA_FREE = 1 << 4,
  STRATA_SPECULATABLE = 1 << 5, // may run although the program would not have run it
};

typedef struct StrataOpDef {
  MlirStringRef name;
  uint64_t traits;
  uint64_t effects;
  // Attribute printed as `@name` right after the op's name; operands then stand in parentheses.
  MlirStringRef symbolAttr;
  // Number of results meant by the short type form `: T`.
  intptr_t shortResults;
  // Number of regions, or -1.
  intptr_t numRegions;
  size_t numAttrs;
  MlirStringRef const *attrs; // names of the op's own attributes
  void *user;
  bool (*verify)(void *user, MlirOperation op);
  bool (*verifyRegions)(void *user, MlirOperation op); // may be null
  // Returns false when nothing folds; results are given to strata_fold_*; none means "changed in place".
  bool (*fold)(void *user, MlirOperation op, intptr_t n, MlirAttribute const *operands, void *sink); // may be null
  void (*canonicalize)(void *user, MlirRewritePatternSet patterns, MlirContext context);             // may be null
} StrataOpDef;

// The definition of `op`, or null when the op is not one of ours.
StrataOpDef const *strata_op_def(MlirOperation op);
// The definition of the registered op `name`, or null.
StrataOpDef const *strata_op_def_by_name(MlirContext context, MlirStringRef name);
// Runs MLIR's own verifiers of the given trait bits; they emit their diagnostics.
bool strata_verify_traits(MlirOperation op, uint64_t traits);
void strata_fold_attribute(void *sink, MlirAttribute attribute);
void strata_fold_value(void *sink, MlirValue value);
// Folds one op outside of a driver: calls `result(data, attribute, value)` (one of the two is null) per result.
bool strata_fold_op(MlirOperation op, void (*result)(void *data, MlirAttribute attribute, MlirValue value), void *data);

//===-- dialects -----------------------------------------------------------===//

// A type or an attribute with named parameters.
typedef struct StrataDataDef {
  MlirStringRef name; // with the dialect
  size_t numParams;
  MlirStringRef const *params;
  void *user;
  // Says what is wrong through `error`.
  bool (*verify)(void *user, intptr_t n, MlirAttribute const *params, MlirStringCallback error, void *data);
} StrataDataDef;

typedef struct StrataDialectDef {
  MlirStringRef name;
  size_t numOps;
  StrataOpDef const *ops;
  size_t numTypes;
  StrataDataDef const *types;
  size_t numAttrs;
  StrataDataDef const *attrs;
  size_t numDependents;
  MlirStringRef const *dependents; // dialects to load with this one
  void *user;
  // A new detached constant op, or null; may be null itself.
  MlirOperation (*materialize)(void *user, MlirContext context, MlirAttribute value, MlirType type, MlirLocation loc);
} StrataDialectDef;

// Adds the dialect to the registry. The same definition may be added to many registries.
// Returns false when all slots of the process are taken.
bool strata_register_dialect(MlirDialectRegistry registry, StrataDialectDef const *def);
// Types and attributes by their full name and verified parameters; null when their dialect is not loaded.
MlirType strata_type_get(MlirContext context, MlirStringRef name, intptr_t n, MlirAttribute const *params);
MlirAttribute strata_attr_get(MlirContext context, MlirStringRef name, intptr_t n, MlirAttribute const *params);
bool strata_type_is(MlirType type, MlirStringRef name);
bool strata_attr_is(MlirAttribute attr, MlirStringRef name);
// A parameter of a type or attribute of ours; null when there is none.
MlirAttribute strata_type_param(MlirType type, intptr_t index);
MlirAttribute strata_attr_param(MlirAttribute attr, intptr_t index);
void strata_register_upstream(MlirDialectRegistry registry, bool translations);
void strata_register_upstream_passes(void);

//===-- diagnostics ---------------------------------------------------------===//

// severity: 0 error, 1 warning, 2 remark. An error carries MLIR's "'x.y' op " prefix.
void strata_emit_at_op(MlirOperation op, int severity, MlirStringRef message, intptr_t numNotes,
                       MlirLocation const *noteLocs, MlirStringRef const *notes);
void strata_emit_at(MlirLocation loc, int severity, MlirStringRef message, intptr_t numNotes,
                    MlirLocation const *noteLocs, MlirStringRef const *notes);

//===-- remarks --------------------------------------------------------------===//

// Whether the context of the location has a remark engine.
bool strata_has_remark_engine(MlirLocation loc);
// Reports a missed optimisation to the engine, if there is one. The strings are copied.
void strata_remark_missed(MlirLocation loc, MlirStringRef category, MlirStringRef name, MlirStringRef function,
                          MlirStringRef reason);

//===-- passes ---------------------------------------------------------------===//

typedef struct StrataPass StrataPass; // a pass instance while it runs

enum StrataOptionKind { STRATA_BOOL, STRATA_INT, STRATA_FLOAT, STRATA_STRING, STRATA_INTS, STRATA_STRINGS };

typedef struct StrataOptionDef {
  MlirStringRef name;
  MlirStringRef description;
  int32_t kind;
  MlirStringRef initial; // as the user would write it
} StrataOptionDef;

typedef struct StrataPassDef {
  MlirStringRef name;     // the Rust type
  MlirStringRef argument; // on the command line
  MlirStringRef description;
  MlirStringRef anchor; // op name, or empty for any op
  size_t numOptions;
  StrataOptionDef const *options;
  void *user;
  void (*dependents)(void *user, MlirDialectRegistry registry); // may be null
  bool (*run)(void *user, MlirOperation op, StrataPass *pass);
} StrataPassDef;

void strata_register_pass(StrataPassDef const *def);
MlirPass strata_create_pass(StrataPassDef const *def);
// Registers the textual pipeline `text` under `argument`.
void strata_register_pipeline(MlirStringRef argument, MlirStringRef description, MlirStringRef text);
bool strata_pass_exists(MlirStringRef argument);

// Adds one to `count`, which outlives the manager, for each pass that it runs on an op.
void strata_count_passes(MlirPassManager manager, uint64_t *count);

// Option values of a running pass, by index into the definition's options.
bool strata_pass_bool(StrataPass *pass, size_t index);
int64_t strata_pass_int(StrataPass *pass, size_t index);
double strata_pass_float(StrataPass *pass, size_t index);
void strata_pass_string(StrataPass *pass, size_t index, MlirStringCallback sink, void *data);
void strata_pass_ints(StrataPass *pass, size_t index, void (*sink)(void *data, int64_t value), void *data);
void strata_pass_strings(StrataPass *pass, size_t index, MlirStringCallback sink, void *data);
// Runs a textual pipeline on `op` (the pass's op or one nested in it).
bool strata_pass_run_pipeline(StrataPass *pass, MlirStringRef text, MlirOperation op, MlirStringCallback error, void *data);
void strata_pass_preserve_all(StrataPass *pass);
void strata_pass_preserve(StrataPass *pass, void const *key);
// The cache cell of analysis `key` for `op`; it stays valid until the pass ends. `drop` frees what is stored.
void **strata_pass_analysis(StrataPass *pass, MlirOperation op, void const *key, void (*drop)(void *));

//===-- patterns --------------------------------------------------------------===//

typedef struct StrataPatternDef {
  MlirStringRef name;
  MlirStringRef root; // op name, or empty for any op
  uint32_t benefit;
  void *user;
  bool (*rewrite)(void *user, MlirOperation op, MlirRewriterBase rewriter);
  void (*drop)(void *user); // may be null
} StrataPatternDef;

void strata_add_pattern(MlirRewritePatternSet set, StrataPatternDef const *def);
void strata_add_canonicalization_patterns(MlirRewritePatternSet set, MlirStringRef opName, MlirContext context);

typedef struct StrataGreedyConfig {
  int64_t maxIterations; // -1: no limit
  int64_t maxRewrites;
  bool topDown;
  bool fold;
  int32_t strictness; // MlirGreedyRewriteStrictness
  int32_t simplifyRegions; // MlirGreedySimplifyRegionLevel
} StrataGreedyConfig;

// 0: did not converge, 1: converged without change, 2: converged with changes. Takes the set.
int32_t strata_apply_greedily(MlirOperation op, MlirRewritePatternSet set, StrataGreedyConfig const *config);
// Applies each pattern where it matches once, without fixed point. Takes the set.
void strata_walk_and_apply(MlirOperation op, MlirRewritePatternSet set);

//===-- dialect conversion -------------------------------------------------------===//

typedef struct StrataTypeConverter StrataTypeConverter;
typedef struct StrataTarget StrataTarget;

StrataTypeConverter *strata_type_converter_create(void);
void strata_type_converter_destroy(StrataTypeConverter *converter);
// The callback pushes result types; it returns 1 for done, 0 for "cannot be converted", -1 for "not mine".
void strata_type_converter_add(StrataTypeConverter *converter, void *user, void (*drop)(void *),
                               int32_t (*convert)(void *user, MlirType type, void *sink));
void strata_push_type(void *sink, MlirType type);
// How values of old and new types are cast where both kinds meet. The callback returns a detached op with one result of
// the type, or null; kind 0 casts back to source types, 1 casts to target types.
void strata_type_converter_materialize(StrataTypeConverter *converter, int32_t kind, void *user, void (*drop)(void *),
                                       MlirOperation (*build)(void *user, MlirType type, intptr_t n,
                                                              MlirValue const *inputs, MlirLocation loc));
bool strata_convert_type(StrataTypeConverter *converter, MlirType type, void (*sink)(void *data, MlirType type), void *data);
bool strata_is_legal_signature(StrataTypeConverter *converter, MlirOperation op);

StrataTarget *strata_target_create(MlirContext context);
void strata_target_destroy(StrataTarget *target);
// action: 0 legal, 1 illegal.
void strata_target_dialect(StrataTarget *target, MlirStringRef dialect, int32_t action);
void strata_target_op(StrataTarget *target, MlirStringRef op, int32_t action);
// The callback returns 1 legal, 0 illegal, -1 unknown. An empty op name means every op not named elsewhere.
void strata_target_dynamic(StrataTarget *target, MlirStringRef op, void *user, void (*drop)(void *),
                           int32_t (*legal)(void *user, MlirOperation op));
void strata_target_recursively_legal(StrataTarget *target, MlirStringRef op);

typedef struct StrataConversionPatternDef {
  MlirStringRef name;
  MlirStringRef root;
  uint32_t benefit;
  void *user;
  // `operands` holds the converted operands, `offsets[i]..offsets[i+1]` being those of operand i.
  bool (*rewrite)(void *user, MlirOperation op, intptr_t n, MlirValue const *operands, intptr_t const *offsets,
                  MlirRewriterBase rewriter);
  void (*drop)(void *user);
} StrataConversionPatternDef;

void strata_add_conversion_pattern(MlirRewritePatternSet set, StrataTypeConverter *converter,
                                   StrataConversionPatternDef const *def);
void strata_add_function_conversion(MlirRewritePatternSet set, StrataTypeConverter *converter, MlirStringRef opName);
void strata_add_structural_conversion(MlirRewritePatternSet set, StrataTypeConverter *converter, StrataTarget *target);
// Inside a conversion pattern only: converts the block arguments of `region`.
bool strata_convert_region_types(MlirRewriterBase rewriter, MlirRegion region, StrataTypeConverter *converter);
// Inside a conversion pattern only: result i of `op` becomes the values offsets[i]..offsets[i+1].
void strata_replace_with_multiple(MlirRewriterBase rewriter, MlirOperation op, intptr_t const *offsets,
                                  MlirValue const *values);
// Takes the set. `full` leaves no op that is not legal.
bool strata_apply_conversion(MlirOperation op, StrataTarget *target, MlirRewritePatternSet set, bool full);

//===-- tools -----------------------------------------------------------------------===//

// `check` looks at the input before it is parsed, reports what it refuses and returns false then.
// `crashed` reports a crash of the parser.
int strata_opt_main(int argc, char **argv, MlirStringRef name, MlirDialectRegistry registry,
                    bool (*check)(MlirStringRef file, MlirStringRef text), void (*crashed)(MlirStringRef file, int signal));
int strata_lsp_main(int argc, char **argv, MlirDialectRegistry registry, void (*crashed)(MlirStringRef file, int signal));
int strata_reduce_main(int argc, char **argv, MlirDialectRegistry registry);
int strata_translate_main(int argc, char **argv, MlirStringRef name);
void strata_register_upstream_translations(void);
// Pushes the name under which LLVM's tables have a CPU: its own, or for an alias (as `cobalt-100`) that of the CPU that it stands for.
void strata_resolve_cpu(MlirStringRef cpu, void *data, void (*push)(void *, MlirStringRef));

// Pushes the features that the instructions of a CPU of LLVM's tables need; false where LLVM has no target for the triple, or the
// target no such CPU. The target's machine code layer must be initialised.
bool strata_subtarget(MlirStringRef triple, MlirStringRef cpu, void *data, void (*push)(void *, MlirStringRef));

// Whether this process may use the tiles of matrix units (AMX): Linux is asked, and gives the room for them to all threads from then on.
bool strata_may_use_tiles(void);

// A translation from MLIR: `run` writes text with strata_write.
void strata_register_translation(MlirStringRef name, MlirStringRef description, void *user,
                                 void (*dialects)(void *user, MlirDialectRegistry registry),
                                 bool (*run)(void *user, MlirOperation op, void *out));
void strata_write(void *out, MlirStringRef text);
// Adds a boolean flag `--name` to the command line of the tools.
void strata_add_flag(MlirStringRef name, MlirStringRef description, void *user, void (*set)(void *user));

typedef struct StrataFileCheck {
  size_t numPrefixes;
  MlirStringRef const *prefixes;
  size_t numCommentPrefixes;
  MlirStringRef const *commentPrefixes;
  size_t numImplicitNots;
  MlirStringRef const *implicitNots;
  size_t numDefines;
  MlirStringRef const *defines;
  bool strictWhitespace, matchFullLines, ignoreCase, allowEmpty, allowUnusedPrefixes, enableVarScope,
      allowDeprecatedDagOverlap, verbose, veryVerbose;
} StrataFileCheck;

// 0: matched, 1: did not match, 2: the check file is wrong or an input is empty. Messages go to `sink`.
int strata_filecheck(StrataFileCheck const *request, MlirStringRef checkName, MlirStringRef checkText,
                     MlirStringRef inputName, MlirStringRef inputText, MlirStringCallback sink, void *data);

//===-- IR helpers the C API lacks ------------------------------------------------------===//

// Parses text or bytecode into a verified module; a list of top-level ops gets a module around it. Null on failure.
// `signal` is the one in which the parser crashed, or 0; then the context may hold its own locks and must neither be used nor freed.
MlirModule strata_parse_module(MlirContext context, MlirStringRef source, MlirStringRef name, int *signal);
typedef struct StrataDominance StrataDominance; // dominator trees of the regions in an op, made when first asked for
StrataDominance *strata_dominance_create(MlirOperation scope);
void strata_dominance_destroy(StrataDominance *dominance);
bool strata_value_dominates(StrataDominance *dominance, MlirValue value, MlirOperation user);
bool strata_op_properly_dominates(StrataDominance *dominance, MlirOperation a, MlirOperation b);
bool strata_is_memory_effect_free(MlirOperation op);
bool strata_is_speculatable(MlirOperation op);
bool strata_has_trait(MlirOperation op, uint64_t trait);
bool strata_is_trivially_dead(MlirOperation op);
// Clones with a mapping: values in from[i] become to[i].
MlirOperation strata_clone_mapped(MlirOperation op, intptr_t n, MlirValue const *from, MlirValue const *to);
// The callable of a call op inside the nearest symbol table, or null.
MlirOperation strata_resolve_call(MlirOperation call);
// Symbol uses of `symbol` nested in `from`; false when they cannot be known.
bool strata_symbol_uses(MlirOperation symbol, MlirOperation from, void (*sink)(void *data, MlirOperation user), void *data);
MlirLocation strata_fuse_locations(MlirContext context, intptr_t n, MlirLocation const *locs);

} // extern "C"

#endif // STRATA_H
