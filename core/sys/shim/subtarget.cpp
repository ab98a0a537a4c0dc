// subtarget.cpp: LLVM's tables of CPUs and of what they have.
#include "support.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include <memory>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace mlir;
using llvm::FeatureBitset, llvm::MCSubtargetInfo, llvm::SubtargetFeatureKV, llvm::SubtargetSubTypeKV, llvm::TargetRegistry;

void strata_resolve_cpu(MlirStringRef cpu, void *data, void (*push)(void *, MlirStringRef)) {
  push(data, wrap(llvm::AArch64::resolveCPUAlias(unwrap(cpu))));
}

bool strata_subtarget(MlirStringRef triple, MlirStringRef cpu, void *data, void (*push)(void *, MlirStringRef)) {
  std::string error;
  llvm::Triple parsed(unwrap(triple));
  const llvm::Target *target = TargetRegistry::lookupTarget(parsed, error);
  if (!target)
    return false;
  std::unique_ptr<MCSubtargetInfo> info(target->createMCSubtargetInfo(parsed, "", ""));
  if (!info)
    return false;
  for (const SubtargetSubTypeKV &known : info->getAllProcessorDescriptions()) {
    if (unwrap(cpu) != known.Key)
      continue;
    // What its instructions need, and not what it is tuned for; a feature brings those that it implies.
    FeatureBitset has = known.Implies.getAsBitset(), before;
    while (has != before) {
      before = has;
      for (const SubtargetFeatureKV &feature : info->getAllProcessorFeatures())
        if (has.test(feature.Value))
          has |= feature.Implies.getAsBitset();
    }
    for (const SubtargetFeatureKV &feature : info->getAllProcessorFeatures())
      if (has.test(feature.Value))
        push(data, wrap(StringRef(feature.Key)));
    return true;
  }
  return false;
}

bool strata_may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  // From Linux's asm/prctl.h and asm/fpu/types.h, which older headers lack.
  constexpr long ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILE_DATA = 18;
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA) == 0;
#else
  return false;
#endif
}
