// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/overlap.h"

#include <algorithm>

#include "symbolizer/elf/symbols/radix_sort.h"

namespace firetower::symbolizer {

namespace {

constexpr size_t kNone = SIZE_MAX;

// The highest end of the symbols below an address. It limits how far a label may reach back.
struct Reach {
  uint32_t all = 0;
  uint32_t globals = 0;
};

void Extend(Reach& reach, const RawSymbol& symbol) {
  const uint32_t end = symbol.sized ? symbol.end : symbol.start;
  reach.all = std::max(reach.all, end);
  if (symbol.tier == Tier::kGlobal) reach.globals = std::max(reach.globals, end);
}

// `first`..`last` are the symbols starting at one address, and in `reach`.
void SettleLabelsOf(std::vector<RawSymbol>& symbols, size_t first, size_t last,
                    const Reach& reach) {
  const uint32_t start = symbols[first].start;
  const uint32_t next_start = last < symbols.size() ? symbols[last].start : UINT32_MAX;
  size_t last_global = kNone;
  size_t last_local = kNone;
  for (size_t i = first; i < last; ++i) {
    const RawSymbol& symbol = symbols[i];
    if (symbol.sized || symbol.end <= symbol.start) continue;
    (symbol.tier == Tier::kGlobal ? last_global : last_local) = i;
  }
  size_t general = last_local != kNone ? last_local : last_global;
  if (reach.all > start) general = kNone;
  const size_t exact = reach.globals > start ? kNone : last_global;
  for (size_t i = first; i < last; ++i) {
    RawSymbol& symbol = symbols[i];
    if (symbol.sized) continue;
    if (i == general) {
      symbol.tier = Tier::kLabel;
      symbol.end = std::min(symbol.end, next_start);
    } else if (i == exact) {
      symbol.tier = Tier::kExactLabel;
      symbol.end = start + 1;
    } else {
      symbol.end = start;
    }
  }
}

// A label (a symbol without a size) names what no sized symbol does, from itself to the next symbol
// of any kind, within its section, and only if every symbol below it has ended. Of several at one
// address the last one searched wins: locals come after globals, but are not searched at the exact
// address of a global. Labels that win nowhere get no extent. There are few.
void SettleLabels(std::vector<RawSymbol>& symbols) {
  Reach reach;
  for (size_t i = 0; i < symbols.size(); ++i) {
    Extend(reach, symbols[i]);
    if (symbols[i].sized) continue;
    const uint32_t start = symbols[i].start;
    size_t first = i;
    while (first > 0 && symbols[first - 1].start == start) --first;
    for (; i + 1 < symbols.size() && symbols[i + 1].start == start; ++i) {
      Extend(reach, symbols[i + 1]);
    }
    SettleLabelsOf(symbols, first, i + 1, reach);
  }
}

// elfutils' try_sym_value: `other` comes later in the search and also covers the address.
bool Beats(const RawSymbol& other, const RawSymbol& best) {
  if (best.start < other.start || best.binding < other.binding) return true;
  return best.start == other.start && best.end > other.end && best.binding <= other.binding;
}

// Whether `other`, which comes later in the search, names an address rather than `best`.
bool Wins(const RawSymbol& other, const RawSymbol& best) {
  return other.tier < best.tier || (other.tier == best.tier && Beats(other, best));
}

// The symbols that cover the sweep's current address, in search order.
class Active {
 public:
  explicit Active(const std::vector<RawSymbol>& symbols) : symbols_(symbols) {}

  bool empty() const { return indices_.empty(); }
  void Add(uint32_t index) {
    if (indices_.size() >= kMaxOverlap) return;
    auto later = std::find_if(indices_.begin(), indices_.end(), [&](uint32_t other) {
      return symbols_[other].order > symbols_[index].order;
    });
    indices_.insert(later, index);
  }
  void DropEnded(uint32_t position) {
    std::erase_if(indices_, [&](uint32_t index) { return symbols_[index].end <= position; });
  }
  uint32_t FirstEnd() const {
    uint32_t end = UINT32_MAX;
    for (uint32_t index : indices_) end = std::min(end, symbols_[index].end);
    return end;
  }
  uint32_t Winner() const {
    uint32_t best = indices_.front();
    for (uint32_t index : indices_) {
      if (Wins(symbols_[index], symbols_[best])) best = index;
    }
    return best;
  }

 private:
  const std::vector<RawSymbol>& symbols_;
  std::vector<uint32_t> indices_;
};

// Names the addresses from `begin` to `end` by a symbol.
void Append(std::vector<SymbolTable::Range>& ranges, const std::vector<RawSymbol>& symbols,
            uint32_t begin, uint32_t end, uint32_t symbol) {
  if (!ranges.empty()) {
    SymbolTable::Range& last = ranges.back();
    if (last.name_offset == symbol && last.start + last.size_bytes == begin) {
      last.size_bytes = end - last.start;
      return;
    }
  }
  ranges.push_back({begin, end - begin, symbol, symbols[symbol].start, 0});
}

// The symbols of the next start, where they end together before another begins: one function, maybe
// under several names, as most are. Moves `next` behind them.
bool AppendAlone(const std::vector<RawSymbol>& symbols, size_t& next,
                 std::vector<SymbolTable::Range>& ranges) {
  const RawSymbol& first = symbols[next];
  size_t best = next;
  size_t last = next + 1;
  for (; last < symbols.size() && symbols[last].start == first.start; ++last) {
    if (symbols[last].end != first.end) return false;
    if (Wins(symbols[last], symbols[best])) best = last;
  }
  if (last < symbols.size() && symbols[last].start < first.end) return false;
  next = last;
  if (first.end > first.start) {
    ranges.push_back(
        {first.start, first.end - first.start, static_cast<uint32_t>(best), first.start, 0});
  }
  return true;
}

// Sorts by start address. Symbols with the same start keep their order in the table.
void SortByStart(std::vector<RawSymbol>& symbols) {
  std::vector<uint64_t> keys;
  keys.reserve(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) keys.push_back(uint64_t{symbols[i].start} << 32 | i);
  SortByUpperHalf(keys);
  std::vector<RawSymbol> sorted;
  sorted.reserve(symbols.size());
  for (uint64_t key : keys) sorted.push_back(symbols[static_cast<uint32_t>(key)]);
  symbols = std::move(sorted);
}

}  // namespace

std::vector<SymbolTable::Range> ResolveOverlaps(std::vector<RawSymbol>& symbols) {
  SortByStart(symbols);
  SettleLabels(symbols);

  std::vector<SymbolTable::Range> ranges;
  ranges.reserve(symbols.size());
  Active active(symbols);
  uint32_t position = 0;
  for (size_t next = 0; next < symbols.size() || !active.empty();) {
    if (active.empty()) {
      if (AppendAlone(symbols, next, ranges)) continue;
      position = symbols[next].start;
    }
    for (; next < symbols.size() && symbols[next].start <= position; ++next) {
      if (symbols[next].end > symbols[next].start) active.Add(static_cast<uint32_t>(next));
    }
    if (active.empty()) continue;
    uint32_t stop = active.FirstEnd();
    if (next < symbols.size()) stop = std::min(stop, symbols[next].start);
    Append(ranges, symbols, position, stop, active.Winner());
    position = stop;
    active.DropEnded(position);
  }
  return ranges;
}

}  // namespace firetower::symbolizer
