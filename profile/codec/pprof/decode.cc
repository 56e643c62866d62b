// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/check.h"
#include "profile/builder.h"
#include "profile/codec/gzip.h"
#include "profile/codec/pprof/reader.h"
#include "profile/copy.h"
#include "profile/pprof.h"

namespace firetower::profile {

Result<std::string_view> InflatePprof(std::string_view bytes, const PprofDecodeLimits& limits,
                                      std::string* inflated) {
  if (IsGzip(bytes)) {
    RETURN_IF_ERROR(GzipDecompress(bytes, limits.max_inflated_bytes, inflated));
    bytes = *inflated;
  }
  if (bytes.size() > limits.max_inflated_bytes) {
    return Error(ErrorCode::kExhausted, fmt::format("pprof: {} bytes, more than the limit of {}",
                                                    bytes.size(), limits.max_inflated_bytes));
  }
  if (bytes.empty()) return Error(ErrorCode::kCorrupt, "pprof: empty file");
  return bytes;
}

namespace {

Result<Profile> DecodeRaw(std::string_view raw, const PprofDecodeLimits& limits,
                          PprofLosses* losses) {
  PprofReader reader;
  RETURN_IF_ERROR(reader.Read(raw, limits));
  if (losses != nullptr) *losses = reader.FindLosses();
  ProfileBuilder builder(Meta(reader.meta()), {.max_samples = limits.max_entries,
                                               .max_bytes = std::numeric_limits<size_t>::max()});
  builder.Reserve({.strings = reader.string_count(),
                   .string_bytes = reader.string_bytes(),
                   .functions = reader.function_count(),
                   .locations = reader.location_count(),
                   .samples = reader.sample_count(),
                   .frames = reader.frame_count()});
  auto keep_mapping = [&](const Mapping& mapping) {
    return MovedMapping{.index = builder.AddMapping(mapping)};
  };
  // The reader counted the samples against the limit.
  CHECK(CopyInto(reader, keep_mapping, KeepSample, builder));
  return std::move(builder).Build();
}

}  // namespace

Result<Profile> DecodePprof(std::string_view bytes, const PprofDecodeLimits& limits,
                            PprofLosses* losses) {
  std::string inflated;
  ASSIGN_OR_RETURN(std::string_view raw, InflatePprof(bytes, limits, &inflated));
  return DecodeRaw(raw, limits, losses);
}

Result<Profile> DecodePprof(std::string&& bytes, const PprofDecodeLimits& limits) {
  std::string inflated;
  ASSIGN_OR_RETURN(std::string_view raw, InflatePprof(bytes, limits, &inflated));
  if (!inflated.empty()) std::string().swap(bytes);
  return DecodeRaw(raw, limits, nullptr);
}

}  // namespace firetower::profile
