#include "suites/neighbours/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"

namespace stripline::suites::neighbours {
namespace {

constexpr const char* kOurs = "Stripline";
constexpr const char* kProvider = "libfabric";
using asked::neighbours::kEqual;
using asked::neighbours::kEqualAtMost;
using asked::neighbours::kNearProvider;

Result<Sample> sample_of(const Json& line) {
  Sample sample;
  for (const auto& [key, member] :
       {std::pair{"path", &Sample::path}, std::pair{"row", &Sample::row},
        std::pair{"metric", &Sample::metric}, std::pair{"family", &Sample::family},
        std::pair{"way", &Sample::method}, std::pair{"settings", &Sample::settings},
        std::pair{"launch", &Sample::launch}}) {
    STRIPLINE_ASSIGN_OR_RETURN(sample.*member, get_string(line, key, "sample"));
  }
  STRIPLINE_ASSIGN_OR_RETURN(sample.amount, get_number(line, "amount", "sample"));
  STRIPLINE_ASSIGN_OR_RETURN(sample.verified, get_bool(line, "verified", "sample"));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* seconds, get_array(line, "seconds", "sample"));
  for (const Json& value : *seconds) {
    if (!value.is_number() || value.get<double>() <= 0) {
      return Error(ErrorCode::data_loss, "sample.seconds holds something else than times");
    }
    sample.seconds.push_back(value.get<double>());
  }
  if (sample.seconds.empty()) return Error(ErrorCode::data_loss, "sample.seconds is empty");
  return sample;
}

using Samples = std::vector<const Sample*>;

// The ratio of times, by launch; null if they were not in the same launches twice.
std::optional<stats::Ratio> ratio_of(const Samples& candidate, const Samples& baseline) {
  std::vector<double> logarithms;
  for (const Sample* ours : candidate) {
    for (const Sample* theirs : baseline) {
      if (ours->launch != theirs->launch) continue;
      const size_t rounds = std::min(ours->seconds.size(), theirs->seconds.size());
      std::vector<double> by_round;
      for (size_t i = 0; i < rounds; ++i) by_round.push_back(ours->seconds[i] / theirs->seconds[i]);
      logarithms.push_back(std::log(stats::median(by_round)));
    }
  }
  // A launch that something else disturbed is one value among others.
  const auto run = stats::run_median_interval(logarithms, kConfidence);
  if (!run.ok()) return std::nullopt;
  return stats::Ratio{std::exp(stats::median(logarithms)),
                      {std::exp(run->interval.low), std::exp(run->interval.high)},
                      logarithms.size()};
}

double median_s(const Samples& samples) {
  std::vector<double> launches;
  for (const Sample* sample : samples) launches.push_back(stats::median(sample->seconds));
  return stats::median(launches);
}

std::string method_text(const Sample& sample) {
  if (sample.method.empty() || sample.settings.empty()) return sample.method + sample.settings;
  return sample.method + ", " + sample.settings;
}

Verdict verdict_of(const stats::Ratio& to_best, const std::optional<stats::Ratio>& provider_to_best,
                   const std::optional<stats::Ratio>& to_provider) {
  const stats::Interval& interval = to_best.interval;
  if (interval.high < 1) return Verdict::ahead;
  if (interval.low <= kEqual) {
    return interval.high <= kEqualAtMost ? Verdict::equal : Verdict::undecided;
  }
  const bool provider_is_behind = provider_to_best && provider_to_best->interval.low > 1;
  // Where we are far from it on either side, we do something else than it.
  const bool near_provider = to_provider && to_provider->interval.low <= kNearProvider &&
                             to_provider->interval.high >= 1 / kNearProvider;
  return provider_is_behind && near_provider ? Verdict::lost_provider : Verdict::lost;
}

Result<Comparison> compare_row(const Samples& row) {
  const Sample& first = *row.front();
  Comparison comparison{first.path, first.row, first.metric, first.amount};
  std::map<std::pair<std::string, std::string>, Samples> methods;  // by family and text
  for (const Sample* sample : row) {
    comparison.verified = comparison.verified && sample->verified;
    methods[{sample->family, method_text(*sample)}].push_back(sample);
  }
  const Samples& ours = methods[{kOurs, ""}];
  const Samples& provider = methods[{kProvider, ""}];
  for (const auto& [name, samples] : methods) {
    if (name.first == kOurs || name.first == kProvider) continue;
    const auto ratio = ratio_of(ours, samples);
    if (!ratio) {
      return Error(ErrorCode::failed_precondition,
                   "row '" + first.row + "': " + name.first + " and " + kOurs +
                       " were not measured together in two launches");
    }
    comparison.rivals.push_back({name.first, name.second, median_s(samples), *ratio});
  }
  if (comparison.rivals.empty()) {
    return Error(ErrorCode::failed_precondition, "row '" + first.row + "' has no neighbour");
  }
  const auto best = std::max_element(
      comparison.rivals.begin(), comparison.rivals.end(),
      [](const Rival& a, const Rival& b) { return a.ratio.value < b.ratio.value; });
  comparison.best = static_cast<size_t>(best - comparison.rivals.begin());
  comparison.ours_s = median_s(ours);
  if (!provider.empty()) comparison.libfabric_s = median_s(provider);
  comparison.verdict =
      verdict_of(best->ratio, ratio_of(provider, methods[{best->family, best->method}]),
                 ratio_of(ours, provider));
  return comparison;
}

std::string time_text(const Comparison& row, double seconds) {
  return metric_text(row.metric, row.amount, seconds);
}

// A family's best method, by our ratio to it.
std::string family_text(const Comparison& row, const std::string& family) {
  const Rival* best = nullptr;
  for (const Rival& rival : row.rivals) {
    if (rival.family != family) continue;
    if (best == nullptr || rival.ratio.value > best->ratio.value) best = &rival;
  }
  if (best == nullptr) return "–";
  return time_text(row, best->seconds) + (best->method.empty() ? "" : " (" + best->method + ")");
}

std::string verdict_text(const Comparison& row) {
  switch (row.verdict) {
    case Verdict::ahead:
      return "ahead";
    case Verdict::equal:
      return "equal";
    case Verdict::undecided:
      return "undecided";
    case Verdict::lost:
      return "lost";
    case Verdict::lost_provider:
      return "lost: provider (bare libfabric " + time_text(row, row.libfabric_s) + ")";
  }
  return {};
}

}  // namespace

