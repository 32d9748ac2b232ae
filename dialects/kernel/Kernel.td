//===- Kernel.td - dispatches, the host program, and its services ---------===//
//
// Two levels live in this dialect. On tensors: `kernel.dispatch` regions,
// views, irregular (library) operators and run-time checks. From `plan` on, on
// pointers: what the host program asks of the runtime (runtime/dispatch.h).
//===----------------------------------------------------------------------===//
#ifndef OPTC_KERNEL_TD
#define OPTC_KERNEL_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def KernelDialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::optc::kernel";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
}

def Ptr : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "pointer">,
          BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

class KernelOp<string mnemonic, list<Trait> traits = []> : Op<KernelDialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

def KernelValueType : TypeDef<KernelDialect, "Value"> {
  let mnemonic = "value";
  let summary = "a run-time value of the library: a sequence, a list, an optional, a tensor of unknown rank";
}

def KernelStringType : TypeDef<KernelDialect, "String"> {
  let mnemonic = "string";
  let summary = "element type of string tensors: pointer and length, 16 bytes";
}

class LibraryCase<string name, int value> : I32EnumAttrCase<name, value>;
def LibraryOps : I32EnumAttr<"LibraryFn", "irregular operators of the runtime: optc_op_<name>", [
    LibraryCase<"topk", 0>, LibraryCase<"nonzero", 1>, LibraryCase<"unique", 2>, LibraryCase<"nms", 3>,
    LibraryCase<"sequence_empty", 4>, LibraryCase<"sequence_construct", 5>, LibraryCase<"sequence_insert", 6>,
    LibraryCase<"sequence_erase", 7>, LibraryCase<"sequence_at", 8>, LibraryCase<"sequence_length", 9>,
    LibraryCase<"concat_from_sequence", 10>, LibraryCase<"split_to_sequence", 11>,
    LibraryCase<"list_append", 12>, LibraryCase<"list_stack", 13>, LibraryCase<"compress", 14>,
    LibraryCase<"random", 15>, LibraryCase<"multinomial", 16>, LibraryCase<"string_equal", 17>,
    LibraryCase<"string_concat", 18>, LibraryCase<"string_split", 19>, LibraryCase<"string_normalizer", 20>,
    LibraryCase<"regex_full_match", 21>, LibraryCase<"tfidf", 22>, LibraryCase<"label_encoder", 23>,
    LibraryCase<"cast_to_string", 24>, LibraryCase<"cast_from_string", 25>, LibraryCase<"list_new", 26>,
    LibraryCase<"list_concat", 27>, LibraryCase<"string_gather", 28>,
    LibraryCase<"value_copy", 29>, LibraryCase<"value_exists", 30>, LibraryCase<"string_constant", 31>]> {
  let cppNamespace = "::optc::kernel";
  let genSpecializedAttr = 0;
}
def LibraryFnAttr : EnumAttr<KernelDialect, LibraryOps, "fn">;

