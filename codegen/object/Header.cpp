//===- Header.cpp - the C99 header of a model -----------------------------===//
#include "optc/codegen/object/Artifact.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>

using namespace llvm;
using namespace optc;

namespace {
struct CType {
  StringLiteral name;
  unsigned bits; ///< of an element in a caller's buffer
};
} // namespace

/// By ONNX element type. Types that C lacks travel as integers of their size, packed types as bytes.
static constexpr CType kTypes[] = {
    {"", 0},          {"float", 32},    {"uint8_t", 8}, {"int8_t", 8},   {"uint16_t", 16}, {"int16_t", 16},
    {"int32_t", 32},  {"int64_t", 64},  {"", 128},      {"uint8_t", 8},  {"uint16_t", 16}, {"double", 64},
    {"uint32_t", 32}, {"uint64_t", 64}, {"float", 64},  {"double", 128}, {"uint16_t", 16}, {"uint8_t", 8},
    {"uint8_t", 8},   {"uint8_t", 8},   {"uint8_t", 8}, {"uint8_t", 4},  {"uint8_t", 4},   {"uint8_t", 4},
    {"uint8_t", 8},   {"uint8_t", 2},   {"uint8_t", 2},
};

static CType typeOf(const SignatureValue &v) {
  return v.dtype > 0 && v.dtype < static_cast<int>(std::size(kTypes)) ? kTypes[v.dtype] : kTypes[0];
}

static bool isStatic(const SignatureValue &v) {
  return v.kind == 0 && v.rank >= 0 && llvm::all_of(v.dims, [](int64_t d) { return d >= 0; });
}

/// ONNX names may hold anything: as C text.
static std::string quoted(StringRef s) {
  std::string text = "\"";
  for (unsigned char c : s) {
    if (c == '"' || c == '\\')
      text += {'\\', static_cast<char>(c)};
    else if (c >= 0x20 && c < 0x7f && c != '?') // "??" may start a trigraph
      text += static_cast<char>(c);
    else { // three octal digits end by themselves
      text += '\\';
      for (int shift : {6, 3, 0})
        text += static_cast<char>('0' + ((c >> shift) & 7));
    }
  }
  return text + '"';
}

/// ONNX names in comments: nothing that could end one.
static std::string commentText(StringRef s) {
  std::string text;
  for (char c : s)
    text += isAlnum(c) || StringRef("_.-:,[]()<> ").contains(c) ? c : '_';
  return text;
}

/// Distinct C identifiers for the parameters of the typed function.
static std::vector<std::string> parameterNames(const ModelSignature &signature) {
  std::vector<std::string> names;
  auto add = [&](ArrayRef<SignatureValue> values, StringRef prefix) {
    for (auto [i, v] : llvm::enumerate(values)) {
      std::string name = (prefix + Twine(i)).str();
      std::string suffix;
      for (char c : v.name)
        suffix += isAlnum(c) ? c : '_';
      names.push_back(suffix.empty() ? name : name + "_" + suffix);
    }
  };
  add(signature.inputs, "in");
  add(signature.outputs, "out");
  return names;
}

static void emitValue(raw_ostream &os, StringRef prefix, const SignatureValue &v, ArrayRef<std::string> symbols) {
  os << "#define " << prefix << "_NAME " << quoted(v.name) << "\n";
  os << "#define " << prefix << "_DTYPE " << v.dtype << "\n";
  os << "#define " << prefix << "_RANK " << v.rank << "\n";
  if (v.hasDefault())
    os << "#define " << prefix << "_OPTIONAL 1 /* null: the model's default */\n";
  if (v.rank > 0) {
    os << "#define " << prefix << "_SHAPE {";
    for (auto [i, d] : llvm::enumerate(v.dims))
      os << (i ? ", " : "") << (d >= 0 ? d : -1);
    os << "}";
    std::string notes;
    for (int64_t d : v.dims)
      if (d < 0 && d != INT64_MIN && static_cast<size_t>(-1 - d) < symbols.size())
        notes += (notes.empty() ? "" : ", ") + commentText(symbols[-1 - d]);
    if (!notes.empty())
      os << " /* -1: " << notes << " */";
    os << "\n";
  }
  if (isStatic(v) && typeOf(v).bits && !typeOf(v).name.empty()) {
    uint64_t count = 1;
    for (int64_t d : v.dims)
      count *= d;
    os << "#define " << prefix << "_ELEMENTS " << count << "u\n";
    os << "#define " << prefix << "_BYTES " << (count * typeOf(v).bits + 7) / 8 << "u\n";
  }
}

