// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/cfa_expression.h"

#include <array>
#include <cstring>
#include <optional>

#include "symbolizer/cfi/byte_reader.h"

namespace firetower::symbolizer {

namespace {

// DW_OP_*, DWARF 5, 7.7.1.
enum Operation : uint8_t {
  kOpDeref = 0x06,
  kOpConst1u = 0x08,
  kOpConst1s = 0x09,
  kOpConst2u = 0x0a,
  kOpConst2s = 0x0b,
  kOpConst4u = 0x0c,
  kOpConst4s = 0x0d,
  kOpConst8u = 0x0e,
  kOpConst8s = 0x0f,
  kOpConstu = 0x10,
  kOpConsts = 0x11,
  kOpAnd = 0x1a,
  kOpMinus = 0x1c,
  kOpMul = 0x1e,
  kOpPlus = 0x22,
  kOpPlusUconst = 0x23,
  kOpShl = 0x24,
  kOpGe = 0x2a,
  kOpLit0 = 0x30,
  kOpLit31 = 0x4f,
  kOpBreg0 = 0x70,
  kOpBreg31 = 0x8f,
  kOpBregx = 0x92,
};

// A value on the expression's stack, as far as a rule can express it.
struct Value {
  enum class Kind : uint8_t {
    kConstant,      // offset
    kRegister,      // register + offset
    kCfa,           // CFA + offset
    kDeref,         // *(register + offset) + addend
    kScaled,        // 8 * index register
    kIndexed,       // register + 8 * index register + offset
    kIndexedDeref,  // *(register + 8 * index register + offset) + addend
  };
  Kind kind = Kind::kConstant;
  uint8_t base_register = 0;
  uint8_t index_register = 0;
  int64_t offset = 0;
  int64_t addend = 0;
};

// Additions wrap as the machine's do; what does not fit a row is refused at the end.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Negated(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

class Recogniser {
 public:
  using Kind = Value::Kind;

  explicit Recogniser(std::span<const std::byte> expression) : reader_(expression) {}

  void Push(const Value& value) {
    if (depth_ == stack_.size()) {
      unknown_ = true;
      return;
    }
    stack_[depth_++] = value;
  }

  // Returns the top of the stack at the end, if the whole expression has a known shape.
  std::optional<Value> Run() {
    while (!unknown_ && !reader_.failed() && reader_.remaining() > 0) Step(reader_.U8());
    if (unknown_ || reader_.failed() || depth_ == 0) return std::nullopt;
    const Value& top = stack_[depth_ - 1];
    if (!FitsOffset(top.offset) || !FitsOffset(top.addend)) return std::nullopt;
    return top;
  }

 private:
  void Step(uint8_t operation) {
    if (operation >= kOpLit0 && operation <= kOpLit31) return PushConstant(operation - kOpLit0);
    if (operation >= kOpBreg0 && operation <= kOpBreg31) return PushRegister(operation - kOpBreg0);
    switch (operation) {
      case kOpBregx:
        return PushRegister(reader_.Uleb());
      case kOpConst1u:
        return PushConstant(reader_.Fixed<uint8_t>());
      case kOpConst1s:
        return PushConstant(reader_.Fixed<int8_t>());
      case kOpConst2u:
        return PushConstant(reader_.Fixed<uint16_t>());
      case kOpConst2s:
        return PushConstant(reader_.Fixed<int16_t>());
      case kOpConst4u:
        return PushConstant(reader_.Fixed<uint32_t>());
      case kOpConst4s:
        return PushConstant(reader_.Fixed<int32_t>());
      case kOpConst8u:
      case kOpConst8s:
        return PushConstant(reader_.Fixed<int64_t>());
      case kOpConstu:
        return PushConstant(static_cast<int64_t>(reader_.Uleb()));
      case kOpConsts:
        return PushConstant(reader_.Sleb());
      case kOpPlusUconst:
        PushConstant(static_cast<int64_t>(reader_.Uleb()));
        return Add(false);
      case kOpPlus:
        return Add(false);
      case kOpMinus:
        return Add(true);
      case kOpMul:
        return Multiply();
      case kOpDeref:
        return Deref();
      default:
        unknown_ = true;
    }
  }

  void PushConstant(int64_t constant) { Push({.offset = constant}); }
  void PushRegister(uint64_t number) {
    if (number > kLastGeneralRegister) unknown_ = true;
    Push({.kind = Kind::kRegister,
          .base_register = static_cast<uint8_t>(number),
          .offset = reader_.Sleb()});
  }

  // The two values on top become one; false, and unknown, if there are none.
  bool PopSecond(Value& second) {
    if (depth_ < 2) {
      unknown_ = true;
      return false;
    }
    second = stack_[--depth_];
    return true;
  }

