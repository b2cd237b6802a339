#include "server/doors/comparison_pieces.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/json_scan.h"
#include "server/core/wire.h"
#include "server/store/column_text.h"

namespace stripline::server {
namespace {

// What a piece holds takes milliseconds.
constexpr size_t kRowsAtOnce = 500;
constexpr size_t kValuesAtOnce = 20'000;

Json differences_of(const ComparedCampaigns& compared) {
  Json differences = Json::array();
  for (const SpecDifference& one : compared.differences) {
    differences.push_back({{"field", one.field}, {"baseline", one.a}, {"candidate", one.b}});
  }
  return differences;
}

// Calls it with the name, in its quotes, and the value of each member until it answers false. False
// if the text is not an object.
template <typename Each>
bool for_each_member(std::string_view object, const Each& each) {
  JsonScan scan(object);
  if (!scan.take('{')) return false;
  if (scan.take('}')) return true;
  do {
    const std::string_view name = scan.value();
    if (!scan.take(':')) return false;
    const std::string_view value = scan.value();
    if (value.empty()) return false;
    if (!each(name, value)) return true;
  } while (scan.take(','));
  return scan.take('}');
}

}  // namespace

std::optional<std::string> ComparisonRows::next() {
  if (ended_) return std::nullopt;
  const MeteredCall metered(limits_, payer_, 0);
  const auto& points = compared_.comparison.points;
  std::string text = next_ == 0 ? "{\"points\": [" : "";
  const size_t end = std::min(next_ + kRowsAtOnce, points.size());
  for (; next_ < end; ++next_) {
    const auto point = to_wire(compared_.comparison, points[next_]);
    if (!point.ok()) return std::nullopt;
    const auto row = json_text(*point);
    if (!row.ok()) return std::nullopt;
    if (next_ > 0) text += ",\n";
    text += *row;
  }
  if (next_ < points.size()) return text;
  ended_ = true;
  return text + "], \"differences\": " + dumped(differences_of(compared_)) + "}";
}

ComparisonColumns::ComparisonColumns(CallLimits& limits, std::string payer,
                                     ComparedCampaigns compared)
    : limits_(limits), payer_(std::move(payer)), compared_(std::move(compared)) {
  add_columns();
}

void ComparisonColumns::add_columns() {
  using Point = campaign::ComparedPoint;
  using Kind = Column::Kind;
  const campaign::Comparison& all = compared_.comparison;
  const auto add = [this](const char* name, Kind kind, auto append) {
    columns_.push_back({",\"" + std::string(name) + "\":", kind, std::move(append)});
  };
  const auto number = [&](const char* name, auto of) {
    add(name, Kind::plain,
        [of](std::string& text, const Point& point) { append_value(text, of(point)); });
  };
  const auto text = [&](const char* name, auto of) {
    add(name, Kind::placed_text, [of](std::string& value, const Point& p) { value += of(p); });
  };
  text("experiment", [&all](const Point& p) { return std::string_view(all.experiment(p)); });
  columns_.back().before[0] = '{';
  text("variant", [&all](const Point& p) { return std::string_view(all.variant(p)); });
  add_params();
  text("verdict", campaign::verdict_text);
  text("why", [&all](const Point& p) { return all.why(p); });
  number("baseline_runs", [](const Point& p) { return p.a_runs; });
  number("candidate_runs", [](const Point& p) { return p.b_runs; });
  number("baseline_median", [](const Point& p) { return p.a_median; });
  number("candidate_median", [](const Point& p) { return p.b_median; });
  const auto with_ratio = [](const Point& p, double value) {
    return p.ratio ? std::optional(value) : std::nullopt;
  };
  number("ratio", [](const Point& p) { return p.ratio; });
  number("low", [with_ratio](const Point& p) { return with_ratio(p, p.low); });
  number("high", [with_ratio](const Point& p) { return with_ratio(p, p.high); });
  number("p_value", [](const Point& p) { return std::optional(p.p_value); });
  number("detectable", [](const Point& p) { return p.detectable; });
}

// A column for each name. Where the parameters of a point cannot be read there is no answer.
void ComparisonColumns::add_params() {
  const campaign::Comparison& all = compared_.comparison;
  std::set<std::string, std::less<>> names;
  for (const campaign::ComparedPoint& point : all.points) {
    const bool is_object =
        for_each_member(all.params_json(point), [&](std::string_view name, std::string_view) {
          if (!names.contains(name)) names.emplace(name);
          return true;
        });
    if (!is_object) ended_ = true;
  }
  std::string before = ",\"params\":{";
  for (const std::string& name : names) {
    columns_.push_back({before + name + ":", Column::Kind::placed,
                        [&all, name](std::string& text, const campaign::ComparedPoint& point) {
                          for_each_member(all.params_json(point),
                                          [&](std::string_view one, std::string_view value) {
                                            if (one == name) text += value;
                                            return one != name;
                                          });
                        }});
    before = ",";
  }
  columns_.back().after = names.empty() ? ",\"params\":{}" : "}";
}

std::optional<std::string> ComparisonColumns::next() {
  if (ended_) return std::nullopt;
  const MeteredCall metered(limits_, payer_, 0);
  const auto& points = compared_.comparison.points;
  const Column& column = columns_[column_];
  const bool is_placed = column.kind != Column::Kind::plain;
  std::string text;
  if (point_ == 0) text = column.before + (is_placed ? "{\"of\":[" : "[");
  const size_t end = std::min(point_ + kValuesAtOnce, points.size());
  for (; point_ < end; ++point_) {
    if (point_ > 0) text += ',';
    if (is_placed) {
      append_place(text, column, points[point_]);
    } else {
      column.append(text, points[point_]);
    }
  }
  if (point_ < points.size()) return text;
  text += ']';
  if (is_placed) append_values(text, column);
  text += column.after;
  point_ = 0;
  if (++column_ < columns_.size()) return text;
  ended_ = true;
  return text + ",\"differences\":" + dumped(differences_of(compared_)) + "}";
}

void ComparisonColumns::append_place(std::string& text, const Column& column,
                                     const campaign::ComparedPoint& point) {
  value_.clear();
  column.append(value_, point);
  int32_t place = -1;
  if (column.kind == Column::Kind::placed_text || !value_.empty()) {
    const auto [known, fresh] = places_.try_emplace(value_, static_cast<int32_t>(values_.size()));
    if (fresh) values_.push_back(value_);
    place = known->second;
  }
  append_value(text, place);
}

void ComparisonColumns::append_values(std::string& text, const Column& column) {
  text += ",\"values\":[";
  for (size_t i = 0; i < values_.size(); ++i) {
    if (i > 0) text += ',';
    text += column.kind == Column::Kind::placed ? values_[i] : dumped(Json(values_[i]));
  }
  text += "]}";
  values_.clear();
  places_.clear();
}

}  // namespace stripline::server
