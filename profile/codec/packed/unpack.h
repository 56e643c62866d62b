// SPDX-License-Identifier: Apache-2.0
// Files that hold profiles packed: gzip, zstd, xz and ZIP, one in the other too.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// True for the beginning of such a file.
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

// Calls `visit` with what the file holds: once, but for a ZIP of which all entries are wanted.
// kNotFound lists the files of a ZIP where none or several are named, and is for a name where there
// is no ZIP.
Status Unpack(std::string_view bytes, std::string_view name, const UnpackOptions& options,
              const std::function<Status(const Unpacked&)>& visit);

}  // namespace firetower::profile
