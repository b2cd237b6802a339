// The samples in a line of a worker (docs/worker-protocol.md), found without reading what is in
// them: an agent passes on as it came what the server reads. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace stripline::agent {

/// The series of a message of type "samples", each as its text in `line`; nullopt for every other
/// line, also for one that is not JSON. Whether a series is one, the server checks.
std::optional<std::vector<std::string_view>> series_of_line(std::string_view line);

}  // namespace stripline::agent
