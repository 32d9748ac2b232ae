//===- Types.cpp - types of the onnx dialect -------------------------------===//
#include "optc/dialects/onnx/Types.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace optc::onnx;

#define GET_TYPEDEF_CLASSES
#include "optc/dialects/onnx/OnnxTypes.cpp.inc"

void OnnxDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "optc/dialects/onnx/OnnxTypes.cpp.inc"
      >();
}

namespace {
struct DataType {
  int number;
  const char *name;
  Type (*make)(MLIRContext *);
};
template <unsigned Width, IntegerType::SignednessSemantics Sign> Type integer(MLIRContext *ctx) {
  return IntegerType::get(ctx, Width, Sign);
}
template <typename T> Type plain(MLIRContext *ctx) { return T::get(ctx); }
template <typename T> Type complex(MLIRContext *ctx) { return ComplexType::get(T::get(ctx)); }
constexpr auto Signed = IntegerType::Signless;
constexpr auto Unsigned = IntegerType::Unsigned;

const DataType dataTypes[] = {
    {1, "float", plain<Float32Type>},
    {2, "uint8", integer<8, Unsigned>},
    {3, "int8", integer<8, Signed>},
    {4, "uint16", integer<16, Unsigned>},
    {5, "int16", integer<16, Signed>},
    {6, "int32", integer<32, Signed>},
    {7, "int64", integer<64, Signed>},
    {8, "string", plain<StringType>},
    {9, "bool", integer<1, Signed>},
    {10, "float16", plain<Float16Type>},
    {11, "double", plain<Float64Type>},
    {12, "uint32", integer<32, Unsigned>},
    {13, "uint64", integer<64, Unsigned>},
    {14, "complex64", complex<Float32Type>},
    {15, "complex128", complex<Float64Type>},
    {16, "bfloat16", plain<BFloat16Type>},
    {17, "float8e4m3fn", plain<Float8E4M3FNType>},
    {18, "float8e4m3fnuz", plain<Float8E4M3FNUZType>},
    {19, "float8e5m2", plain<Float8E5M2Type>},
    {20, "float8e5m2fnuz", plain<Float8E5M2FNUZType>},
    {21, "uint4", integer<4, Unsigned>},
    {22, "int4", integer<4, Signed>},
    {23, "float4e2m1", plain<Float4E2M1FNType>},
    {24, "float8e8m0", plain<Float8E8M0FNUType>},
    {25, "uint2", integer<2, Unsigned>},
    {26, "int2", integer<2, Signed>},
    {27, "float6e2m3", plain<Float6E2M3FNType>},
    {28, "float6e3m2", plain<Float6E3M2FNType>},
};

const DataType *find(Type elementType) {
  for (const DataType &t : dataTypes)
    if (t.make(elementType.getContext()) == elementType)
      return &t;
  return nullptr;
}
} // namespace

int optc::onnx::dataTypeOf(Type elementType) {
  const DataType *t = find(elementType);
  return t ? t->number : 0;
}

StringRef optc::onnx::dataTypeName(Type elementType) {
  const DataType *t = find(elementType);
  return t ? StringRef(t->name) : StringRef("unknown");
}

Type optc::onnx::elementTypeOf(MLIRContext *ctx, int dataType) {
  for (const DataType &t : dataTypes)
    if (t.number == dataType)
      return t.make(ctx);
  return Type();
}

static bool isTensor(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && dataTypeOf(tensor.getElementType());
}

bool optc::onnx::allowed(Type type, uint64_t mask) {
  if (auto tensor = dyn_cast<TensorType>(type)) {
    int number = dataTypeOf(tensor.getElementType());
    return number && (mask >> number & 1);
  }
  if (auto seq = dyn_cast<SeqType>(type))
    return mask & (isa<MapType>(seq.getElementType()) ? MaskSeqMap : MaskSeq);
  if (auto opt = dyn_cast<OptType>(type))
    return mask & (isa<SeqType>(opt.getElementType()) ? MaskOptSeq : MaskOpt);
  return isa<MapType>(type) && (mask & MaskMap);
}

LogicalResult SeqType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType) {
  if (isTensor(elementType) || isa<SeqType, OptType, MapType>(elementType))
    return success();
  return emitError() << "a sequence holds tensors, sequences, optionals or maps, not " << elementType;
}

LogicalResult OptType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType) {
  if (isTensor(elementType) || isa<SeqType>(elementType))
    return success();
  return emitError() << "an optional holds a tensor or a sequence, not " << elementType;
}

LogicalResult MapType::verify(function_ref<InFlightDiagnostic()> emitError, Type keyType, Type valueType) {
  if (!isa<StringType>(keyType) && !keyType.isInteger())
    return emitError() << "the keys of a map are integers or strings, not " << keyType;
  if (!isTensor(valueType) && !isa<SeqType, OptType, MapType>(valueType))
    return emitError() << "a map holds tensors, sequences, optionals or maps, not " << valueType;
  return success();
}
