// A line of an explanation: values with their names and units, of which people read a sentence and
// programs an object. What is shown is thus said once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "optimizer/cost/link_costs.h"
#include "optimizer/plan/fields.h"

namespace stripline::plan {

/// Alternatives often differ by less than a percent: four digits.
std::string time_text(double seconds);
/// "12.3 %".
std::string percent_text(double part);
/// The phrase with `value` in the place of {}.
std::string filled(std::string_view phrase, std::string_view value);

/// A member's value for programs; null where it is not known, or there is no limit.
Json json_of(const FieldValue& value);

/// Every value has a name, for programs, and a phrase, for people: with the punctuation before it
/// and {} for the value. Without a phrase people do not read it.
class Row {
 public:
  Row& number(const char* name, uint64_t value, std::string_view phrase = {});
  Row& bytes(const char* name, uint64_t value, std::string_view phrase = {});
  Row& seconds(const char* name, double value, std::string_view phrase = {});
  Row& seconds_per_byte(const char* name, double value, std::string_view phrase = {});
  Row& factor(const char* name, double value, std::string_view phrase = {});
  Row& word(const char* name, std::string_view value, std::string_view phrase = {});
  /// People read the phrase where it is true.
  Row& flag(const char* name, bool value, std::string_view phrase = {});
  /// A member of a request by its table, where it is known.
  Row& field(const FieldText& text, const FieldValue& value, const FieldValue& usual);
  /// A row as an object in this one.
  Row& part(const char* name, const Row& row);
  /// For programs only, and for people only.
  Row& json(const char* name, Json value);
  Row& say(std::string_view text);

  const std::string& text() const { return text_; }
  const Json& json() const { return json_; }

 private:
  Row& put(const char* name, Json value, std::string_view phrase, const std::string& text);

  std::string text_;
  Json json_ = Json::object();
};

/// The parameters of the model that hold for messages of one size. `serves`: those of serving them,
/// too.
Row entry_row(uint64_t bytes, const cost::MessageCosts& message, bool serves);

}  // namespace stripline::plan