Result<std::vector<Sample>> read_samples(std::istream& lines) {
  std::vector<Sample> samples;
  std::string text;
  for (size_t number = 1; std::getline(lines, text); ++number) {
    const std::string what = "line " + std::to_string(number);
    STRIPLINE_ASSIGN_OR_RETURN(const Json line, parse_json(text, what));
    auto sample = sample_of(line);
    if (!sample.ok()) return Error(ErrorCode::data_loss, what + ": " + sample.error().message());
    samples.push_back(std::move(*sample));
  }
  return samples;
}

Result<std::vector<Comparison>> compare_samples(const std::vector<Sample>& samples) {
  std::vector<Samples> rows;
  for (const Sample& sample : samples) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const Samples& row) {
      return row.front()->path == sample.path && row.front()->row == sample.row;
    });
    (same == rows.end() ? rows.emplace_back() : *same).push_back(&sample);
  }
  std::vector<Comparison> comparisons;
  for (const Samples& row : rows) {
    STRIPLINE_ASSIGN_OR_RETURN(comparisons.emplace_back(), compare_row(row));
  }
  return comparisons;
}

std::string comparison_table(const std::vector<Comparison>& comparisons, const std::string& path,
                             bool markdown) {
  std::vector<std::string> families;
  for (const Comparison& row : comparisons) {
    for (const Rival& rival : row.rivals) {
      if (std::find(families.begin(), families.end(), rival.family) == families.end()) {
        families.push_back(rival.family);
      }
    }
  }
  std::vector<std::string> headings = {"operation", ">Stripline", ">bare libfabric"};
  for (const std::string& family : families) headings.push_back(">" + family);
  headings.insert(headings.end(),
                  {">ratio to the best neighbour", ">95% interval", "verdict", "verified"});
  Table table(headings);
  for (const Comparison& row : comparisons) {
    if (row.path != path) continue;
    const stats::Ratio& ratio = row.rivals[row.best].ratio;
    std::vector<std::string> cells = {row.row, time_text(row, row.ours_s),
                                      row.libfabric_s > 0 ? time_text(row, row.libfabric_s) : "–"};
    for (const std::string& family : families) cells.push_back(family_text(row, family));
    cells.push_back(ratio_text(ratio.value));
    cells.push_back(interval_text(ratio.interval.low, ratio.interval.high, ""));
    cells.push_back(verdict_text(row));
    cells.emplace_back(row.verified ? "yes" : "NO");
    table.add(cells);
  }
  return table.text(markdown);
}

}  // namespace stripline::suites::neighbours
