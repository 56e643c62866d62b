// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/v8/v8_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "symbolizer/cfi/byte_reader.h"

namespace firetower::daemon {
namespace {

// Bounds of what is read: more is damaged, or no such thing.
constexpr uint32_t kMaxCode = 64u << 20;
constexpr int32_t kMaxPositions = 1 << 20;
constexpr int32_t kMaxCalls = 1 << 14;
constexpr int32_t kMaxLiterals = 1 << 16;

constexpr size_t kMaxSlots = 1024;
constexpr size_t kSlotsFrom = 6;  // words in front of the slots of a FeedbackVector, at most
constexpr size_t kMaxLoops = 16;

// Arrays of every kind: a length, a small integer, then the elements.
constexpr size_t kLength = 8;
constexpr size_t kElements = 16;

// Returns a number whose sign is in its lowest bit.
int64_t Signed(uint64_t bits) {
  return static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
}

// Returns how far an entry lies behind the one before, out of the first number of it. What else
// that says is whether the position is a statement's: in its sign, later in two bits.
int64_t CodeStep(uint64_t bits, bool breakable_bit) {
  if (breakable_bit) return static_cast<int64_t>(bits >> 2);
  const int64_t value = Signed(bits);
  return value >= 0 ? value : -(value + 1);
}

// Unpacks a SourcePosition (source-position.h): whether it is of another kind, one more than the
// character in 30 bits, one more than the call in 16. Nothing: it says no character.
std::optional<V8Code::Place> PlaceOf(uint64_t position) {
  const auto character = static_cast<uint32_t>(position >> 1 & 0x3fffffff);
  if ((position & 1) != 0 || character == 0) return std::nullopt;
  return V8Code::Place{character - 1, static_cast<uint16_t>(position >> 31)};
}

std::optional<uint64_t> ArrayAt(const V8Heap& heap, uint64_t object, size_t offset) {
  const auto value = heap.Field(object, offset);
  return value ? ObjectOf(*value) : std::nullopt;
}

std::optional<int32_t> LengthOf(const V8Heap& heap, uint64_t array, int32_t most) {
  const auto value = heap.Field(array, kLength);
  const auto length = value ? SmallIntegerOf(*value) : std::nullopt;
  return length && *length >= 0 && *length <= most ? length : std::nullopt;
}

// The objects that describe compiled code (deoptimization-data.h).
struct Description {
  uint64_t literals = 0;
  uint64_t shared = 0;
  uint64_t calls = 0;
};

std::optional<Description> ReadDescription(const V8Heap& heap, const V8Build& build,
                                           uint64_t code) {
  const auto data = ArrayAt(heap, code, build.code_description());
  const auto element = [&](size_t index) { return heap.Field(*data, kElements + 8 * index); };
  if (!data || LengthOf(heap, *data, kMaxLiterals).value_or(0) < 9) return std::nullopt;
  // Translations, the number of inlined functions, literals, and where on-stack replacement begins.
  // Since V8 12.9 another array lies before the literals.
  const auto fourth = element(3);
  if (!fourth) return std::nullopt;
  const size_t more = SmallIntegerOf(*fourth) ? 0 : 1;
  Description read;
  const auto literals = element(2 + more), shared = element(6 + more), calls = element(7 + more);
  if (!literals || !shared || !calls) return std::nullopt;
  const auto literals_at = ObjectOf(*literals), shared_at = ObjectOf(*shared),
             calls_at = ObjectOf(*calls);
  if (!literals_at || !shared_at || !calls_at) return std::nullopt;
  read = {*literals_at, *shared_at, *calls_at};
  if (heap.TypeOf(read.shared) == build.shared_type) return read;
  // A wrapper has the function in its only field.
  const auto wrapped = heap.ObjectAt(read.shared, 8, build.shared_type);
  if (!wrapped) return std::nullopt;
  read.shared = *wrapped;
  return read;
}

// Calls that were compiled into the code: an array of {position, index of the function among the
// literals, nothing}.
bool ReadCalls(const V8Heap& heap, const V8Build& build, const Description& of, V8Code& code) {
  struct Inlined {
    uint64_t position = 0;
    int32_t function = 0;
    uint32_t pad = 0;
  };
  const auto bytes = LengthOf(heap, of.calls, kMaxCalls * static_cast<int32_t>(sizeof(Inlined)));
  const auto literals = LengthOf(heap, of.literals, kMaxLiterals);
  if (!bytes || !literals) return false;
  std::vector<Inlined> calls(static_cast<size_t>(*bytes) / sizeof(Inlined));
  if (!calls.empty() && !heap.Read(of.calls + kElements, std::as_writable_bytes(std::span(calls))))
    return false;
  for (const Inlined& call : calls) {
    const auto place = PlaceOf(call.position);
    if (!place || place->caller > code.calls.size()) return false;
    uint64_t shared = code.shared;
    if (call.function >= 0) {
      if (call.function >= *literals) return false;
      // Literals are held weakly: such a pointer has one bit more.
      const auto value =
          heap.Field(of.literals, kElements + 8 * static_cast<size_t>(call.function));
      if (!value || (*value & 1) == 0) return false;
      shared = *value & ~uint64_t{FT_V8_TAG_MASK};
      if (heap.TypeOf(shared) != build.shared_type) return false;
    }
    code.calls.push_back({*place, shared});
  }
  return true;
}

}  // namespace

std::vector<V8Code::Entry> ReadPositions(const V8Heap& heap, const V8Build& build, uint64_t table) {
  std::vector<V8Code::Entry> positions;
  const auto bytes = LengthOf(heap, table, kMaxPositions);
  if (!bytes || *bytes == 0) return positions;
  std::vector<std::byte> text(static_cast<size_t>(*bytes));
  if (!heap.Read(table + kElements, text)) return positions;
  // The numbers are LEB128 (source-position-table.cc).
  symbolizer::ByteReader numbers(text);
  int64_t code = 0, position = 0;
  while (numbers.remaining() > 0) {
    const int64_t step = CodeStep(numbers.Uleb(), build.breakable_bit());
    const int64_t moved = Signed(numbers.Uleb());
    if (numbers.failed() || step > UINT32_MAX || moved > INT32_MAX * int64_t{UINT16_MAX} ||
        moved < -INT32_MAX * int64_t{UINT16_MAX})
      break;
    code += step;
    position += moved;
    if (code > UINT32_MAX || position < 0) break;
    if (const auto place = PlaceOf(static_cast<uint64_t>(position)))
      positions.push_back({static_cast<uint32_t>(code), *place});
  }
  return positions;
}

std::optional<V8CodeHead> ReadCodeHead(const V8Heap& heap, const V8Build& build, uint64_t code) {
  std::array<std::byte, kCodeHeadBytes> bytes{};
  if (!heap.Read(code, bytes)) return std::nullopt;
  V8CodeHead head;
  std::memcpy(&head.description, bytes.data() + build.code_description(), sizeof(uint64_t));
  std::memcpy(&head.size, bytes.data() + build.code_size, sizeof(uint32_t));
  if (build.code_start_inline()) {
    head.start = code + build.code_start;
  } else {
    std::memcpy(&head.start, bytes.data() + build.code_start, sizeof(uint64_t));
  }
  return head;
}

std::optional<V8Code> ReadCode(const V8Heap& heap, const V8Build& build, uint64_t code) {
  if (heap.TypeOf(code) != build.code_type) return std::nullopt;
  const auto head = ReadCodeHead(heap, build, code);
  const auto description = ReadDescription(heap, build, code);
  const auto table = ArrayAt(heap, code, build.code_positions());
  if (!head || head->size > kMaxCode || !description || !table) return std::nullopt;
  V8Code read;
  read.shared = description->shared;
  if (!ReadCalls(heap, build, *description, read)) return std::nullopt;
  read.entries = ReadPositions(heap, build, *table);
  const auto is_known = [&](const V8Code::Entry& entry) {
    return entry.place.caller <= read.calls.size();
  };
  if (!std::ranges::all_of(read.entries, is_known)) return std::nullopt;
  return read;
}

std::vector<uint64_t> ReadLoopCodes(const V8Heap& heap, const V8Build& build, uint64_t cell) {
  std::vector<uint64_t> codes;
  const auto vector = ArrayAt(heap, cell, kLength);
  const auto slots = vector ? heap.Field(*vector, kLength) : std::nullopt;
  if (!slots) return codes;
  // The number of slots is in the lower half; what lies in front of them is of no matter here.
  const size_t count = std::min<size_t>(static_cast<uint32_t>(*slots), kMaxSlots) + kSlotsFrom;
  std::vector<uint64_t> words(count);
  if (!heap.Read(*vector + kLength, std::as_writable_bytes(std::span(words)))) return codes;
  for (const uint64_t word : words) {
    // Code is held weakly, by itself or by a wrapper that has it in its only field.
    if ((word & FT_V8_TAG_MASK) != FT_V8_TAG_MASK || codes.size() >= kMaxLoops) continue;
    const uint64_t object = word & ~uint64_t{FT_V8_TAG_MASK};
    if (heap.TypeOf(object) == build.code_type) {
      codes.push_back(object);
    } else if (const auto code = heap.ObjectAt(object, kLength, build.code_type)) {
      codes.push_back(*code);
    }
  }
  return codes;
}

}  // namespace firetower::daemon
