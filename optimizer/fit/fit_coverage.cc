// How often do the published intervals contain the truth? Fits synthetic campaigns with known
// parameters and prints, per parameter, the coverage and the median half-width.
//
//   fit_coverage [--seeds N] [--first-seed N] [--runs N] [--reps N] [--bound SHARE]
//
// N are whole numbers, of runs two or more. Exits with 1 when the coverage pooled over all
// parameters is below SHARE (default 0) under one of the two models of nested noise, and with 2 for
// wrong arguments.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/fit_model.h"
#include "optimizer/fit/operation.h"
#include "optimizer/fit/samples.h"
#include "optimizer/fit/testing/coverage.h"
#include "optimizer/fit/testing/synthetic.h"
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
      judge_coverage(truth, *fit, tallies, right);
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
