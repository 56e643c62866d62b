// SPDX-License-Identifier: Apache-2.0
// Loads policies from files, as strictly as the API server with strict field validation, and a
// little stricter (label syntax). An invalid document does not affect the others.
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
  // The number of documents with errors, however many each has, and of unreadable files.
  size_t refused = 0;
};

// Loads all documents of a file of at most 1 MiB, YAML or JSON; the items of a `kind: List`. An
// unreadable file is an error in the result.
PolicyFileResult LoadPolicyFile(const std::string& path);

// Loads a file, or the *.yaml, *.yml and *.json of a folder in the order of their names, without
// hidden ones (such as a ConfigMap volume's `..data`). If a policy is given twice, the first one
// counts.
PolicyFileResult LoadPolicies(const std::string& file_or_dir);

// Parses a text as LoadPolicyFile parses a file; `file` is the name in messages.
PolicyFileResult ParsePolicies(std::string_view text, const std::string& file);

// Reads one object of a file.
PolicyFileResult ParsePolicy(const Node& document, const std::string& file);

}  // namespace firetower::k8s
