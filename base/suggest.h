// "Did you mean ...?"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stripline {

/// The number of insertions, deletions, substitutions and swaps of neighbours that turn one text
/// into the other (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `choices` if it is near enough to be what was meant: at most two edits and fewer
/// than half of the characters, or a choice that begins with `text`.
std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& choices);

/// " (did you mean 'tcp'?)", for after `text` in a message; empty if nothing is near.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& choices);

}  // namespace stripline
