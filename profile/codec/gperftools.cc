// SPDX-License-Identifier: Apache-2.0
// gperftools' binary CPU profile (gperftools.github.io/gperftools/cpuprofile-fileformat.html):
// words of 4 or 8 bytes in the order of the machine that wrote them, then the text of
// /proc/self/maps.
#include "profile/codec/gperftools.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/codec/text.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

constexpr size_t kHeaderWords = 5;
constexpr uint64_t kNsPerUs = 1000;
constexpr uint64_t kMaxPeriodUs = INT64_MAX / kNsPerUs;
constexpr uint64_t kMostLikelyPeriodUs = 10'000'000;  // CPUPROFILE_FREQUENCY is a whole number

struct WordForm {
  size_t bytes = 8;
  bool big_endian = false;
};
constexpr WordForm kForms[] = {{4, false}, {4, true}, {8, false}, {8, true}};

class WordReader {
 public:
  WordReader(std::string_view bytes, WordForm form) : bytes_(bytes), form_(form) {}

  size_t left() const { return (bytes_.size() - at_) / form_.bytes; }
  size_t position() const { return at_; }
  size_t bytes() const { return bytes_.size(); }
  std::string_view rest() const { return bytes_.substr(at_); }
  // False at the end.
  bool Next(uint64_t* word) {
    if (left() == 0) return false;
    *word = 0;
    for (size_t i = 0; i < form_.bytes; ++i) {
      const size_t from = form_.big_endian ? i : form_.bytes - 1 - i;
      *word = *word << 8 | static_cast<unsigned char>(bytes_[at_ + from]);
    }
    at_ += form_.bytes;
    return true;
  }

 private:
  std::string_view bytes_;
  WordForm form_;
  size_t at_ = 0;
};

struct Header {
  WordForm form;
  uint64_t period_us = 0;
};

// A zero, the number of words behind this one, version 0, the period, a zero: read in the wrong
// form it is none of these.
std::optional<Header> ReadHeader(std::string_view bytes) {
  for (const WordForm form : kForms) {
    WordReader in(bytes, form);
    if (in.left() < kHeaderWords) continue;
    uint64_t words[kHeaderWords];
    for (uint64_t& word : words) in.Next(&word);
    const bool is_header =
        words[0] == 0 && words[1] == 3 && words[2] == 0 && words[3] != 0 && words[4] == 0;
    if (is_header) return Header{form, words[3]};
  }
  return std::nullopt;
}

// Returns the error for a header in which a word is missing or wrong; nothing where the first words
// are those of none in any form.
std::optional<Error> HeaderError(std::string_view bytes) {
  constexpr uint64_t kMostWords = 16;  // a header of more is none
  std::optional<Error> cut;
  for (const WordForm form : kForms) {
    WordReader in(bytes, form);
    uint64_t words[kHeaderWords] = {};
    const size_t count = std::min(in.left(), kHeaderWords);
    for (size_t i = 0; i < count; ++i) in.Next(&words[i]);
    if (count < 2 || words[0] != 0 || words[1] < 2 || words[1] >= kMostWords || words[2] != 0) {
      continue;
    }
    if (words[1] == 3 && count < kHeaderWords) {
      cut =
          Error(ErrorCode::kCorrupt,
                fmt::format("this is gperftools' CPU profile, cut off inside its header: {} bytes "
                            "of {}; a program writes it when it calls ProfilerStop() or exits",
                            bytes.size(), kHeaderWords * form.bytes),
                kGetItAgain);
      continue;
    }
    if (words[1] != 3 && count >= 4 && words[3] != 0 && words[3] <= kMostLikelyPeriodUs) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("this is gperftools' CPU profile with a header of {} words, damaged "
                               "or of a version with another header: record it with gperftools 2, "
                               "whose header has {}",
                               words[1] + 2, kHeaderWords));
    }
    if (words[1] == 3 && words[3] == 0 && words[4] == 0) {
      return Error(ErrorCode::kUnsupported,
                   "this is gperftools' CPU profile with a sampling period of 0, damaged or never "
                   "started: record it again, with CPUPROFILE_FREQUENCY=100");
    }
  }
  return cut;
}