def KernelStrategyAttr : AttrDef<KernelDialect, "Strategy"> {
  let mnemonic = "strategy";
  let summary = "how `configure` wants a dispatch to be generated; everything after reads only this";
  let description = [{
    `family` is the emitter. The dimensions of the first result, from the first
    on, form groups of `groups[i]` consecutive ones; a tile covers `tiles[i]`
    elements of the flattened group (0: all of it; dimensions that no group
    names are not cut either). Tiles are numbered row-major over the groups.
    `blocks` are the sizes of the family's inner code (Strategy.h), `scratch`
    the bytes a worker needs, `reason` says why, for the report.
  }];
  let parameters = (ins "::mlir::StringAttr":$family, "::mlir::DenseI64ArrayAttr":$groups,
                        "::mlir::DenseI64ArrayAttr":$tiles, "::mlir::DenseI64ArrayAttr":$blocks,
                        "int64_t":$scratch, "::mlir::StringAttr":$reason);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def KernelPackingAttr : AttrDef<KernelDialect, "Packing"> {
  let mnemonic = "packing";
  let summary = "a matrix operand in panels: [outer..., ceil(n / lanes), k, lanes]";
  let description = [{
    `outer`, `n` and `k` are dimensions of the source, each list flattened
    row-major in the order given; dimensions of size 1 may be missing. The layout that a GEMM micro-kernel reads
    front to back (Goto, van de Geijn, 2008).
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$outer, "::mlir::DenseI64ArrayAttr":$n,
                        "::mlir::DenseI64ArrayAttr":$k, "int64_t":$lanes);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// On tensors
//===----------------------------------------------------------------------===//

def DispatchOp : KernelOp<"dispatch", [SingleBlockImplicitTerminator<"::optc::kernel::YieldOp">]> {
  let summary = "one kernel launch: a region that computes tensors into its destinations";
  let description = [{
    The block has one argument per result, its destination: the result is
    computed into it (destination passing), its content is undefined on entry.
    Other operands are captured. `result_dims` holds the sizes of the results'
    dynamic dimensions in order.

    `stored_in` names, per result, the type of the memory that it is a part of:
    its own type, or that of the tensor.concat that reads it. `plan` then places
    the parts of a concatenation in its buffer, and nothing is copied.

    ```mlir
    %r = kernel.dispatch "relu" [%n] -> tensor<?x4xf32> {
    ^bb0(%dest: tensor<?x4xf32>):
      %0 = linalg.generic ... ins(%x) outs(%dest)
      kernel.yield %0
    }
    ```
  }];
  let arguments = (ins StrAttr:$label, Variadic<Index>:$result_dims, OptionalAttr<KernelStrategyAttr>:$strategy,
                       OptionalAttr<TypeArrayAttr>:$stored_in);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "$label `[` $result_dims `]` (`strategy` $strategy^)? attr-dict `->` type($results) $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::StringRef":$label, "::mlir::TypeRange":$results, "::mlir::ValueRange":$resultDims)>];
}

def YieldOp : KernelOp<"yield", [Pure, Terminator, ParentOneOf<["DispatchOp"]>]> {
  let summary = "ends a dispatch with the values of its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">]; // for the implicit terminator
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def ViewOp : KernelOp<"view", [Pure]> {
  let summary = "the same elements under other sizes: never moves data";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `[` $dims `]` attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def LibraryOp : KernelOp<"library", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "an irregular operator of the runtime; it allocates its results";
  let description = [{
    The sizes of the results are known after the call only: `tensor.dim` of a
    result reads them. An operand of type none stands for an absent optional.
    `dtypes` are the ONNX element types of operands then results, which the
    storage types do not tell (0: not a tensor).
  }];
  let arguments = (ins LibraryFnAttr:$fn, Variadic<AnyType>:$operands_, DenseI64ArrayAttr:$params, DenseI32ArrayAttr:$dtypes);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$fn `(` $operands_ `)` $params `dtypes` $dtypes attr-dict `:` functional-type($operands_, $results)";
}

def AbsentOp : KernelOp<"absent", [Pure]> {
  let summary = "stands for an absent optional operand of a library operator";
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def PackedConstantOp : KernelOp<"packed_constant", [Pure]> {
  let summary = "a constant of a sub-byte type that files hold packed; tensors hold one value per byte";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def PackOp : KernelOp<"pack", [Pure]> {
  let summary = "the elements of a tensor in panels";
  let description = [{
    Of a constant it is a recipe for the artifact's writer. Of other tensors it
    is the body of a dispatch, whose last panel holds anything behind the last
    column: sums in those lanes are never stored.
  }];
  let arguments = (ins AnyRankedTensor:$source, KernelPackingAttr:$packing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source $packing attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def PackedOp : KernelOp<"packed", [Pure]> {
  let summary = "inside a dispatch: the tensor whose panels the operand holds";
  let description = [{
    Lets the structured op that reads it stay as it was: an emitter that knows
    panels reads the operand, and nothing else may read the result.
  }];
  let arguments = (ins AnyRankedTensor:$panels, KernelPackingAttr:$packing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$panels $packing attr-dict `:` type($panels) `to` type($result)";
  let hasVerifier = 1;
}

def PaddedOp : KernelOp<"padded", [Pure, AttrSizedOperandSegments]> {
  let summary = "inside a dispatch: a tensor with a border that memory does not hold";
  let description = [{
    The element at position p of the result is the source's at p - low where
    0 <= p - low < size holds in every dimension, and `fill` elsewhere. Like
    `kernel.packed`, it lets the structured op that reads it stay as it was: an
    emitter that knows borders reads the source, and nothing else may read the
    result. `dims` are the sizes of the result's dynamic dimensions.

    ```mlir
    %p = kernel.padded %x low [%c0, %c1, %c1, %c0] sizes [%c1, %h, %w, %c8] fill %zero dims [%ph, %pw]
      : f32, tensor<1x?x?x8xf32> to tensor<1x?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$low, Variadic<Index>:$sizes, AnyType:$fill, Variadic<Index>:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `low` `[` $low `]` `sizes` `[` $sizes `]` `fill` $fill `dims` `[` $dims `]` attr-dict
    `:` type($fill) `,` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
}

def CheckOp : KernelOp<"check", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ends the run with a message when the condition is false";
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

//===----------------------------------------------------------------------===//
// On pointers: the host program
//===----------------------------------------------------------------------===//

def InputOp : KernelOp<"input", [Pure]> {
  let summary = "the data of input `index`";
  let arguments = (ins I32Attr:$index);
  let results = (outs Ptr:$ptr);
  let assemblyFormat = "$index attr-dict";
}
def InputDimOp : KernelOp<"input_dim", [Pure]> {
  let summary = "the size of dimension `dim` of input `index`";
  let arguments = (ins I32Attr:$index, I32Attr:$dim);
  let results = (outs Index:$size);
  let assemblyFormat = "$index `,` $dim attr-dict";
}
def OutputOp : KernelOp<"output", [MemoryEffects<[MemAlloc]>]> {
  let summary = "storage for output `index` of the given sizes";
  let arguments = (ins I32Attr:$index, Variadic<Index>:$dims);
  let results = (outs Ptr:$ptr);
  let assemblyFormat = "$index `[` $dims `]` attr-dict";
}
def InputValueOp : KernelOp<"input_value", [MemoryEffects<[MemRead]>]> {
  let summary = "the descriptor of input `index` (sequences, optionals)";
  let arguments = (ins I32Attr:$index);
  let results = (outs Ptr:$descriptor);
  let assemblyFormat = "$index attr-dict";
}
def OutputValueOp : KernelOp<"output_value", [MemoryEffects<[MemWrite]>]> {
  let summary = "makes the described value output `index`";
  let arguments = (ins I32Attr:$index, Ptr:$descriptor);
  let assemblyFormat = "$index `,` $descriptor attr-dict";
}
def ArenaOp : KernelOp<"arena", [Pure]> {
  let summary = "an address in the static arena, by byte offset";
  let arguments = (ins I64Attr:$offset);
  let results = (outs Ptr:$ptr);
  let assemblyFormat = "$offset attr-dict";
}
def WeightPtrOp : KernelOp<"weight_ptr", [Pure]> {
  let summary = "an address in the artifact's constants, by byte offset";
  let arguments = (ins I64Attr:$offset);
  let results = (outs Ptr:$ptr);
  let assemblyFormat = "$offset attr-dict";
}
def WeightOp : KernelOp<"weight"> {
  let summary = "a constant placed at a byte offset of the artifact's constants";
  let arguments = (ins I64Attr:$offset, ElementsAttr:$value, OptionalAttr<KernelPackingAttr>:$packing);
  let assemblyFormat = "$offset `=` $value (`packed` $packing^)? attr-dict";
}
def AllocOp : KernelOp<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "run-time memory of so many bytes, released with the run or by kernel.release";
  let arguments = (ins Index:$bytes);
  let results = (outs Ptr:$ptr);
  let assemblyFormat = "$bytes attr-dict";
}
def SolveArenaOp : KernelOp<"solve_arena", [MemoryEffects<[MemAlloc]>]> {
  let summary = "run-time memory for several buffers, which share it when they are alive at different times";
  let description = [{
    `bytes` are the sizes of the buffers, `lifetimes` the first and the last point of the program at which each is in
    use. The runtime places them, and remembers the places for these sizes.
  }];
  let arguments = (ins Variadic<Index>:$bytes, DenseI32ArrayAttr:$lifetimes);
  let results = (outs Variadic<Ptr>:$ptrs);
  let assemblyFormat = "`(` $bytes `)` `lifetimes` $lifetimes attr-dict `->` type($ptrs)";
  let hasVerifier = 1;
}
def ByteSizeOp : KernelOp<"byte_size", [Pure]> {
  let summary = "the product of sizes and a factor, -1 when a size is negative or the product is too large";
  let arguments = (ins Variadic<Index>:$dims, I64Attr:$factor);
  let results = (outs Index:$bytes);
  let assemblyFormat = "`[` $dims `]` `times` $factor attr-dict";
}
def MarkOp : KernelOp<"mark", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "how much run-time memory is in use";
  let results = (outs Index:$position);
  let assemblyFormat = "attr-dict";
}
def ReleaseOp : KernelOp<"release", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite, MemFree]>]> {
  let summary = "gives back the run-time memory that was taken since a mark, except what is kept";
  let description = [{
    What is kept moves down to the mark; `moved` are its new addresses. `values` are descriptors whose data is kept,
    and updated, in the same way. Memory that does not come from kernel.alloc stays where it is.
  }];
  let arguments = (ins Index:$mark, Variadic<Ptr>:$kept, Variadic<Index>:$bytes, Variadic<Ptr>:$values);
  let results = (outs Variadic<Ptr>:$moved);
  let assemblyFormat = "$mark `keep` `(` $kept `)` `bytes` `(` $bytes `)` `values` `(` $values `)` attr-dict (`->` type($moved)^)?";
  let hasVerifier = 1;
}
def LaunchOp : KernelOp<"launch", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "runs all tiles of a kernel";
  let description = [{
    `device` is the index of a kernel that runs on the device. In a program whose tensors live there, a kernel without it
    runs on the CPU, on copies of the buffers: `bytes` are their sizes, the first `inputs` are read, the others written.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Index:$tiles, Variadic<Ptr>:$buffers, Variadic<AnyType>:$scalars,
                       Variadic<Index>:$bytes, I64Attr:$scratch, OptionalAttr<I32Attr>:$device,
                       OptionalAttr<I32Attr>:$inputs);
  let assemblyFormat = [{
    $kernel `tiles` $tiles `buffers` `(` $buffers `)` `scalars` `(` ($scalars^ `:` type($scalars))? `)`
    (`bytes` `(` $bytes^ `)`)? (`inputs` $inputs^)? `scratch` $scratch (`device` $device^)? attr-dict
  }];
}
def CallLibraryOp : KernelOp<"call_library", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "calls an irregular operator; operands and results are descriptors (optc_tensor)";
  let arguments = (ins LibraryFnAttr:$fn, Variadic<Ptr>:$descriptors, DenseI64ArrayAttr:$params);
  let results = (outs Variadic<Ptr>:$results);
  let assemblyFormat = "$fn `(` $descriptors `)` $params attr-dict `:` functional-type($descriptors, $results)";
}
def DescribeOp : KernelOp<"describe", [MemoryEffects<[MemWrite]>]> {
  let summary = "an optc_tensor for the given data, ONNX element type and sizes";
  let arguments = (ins Ptr:$data, I32Attr:$dtype, Variadic<Index>:$dims);
  let results = (outs Ptr:$descriptor);
  let assemblyFormat = "$data `dtype` $dtype `[` $dims `]` attr-dict";
}
def CopyDescriptorOp : KernelOp<"copy_descriptor", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "overwrites a descriptor with another one";
  let arguments = (ins Ptr:$dest, Ptr:$source);
  let assemblyFormat = "$dest `,` $source attr-dict";
}
def DescribedDataOp : KernelOp<"described_data", [MemoryEffects<[MemRead]>]> {
  let summary = "the data pointer of a descriptor";
  let arguments = (ins Ptr:$descriptor);
  let results = (outs Ptr:$data);
  let assemblyFormat = "$descriptor attr-dict";
}
def DescribedDimOp : KernelOp<"described_dim", [MemoryEffects<[MemRead]>]> {
  let summary = "one size of a descriptor";
  let arguments = (ins Ptr:$descriptor, I32Attr:$dim);
  let results = (outs Index:$size);
  let assemblyFormat = "$descriptor `,` $dim attr-dict";
}
def LoadOp : KernelOp<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads element `index` of a buffer on the host";
  let arguments = (ins Ptr:$ptr, Index:$index);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$ptr `[` $index `]` attr-dict `:` type($value)";
}
def StoreOp : KernelOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes the elements of a buffer on the host, from the first one on";
  let arguments = (ins Variadic<AnyType>:$values, Ptr:$ptr);
  let assemblyFormat = "$ptr `,` `(` $values `)` attr-dict `:` type($values)";
}
def CopyOp : KernelOp<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies bytes between buffers that may be the same but do not overlap otherwise";
  let arguments = (ins Ptr:$dest, Ptr:$source, Index:$bytes);
  let assemblyFormat = "$dest `,` $source `,` $bytes attr-dict";
}

//===----------------------------------------------------------------------===//
// In kernels
//===----------------------------------------------------------------------===//

def BindOp : KernelOp<"bind", [Pure]> {
  let summary = "a memref over a raw buffer of the dispatch ABI";
  let description = [{
    Contiguous, or a part of a larger tensor: `stored` is the shape of the memory, from which the strides follow; a `?`
    in it is a size of the memref.
  }];
  let arguments = (ins Ptr:$ptr, Variadic<Index>:$dims, OptionalAttr<DenseI64ArrayAttr>:$stored);
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = "$ptr `[` $dims `]` (`stored` $stored^)? attr-dict `:` type($memref)";
  let hasVerifier = 1;
}
#endif
