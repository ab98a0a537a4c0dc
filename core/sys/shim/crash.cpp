// crash.cpp: a crash of MLIR's parser ends the parsing, not the process.
#include "support.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <mutex>

// LLVM's switch is one for the process, and several threads parse.
static std::mutex parsersMutex;
static int parsers = 0;

strata::ParserWatch::ParserWatch() {
  std::lock_guard<std::mutex> guard(parsersMutex);
  if (parsers++ == 0)
    llvm::CrashRecoveryContext::Enable();
}

void strata::ParserWatch::end() {
  if (std::exchange(ended, true))
    return;
  std::lock_guard<std::mutex> guard(parsersMutex);
  if (--parsers == 0)
    llvm::CrashRecoveryContext::Disable();
}

int strata::runGuarded(llvm::function_ref<void()> call) {
  llvm::CrashRecoveryContext recovery;
  recovery.DumpStackAndCleanupOnFailure = true;
  // As a shell counts: 128 and the signal.
  return recovery.RunSafely(call) ? 0 : recovery.RetCode - 128;
}