std::string optc::generateHeader(const ModelSignature &signature, ArtifactKind kind) {
  std::string text;
  raw_string_ostream os(text);
  const std::string &name = signature.name;
  std::string upper = StringRef(name).upper();
  bool shared = kind == ArtifactKind::SharedObject;
  os << "/* " << name << ".h - made by optc together with the model. */\n"
     << "#ifndef " << upper << "_H\n#define " << upper << "_H\n#include <stddef.h>\n#include <stdint.h>\n";
  if (!shared)
    os << "#include \"optc/runtime/artifact.h\"\n";
  os << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";

  os << "#define " << upper << "_NUM_INPUTS " << signature.inputs.size() << "\n";
  os << "#define " << upper << "_NUM_OUTPUTS " << signature.outputs.size() << "\n";
  os << "/* Bytes of working memory that a context holds besides buffers of sizes known only at run time. */\n";
  os << "#define " << upper << "_ARENA_BYTES " << signature.arenaBytes << "\n\n";
  for (auto [i, v] : llvm::enumerate(signature.inputs))
    emitValue(os, (upper + "_INPUT" + Twine(i)).str(), v, signature.symbols);
  for (auto [i, v] : llvm::enumerate(signature.outputs))
    emitValue(os, (upper + "_OUTPUT" + Twine(i)).str(), v, signature.symbols);

  if (shared) {
    os << "\n/* The layout of optc_error in optc/runtime/optc.h. */\n"
       << "typedef struct " << name << "_error { int32_t status; char message[1020]; } " << name << "_error;\n"
       << "typedef struct optc_host " << name << "_context;\n"
       << "/* What optc/runtime/optc.h calls optc_query: the whole interface of the runtime inside this artifact. */\n"
       << "const struct optc_api *" << name << "_optc_query(uint32_t abi);\n"
       << "/* A context serves one run at a time. `threads` 0 or 1: everything on the calling thread. Returns 0, or a "
          "status and fills `error` (may be null). */\n"
       << "int32_t " << name << "_create(int32_t threads, " << name << "_context **context, " << name
       << "_error *error);\n"
       << "/* Contiguous buffers in the order above; a null output is replaced by memory of the context. Inputs "
          "that are _OPTIONAL may be null. Dims may be null where all sizes are static. */\n"
       << "int32_t " << name << "_run(" << name
       << "_context *context, const void *const *inputs, const int64_t *const *input_dims,\n"
       << "    void **outputs, const int64_t *const *output_dims, " << name << "_error *error);\n"
       << "void " << name << "_destroy(" << name << "_context *context);\n";
  } else {
    os << "\nextern const optc_model_desc " << name << "_descriptor;\n"
       << "typedef optc_error " << name << "_error;\n"
       << "typedef optc_context " << name << "_context;\n"
       << "static inline int32_t " << name << "_create(int32_t threads, " << name << "_context **context, " << name
       << "_error *error) {\n"
       << "  return optc_desc_create(&" << name << "_descriptor, threads, context, error);\n}\n"
       << "static inline int32_t " << name << "_run(" << name
       << "_context *context, const void *const *inputs, const int64_t *const *input_dims,\n"
       << "    void **outputs, const int64_t *const *output_dims, " << name << "_error *error) {\n"
       << "  return optc_desc_run(context, inputs, input_dims, outputs, output_dims, error);\n}\n"
       << "static inline void " << name << "_destroy(" << name
       << "_context *context) { optc_desc_destroy(context); }\n";
  }

  auto typed = [](const SignatureValue &v) { return isStatic(v) && !typeOf(v).name.empty(); };
  size_t numInputs = signature.inputs.size(), numOutputs = signature.outputs.size();
  if (llvm::all_of(signature.inputs, typed) && llvm::all_of(signature.outputs, typed) && numInputs + numOutputs > 0) {
    std::vector<std::string> names = parameterNames(signature);
    os << "\n/* One run with static shapes. */\nstatic inline int32_t " << name << "_infer(" << name
       << "_context *context";
    for (auto [i, v] : llvm::enumerate(signature.inputs))
      os << ",\n    const " << typeOf(v).name << " *" << names[i];
    for (auto [i, v] : llvm::enumerate(signature.outputs))
      os << ",\n    " << typeOf(v).name << " *" << names[numInputs + i];
    os << ",\n    " << name << "_error *error) {\n";
    os << "  const void *inputs[" << std::max<size_t>(numInputs, 1) << "];\n  void *outputs["
       << std::max<size_t>(numOutputs, 1) << "];\n";
    for (size_t i = 0; i < numInputs; ++i)
      os << "  inputs[" << i << "] = " << names[i] << ";\n";
    for (size_t i = 0; i < numOutputs; ++i)
      os << "  outputs[" << i << "] = " << names[numInputs + i] << ";\n";
    os << "  return " << name << "_run(context, inputs, NULL, outputs, NULL, error);\n}\n";
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}
