// How many of the claims "gains at least x" hold: random networks, a budgeted campaign of each, and
// random loops that are planned with its model and carried out in truth.
//
//   claims_coverage [--claims N] [--first-seed N] [--loops N] [--network drawn|rdma] [--verbose]
//
// With --network rdma, of campaigns of one network with a switch where strips are often taken.
// Prints what share of the claims holds, and how chosen plans compare with the best ones of a sweep
// and with the loop that is not cut. Exits with 1 when fewer than 95 % of the claims hold, and with
// 2 for wrong arguments.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "optimizer/plan/strip.h"
#include "tests/claims/loops.h"
#include "tests/claims/networks.h"

namespace stripline::claims {
namespace {

constexpr double kAsked = 0.95;
// A claim holds if no more than this is missing from it: what is printed has three digits.
constexpr double kRounding = 0.0005;
// Plans that are shown.
constexpr double kFarFromBest = 1.2;

struct Arguments {
  uint64_t claims = 1000;
  uint64_t first_seed = 1;
  uint64_t loops = 20;
  bool rdma = false;
  bool verbose = false;
};

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--verbose") {
      arguments.verbose = true;
      continue;
    }
    if (words[i] == "--network" && i + 1 < words.size() &&
        (words[i + 1] == "drawn" || words[i + 1] == "rdma")) {
      arguments.rdma = words[++i] == "rdma";
      continue;
    }
    uint64_t* const value = words[i] == "--claims"       ? &arguments.claims
                            : words[i] == "--first-seed" ? &arguments.first_seed
                            : words[i] == "--loops"      ? &arguments.loops
                                                         : nullptr;
    if (value == nullptr || i + 1 == words.size()) return std::nullopt;
    char* end = nullptr;
    *value = std::strtoull(words[++i].c_str(), &end, 10);
    if (words[i].empty() || *end != '\0' || words[i][0] == '-') return std::nullopt;
  }
  return arguments.claims == 0 || arguments.loops == 0 ? std::nullopt : std::optional(arguments);
}

// Ratios of times.
class Ratios {
 public:
  void add(double ratio) {
    logs_ += std::log(ratio);
    worst_ = std::max(worst_, ratio);
    ++count_;
  }
  double mean() const { return count_ == 0 ? 1 : std::exp(logs_ / static_cast<double>(count_)); }
  double worst() const { return worst_; }
  size_t count() const { return count_; }

 private:
  double logs_ = 0;
  double worst_ = 0;
  size_t count_ = 0;
};

struct Totals {
  uint64_t networks = 0;
  uint64_t without_model = 0;
  uint64_t claims = 0;
  uint64_t held = 0;
  uint64_t beyond_two_percent = 0;  // claims of which more than two points are missing
  uint64_t slower = 0;              // plans that take more than 2 % longer than the uncut loop
  std::array<Ratios, 2> over_best;
  std::array<Ratios, 2> over_baseline;
  Ratios network_means;
};

