// What a model was worth: the same program with and without it, measured in turns within the same
// runs. One set of figures, of which tables, closing lines and exit codes all speak. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_load.h"
#include "base/json.h"
#include "base/result.h"
#include "optimizer/stats/compare.h"

namespace stripline::suites::bench {

enum class Outcome {
  gained,     ///< less time, and the interval says so
  lost,       ///< more time, beyond the interval and beyond what guards may take
  too_close,  ///< neither
  too_busy,   ///< on a real network, of a host whose processors others used meanwhile
};
/// "gained", "lost", "too_close", "too_busy".
std::string_view to_string(Outcome outcome);

/// What a guard may take of a program's time (docs/tracing.md): less than this is no loss.
inline constexpr double kGuardShare = 0.01;

/// One program on one network.
struct Verdict {
  std::string experiment;
  std::string fabric;
  Outcome outcome = Outcome::too_close;
  std::vector<double> log_ratios;  ///< of run medians, with the model to without, by run
  stats::Ratio ratio;
  std::optional<HostLoad> load;  ///< what else the host did; none: it does not matter there
};

/// What the runs say. `load`: the mean of looks between runs, where times are those of the host's
/// processors and clock; `ranks` of the program on this host. Errors: invalid_argument for fewer
/// than two runs.
Result<Verdict> judge(std::vector<double> log_ratios, const std::optional<HostLoad>& load,
                      uint32_t ranks);

/// "gained 21.0 % of the time [20.2, 21.8]", "LOST: takes 25.2 % longer [24.2, 26.1]", "too close
/// to call: 0.3 % less time [-0.5, 1.1]", "not judged: this host is too busy (load 8.1, ...)".
std::string verdict_text(const Verdict& verdict);

/// As a member of a row's JSON, and back. Errors: data_loss.
Json to_json(const Verdict& verdict);
Result<Verdict> verdict_from_json(const Json& row);

/// The verdict of several programs and networks together.
struct Closing {
  std::string text;  ///< lines: one for each, then one for all
  bool lost = false;
};
/// `verdicts` must not be empty.
Result<Closing> close(std::span<const Verdict> verdicts);

}  // namespace stripline::suites::bench
