// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

namespace firetower::symbolizer {

// Why a test cannot run on a program that the build makes with Go, or nothing.
inline std::string MissingGoProgram(const std::string& path) {
  return std::filesystem::exists(path) ? "" : "no Go when this was built: " + path;
}

// Returns the output of a command.
inline std::istringstream OutputOf(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  char buffer[65536];
  for (size_t got = 0; (got = ::fread(buffer, 1, sizeof(buffer), pipe.get())) > 0;) {
    text.append(buffer, got);
  }
  return std::istringstream(text);
}

}  // namespace firetower::symbolizer
