// SPDX-License-Identifier: Apache-2.0
// Settings and errors that all transfers by libcurl share, without libcurl's types: `easy` is its
// CURL handle, `code` its CURLcode.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/client/http_client.h"

namespace firetower::net {

// Initializes libcurl, once a process: to be called before anything else of it.
void StartCurl();

// Settings that have to live as long as the transfer.
using KeptSettings = std::unique_ptr<void, void (*)(void*)>;

// Sets what a transfer to `url` needs, besides the request itself. `options` outlives the transfer.
[[nodiscard]] KeptSettings SetUpTransfer(void* easy, const ClientOptions& options,
                                         const std::string& url, bool link_local);

// Says why a transfer failed; `text` is libcurl's own message, and may be empty. `broken_response`
// is the code for a response that was cut or is no HTTP.
Error TransferError(void* easy, int code, std::string text, const ClientOptions& options,
                    ErrorCode broken_response);

// kInvalid when the CA file cannot be read, or a text that should be certificates is none.
Status CheckAuthorities(const ClientOptions& options);

}  // namespace firetower::net