  void Add(bool negate) {
    Value second;
    if (!PopSecond(second)) return;
    Value& first = stack_[depth_ - 1];
    if (first.kind == Kind::kRegister && second.kind == Kind::kScaled && !negate) {
      first.kind = Kind::kIndexed;
      first.index_register = second.index_register;
      return;
    }
    // Otherwise one must be a constant; a subtrahend must always be one.
    if (second.kind != Kind::kConstant && !negate) std::swap(first, second);
    if (second.kind != Kind::kConstant || first.kind == Kind::kScaled) {
      unknown_ = true;
      return;
    }
    const bool outside = first.kind == Kind::kDeref || first.kind == Kind::kIndexedDeref;
    int64_t& sum = outside ? first.addend : first.offset;
    sum = Sum(sum, negate ? Negated(second.offset) : second.offset);
  }

  // Only a register by the size of a pointer.
  void Multiply() {
    Value second;
    if (!PopSecond(second)) return;
    Value& first = stack_[depth_ - 1];
    if (first.kind != Kind::kRegister || first.offset != 0 || second.kind != Kind::kConstant ||
        second.offset != 8) {
      unknown_ = true;
      return;
    }
    first = {.kind = Kind::kScaled, .index_register = first.base_register};
  }

  void Deref() {
    Kind* kind = depth_ > 0 ? &stack_[depth_ - 1].kind : nullptr;
    if (kind != nullptr && *kind == Kind::kRegister) {
      *kind = Kind::kDeref;
    } else if (kind != nullptr && *kind == Kind::kIndexed) {
      *kind = Kind::kIndexedDeref;
    } else {
      unknown_ = true;
    }
  }

  ByteReader reader_;
  std::array<Value, 4> stack_;
  size_t depth_ = 0;
  bool unknown_ = false;
};

// The linker's rule for a lazy PLT: RSP + 8 + (((RIP & 15) >= pushed_at) << 3).
bool IsPltExpression(std::span<const std::byte> expression, uint8_t& pushed_at) {
  constexpr uint8_t kRsp8[] = {kOpBreg0 + kDwarfRsp, 8,     kOpBreg0 + kDwarfReturnAddress, 0,
                               kOpLit0 + 15,         kOpAnd};
  constexpr uint8_t kGe8[] = {kOpGe, kOpLit0 + 3, kOpShl, kOpPlus};
  if (expression.size() != sizeof(kRsp8) + 1 + sizeof(kGe8)) return false;
  if (std::memcmp(expression.data(), kRsp8, sizeof(kRsp8)) != 0) return false;
  if (std::memcmp(expression.data() + sizeof(kRsp8) + 1, kGe8, sizeof(kGe8)) != 0) return false;
  const auto literal = static_cast<uint8_t>(expression[sizeof(kRsp8)]);
  if (literal < kOpLit0 || literal > kOpLit0 + 15) return false;
  pushed_at = literal - kOpLit0;
  return true;
}

}  // namespace

void RecogniseCfaExpression(std::span<const std::byte> expression, UnwindRule& rule) {
  using Cfa = UnwindRule::Cfa;
  rule.cfa = Cfa::kUnsupported;
  rule.cfa_register = kDwarfRsp;
  rule.cfa_index_register = 0;
  rule.cfa_offset = 0;
  rule.cfa_addend = 0;
  uint8_t pushed_at = 0;
  if (IsPltExpression(expression, pushed_at)) {
    rule.cfa = Cfa::kPlt;
    rule.cfa_offset = 8;
    rule.cfa_addend = pushed_at;
    return;
  }
  const std::optional<Value> value = Recogniser(expression).Run();
  if (!value) return;
  switch (value->kind) {
    case Value::Kind::kRegister:
      rule.cfa = Cfa::kRegister;
      break;
    case Value::Kind::kDeref:
      rule.cfa = Cfa::kDeref;
      break;
    case Value::Kind::kIndexedDeref:
      rule.cfa = Cfa::kIndexedDeref;
      break;
    default:
      return;
  }
  rule.cfa_register = value->base_register;
  rule.cfa_index_register = value->index_register;
  rule.cfa_offset = static_cast<int32_t>(value->offset);
  rule.cfa_addend = static_cast<int32_t>(value->addend);
}

SavedPlace RecogniseSavedExpression(std::span<const std::byte> expression) {
  Recogniser recogniser(expression);
  // DWARF 5, 6.4.2.3: the CFA is on the stack when the expression begins.
  recogniser.Push({.kind = Value::Kind::kCfa});
  const std::optional<Value> value = recogniser.Run();
  if (!value) return {};
  const auto offset = static_cast<int32_t>(value->offset);
  // The expression gives the address of the saved value, so it needs one more deref.
  if (value->kind == Value::Kind::kRegister) {
    return {UnwindRule::Place::kDeref, value->base_register, offset};
  }
  if (value->kind == Value::Kind::kCfa) return {UnwindRule::Place::kCfa, 0, offset};
  return {};
}

}  // namespace firetower::symbolizer
