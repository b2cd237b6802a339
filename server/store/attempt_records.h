// Attempts at runs, as they are stored. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/names.h"

namespace stripline::server {

/// How an attempt at a run ended. One that was lost is not the last.
enum class AttemptOutcome { finished, lost, failed, cancelled };
std::string_view to_string(AttemptOutcome outcome);  ///< "FINISHED"
std::optional<AttemptOutcome> attempt_outcome_from_string(std::string_view name);

/// Where a run was in progress, and when.
struct AttemptRecord {
  RunKey run;
  uint64_t fence = 0;
  std::vector<std::string> nodes;  ///< In order of name.
  double started_unix_s = 0;
  std::optional<double> ended_unix_s;                 ///< nullopt while it is in progress.
  AttemptOutcome outcome = AttemptOutcome::finished;  ///< Once it has ended.
  std::string reason;                                 ///< Why it did not finish.
  bool operator==(const AttemptRecord&) const = default;
};

}  // namespace stripline::server
