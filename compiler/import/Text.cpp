//===- Text.cpp - words for messages about models -------------------------===//
#include "optc/compiler/import/Text.h"
#include "optc/compiler/import/Import.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

std::string optc::import::quoted(StringRef name) {
  constexpr size_t longest = 120;
  std::string out = "'";
  // Not in the middle of a character of UTF-8.
  size_t shown = std::min(longest, name.size());
  while (shown < name.size() && shown > 0 && (name[shown] & 0xc0) == 0x80)
    --shown;
  for (char c : name.take_front(shown)) {
    unsigned char u = c;
    if (u < 0x20 || u == 0x7f) {
      out += "\\x";
      out += hexdigit(u >> 4);
      out += hexdigit(u & 15);
    } else {
      out += c;
    }
  }
  out += name.size() > longest ? "'..." : "'";
  return out;
}

std::string optc::import::didYouMean(StringRef name, ArrayRef<StringRef> candidates) {
  StringRef best;
  // A third of the letters may differ, and two swapped ones.
  unsigned bestDistance = std::min<size_t>(name.size(), 64) / 3 + 2;
  if (name.size() > 200)
    return "";
  for (StringRef c : candidates) {
    if (c.empty() || c.size() > 200)
      continue;
    unsigned distance = c.equals_insensitive(name) ? 0 : name.edit_distance(c, true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = c;
    }
  }
  return best.empty() ? "" : " (did you mean " + quoted(best) + "?)";
}

std::string optc::import::listed(ArrayRef<std::string> items) {
  std::string out;
  for (auto [i, item] : llvm::enumerate(items)) {
    if (i)
      out += i + 1 == items.size() ? " and " : ", ";
    out += item;
  }
  return out;
}

void optc::Problems::add(const Twine &sentence) {
  constexpr size_t most = 100;
  ++total;
  if (sentences.size() < most)
    sentences.push_back(sentence.str());
}
