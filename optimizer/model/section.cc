#include "optimizer/model/section.h"

#include <cmath>

#include "base/formatted.h"
#include "base/quantity.h"

namespace stripline::model {

std::string time_text(double seconds) { return seconds_text(seconds); }

std::string number_text(double value) { return formatted("%.4g", value); }

std::string share_text(double value) {
  return formatted(std::abs(value) < 9.995 ? "%.3g %%" : "%.0f %%", value * 100);
}

std::string titled(const std::string& title, const Table& table) {
  return table.empty() ? std::string() : "\n" + title + "\n" + table.text(2);
}

ParameterTable::ParameterTable(const std::string& first_column)
    : table_({{first_column},
              {"parameter"},
              {"value", Table::Align::right},
              {"low", Table::Align::right},
              {"high", Table::Align::right},
              {"runs", Table::Align::right},
              {"samples", Table::Align::right},
              {"method"}}) {}

void ParameterTable::add(const std::string& first, const std::string& name,
                         const Parameter& parameter, UnitText unit) {
  table_.add({first, name, (parameter.at_least ? ">= " : "") + unit(parameter.value),
              unit(parameter.ci_low), unit(parameter.ci_high), std::to_string(parameter.runs),
              std::to_string(parameter.samples), parameter.method});
}

void ParameterTable::add(const std::string& first, const std::string& name,
                         const std::optional<Parameter>& parameter, UnitText unit) {
  if (parameter) add(first, name, *parameter, unit);
}

}  // namespace stripline::model
