// filecheck.cpp: LLVM's own FileCheck on two texts in memory.
#include "strata.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/FileCheck/FileCheck.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::FileCheck, llvm::FileCheckRequest, llvm::MemoryBuffer, llvm::Regex, llvm::SMDiagnostic, llvm::SMLoc, llvm::SourceMgr, llvm::raw_string_ostream;

static void copy(std::vector<StringRef> &to, size_t n, MlirStringRef const *from) {
  for (size_t i = 0; i < n; ++i)
    to.push_back(unwrap(from[i]));
}

struct Sink {
  MlirStringCallback callback;
  void *data;
};

static void report(SMDiagnostic const &diagnostic, void *context) {
  std::string text;
  raw_string_ostream stream(text);
  diagnostic.print(nullptr, stream, /*ShowColors=*/false);
  auto *sink = static_cast<Sink *>(context);
  sink->callback(wrap(StringRef(text)), sink->data);
}

int strata_filecheck(StrataFileCheck const *request, MlirStringRef checkName, MlirStringRef checkText,
                     MlirStringRef inputName, MlirStringRef inputText, MlirStringCallback callback, void *data) {
  Sink sink{callback, data};
  auto say = [&](StringRef text) { callback(wrap(text), data); };
  FileCheckRequest options;
  copy(options.CheckPrefixes, request->numPrefixes, request->prefixes);
  copy(options.CommentPrefixes, request->numCommentPrefixes, request->commentPrefixes);
  copy(options.ImplicitCheckNot, request->numImplicitNots, request->implicitNots);
  copy(options.GlobalDefines, request->numDefines, request->defines);
  options.NoCanonicalizeWhiteSpace = request->strictWhitespace;
  options.MatchFullLines = request->matchFullLines;
  options.IgnoreCase = request->ignoreCase;
  options.AllowEmptyInput = request->allowEmpty;
  options.AllowUnusedPrefixes = request->allowUnusedPrefixes;
  options.EnableVarScope = request->enableVarScope;
  options.AllowDeprecatedDagOverlap = request->allowDeprecatedDagOverlap;
  options.Verbose = request->verbose;
  options.VerboseVerbose = request->veryVerbose;
  if (options.CheckPrefixes.empty()) {
    options.CheckPrefixes.push_back("CHECK");
    options.IsDefaultCheckPrefix = true;
  }
  if (options.CommentPrefixes.empty()) {
    options.CommentPrefixes.push_back("COM");
    options.CommentPrefixes.push_back("RUN");
  }

  FileCheck check(options);
  if (!check.ValidateCheckPrefixes())
    return say("error: a prefix is empty, used twice or holds other characters than letters, digits, '-' and '_'\n"), 2;
  SourceMgr sources;
  sources.setDiagHandler(report, &sink);
  // The canonical text lives in a string; the source manager only looks at it, so locations stay valid.
  SmallString<4096> checkBuffer, inputBuffer;
  auto add = [&](MlirStringRef name, MlirStringRef text, SmallVectorImpl<char> &buffer) {
    auto raw = MemoryBuffer::getMemBufferCopy(unwrap(text), unwrap(name));
    StringRef canonical = check.CanonicalizeFile(*raw, buffer);
    sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(canonical, unwrap(name)), SMLoc());
    return canonical;
  };
  StringRef checks = add(checkName, checkText, checkBuffer);
  if (check.readCheckFile(sources, checks))
    return 2;
  if (unwrap(inputText).empty() && !options.AllowEmptyInput)
    return say("error: the input is empty; --allow-empty accepts that\n"), 2;
  StringRef input = add(inputName, inputText, inputBuffer);
  return check.checkInput(sources, input) ? 0 : 1;
}
