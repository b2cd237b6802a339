// Patterns of node names: "gpu*" is every node whose name begins so, "n?" one more character. A
// name is a pattern of itself. Pure.
#pragma once

#include <string_view>

namespace stripline::server {

/// Whether it could be the pattern of a node's name: not empty, at most 63 of the characters of
/// names,
/// '*' and '?'.
bool is_node_pattern(std::string_view text);

/// Whether the name is one of the pattern's. Takes at most the product of their lengths.
bool matches_node_pattern(std::string_view pattern, std::string_view node);

}  // namespace stripline::server
