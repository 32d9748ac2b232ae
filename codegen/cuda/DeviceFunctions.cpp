//===- DeviceFunctions.cpp - what device code calls beyond LLVM IR --------===//
#include "optc/codegen/cuda/DeviceFunctions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "optc/codegen/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace optc;
using namespace optc::cuda;

namespace {
/// A row of the table as it is written.
struct Row {
  StringLiteral name, result, params, flags, ptx;
};
} // namespace

static constexpr Row kRows[] = {
#define DEVICE_FUNCTION(NAME, RESULT, PARAMS, FLAGS, PTX) {NAME, RESULT, PARAMS, FLAGS, PTX},
#include "optc/codegen/cuda/DeviceFunctions.def"
};

/// "4i2i" -> iiiiii.
static void spell(StringRef text, SmallVectorImpl<char> &types) {
  while (!text.empty()) {
    unsigned count = 1;
    text.consumeInteger(10, count);
    if (text.front() != 'v')
      types.append(count, text.front());
    text = text.drop_front();
  }
}

static DeviceFunction resolve(const Row &row, StringRef name, unsigned n) {
  DeviceFunction made;
  made.name = name.str();
  spell(row.result, made.results);
  spell(row.params, made.params);
  made.accumulators = n / 2;
  made.convergent = row.flags.contains('c');
  made.noMemory = row.flags.contains('m');
  made.ptx = row.ptx.str();
  if (size_t hash = made.ptx.find('#'); hash != std::string::npos)
    made.ptx.replace(hash, 1, std::to_string(n));
  return made;
}

std::optional<DeviceFunction> cuda::findDeviceFunction(StringRef name) {
  for (const Row &row : kRows) {
    if (!row.name.contains('#')) {
      if (row.name == name)
        return resolve(row, name, 0);
      continue;
    }
    auto [before, after] = row.name.split('#');
    StringRef middle = name;
    unsigned n = 0;
    if (middle.consume_front(before) && middle.consume_back(after) && !middle.getAsInteger(10, n) && n >= 8 &&
        n <= 256 && n % 8 == 0)
      return resolve(row, name, n);
  }
  return std::nullopt;
}

std::vector<std::string> cuda::deviceFunctionNames() {
  std::vector<std::string> names;
  for (const Row &row : kRows) {
    std::string name = row.name.str();
    if (size_t hash = name.find('#'); hash != std::string::npos)
      name.replace(hash, 1, "64");
    names.push_back(name);
  }
  return names;
}

static Type *typeOf(char letter, LLVMContext &context) {
  switch (letter) {
  case 'l':
    return Type::getInt64Ty(context);
  case 'f':
  case 'a':
    return Type::getFloatTy(context);
  case 's':
    return PointerType::get(context, 3);
  case 'g':
    return PointerType::get(context, 1);
  case 'p':
    return PointerType::get(context, 0);
  default:
    return Type::getInt32Ty(context);
  }
}

/// Types of all registers: accumulators are many.
static SmallVector<Type *> registers(ArrayRef<char> letters, unsigned accumulators, LLVMContext &context) {
  SmallVector<Type *> types;
  for (char letter : letters)
    types.append(letter == 'a' ? accumulators : 1, typeOf(letter, context));
  return types;
}

FunctionType *DeviceFunction::type(LLVMContext &context) const {
  SmallVector<Type *> made = registers(results, accumulators, context);
  Type *result = made.empty()       ? Type::getVoidTy(context)
                 : made.size() == 1 ? made.front()
                                    : static_cast<Type *>(StructType::get(context, made));
  return FunctionType::get(result, registers(params, accumulators, context), false);
}

/// "{$3, $4}" or "$3".
static std::string operandList(unsigned first, unsigned count, bool braces) {
  std::string text = braces ? "{" : "";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + (braces ? "}" : "");
}

/// The inline assembly of a device function: LLVM numbers results first, then operands, where a tied operand has a
/// number of its own.
static InlineAsm *assembly(const DeviceFunction &function, LLVMContext &context) {
  auto width = [&](char letter) { return letter == 'a' ? function.accumulators : 1; };
  auto constraint = [](char letter) -> StringRef {
    return letter == 'f' || letter == 'a' ? "f" : letter == 'i' ? "r" : letter == 'n' ? "n" : "l";
  };
  SmallVector<std::string> constraints;
  for (char letter : function.results)
    for (unsigned i = 0; i < width(letter); ++i)
      constraints.push_back(("=" + constraint(letter)).str());
  unsigned numResults = constraints.size();
  SmallVector<unsigned> firsts;
  for (char letter : function.params) {
    firsts.push_back(constraints.size());
    for (unsigned i = 0; i < width(letter); ++i)
      constraints.push_back(letter == 'a' ? std::to_string(i) : constraint(letter).str());
  }
  if (!function.noMemory)
    constraints.push_back("~{memory}");

  std::string text;
  StringRef rest = function.ptx;
  while (true) {
    auto [before, after] = rest.split('%');
    text += before;
    if (after.empty())
      break;
    if (after.consume_front("r")) {
      text += operandList(0, numResults, numResults > 1);
    } else {
      unsigned index = after.front() - '0';
      text += operandList(firsts[index], width(function.params[index]), function.params[index] == 'a');
      after = after.drop_front();
    }
    rest = after;
  }
  return InlineAsm::get(function.type(context), text, join(constraints, ","), /*hasSideEffects=*/!function.noMemory);
}

