// How often do the published intervals contain the truth? Fits synthetic campaigns with known
// parameters and prints, per parameter, the coverage and the median half-width.
//
//   fit_coverage [--seeds N] [--first-seed N] [--runs N] [--reps N] [--bound SHARE]
//
// N are whole numbers, of runs two or more. Exits with 1 when the coverage pooled over all
// parameters is below SHARE (default 0) under one of the two ways of nesting the noise, and with 2
// for wrong arguments.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/fit_model.h"
#include "optimizer/fit/operation.h"
#include "optimizer/fit/samples.h"
#include "optimizer/fit/synthetic.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

struct Arguments {
  uint64_t seeds = 1000;
  uint64_t first_seed = 1;
  uint64_t runs = 12;
  uint64_t reps = 16;
  double bound = 0.0;
};

struct Tally {
  int covered = 0;
  int fitted = 0;
  int absent = 0;
  std::vector<double> half_widths;  // Relative to the truth; of the absolute where that is zero.
};

using Tallies = std::map<std::string, Tally>;

void count(Tally& tally, const std::optional<model::Parameter>& parameter, double truth) {
  if (!parameter || parameter->at_least) {
    ++tally.absent;
    return;
  }
  ++tally.fitted;
  if (parameter->ci_low <= truth && truth <= parameter->ci_high) ++tally.covered;
  if (truth > 0.0) {
    tally.half_widths.push_back((parameter->ci_high - parameter->ci_low) / 2.0 / truth);
  }
}

const model::Segment& segment_for(const model::OperationModel& operation, uint64_t bytes) {
  for (const model::Segment& segment : operation.segments) {
    if (bytes < segment.to_bytes) return segment;
  }
  return operation.segments.back();
}

void judge(const TrueOperation& truth, const OperationFit& fit, Tallies& tallies, int& right) {
  const bool one_way = truth.name == "am";
  right += fit.model.segments.size() == truth.segments.size() ? 1 : 0;
  for (std::size_t i = 0; i < truth.segments.size(); ++i) {
    const TrueSegment& s = truth.segments[i];
    // A size in the middle of the segment's sizes tells which fitted segment answers for it.
    const uint64_t probe = i == 0 ? 256 : 131072;
    const model::Segment& found = segment_for(fit.model, probe);
    const std::string prefix = truth.name + "[" + std::to_string(i) + "].";
    count(tallies[prefix + "o_base"], found.o_base_s, s.o_base);
    count(tallies[prefix + "o_per_byte"], found.o_per_byte_s, s.o_per_byte);
    count(tallies[prefix + "L"], found.L_s, s.L);
    count(tallies[prefix + "G"], found.G_s_per_byte, s.G);
    if (one_way) continue;
    count(tallies[prefix + "g"], found.g_s, s.g);
    count(tallies[prefix + "r_base"], found.r_base_s, s.r_base);
    count(tallies[prefix + "r_per_byte"], found.r_per_byte_s, s.r_per_byte);
  }
  count(tallies[truth.name + ".Q"], fit.model.queue_depth, truth.queue_depth);
}

bool report(const char* effect, const Tallies& tallies, int right, int fits, double bound) {
  std::printf("\nbetween-run effect %s: breakpoints right in %d of %d fits\n", effect, right, fits);
  std::printf("%-20s %9s %8s %12s\n", "parameter", "coverage", "absent", "half-width");
  double covered = 0.0;
  double fitted = 0.0;
  for (const auto& [name, tally] : tallies) {
    const double share = tally.fitted > 0 ? static_cast<double>(tally.covered) / tally.fitted : 0.0;
    std::printf("%-20s %9.3f %8d ", name.c_str(), share, tally.absent);
    if (tally.half_widths.empty()) {
      std::printf("%12s\n", "(truth 0)");
    } else {
      std::printf("%11.2f%%\n", 100.0 * stats::median(tally.half_widths));
    }
    covered += tally.covered;
    fitted += tally.fitted + tally.absent;
  }
  const double pooled = covered / fitted;
  std::printf("%-20s %9.4f\n", "all", pooled);
  return pooled >= bound;
}

Kind kind_of(const TrueOperation& operation) {
  if (operation.name == "am") return Kind::am;
  return operation.name == "get" ? Kind::get : Kind::put;
}

// An absent parameter counts as not covered.
bool run_seeds(const Arguments& arguments, RunEffect effect) {
  const std::vector<TrueOperation> machine = example_machine();
  SyntheticCampaign campaign = full_campaign();
  campaign.runs = static_cast<uint32_t>(arguments.runs);
  campaign.reps = static_cast<uint32_t>(arguments.reps);
  Tallies tallies;
  int right = 0;
  int fits = 0;
  for (uint64_t i = 0; i < arguments.seeds; ++i) {
    const auto series = synthesize(machine, campaign, {.effect = effect}, arguments.first_seed + i);
    const SortedSamples samples = sort_samples(SampleTable(series));
    for (const TrueOperation& truth : machine) {
      const auto fit = fit_operation(samples.operations.at(truth.name), kind_of(truth));
      if (!fit.ok()) {
        std::fprintf(stderr, "fit_coverage: %s\n", fit.error().message().c_str());
        return false;
      }
      ++fits;
      judge(truth, *fit, tallies, right);
    }
  }
  return report(effect == RunEffect::shared ? "shared by a run" : "of each point", tallies, right,
                fits, arguments.bound);
}

bool time_full_campaign() {
  SyntheticCampaign campaign = full_campaign();
  campaign.reps = 200;
  const auto series = synthesize(example_machine(), campaign, {}, 1);
  const auto begin = std::chrono::steady_clock::now();
  const auto fit = fit_model(series, {.name = "timing"});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  std::printf("\nfit_model on a full campaign (%zu series of %u samples): %.3f s\n", series.size(),
              campaign.reps, elapsed.count());
  return fit.ok();
}

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(words[i + 1].c_str(), &end);
    if (*end != '\0' || words[i + 1].empty() || !(value >= 0.0) || value > 1e9) return std::nullopt;
    const auto whole = static_cast<uint64_t>(value);
    if (words[i] != "--bound" && static_cast<double>(whole) != value) return std::nullopt;
    if (words[i] == "--seeds") {
      arguments.seeds = whole;
    } else if (words[i] == "--first-seed") {
      arguments.first_seed = whole;
    } else if (words[i] == "--runs") {
      arguments.runs = whole;
    } else if (words[i] == "--reps") {
      arguments.reps = whole;
    } else if (words[i] == "--bound") {
      arguments.bound = value;
    } else {
      return std::nullopt;
    }
  }
  if (arguments.seeds == 0 || arguments.runs < 2 || arguments.reps == 0) return std::nullopt;
  return arguments;
}

int run(const std::vector<std::string>& words) {
  const std::optional<Arguments> arguments = parse(words);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: fit_coverage [--seeds N] [--first-seed N] [--runs N] [--reps N] "
                 "[--bound SHARE]\n");
    return 2;
  }
  std::printf("%llu seeds, %llu runs of %llu repetitions, noise 3%% between and 5%% within runs\n",
              static_cast<unsigned long long>(arguments->seeds),
              static_cast<unsigned long long>(arguments->runs),
              static_cast<unsigned long long>(arguments->reps));
  const bool shared = run_seeds(*arguments, RunEffect::shared);
  const bool per_point = run_seeds(*arguments, RunEffect::per_point);
  return shared && per_point && time_full_campaign() ? 0 : 1;
}

}  // namespace
}  // namespace stripline::fit

int main(int argc, char** argv) {
  return stripline::fit::run(std::vector<std::string>(argv + 1, argv + argc));
}
