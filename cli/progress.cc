#include "cli/progress.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/enum_names.h"
#include "base/quantity.h"
#include "cli/format.h"

namespace stripline::cli {
namespace {

std::string stage_text(Progress::Stage stage) {
  constexpr std::array<std::string_view, 8> kNames = {
      "queued", "measuring", "paused", "draining", "fitting", "succeeded", "failed", "cancelled"};
  return std::string(enum_name(kNames, stage));
}

std::string done_text(const Progress& progress) {
  // Rounded down: 100 % is said only when it is so.
  return std::to_string(static_cast<int>(std::floor(fraction_done(progress) * 100))) + " %";
}

std::string run_text(const Progress& progress) {
  if (progress.stage != Progress::Stage::measuring && progress.stage != Progress::Stage::draining) {
    return std::to_string(progress.runs_done) + " of " + std::to_string(progress.runs_total) +
           " runs";
  }
  // The run in progress counts: the first one shows as 1 of n.
  const uint32_t current = std::min(progress.runs_done + 1, progress.runs_total);
  return "run " + std::to_string(current) + "/" + std::to_string(progress.runs_total);
}

// Empty where nothing is known of time.
std::string time_text(const Progress& progress) {
  if (!progress.connected) return "waiting for the server";
  if (progress.stage == Progress::Stage::measuring && progress.left_s >= 0) {
    return duration_text(progress.left_s) + " left";
  }
  return progress.elapsed_s < 0 ? std::string() : duration_text(progress.elapsed_s);
}

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string padding(width > text.size() ? width - text.size() : 0, ' ');
  return right ? padding + text : text + padding;
}

}  // namespace

double fraction_done(const Progress& progress) {
  if (progress.stage == Progress::Stage::succeeded || progress.stage == Progress::Stage::fitting) {
    return 1;
  }
  const auto share = [](uint32_t done, uint32_t total) {
    return total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / total);
  };
  return std::max(share(progress.points_done, progress.points_total),
                  share(progress.runs_done, progress.runs_total));
}

std::string progress_line(const Progress& progress, size_t width) {
  constexpr size_t kStageWidth = 9;
  constexpr size_t kMinBar = 10;
  constexpr size_t kMaxBar = 40;
  std::string head = padded(stage_text(progress.stage), kStageWidth, false);
  if (progress.stage == Progress::Stage::queued) {
    std::string line = head;
    if (const std::string time = time_text(progress); !time.empty()) line += " " + time + " ";
    if (!progress.message.empty()) line += " " + progress.message;
    return fit(line, width);
  }
  std::string tail = padded(done_text(progress), 5, true);
  if (progress.runs_total > 0) tail += "  " + run_text(progress);
  if (const std::string time = time_text(progress); !time.empty()) tail += "  " + time;
  const size_t fixed = head.size() + tail.size() + 4;  // spaces and brackets
  if (width < fixed + kMinBar) return fit(head + " " + tail, width);
  const size_t bar = std::min(kMaxBar, width - fixed);
  const auto filled =
      static_cast<size_t>(std::floor(fraction_done(progress) * static_cast<double>(bar)));
  return head + " [" + std::string(filled, '#') + std::string(bar - filled, '-') + "] " + tail;
}

std::string progress_summary(const Progress& progress) {
  std::string line = stage_text(progress.stage);
  if (progress.stage == Progress::Stage::queued) {
    return progress.message.empty() ? line : line + ": " + progress.message;
  }
  line += ": " + done_text(progress);
  if (progress.runs_total > 0) line += ", " + run_text(progress);
  if (const std::string time = time_text(progress); !time.empty()) line += ", " + time;
  return line;
}

}  // namespace stripline::cli