static Error expand(Function &declaration) {
  StringRef name = declaration.getName().drop_front(kDeviceFunctionPrefix.size());
  std::optional<DeviceFunction> function = findDeviceFunction(name);
  if (!function)
    return internalError("device code calls optc.nv." + name + ", which is not in DeviceFunctions.def");
  LLVMContext &context = declaration.getContext();
  if (declaration.getFunctionType() != function->type(context))
    return internalError("device code declares optc.nv." + name + " with other types than DeviceFunctions.def");
  SmallVector<char> letters;
  for (char letter : function->params)
    letters.append(letter == 'a' ? function->accumulators : 1, letter);
  InlineAsm *text = assembly(*function, context);
  for (User *user : make_early_inc_range(declaration.users())) {
    auto *call = dyn_cast<CallInst>(user);
    if (!call || call->getCalledOperand() != &declaration)
      return internalError("device code uses the address of optc.nv." + name);
    for (auto [letter, operand] : zip(letters, call->args()))
      if (letter == 'n' && !isa<ConstantInt>(operand))
        return internalError("device code calls optc.nv." + name + " with an operand that is not constant");
    CallInst *made =
        CallInst::Create(text->getFunctionType(), text, SmallVector<Value *>(call->args()), "", call->getIterator());
    made->setDoesNotThrow();
    if (function->convergent)
      made->setConvergent();
    if (function->noMemory)
      made->setDoesNotAccessMemory();
    made->setDebugLoc(call->getDebugLoc());
    made->takeName(call);
    call->replaceAllUsesWith(made);
    call->eraseFromParent();
  }
  declaration.eraseFromParent();
  return Error::success();
}

Error cuda::expandDeviceFunctions(Module &module) {
  for (Function &function : make_early_inc_range(module))
    if (function.getName().starts_with(kDeviceFunctionPrefix))
      if (Error error = expand(function))
        return error;
  return Error::success();
}

//===-- The LLVM dialect ----------------------------------------------------===//

static mlir::Type dialectType(char letter, mlir::OpBuilder &b) {
  switch (letter) {
  case 'l':
    return b.getI64Type();
  case 'f':
  case 'a':
    return b.getF32Type();
  case 's':
  case 'g':
  case 'p':
    return mlir::LLVM::LLVMPointerType::get(b.getContext(), letter == 's' ? 3 : letter == 'g' ? 1 : 0);
  default:
    return b.getI32Type();
  }
}

SmallVector<mlir::Value> cuda::callDeviceFunction(mlir::OpBuilder &b, mlir::Location loc, StringRef name,
                                                  mlir::ValueRange operands) {
  std::optional<DeviceFunction> function = findDeviceFunction(name);
  assert(function && "emitters call functions of the table");
  SmallVector<mlir::Type> results, params;
  for (char letter : function->results)
    results.append(letter == 'a' ? function->accumulators : 1, dialectType(letter, b));
  for (char letter : function->params)
    params.append(letter == 'a' ? function->accumulators : 1, dialectType(letter, b));
  mlir::Type result = results.empty()       ? mlir::LLVM::LLVMVoidType::get(b.getContext())
                      : results.size() == 1 ? results.front()
                                            : mlir::LLVM::LLVMStructType::getLiteral(b.getContext(), results);

  std::string symbol = (kDeviceFunctionPrefix + name).str();
  mlir::Operation *scope = b.getInsertionBlock()->getParentOp();
  while (!scope->hasTrait<mlir::OpTrait::SymbolTable>())
    scope = scope->getParentOp();
  auto declared =
      dyn_cast_or_null<mlir::LLVM::LLVMFuncOp>(mlir::SymbolTable::lookupSymbolIn(scope, b.getStringAttr(symbol)));
  if (!declared) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&scope->getRegion(0).front());
    declared = mlir::LLVM::LLVMFuncOp::create(b, loc, symbol, mlir::LLVM::LLVMFunctionType::get(result, params));
    declared.setNoUnwind(true);
    declared.setConvergent(function->convergent);
    if (function->noMemory) {
      SmallVector<mlir::LLVM::ModRefInfo> none(6, mlir::LLVM::ModRefInfo::NoModRef);
      declared.setMemoryEffectsAttr(mlir::LLVM::MemoryEffectsAttr::get(b.getContext(), none));
      declared.setWillReturn(true);
    }
  }
  auto call = mlir::LLVM::CallOp::create(b, loc, declared, operands);
  call.setConvergent(function->convergent);
  if (results.size() < 2)
    return SmallVector<mlir::Value>(call->getResults());
  SmallVector<mlir::Value> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(mlir::LLVM::ExtractValueOp::create(b, loc, call.getResult(), i));
  return values;
}