void judge(const Network& network, const Campaign& campaign, uint64_t loops, Draw& draw,
           uint64_t seed, bool verbose, Totals& totals) {
  const plan::StripCosts costs(campaign.model.network.begin()->second, campaign.model.compute,
                               campaign.model.strip);
  Ratios own;
  for (uint64_t i = 0; i < loops; ++i) {
    const Loop loop = draw_loop(draw, network);
    const plan::StripPlan plan = plan_strip(loop.request, &costs);
    const double baseline_s = true_baseline(network, loop);
    const double chosen_s = true_time(network, loop, plan.schedule, plan.strip_bytes, plan.burst);
    const double best_s = std::min(best_of_sweep(network, loop), chosen_s);
    const size_t direction = static_cast<size_t>(loop.request.direction);
    totals.over_best[direction].add(chosen_s / best_s);
    totals.over_baseline[direction].add(chosen_s / baseline_s);
    own.add(chosen_s / best_s);
    if (chosen_s > 1.02 * baseline_s) ++totals.slower;
    if (verbose && chosen_s > kFarFromBest * best_s) {
      std::printf(
          "  seed %llu: %s of %llu B, %.3g s of computation: %s, %s %llu B x %u takes %.3g, the "
          "best %.3g, uncut %.3g\n",
          static_cast<unsigned long long>(seed),
          std::string(to_string(loop.request.direction)).c_str(),
          static_cast<unsigned long long>(loop.request.total_bytes), loop.request.compute_s,
          std::string(to_string(plan.reason)).c_str(),
          std::string(to_string(plan.schedule)).c_str(),
          static_cast<unsigned long long>(plan.strip_bytes), plan.burst, chosen_s, best_s,
          baseline_s);
    }
    if (plan.reason != plan::Reason::tuned) continue;
    ++totals.claims;
    const double gain = 1 - chosen_s / baseline_s;
    const bool holds = gain >= plan.gain_low - kRounding;
    totals.held += holds ? 1 : 0;
    if (gain < plan.gain_low - 0.02) ++totals.beyond_two_percent;
    if (!holds && verbose) {
      std::printf(
          "  seed %llu: %s of %llu B, %.3g s of computation: %s %llu B x %u; predicted %.3g "
          "took %.3g, uncut %.3g took %.3g; at least %.4f, was %.4f\n",
          static_cast<unsigned long long>(seed),
          std::string(to_string(loop.request.direction)).c_str(),
          static_cast<unsigned long long>(loop.request.total_bytes), loop.request.compute_s,
          std::string(to_string(plan.schedule)).c_str(),
          static_cast<unsigned long long>(plan.strip_bytes), plan.burst, plan.predicted_s, chosen_s,
          plan.baseline_s, baseline_s, plan.gain_low, gain);
    }
  }
  totals.network_means.add(own.mean());
  if (verbose) {
    std::printf(
        "seed %llu: %u runs of %.0f points, jitter %.0f %%, %zu switches: chosen / best %.3f, "
        "worst %.3f\n",
        static_cast<unsigned long long>(seed), campaign.runs, campaign.points_per_run,
        100 * network.noise.within_run, network.operations[0].segments.size() - 1, own.mean(),
        own.worst());
  }
}

int run(const std::vector<std::string>& words) {
  const auto arguments = parse(words);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: claims_coverage [--claims N] [--first-seed N] [--loops N] "
                 "[--network drawn|rdma] [--verbose]\n");
    return 2;
  }
  Totals totals;
  for (uint64_t seed = arguments->first_seed; totals.claims < arguments->claims; ++seed) {
    Draw draw(derive_seed(seed, 0));
    const Network network = arguments->rdma ? rdma_network(draw) : draw_network(draw);
    const Campaign campaign = run_campaign(network, draw);
    ++totals.networks;
    if (!campaign.usable) {
      ++totals.without_model;
      continue;
    }
    judge(network, campaign, arguments->loops, draw, seed, arguments->verbose, totals);
  }
  const double share = static_cast<double>(totals.held) / static_cast<double>(totals.claims);
  std::printf("%llu networks, %llu of them without a model\n",
              static_cast<unsigned long long>(totals.networks),
              static_cast<unsigned long long>(totals.without_model));
  std::printf("%llu claims, %.1f %% hold; %llu lack more than two points\n",
              static_cast<unsigned long long>(totals.claims), 100 * share,
              static_cast<unsigned long long>(totals.beyond_two_percent));
  for (const size_t direction : {0, 1}) {
    std::printf(
        "%s: chosen / best %.4f (worst %.3f), chosen / uncut %.4f (worst %.3f), %zu loops\n",
        direction == 0 ? "gets" : "puts", totals.over_best[direction].mean(),
        totals.over_best[direction].worst(), totals.over_baseline[direction].mean(),
        totals.over_baseline[direction].worst(), totals.over_best[direction].count());
  }
  std::printf("worst network: chosen / best %.3f; plans more than 2 %% slower than uncut: %llu\n",
              totals.network_means.worst(), static_cast<unsigned long long>(totals.slower));
  return share >= kAsked ? 0 : 1;
}

}  // namespace
}  // namespace stripline::claims

int main(int argc, char** argv) {
  return stripline::claims::run(std::vector<std::string>(argv + 1, argv + argc));
}
