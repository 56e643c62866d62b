// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace firetower::cli {

struct Ran {
  int exit_code = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

struct RunOptions {
  std::vector<std::string> environment;  // before PATH, LANG=C.UTF-8 and TZ=UTC
  std::string argv0 = "firetower";
  // Standard output is a terminal of this many columns; `err` is then in `out` too. 0: pipes.
  unsigned short terminal_columns = 0;
  std::string stdin_file;  // what standard input is; empty: the test's own
  // `signal` is sent once this shows up in the output.
  std::string interrupt_at;
  // Called once with the first line of the output, without its end; `signal` is sent after it.
  std::function<void(const std::string&)> when_out_has_line;
  int signal = SIGINT;
};

// Runs the real binary; at most 20 s.
Ran RunFiretower(const std::vector<std::string>& arguments, const RunOptions& options = {});

// Compares with tests/unit/cli/testdata/<name>, or writes it when FIRETOWER_UPDATE_GOLDEN is set.
void ExpectGolden(const std::string& name, const std::string& text);

}  // namespace firetower::cli
