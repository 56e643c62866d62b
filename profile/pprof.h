// SPDX-License-Identifier: Apache-2.0
// Reads and writes pprof's profile.proto (github.com/google/pprof/proto), gzip'd or raw.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

struct PprofEncodeOptions {
  bool gzip = true;
  // Receives the profile's index of each sample of the file, if it is not null.
  std::vector<uint32_t>* order = nullptr;
};

// Encodes a profile. Samples are ordered by their stacks from the root on. The same profile gives
// the same bytes (gzip'd ones only on the same kind of CPU).
std::string EncodePprof(const Profile& profile, const PprofEncodeOptions& options = {});

struct PprofDecodeLimits {
  size_t max_inflated_bytes = size_t{256} << 20;
  uint32_t max_entries = 1u << 22;  // samples, locations, functions, mappings, strings: each
};

// Counts of the parts of a file that a Profile cannot hold.
struct PprofLosses {
  uint64_t unknown_fields = 0;  // not in profile.proto
  uint64_t wrong_types = 0;     // fields of profile.proto that have another type there
  uint64_t label_numbers = 0;   // numbers and units of labels that have a text as well
  uint64_t columns = 0;         // negative ones, and those past 32 bits
  uint64_t texts = 0;           // not UTF-8: U+FFFD stands for what is none
  bool operator==(const PprofLosses&) const = default;
};

// Decodes gzip'd or raw bytes. kCorrupt names the wrong field and entry; kExhausted names the
// limit. Never allocates more than a small multiple of the limits. `losses`, if given, receives
// counts of what was dropped.
Result<Profile> DecodePprof(std::string_view bytes, const PprofDecodeLimits& limits = {},
                            PprofLosses* losses = nullptr);
// Decodes bytes that it owns, and frees gzip'd ones as soon as they are inflated.
Result<Profile> DecodePprof(std::string&& bytes, const PprofDecodeLimits& limits = {});

}  // namespace firetower::profile
