#include "optimizer/plan/row.h"

#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "base/formatted.h"
#include "base/quantity.h"

namespace stripline::plan {

std::string time_text(double seconds) { return seconds_text(seconds, 4); }

std::string percent_text(double part) {
  return formatted(std::abs(part) < 9.995 ? "%.3g %%" : "%.0f %%", 100 * part);
}

std::string filled(std::string_view phrase, std::string_view value) {
  std::string text(phrase);
  const size_t place = text.find("{}");
  if (place != std::string::npos) text.replace(place, 2, value);
  return text;
}

Json json_of(const FieldValue& value) {
  if (const auto* seconds = std::get_if<double>(&value); seconds != nullptr && *seconds < 0) {
    return {};
  }
  if (const auto* number = std::get_if<uint64_t>(&value);
      number != nullptr && *number == std::numeric_limits<uint64_t>::max()) {
    return {};
  }
  return std::visit([](const auto& known) { return Json(known); }, value);
}

Row& Row::put(const char* name, Json value, std::string_view phrase, const std::string& text) {
  json_[name] = std::move(value);
  text_ += filled(phrase, text);
  return *this;
}

Row& Row::number(const char* name, uint64_t value, std::string_view phrase) {
  return put(name, value, phrase, std::to_string(value));
}
Row& Row::bytes(const char* name, uint64_t value, std::string_view phrase) {
  return put(name, value, phrase, exact_bytes_text(value));
}
Row& Row::seconds(const char* name, double value, std::string_view phrase) {
  return put(name, value, phrase, time_text(value));
}
Row& Row::seconds_per_byte(const char* name, double value, std::string_view phrase) {
  return put(name, value, phrase, formatted("%.4g ns/B", value * 1e9));
}
Row& Row::factor(const char* name, double value, std::string_view phrase) {
  return put(name, value, phrase, formatted("%.3g", value));
}
Row& Row::word(const char* name, std::string_view value, std::string_view phrase) {
  return put(name, value, phrase, std::string(value));
}
Row& Row::flag(const char* name, bool value, std::string_view phrase) {
  return put(name, value, value ? phrase : std::string_view(), {});
}

Row& Row::field(const FieldText& text, const FieldValue& value, const FieldValue& usual) {
  if (Json known = json_of(value); !known.is_null()) json(text.name, std::move(known));
  return say(phrase_of(text, value, usual));
}

Row& Row::part(const char* name, const Row& row) { return say(row.text()).json(name, row.json()); }

Row& Row::json(const char* name, Json value) {
  json_[name] = std::move(value);
  return *this;
}

Row& Row::say(std::string_view text) {
  text_ += text;
  return *this;
}

Row entry_row(uint64_t bytes, const cost::MessageCosts& message, bool serves) {
  const auto size = static_cast<double>(bytes);
  Row row;
  row.bytes("bytes", bytes, "{}")
      .seconds("o_s", message.o(size), ": o {}")
      .seconds("L_s", message.L, ", L {}")
      .seconds("gap_s", message.gap(size), ", gap {}")
      .seconds_per_byte("G_s_per_byte", message.G, ", G {}")
      .seconds("r_s", message.r(size), ", r {}");
  if (serves) row.seconds("s_s", message.s(size), ", s {}");
  return row;
}

}  // namespace stripline::plan
