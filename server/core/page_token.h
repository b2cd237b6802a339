// Page tokens: opaque to clients, checked by the server. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/problem.h"

namespace stripline::server {

/// A token that continues `list` ("nodes", "models/tcp/versions") after the item `last`.
std::string make_page_token(std::string_view list, std::string_view last);

/// The item after which to continue; empty for an empty token. INVALID_ARGUMENT / BAD_PAGE_TOKEN
/// when the token was not made by make_page_token() for this list.
Answer<std::string> read_page_token(std::string_view list, std::string_view token);

/// The number of items to return: 100 for 0, at most 1000. INVALID_FIELD when negative.
Answer<size_t> page_limit(int32_t page_size);

}  // namespace stripline::server
