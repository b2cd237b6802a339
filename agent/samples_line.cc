#include "agent/samples_line.h"

#include <utility>

#include "base/json_scan.h"

namespace stripline::agent {

std::optional<std::vector<std::string_view>> series_of_line(std::string_view line) {
  JsonScan message(line);
  std::string_view type;
  std::string_view list;
  if (!message.take('{')) return std::nullopt;
  do {
    const std::string_view name = message.value();
    if (!message.take(':')) return std::nullopt;
    const std::string_view value = message.value();
    if (value.empty()) return std::nullopt;
    if (name == "\"type\"") type = value;
    if (name == "\"series\"") list = value;
  } while (message.take(','));
  if (!message.take('}') || !message.at_end() || type != "\"samples\"") return std::nullopt;

  JsonScan elements(list);
  std::vector<std::string_view> series;
  if (!elements.take('[')) return std::nullopt;
  if (elements.take(']')) return series;
  do {
    series.push_back(elements.value());
    if (series.back().empty()) return std::nullopt;
  } while (elements.take(','));
  return elements.take(']') ? std::optional(std::move(series)) : std::nullopt;
}

}  // namespace stripline::agent
