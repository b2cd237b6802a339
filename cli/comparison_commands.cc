#include "cli/comparison_commands.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "base/formatted.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "base/table.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/service.h"
#include "stripline/v1/campaigns.pb.h"

namespace stripline::cli {
namespace {

using Point = v1::ComparedPoint;

bool differs(const Point& point) {
  return point.verdict() == Point::FASTER || point.verdict() == Point::SLOWER;
}

std::string ratio_text(const Point& point) {
  if (!point.has_ratio()) return "-";
  return formatted("%.3f [%.3f, %.3f]", point.ratio(), point.low(), point.high());
}

// The surest differences first.
std::vector<const Point*> shown(const v1::CompareCampaignsResponse& response, bool all) {
  std::vector<const Point*> points;
  for (const Point& point : response.points()) {
    if (all || differs(point)) points.push_back(&point);
  }
  if (!all) std::ranges::stable_sort(points, {}, [](const Point* one) { return one->p_value(); });
  return points;
}

std::string table_text(const std::vector<const Point*>& points) {
  Table table({{"EXPERIMENT"},
               {"VARIANT"},
               {"PARAMETERS"},
               {"VERDICT"},
               {"A", Table::Align::right},
               {"B", Table::Align::right},
               {"B/A"},
               {"SEEN FROM", Table::Align::right}});
  for (const Point* point : points) {
    const auto median = [](bool there, double value) {
      return there ? seconds_text(value) : std::string("-");
    };
    table.add({point->experiment(), point->variant(),
               params_text({point->params().begin(), point->params().end()}),
               Point::Verdict_Name(point->verdict()),
               median(point->has_baseline_median(), point->baseline_median()),
               median(point->has_candidate_median(), point->candidate_median()),
               point->why().empty() ? ratio_text(*point) : printable_line(point->why()),
               point->has_detectable() ? percent_text(point->detectable()) : "-"});
  }
  return table.text();
}

std::string tally_text(const v1::CompareCampaignsResponse& response) {
  std::map<int, size_t> tally;
  for (const Point& point : response.points()) ++tally[point.verdict()];
  std::string text;
  for (const auto& [verdict, count] : tally) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " +
            Point::Verdict_Name(static_cast<Point::Verdict>(verdict));
  }
  return text;
}

// Why points are not comparable, or single ones say nothing: a line each, the most frequent first.
std::string reasons_text(const v1::CompareCampaignsResponse& response) {
  std::map<std::string, size_t> tally;
  for (const Point& point : response.points()) {
    if (!point.why().empty()) ++tally[point.why()];
  }
  std::multimap<size_t, std::string, std::greater<>> order;
  for (const auto& [why, count] : tally) order.emplace(count, why);
  std::string text;
  for (const auto& [count, why] : order) {
    text += "  " + count_text(count, "point") + ": " + printable_line(why) + "\n";
  }
  return text;
}

// Without a difference there may be one that these runs do not show: how large it can be.
std::string resolution_text(const v1::CompareCampaignsResponse& response) {
  std::vector<double> parts;
  for (const Point& point : response.points()) {
    if (point.has_detectable()) parts.push_back(point.detectable());
  }
  if (parts.empty()) return "";
  std::ranges::sort(parts);
  return "  a difference is seen in four of five cases from " +
         percent_text(parts[parts.size() / 2]) + " on at half of the points, from " +
         percent_text(parts[parts.size() * 9 / 10]) + " on at nine of ten\n";
}

}  // namespace

Result<int> run(const Global& global, const CampaignCompare& command) {
  v1::CompareCampaignsRequest request;
  request.set_baseline(command.baseline);
  request.set_candidate(command.candidate);
  request.set_margin(command.margin);
  request.set_false_discoveries(command.false_discoveries);
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(const auto response,
                             service.call<v1::CompareCampaignsResponse>(request));
  if (global.json) {
    for (const Point& point : response.points()) print(json_line(point));
    return kExitOk;
  }
  print("A " + command.baseline + ", B " + command.candidate + ": " +
        count_text(static_cast<uint64_t>(response.points_size()), "point") +
        (response.points_size() > 0 ? ": " + tally_text(response) : "") + "\n");
  for (const auto& difference : response.differences()) {
    print("  " + difference.field() + ": " + printable_line(difference.baseline()) + " and " +
          printable_line(difference.candidate()) + "\n");
  }
  print(reasons_text(response) + resolution_text(response));
  const auto points = shown(response, command.all);
  if (!points.empty()) print(table_text(points));
  return kExitOk;
}

}  // namespace stripline::cli