struct MappedFile {
  uint64_t start = 0;
  uint64_t limit = 0;
  uint64_t offset = 0;
  std::string_view path = {};
};

// "start-end perms offset dev inode path", proc(5); nothing of what is not executable.
std::optional<MappedFile> ParseMapsLine(std::string_view line) {
  const std::string_view range = TakeWord(&line);
  const std::string_view permissions = TakeWord(&line);
  const std::string_view offset = TakeWord(&line);
  TakeWord(&line);
  TakeWord(&line);
  const size_t dash = range.find('-');
  MappedFile mapped{.path = TrimRight(line)};
  const bool is_range = dash != std::string_view::npos &&
                        ParseHex(range.substr(0, dash), &mapped.start) &&
                        ParseHex(range.substr(dash + 1), &mapped.limit);
  if (!is_range || mapped.start >= mapped.limit || !ParseHex(offset, &mapped.offset) ||
      permissions.find('x') == std::string_view::npos) {
    return std::nullopt;
  }
  return mapped;
}

// gperftools keeps at most 254 addresses of a stack, and cuts what is deeper.
constexpr uint64_t kMostLikelyDepth = 1 << 12;

constexpr std::string_view kWholeFile =
    "the program writes the whole file when it calls ProfilerStop() or exits, so record it again "
    "with one "
    "that does, or copy the file again";

Error Corrupt(size_t position, std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("gperftools: byte {}: {}", position, why), kGetItAgain};
}

class GperftoolsDecoder {
 public:
  GperftoolsDecoder(const Header& header, const ImportLimits& limits)
      : limits_(limits),
        form_(header.form),
        period_ns_(static_cast<int64_t>(header.period_us * kNsPerUs)),
        builder_(MetaOf(period_ns_),
                 {.max_samples = limits.max_entries, .max_bytes = limits.max_profile_bytes}) {}

  Result<Profile> Decode(std::string_view bytes) {
    WordReader in(bytes, form_);
    uint64_t word = 0;
    for (size_t i = 0; i < kHeaderWords; ++i) in.Next(&word);
    // The mappings come last, and locations are made with theirs: the records are read twice.
    WordReader records = in;
    do {
      RETURN_IF_ERROR(TakeRecord(&in));
    } while (!IsTrailer());
    RETURN_IF_ERROR(ReadMaps(in.rest()));
    while (true) {
      RETURN_IF_ERROR(TakeRecord(&records));
      if (IsTrailer()) break;
      RETURN_IF_ERROR(AddRecord());
    }
    if (builder_.saturated_values() > 0) {
      return Error(ErrorCode::kExhausted, "gperftools: the values of a stack pass 2^63");
    }
    return std::move(builder_).Build();
  }

 private:
  static Meta MetaOf(int64_t period_ns) {
    Meta meta;
    meta.sample_types = {{"samples", "count"}, {"cpu", "nanoseconds"}};
    meta.period_type = {"cpu", "nanoseconds"};
    meta.period = period_ns;
    return meta;
  }

  // Reads the next record into count_ and pcs_.
  Status TakeRecord(WordReader* in) {
    const size_t begin = in->position();
    uint64_t depth = 0;
    ++record_;
    if (in->rest().empty()) {
      return Corrupt(begin, fmt::format("cut off behind record {}, without the trailer; {}",
                                        record_ - 1, kWholeFile));
    }
    if (!in->Next(&count_) || !in->Next(&depth)) {
      return Corrupt(begin, fmt::format("cut off inside record {}, of which {} bytes are there; {}",
                                        record_, in->bytes() - begin, kWholeFile));
    }
    if (depth > in->left()) {
      const std::string stack =
          fmt::format("a stack of {} addresses, where {} fit", depth, in->left());
      if (depth > kMostLikelyDepth) {
        return Corrupt(begin, fmt::format("record {} is damaged: {}", record_, stack));
      }
      return Corrupt(begin,
                     fmt::format("cut off inside record {}, {}; {}", record_, stack, kWholeFile));
    }
    pcs_.resize(depth);
    for (uint64_t& pc : pcs_) in->Next(&pc);
    return OkStatus();
  }
  bool IsTrailer() const { return count_ == 0 && pcs_.size() == 1 && pcs_[0] == 0; }

