#include "suites/results/overlap.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "optimizer/stats/order.h"
#include "suites/harness/table.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/fabrics.h"
#include "suites/results/run_medians.h"

namespace stripline::suites::results {
namespace {

using experiment::SampleSeries;

constexpr std::array<std::pair<uint64_t, const char*>, 9> kSizes{{{8, "8 B"},
                                                                  {256, "256 B"},
                                                                  {1024, "1 KiB"},
                                                                  {4096, "4 KiB"},
                                                                  {16384, "16 KiB"},
                                                                  {65536, "64 KiB"},
                                                                  {262144, "256 KiB"},
                                                                  {1 << 20, "1 MiB"},
                                                                  {4 << 20, "4 MiB"}}};

RunMedians medians(const std::vector<SampleSeries>& series, const char* experiment,
                   const std::string& variant) {
  return run_medians(series, [&](const experiment::Point& point) {
    return point.experiment == experiment && point.variant == variant;
  });
}

}  // namespace

std::map<uint64_t, double> hidden_share(const std::vector<SampleSeries>& series,
                                        const std::string& variant) {
  const auto blocking = medians(series, micro::kLatency.name, variant);
  std::map<uint64_t, double> shares;
  for (const auto& [bytes, exposed] : medians(series, micro::kOverlap.name, variant)) {
    const auto same_size = blocking.find(bytes);
    if (same_size == blocking.end()) continue;
    std::vector<double> of_runs;
    for (const auto& [run, exposed_s] : exposed) {
      const auto same_run = same_size->second.find(run);
      if (same_run != same_size->second.end()) of_runs.push_back(1 - exposed_s / same_run->second);
    }
    if (!of_runs.empty()) shares[bytes] = stats::median(of_runs);
  }
  return shares;
}

Status print_overlap(const Options& options) {
  std::vector<std::string> headings{"network", "operation"};
  for (const auto& [bytes, text] : kSizes) headings.push_back(">" + std::string(text));
  Table table(headings);
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> measured, networks(options, false));
  for (const Network& network : measured) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, load_or_measure(options, network));
    for (const char* variant : {"get", "put"}) {
      const auto shares = hidden_share(series, variant);
      std::vector<std::string> cells{network.fabric, variant};
      for (const auto& [bytes, text] : kSizes) {
        const auto found = shares.find(bytes);
        cells.push_back(percent(found == shares.end() ? std::nan("") : found->second, 0));
      }
      table.add(std::move(cells));
    }
  }
  std::printf(
      "Share of a transfer's blocking time that computation hides (1 - exposed / blocking, median "
      "over %u runs):\n\n%s",
      campaign_runs(options.quick), table.text().c_str());
  return {};
}

}  // namespace stripline::suites::results
