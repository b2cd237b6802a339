#include "tests/load/soak.h"

#include <algorithm>
#include <cstdio>

namespace stripline::load {
namespace {

constexpr double kMostP99_s = 0.1;
constexpr double kMostViewerFactor = 2;
// p99 of less are not compared.
constexpr double kNoise_s = 0.005;
constexpr double kPagesNoise_s = 0.05;
constexpr double kMostGrowth = 1.1;
constexpr double kMostDeferredShare = 0.01;

double median_mib(std::span<const Resident> part) {
  std::vector<double> sorted;
  for (const Resident& one : part) sorted.push_back(one.mib);
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

std::string text(const char* format, double value, double most) {
  char line[160];
  std::snprintf(line, sizeof line, format, value, most);
  return line;
}

// How many times larger the second is than the first, or than noise.
double times(double quiet_s, double with_viewer_s, double noise_s) {
  return with_viewer_s / std::max(quiet_s, noise_s);
}

}  // namespace

double growth(std::span<const Resident> course) {
  const size_t fifth = course.size() / 5;
  if (fifth < 2) return 1;
  return median_mib(course.last(fifth)) / median_mib(course.first(fifth));
}

std::vector<std::string> unmet(const SoakFigures& figures) {
  std::vector<std::string> found;
  if (figures.samples_acknowledged != figures.samples_measured ||
      figures.samples_stored != figures.samples_measured || figures.samples_measured == 0) {
    found.push_back("of " + std::to_string(figures.samples_measured) + " samples " +
                    std::to_string(figures.samples_acknowledged) + " were acknowledged and " +
                    std::to_string(figures.samples_stored) + " are stored");
  }
  if (figures.runs_lost > 0) {
    found.push_back(std::to_string(figures.runs_lost) + " runs were given out more than once");
  }
  if (figures.p99_s >= kMostP99_s) {
    found.push_back(text("batches are acknowledged in %.1f ms (p99), not in less than %.0f ms",
                         1e3 * figures.p99_s, 1e3 * kMostP99_s));
  }
  const double of_batches = times(figures.p99_quiet_s, figures.p99_with_viewer_s, kNoise_s);
  if (of_batches > kMostViewerFactor) {
    found.push_back(
        text("one viewer makes the p99 of batches %.1f times what it was, not at most %.0f",
             of_batches, kMostViewerFactor));
  }
  const double of_pages =
      times(figures.pages_p99_quiet_s, figures.pages_p99_with_viewer_s, kPagesNoise_s);
  if (of_pages > kMostViewerFactor) {
    found.push_back(
        text("one viewer makes the p99 of browsers %.1f times what it was, not at most %.0f",
             of_pages, kMostViewerFactor));
  }
  if (figures.memory_growth > kMostGrowth) {
    found.push_back(text("the server's memory grew to %.2f times what it was, not to at most %.1f",
                         figures.memory_growth, kMostGrowth));
  }
  if (figures.pages_answered == 0 || figures.events_streamed == 0) {
    found.push_back("browsers saw nothing");
  }
  if (figures.pages_failed > 0) {
    found.push_back(std::to_string(figures.pages_failed) + " requests of browsers failed");
  }
  const auto asked = static_cast<double>(figures.pages_answered + figures.pages_deferred);
  if (asked > 0 && static_cast<double>(figures.pages_deferred) > kMostDeferredShare * asked) {
    found.push_back(std::to_string(figures.pages_deferred) + " of " +
                    std::to_string(figures.pages_answered + figures.pages_deferred) +
                    " requests of browsers were put off");
  }
  for (const std::string& attacker : figures.idle_attackers) {
    found.push_back(attacker + " got through nothing of what it was to try");
  }
  return found;
}

}  // namespace stripline::load