  Status ReadMaps(std::string_view text) {
    LineReader lines(text);
    for (std::string_view line; lines.Next(&line);) {
      const std::optional<MappedFile> mapped = ParseMapsLine(line);
      if (!mapped) continue;
      if (maps_.size() >= limits_.max_entries) {
        return Error(ErrorCode::kExhausted,
                     fmt::format("gperftools: more than {} mappings", limits_.max_entries));
      }
      const Mapping mapping{.memory_start = mapped->start,
                            .memory_limit = mapped->limit,
                            .file_offset = mapped->offset,
                            .filename = builder_.AddString(mapped->path)};
      maps_.push_back({mapped->start, mapped->limit, builder_.AddMapping(mapping)});
    }
    std::ranges::sort(maps_, {}, &Mapped::start);
    return OkStatus();
  }

  uint32_t MappingOf(uint64_t pc) const {
    const auto next = std::ranges::upper_bound(maps_, pc, {}, &Mapped::start);
    if (next == maps_.begin() || pc >= std::prev(next)->limit) return kNoMapping;
    return std::prev(next)->index;
  }

  Status AddRecord() {
    int64_t cpu_ns = 0;
    if (count_ > INT64_MAX ||
        __builtin_mul_overflow(static_cast<int64_t>(count_), period_ns_, &cpu_ns)) {
      return Error(ErrorCode::kExhausted, "gperftools: the value of a stack passes 2^63");
    }
    // If the unwinder omitted the signal's frame, the leaf comes twice.
    if (pcs_.size() > 1 && pcs_[0] == pcs_[1]) pcs_.erase(pcs_.begin());
    stack_.clear();
    for (size_t i = 0; i < pcs_.size(); ++i) {
      // A caller's address is the one behind its call, which may be the next function's.
      const uint64_t pc = pcs_[i] - (i > 0 && pcs_[i] > 0 ? 1 : 0);
      stack_.push_back(builder_.AddLocation(MappingOf(pc), pc, {}));
    }
    const int64_t values[] = {static_cast<int64_t>(count_), cpu_ns};
    if (builder_.AddSample(stack_, values)) return OkStatus();
    return Error(ErrorCode::kExhausted,
                 fmt::format("gperftools: more than {} stacks or {} bytes", limits_.max_entries,
                             limits_.max_profile_bytes));
  }

  struct Mapped {
    uint64_t start = 0;
    uint64_t limit = 0;
    uint32_t index = 0;
  };

  ImportLimits limits_;
  WordForm form_;
  int64_t period_ns_;
  ProfileBuilder builder_;
  std::vector<Mapped> maps_;  // by start
  size_t record_ = 0;         // the one that is being read, from 1
  uint64_t count_ = 0;
  std::vector<uint64_t> pcs_;
  std::vector<uint32_t> stack_;
};

}  // namespace

bool IsGperftools(std::string_view bytes) { return ReadHeader(bytes).has_value(); }

std::optional<Error> DamagedGperftools(std::string_view bytes) {
  return IsGperftools(bytes) ? std::nullopt : HeaderError(bytes);
}

Result<Profile> DecodeGperftools(std::string_view bytes, const ImportLimits& limits) {
  if (bytes.size() > limits.max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("gperftools: {} bytes, more than the limit of {}", bytes.size(),
                             limits.max_bytes));
  }
  const std::optional<Header> header = ReadHeader(bytes);
  if (!header) {
    if (std::optional<Error> damaged = HeaderError(bytes)) return *std::move(damaged);
    return Error(ErrorCode::kCorrupt, "gperftools: byte 0: no header of a CPU profile");
  }
  if (header->period_us > kMaxPeriodUs) return Corrupt(0, "a period that cannot be right");
  return GperftoolsDecoder(*header, limits).Decode(bytes);
}

}  // namespace firetower::profile
