// y = x + constant, as the object writer gets it.
module {
  llvm.mlir.global external hidden constant @optc_weights() : !llvm.array<0 x i8>
  llvm.mlir.global private constant @dims(dense<[4]> : tensor<1xi64>) : !llvm.array<1 x i64>
  llvm.func hidden @optc_rt_input(!llvm.ptr, i32) -> !llvm.ptr
  llvm.func hidden @optc_rt_output(!llvm.ptr, i32, i32, !llvm.ptr) -> !llvm.ptr
  llvm.func @host_main(%h: !llvm.ptr) -> i32 attributes {
      kernel.inputs = [{onnx.name = "x", onnx.type = tensor<4xf32>}],
      kernel.outputs = [{onnx.name = "y \22?*/", onnx.type = tensor<4xf32>}], kernel.arena_bytes = 128 : i64} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %d = llvm.mlir.addressof @dims : !llvm.ptr
    %x = llvm.call @optc_rt_input(%h, %c0) : (!llvm.ptr, i32) -> !llvm.ptr
    %y = llvm.call @optc_rt_output(%h, %c0, %c1, %d) : (!llvm.ptr, i32, i32, !llvm.ptr) -> !llvm.ptr
    %w = llvm.mlir.addressof @optc_weights : !llvm.ptr
    %v = llvm.load %x : !llvm.ptr -> vector<4xf32>
    %u = llvm.load %w : !llvm.ptr -> vector<4xf32>
    %s = llvm.fadd %v, %u : vector<4xf32>
    llvm.store %s, %y : vector<4xf32>, !llvm.ptr
    llvm.return %c0 : i32
  }
  kernel.weight 0 = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
}
