// SPDX-License-Identifier: Apache-2.0
// Unpacks files that hold profiles: gzip, zstd, xz and ZIP, also nested.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// Tells whether the bytes begin like such a file.
bool IsPacked(std::string_view bytes);

struct UnpackOptions {
  size_t max_bytes = size_t{1} << 30;  // of each layer, unpacked
  std::string_view entry = {};         // of a ZIP: its name, or a pattern with * and ?
  bool all_entries = false;            // of a ZIP, of those that `entry` names; else there is one
};

struct Unpacked {
  std::string_view bytes = {};  // valid during the call
  std::string_view name = {};   // of the file, or of the entry of a ZIP
  std::string way = {};         // "after zstd -d", for messages; empty: it was not packed
  bool is_of_zip = false;       // `bytes` are those of an entry, or packed in one
  std::string command = {};     // prints `bytes` of a file FILE: "zstd -d < FILE"; empty: the same
};

// Calls `visit` with the contents of a file: once, or for each entry of a ZIP if all are wanted.
// kNotFound: the ZIP has no matching entry, or several where one is needed (the message lists
// them); or an entry was named but the file is no ZIP.
Status Unpack(std::string_view bytes, std::string_view name, const UnpackOptions& options,
              const std::function<Status(const Unpacked&)>& visit);

}  // namespace firetower::profile
