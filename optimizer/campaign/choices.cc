#include "optimizer/campaign/choices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/search/race.h"
#include "optimizer/stats/order.h"

namespace stripline::campaign {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;

// Level of the paired test that drops slower alternatives (search/race.h), and how many times the
// leader's median ends one at once.
constexpr double kLevel = 0.05;
constexpr double kHopelessFactor = 3;
// Two within this, in as many runs, are not worth another one.
constexpr double kEquivalent = 0.01;
constexpr size_t kEquivalentRuns = 3;

// What may be otherwise between alternatives.
struct Freedom {
  bool variants = false;
  std::vector<const char*> factors;
};

Freedom freedom_of(const experiment::Point& point) {
  const std::string& name = point.experiment;
  if (name == micro::kVisChunk) return {false, {factor::kChunkBytes, factor::kWindow}};
  if (name == micro::kVisWindow) return {false, {factor::kWindow}};
  if (name == micro::kBulkWindow) return {false, {factor::kInFlight}};
  // It computes alone.
  if (name == micro::kVis && point.variant == experiment::variant::kCompute) return {};
  const bool alternatives = name.starts_with(experiment::kCollectivePrefix) ||
                            name.starts_with(experiment::kKernelPrefix) || name == micro::kVis ||
                            name == micro::kAtomic || name == micro::kBufferedPut ||
                            name == micro::kPutCombining;
  if (!alternatives) return {};
  return {true, {factor::kChunkBytes, factor::kWindow, factor::kIovLimit}};
}

double median_of(const PointStatus& point) {
  std::vector<double> medians;
  for (const auto& [run, median] : point.medians) medians.push_back(median);
  return medians.empty() ? std::numeric_limits<double>::infinity() : stats::median(medians);
}

// The runs that all of these share.
std::set<uint32_t> common_runs(const PointTable& table, const std::vector<uint32_t>& places) {
  std::set<uint32_t> common;
  for (const auto& [run, median] : table.points()[places.front()].medians) common.insert(run);
  for (const uint32_t place : places) {
    const auto& medians = table.points()[place].medians;
    std::erase_if(common, [&](uint32_t run) { return !medians.contains(run); });
  }
  return common;
}

// Two alternatives of which neither is worth another run: whatever is chosen, little is lost.
bool are_equivalent(const PointStatus& a, const PointStatus& b) {
  std::vector<double> ratios;
  for (const auto& [run, median] : a.medians) {
    const auto other = b.medians.find(run);
    if (other != b.medians.end()) ratios.push_back(median / other->second);
  }
  if (ratios.size() < kEquivalentRuns) return false;
  return std::ranges::all_of(ratios,
                             [](double ratio) { return std::abs(std::log(ratio)) <= kEquivalent; });
}

bool is_positive(const PointStatus& point) {
  return std::ranges::all_of(
      point.medians, [](const auto& run) { return run.second > 0 && std::isfinite(run.second); });
}

std::optional<Contest> contest_of(const PointTable& table, const Choice& choice, uint32_t run) {
  std::vector<uint32_t> alive;
  for (const uint32_t place : choice.places) {
    const PointStatus& point = table.points()[place];
    if (point.medians.contains(run) && is_positive(point)) alive.push_back(place);
  }
  if (alive.size() < 2) return std::nullopt;
  const auto runs = common_runs(table, alive);
  search::TimeTable times(alive.size());
  std::vector<size_t> rows(alive.size());
  for (size_t i = 0; i < alive.size(); ++i) {
    rows[i] = i;
    for (const uint32_t one : runs) times[i].push_back(table.points()[alive[i]].medians.at(one));
  }
  search::RaceRule rule;
  rule.level = kLevel;
  rule.hopeless_factor = kHopelessFactor;
  const auto step = search::race_step(times, rows, rule, 0);
  if (!step.ok()) return std::nullopt;
  Contest contest;
  contest.leader = alive[step->leader];
  const PointStatus& leader = table.points()[contest.leader];
  const double fastest = stats::median(times[step->leader]);
  for (const size_t row : step->survivors) {
    const PointStatus& point = table.points()[alive[row]];
    if (row == step->leader || are_equivalent(point, leader)) continue;
    contest.contenders.push_back({alive[row], stats::median(times[row]) / fastest - 1});
  }
  if (contest.contenders.empty()) return std::nullopt;
  std::ranges::stable_sort(contest.contenders, {}, &Contest::Contender::excess);
  return contest;
}

}  // namespace

std::vector<Choice> choices_of(const PointTable& table) {
  std::map<std::string, Choice> groups;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    experiment::Point key = table.points()[place].point;
    const Freedom freedom = freedom_of(key);
    if (!freedom.variants && freedom.factors.empty()) continue;
    if (freedom.variants) key.variant.clear();
    for (const char* factor : freedom.factors) key.params.erase(factor);
    groups[point_key(key)].places.push_back(place);
  }
  std::vector<Choice> choices;
  for (auto& [key, choice] : groups) {
    if (choice.places.size() > 1) choices.push_back(std::move(choice));
  }
  return choices;
}

std::optional<uint32_t> leader_of(const PointTable& table, const Choice& choice) {
  // An alternative that was measured most was never dropped.
  size_t most = 0;
  for (const uint32_t place : choice.places) {
    most = std::max(most, table.points()[place].medians.size());
  }
  if (most == 0) return std::nullopt;
  std::optional<uint32_t> leader;
  for (const uint32_t place : choice.places) {
    const PointStatus& point = table.points()[place];
    if (point.medians.size() < most) continue;
    if (!leader || median_of(point) < median_of(table.points()[*leader])) leader = place;
  }
  return leader;
}

std::vector<uint32_t> promising(const PointTable& table, const PointTable& elsewhere,
                                double factor) {
  std::vector<uint32_t> places;
  for (const Choice& choice : choices_of(table)) {
    std::vector<double> times;  // by place of the choice; infinite where it knows nothing
    for (const uint32_t place : choice.places) {
      const auto known = elsewhere.find(table.points()[place].point);
      times.push_back(known ? median_of(elsewhere.points()[*known])
                            : std::numeric_limits<double>::infinity());
    }
    const double fastest = *std::ranges::min_element(times);
    for (size_t i = 0; i < times.size(); ++i) {
      if (!std::isfinite(times[i]) || times[i] <= factor * fastest) {
        places.push_back(choice.places[i]);
      }
    }
  }
  std::ranges::sort(places);
  return places;
}

std::vector<Contest> contests_of(const PointTable& table) {
  uint32_t run = 0;
  for (const PointStatus& point : table.points()) {
    if (!point.medians.empty()) run = std::max(run, point.medians.rbegin()->first);
  }
  std::vector<Contest> contests;
  for (const Choice& choice : choices_of(table)) {
    if (auto contest = contest_of(table, choice, run)) {
      contests.push_back(*std::move(contest));
    }
  }
  return contests;
}

}  // namespace stripline::campaign
