#include "optimizer/report/decision_tables.h"

#include <cstdint>
#include <utility>

namespace stripline::reports {
namespace {

// Powers of two as options take them: "512", "4KiB".
std::vector<std::string> powers(int from, int to, bool bytes, int step = 1) {
  std::vector<std::string> values;
  for (int power = from; power <= to; power += step) {
    const uint64_t value = uint64_t{1} << power;
    if (!bytes || power < 10) {
      values.push_back(std::to_string(value));
    } else if (power < 20) {
      values.push_back(std::to_string(value >> 10) + "KiB");
    } else {
      values.push_back(std::to_string(value >> 20) + "MiB");
    }
  }
  return values;
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

Json to_json(const Axis& axis) { return {{"option", axis.option}, {"values", axis.values}}; }

}  // namespace

const std::vector<DecisionTable>& decision_tables() {
  static const Axis kDirections = {"direction", {"get", "put"}};
  static const std::vector<DecisionTable> kTables = {
      {"loop",
       {"bytes", powers(12, 26, true)},
       {"compute",
        {"2us", "5us", "10us", "20us", "50us", "100us", "200us", "500us", "1ms", "2ms", "5ms",
         "10ms"}},
       {kDirections}},
      {"call",
       {"region-bytes", powers(3, 15, true)},
       {"regions", powers(1, 13, false)},
       {kDirections, {"class", {"communication_only", "light", "heavy"}}}},
      {"gather",
       {"elements", powers(6, 16, false, 2)},
       {"span", powers(19, 25, true, 2)},
       {{"readers", {"1", "16"}}, {"runs", {"1", "64"}}}},
      {"indirect",
       {"iterations", powers(6, 20, false, 2)},
       {"owners", powers(0, 6, false, 2)},
       {{"span", {"64KiB", "16MiB"}}}},
      {"update",
       {"updates", powers(6, 20, false, 2)},
       {"ranks", powers(1, 9, false, 2)},
       {{"span", {"64KiB", "64MiB"}}}},
      {"shared",
       {"updates", powers(10, 22, false, 2)},
       {"workers", powers(1, 7, false, 2)},
       {{"cells", {"65536", "16777216"}}, {"own", {"50", "98"}}}}};
  return kTables;
}

std::vector<Question> questions_of(const DecisionTable& table) {
  std::vector<Question> all = {
      {{table.x.option, joined(table.x.values)}, {table.y.option, joined(table.y.values)}}};
  for (const Axis& choice : table.choices) {
    std::vector<Question> more;
    for (const Question& question : all) {
      for (const std::string& value : choice.values) {
        more.push_back(question);
        more.back()[choice.option] = value;
      }
    }
    all = std::move(more);
  }
  return all;
}

Json to_json(const DecisionTable& table) {
  Json choices = Json::array();
  for (const Axis& choice : table.choices) choices.push_back(to_json(choice));
  return {{"command", table.command},
          {"x", to_json(table.x)},
          {"y", to_json(table.y)},
          {"choices", std::move(choices)}};
}

}  // namespace stripline::reports
