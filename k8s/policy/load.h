// SPDX-License-Identifier: Apache-2.0
// Policies from files, read as strictly as the API server reads them with strict field validation,
// and a little more (label syntax). One bad document costs itself alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/document/node.h"
#include "k8s/policy/policy.h"

namespace firetower::k8s {

inline constexpr size_t kMaxPolicyFiles = 1000;      // in a folder
inline constexpr size_t kMaxErrorsPerDocument = 50;  // the next one says that there are more

struct PolicyError {
  std::string file;
  int line = 0;         // counts from 1; 0: the file as a whole
  std::string field;    // "spec.general.periodSeconds"; "" for the document or the file
  std::string message;  // what is wrong, and what is allowed

  std::string ToString() const;  // "file:line: field: message"
};

struct PolicyFileResult {
  std::vector<ProfilingPolicy> policies;  // those without any error
  std::vector<PolicyError> errors;
  // Documents with errors, however many each has, and files that are not read.
  size_t refused = 0;
};

// All documents of a file of at most 1 MiB, YAML or JSON; of a `kind: List`,
// `ProfilingPolicyList` or `ClusterProfilingPolicyList` its items. A file that
// cannot be read is an error in the result.
PolicyFileResult LoadPolicyFile(const std::string& path);

// A file, or the *.yaml, *.yml and *.json of a folder in the order of their names, hidden ones
// (such as a ConfigMap volume's `..data`) left out. A policy given twice counts once, the first.
PolicyFileResult LoadPolicies(const std::string& file_or_dir);

// Parses a text as LoadPolicyFile parses a file; `file` is the name in messages.
PolicyFileResult ParsePolicies(std::string_view text, const std::string& file);

// One object of a file.
PolicyFileResult ParsePolicy(const Node& document, const std::string& file);

}  // namespace firetower::k8s
