// The progress of a campaign as text. Pure: a state and a width give a line.
#pragma once

#include <cstdint>
#include <string>

namespace stripline::cli {

/// What there is to show. Times are seconds.
struct Progress {
  enum class Stage { queued, measuring, paused, draining, fitting, succeeded, failed, cancelled };
  Stage stage = Stage::queued;
  /// Measurements of points: one counts in each run that measures it. Runs that have not been given
  /// out count with all points of the plan, of which they may measure few.
  uint32_t points_done = 0;
  uint32_t points_total = 0;
  uint32_t runs_done = 0;
  uint32_t runs_total = 0;
  double left_s = -1;     ///< negative: unknown
  double elapsed_s = -1;  ///< negative: unknown
  std::string message;    ///< why it waits
  bool connected = true;
};

/// The share that is done, in [0, 1]: of the points or of the runs, the larger one, as runs that
/// are to come may measure fewer points than planned.
double fraction_done(const Progress& progress);

/// One line of at most `width` columns, to be drawn over the last one:
///   measuring [#########-----------]  45 %  run 6/12  27 s left
/// Narrow terminals lose the bar first, then details.
std::string progress_line(const Progress& progress, size_t width);

/// The same facts for a log: "measuring: 45 %, run 6/12, 27 s left", "paused: 12 %, 1 of 8 runs".
std::string progress_summary(const Progress& progress);

}  // namespace stripline::cli
