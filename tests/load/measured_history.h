// What a server has stored that has measured for long.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace stripline::load {

/// What its campaigns have measured.
inline constexpr const char* kHistoryExperiment = "micro.latency";

/// Adds campaigns c1, c2 ... to a database that has none: the last two of that many points, the
/// others of one, each measured in two runs, with its samples. No server runs on it. Errors: the
/// store's.
Status fill_with_history(const std::filesystem::path& database, int64_t campaigns, uint32_t points);

}  // namespace stripline::load
