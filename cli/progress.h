// The progress of a campaign as text. Pure: a state and a width give a line.
#pragma once

#include <cstdint>
#include <string>

namespace stripline::cli {

/// What there is to show. Times are seconds.
struct Progress {
  enum class Stage { queued, measuring, paused, draining, fitting, succeeded, failed, cancelled };
  Stage stage = Stage::queued;
  uint32_t points_done = 0;
  uint32_t points_total = 0;
  uint32_t runs_done = 0;
  uint32_t runs_total = 0;
  double left_s = -1;  ///< negative: unknown
  double elapsed_s = 0;
  std::string message;  ///< why it waits
  bool connected = true;
};

/// The share that is done, in [0, 1].
double fraction_done(const Progress& progress);

/// One line of at most `width` columns, to be drawn over the last one:
///   measuring [#########-----------]  45 %  run 6/12  27 s left
/// Narrow terminals lose the bar first, then details.
std::string progress_line(const Progress& progress, size_t width);

/// The same facts for a log: "measuring: 45 %, run 6/12, 27 s left".
std::string progress_summary(const Progress& progress);

}  // namespace stripline::cli
