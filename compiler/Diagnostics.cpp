//===- Diagnostics.cpp - problems, as lines for people and scripts --------===//
#include "optc/compiler/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace optc;

/// More than this helps nobody.
static constexpr size_t kMaxPrinted = 50;

void Diagnostics::print(StringRef kind, StringRef sentence) {
  if (kind == "error") {
    if (!seen.insert(sentence).second)
      return;
    errors.push_back(sentence.str());
    if (errors.size() == kMaxPrinted + 1)
      *os << "optc: note: more problems are not shown; --json lists all\n";
    if (errors.size() > kMaxPrinted)
      return;
  }
  *os << "optc: " << kind << ": " << sentence << "\n";
  os->flush();
}

ExitCode Diagnostics::report(llvm::Error error) {
  ExitCode code = ExitCode::Success;
  auto first = [&](ExitCode c) { code = code == ExitCode::Success ? c : code; };
  llvm::handleAllErrors(
      std::move(error),
      [&](const CompileError &e) {
        first(e.code());
        if (!e.message().empty()) // empty: printed before
          this->error(e.message());
      },
      [&](const llvm::ErrorInfoBase &e) {
        first(ExitCode::Internal);
        this->error(e.message());
      });
  return code;
}

std::string optc::nodeName(Location location) {
  return llvm::TypeSwitch<LocationAttr, std::string>(location)
      .Case([](NameLoc l) { return l.getName().str(); })
      .Case([](FileLineColLoc l) {
        return (l.getFilename().getValue() + ":" + Twine(l.getLine()) + ":" + Twine(l.getColumn())).str();
      })
      .Case([](CallSiteLoc l) { return nodeName(l.getCallee()); })
      .Case([](OpaqueLoc l) { return nodeName(l.getFallbackLocation()); })
      .Case([](FusedLoc l) {
        for (Location part : l.getLocations())
          if (std::string name = nodeName(part); !name.empty())
            return name;
        return std::string();
      })
      .Default([](LocationAttr) { return std::string(); });
}

DiagnosticScope::DiagnosticScope(MLIRContext *context, Diagnostics &diagnostics)
    : handler(context, [&diagnostics](Diagnostic &diagnostic) {
        std::string text = diagnostic.str(), place = nodeName(diagnostic.getLocation());
        bool inFile = isa<FileLineColLoc>(diagnostic.getLocation());
        if (!place.empty() && !StringRef(text).contains("'" + place + "'"))
          text = (inFile ? place : "node '" + place + "'") + ": " + text;
        switch (diagnostic.getSeverity()) {
        case DiagnosticSeverity::Error:
          diagnostics.error(text);
          break;
        case DiagnosticSeverity::Warning:
          diagnostics.warning(text);
          break;
        default: // remarks of passes are for their developers
          return success();
        }
        for (Diagnostic &note : diagnostic.getNotes())
          if (!StringRef(note.str()).starts_with("see current operation")) // IR, not for users
            diagnostics.note(note.str());
        return success();
      }) {}
