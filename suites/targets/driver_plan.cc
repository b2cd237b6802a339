#include "suites/targets/driver_plan.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include "base/json.h"
#include "base/number_text.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"

namespace stripline::suites::tune {
namespace {

using Key = std::tuple<std::string, int64_t, int64_t, std::string, int64_t>;

Key key_of(const DriverCell& cell) {
  return {cell.operation, cell.ranks, static_cast<int64_t>(cell.bytes), cell.type,
          cell.in_place ? 1 : 0};
}

std::optional<Key> key_of(const experiment::Point& point) {
  const std::string_view operation = experiment::operation_of_cells(point.experiment);
  if (operation.empty()) return std::nullopt;
  const auto number = [&](const char* name) {
    return static_cast<int64_t>(experiment::number_param(point, name).value_or(-1));
  };
  return Key{std::string(operation), number("ranks"), number("bytes"),
             experiment::text_param(point, "type").value_or(""), number("in_place")};
}

// Finds cells and variants of a plan by what the driver prints of them.
class Index {
 public:
  explicit Index(const DriverPlan& plan) : plan_(plan) {
    for (size_t i = 0; i < plan.cells.size(); ++i) cells_[key_of(plan.cells[i])] = i;
  }

  Result<std::pair<size_t, size_t>> find(const experiment::Point& point) const {
    const auto key = key_of(point);
    const auto cell = key ? cells_.find(*key) : cells_.end();
    const auto variant = number_from_text<size_t>(point.variant);
    if (cell == cells_.end() || !variant || *variant >= plan_.variants.size()) {
      return Error(ErrorCode::data_loss,
                   "the driver has printed a point that it was not asked "
                   "for: " +
                       experiment::point_key(point));
    }
    return std::pair(cell->second, *variant);
  }

 private:
  const DriverPlan& plan_;
  std::map<Key, size_t> cells_;
};

}  // namespace

size_t DriverPlan::variant(const Selection& selection) {
  const auto found = std::ranges::find(variants, selection);
  if (found != variants.end()) return static_cast<size_t>(found - variants.begin());
  variants.push_back(selection);
  return variants.size() - 1;
}

std::string plan_text(DriverPlan& plan, const targets::Renumbering& renumbering) {
  std::ranges::stable_sort(
      plan.cells, {}, [](const DriverCell& cell) { return std::tie(cell.ranks, cell.operation); });
  std::array<char, 64> budget{};
  std::snprintf(budget.data(), budget.size(), "budget %.6f\n", plan.budget_s);
  std::string text = "run " + std::to_string(plan.run) + "\nseed " +
                     std::to_string(plan.seed % 1000000007) + "\nrepetitions " +
                     std::to_string(plan.repetitions) + "\n" + budget.data();
  for (const Selection& selection : plan.variants) {
    text += "variant";
    for (const auto& [name, value] : selection) {
      const auto other = renumbering.numbers.find({name, value});
      const int64_t number = other == renumbering.numbers.end() ? value : other->second;
      text.append(" ").append(name).append("=").append(std::to_string(number));
    }
    text += '\n';
  }
  for (const DriverCell& cell : plan.cells) {
    text += "cell " + cell.operation + " " + std::to_string(cell.ranks) + " " +
            std::to_string(cell.bytes) + " " + cell.type + (cell.in_place ? " 1" : " 0");
    for (const size_t variant : cell.variants) text += " " + std::to_string(variant);
    text += '\n';
  }
  return text;
}

Result<DriverOutput> read_driver_output(const DriverPlan& plan, std::string_view text) {
  const Index index(plan);
  DriverOutput output;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with('{')) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto json, parse_json(line, "the driver's output"));
    if (json.contains("done")) {
      output.done = true;
    } else if (json.contains("unsettable")) {
      STRIPLINE_ASSIGN_OR_RETURN(std::string name,
                                 get_string(json, "unsettable", "the driver's output"));
      output.unsettable.insert(std::move(name));
    } else if (json.contains("process")) {
      STRIPLINE_ASSIGN_OR_RETURN(const int64_t process,
                                 get_integer(json, "process", "the driver's output"));
      output.processes.push_back(process);
    } else if (json.contains("at") || json.contains("turns")) {
      output.in_turns = json.contains("turns");
      const Json& begun = json[output.in_turns ? "turns" : "at"];
      STRIPLINE_ASSIGN_OR_RETURN(const auto point, experiment::point_from_json(begun));
      STRIPLINE_ASSIGN_OR_RETURN(output.unfinished, index.find(point));
    } else {
      STRIPLINE_ASSIGN_OR_RETURN(auto series, experiment::sample_series_from_json(json));
      STRIPLINE_ASSIGN_OR_RETURN(const auto place, index.find(series.point));
      output.unfinished.reset();
      output.in_turns = false;
      output.series.push_back({place.first, place.second, std::move(series.values), series.verified,
                               std::move(series.note)});
    }
  }
  return output;
}

}  // namespace stripline::suites::tune
