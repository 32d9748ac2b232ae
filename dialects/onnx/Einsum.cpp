//===- Einsum.cpp - the equation of an Einsum ------------------------------===//
#include "optc/dialects/onnx/Einsum.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;
using namespace optc;

namespace {
/// A term as written: letters, with '.' for the ellipsis.
using Term = SmallString<16>;
} // namespace

static Error fail(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

static Expected<Term> parseTerm(StringRef text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (isSpace(text[i]))
      continue;
    if (text.substr(i).starts_with("...")) {
      if (StringRef(term).contains('.'))
        return fail("the term '" + text.trim() + "' has two ellipses");
      term += '.';
      i += 2;
      continue;
    }
    if (!isAlpha(text[i]))
      return fail("'" + Twine(text[i]) + "' is not a label");
    term += text[i];
  }
  return term;
}

Expected<EinsumEquation> optc::parseEinsum(StringRef equation, ArrayRef<int64_t> ranks) {
  auto [left, right] = equation.split("->");
  bool explicitOutput = equation.contains("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  if (texts.size() != ranks.size())
    return fail("the equation '" + equation + "' has " + Twine(texts.size()) + " terms for " + Twine(ranks.size()) +
                " inputs");
  SmallVector<Term> terms;
  std::map<char, unsigned> uses; // ordered: the implicit output is alphabetical
  size_t ellipsis = 0;
  bool anyEllipsis = false;
  for (auto [text, rank] : zip(texts, ranks)) {
    Expected<Term> term = parseTerm(text);
    if (!term)
      return term.takeError();
    size_t letters = term->size() - StringRef(*term).count('.');
    bool open = letters != term->size();
    if (open ? letters > size_t(rank) : letters != size_t(rank))
      return fail("the term '" + text.trim() + "' of '" + equation + "' does not fit an input of rank " + Twine(rank));
    anyEllipsis |= open;
    if (open)
      ellipsis = std::max(ellipsis, size_t(rank) - letters);
    for (char c : *term)
      if (c != '.')
        ++uses[c];
    terms.push_back(std::move(*term));
  }
  Term output;
  if (explicitOutput) {
    Expected<Term> term = parseTerm(right);
    if (!term)
      return term.takeError();
    output = std::move(*term);
  } else {
    if (anyEllipsis)
      output += '.';
    for (auto [c, count] : uses)
      if (count == 1)
        output += c;
  }

  EinsumEquation result;
  result.numEllipsis = ellipsis;
  std::map<char, unsigned> labels;
  for (auto [c, count] : uses)
    labels[c] = ellipsis + labels.size();
  result.numLabels = ellipsis + labels.size();
  for (auto [term, rank] : zip(terms, ranks)) {
    auto &axes = result.inputs.emplace_back();
    size_t width = rank - (term.size() - StringRef(term).count('.'));
    for (char c : term) {
      if (c != '.') {
        axes.push_back(labels[c]);
        continue;
      }
      for (size_t i = 0; i < width; ++i)
        axes.push_back(ellipsis - width + i);
    }
  }
  for (char c : output) {
    if (c == '.') {
      for (size_t i = 0; i < ellipsis; ++i)
        result.output.push_back(i);
      continue;
    }
    auto it = labels.find(c);
    if (it == labels.end())
      return fail("the output of '" + equation + "' has the label '" + Twine(c) + "', which no input has");
    if (is_contained(result.output, it->second))
      return fail("the output of '" + equation + "' has the label '" + Twine(c) + "' twice");
    result.output.push_back(it->second);
  }
  return result;
}
