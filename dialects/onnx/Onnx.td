//===- Onnx.td - base of the onnx dialect ---------------------------------===//
//
// The dialect, its types, its type constraint and the ops written by hand. OnnxOps.td, generated from the ONNX
// schemas, includes this file.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_ONNX_BASE
#define OPTC_ONNX_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::optc::onnx";
  let summary = "ONNX operators at their newest versions";
  let description = [{
    One op per operator of the domains ai.onnx (`onnx.X`), ai.onnx.ml (`onnx.ml.X`), the previews (`onnx.preview.X`)
    and com.microsoft (`onnx.ms.X`). Attributes and operands keep their ONNX names. Absent optional operands and
    results are empty segments; OpTable.h maps them back to ONNX positions.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void registerTypes();";
}

class Onnx_TypeDef<string cls, string name> : TypeDef<Onnx_Dialect, cls> {
  let mnemonic = name;
}

def Onnx_StringType : Onnx_TypeDef<"String", "string"> {
  let summary = "an ONNX string, as element type of a tensor";
}
def Onnx_SeqType : Onnx_TypeDef<"Seq", "seq"> {
  let summary = "a sequence of tensors or maps";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}
def Onnx_OptType : Onnx_TypeDef<"Opt", "opt"> {
  let summary = "an optional tensor or sequence";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}
def Onnx_MapType : Onnx_TypeDef<"Map", "map"> {
  let summary = "a map from int64 or string to a tensor";
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $keyType `,` $valueType `>`";
  let genVerifyDecl = 1;
}

// A set of types as a bit mask, see allowed() in Types.h.
class Onnx_Type<string mask, string summary> :
    Type<CPred<"::optc::onnx::allowed($_self, " # mask # "ULL)">, summary, "::mlir::Type">;

class Onnx_Op<string mnemonic, list<Trait> traits> : Op<Onnx_Dialect, mnemonic, traits> {
  // One builder for all ops: operands and result types by ONNX position, null when absent.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<::mlir::Type>":$types, "::llvm::ArrayRef<::mlir::Value>":$operands,
      CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attributes),
      [{ (void)::optc::onnx::fillState($_state, types, operands, attributes); }]>];
}

def Onnx_ConstantOp : Onnx_Op<"Constant", [Pure, ConstantLike]> {
  let summary = "a constant tensor: weights, initializers and the operator Constant";
  let description = [{
    ```mlir
    %0 = onnx.Constant dense<[1, 2]> : tensor<2xi64>
    %1 = onnx.Constant dense_resource<w> : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value)>];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Onnx_YieldOp : Onnx_Op<"Yield", [Pure, Terminator]> {
  let summary = "the outputs of a subgraph";
  let arguments = (ins Variadic<AnyType>:$outputs);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$outputs), [{ $_state.addOperands(outputs); }]>];
}

#endif
