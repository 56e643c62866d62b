// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/options/option.h"

namespace firetower::service {

// Appends the two options of the HTTP server's certificate, with `group` as their heading.
void AddTlsOptions(std::string_view group, std::string& certificate, std::string& private_key,
                   std::vector<Option>& rows);

// Returns kInvalid if only one of the two files is given.
Status CheckTlsOptions(const std::string& certificate, const std::string& private_key);

}  // namespace firetower::service
