#include "optimizer/plan/request_fields.h"

#include <algorithm>
#include <array>

#include "base/quantity.h"
#include "base/shell_words.h"
#include "optimizer/plan/row.h"

namespace stripline::plan {
namespace {

// Ranks and nodes, of which no job has more.
constexpr uint64_t kMany = uint64_t{1} << 20;

std::string list_text(const std::vector<uint64_t>& numbers) {
  std::string list;
  for (const uint64_t number : numbers) list += (list.empty() ? "" : ",") + std::to_string(number);
  return list;
}

std::string value_text(Unit unit, const FieldValue& value) {
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return unit == Unit::bytes ? exact_bytes_text(*number) : std::to_string(*number);
  }
  if (const auto* seconds = std::get_if<double>(&value)) return time_text(*seconds);
  if (const auto* word = std::get_if<std::string_view>(&value)) return std::string(*word);
  if (const auto* numbers = std::get_if<std::vector<uint64_t>>(&value)) return list_text(*numbers);
  return std::get<bool>(value) ? "yes" : "no";
}

constexpr std::array<SurroundingsField, 7> kSurroundings = {{
    {Fact::nic_ranks, field<Surroundings, &Surroundings::nic_ranks>(
                          "nic_ranks", "--nic-ranks", ", {} ranks sharing a NIC",
                          "Ranks that share a NIC, and do the same")
                          .within(1, kMany)},
    {Fact::target_polls_only,
     field<Surroundings, &Surroundings::target_polls_only>(
         "target_polls_only", "--target-polls-only", ", targets only poll",
         "The network needs calls of the target, which does the same as this rank and "
         "makes them in between (tcp)")},
    {Fact::alone,
     field<Surroundings, &Surroundings::alone>("alone", "--alone", ", no other rank does the same",
                                               "No other rank does the same at the time")},
    {Fact::flag_with_data,
     field<Surroundings, &Surroundings::flag_with_data>(
         "flag_with_data", "--flag-with-data", ", flags travel with their data",
         "The network takes the flag of a put along with its data, as emulated ones do "
         "(default: it follows)")},
    {Fact::service_delay, field<Surroundings, &Surroundings::service_delay_s>(
                              "service_delay_s", "--service-delay", ", peers answer after {}",
                              "How long messages wait at the target until it looks for them")},
    {Fact::load, field<Surroundings, &Surroundings::load, &cost::NetworkLoad::nodes>(
                     "nodes", "--nodes", ", while {} nodes communicate",
                     "Nodes that communicate at the same time")
                     .within(1, kMany)},
    {Fact::load, field<Surroundings, &Surroundings::load, &cost::NetworkLoad::at_distance>(
                     "distances", "--distances", nullptr,
                     "Peers at distance 0, 1, ... of the model's service levels")
                     .within(0, std::numeric_limits<uint16_t>::max())},
}};

}  // namespace

std::span<const SurroundingsField> surroundings_fields() { return kSurroundings; }

std::string surroundings_text(const Surroundings& surroundings, Fact facts) {
  const Surroundings usual;
  std::string out;
  for (const auto& [fact, field] : kSurroundings) {
    if (!has(facts, fact)) continue;
    out += phrase_of(field.text, field.get(surroundings), field.get(usual));
  }
  return out;
}

std::string option_text(const FieldText& text, const FieldValue& value) {
  const bool by_place = !std::string_view(text.option).starts_with('-');
  const std::string option = by_place ? std::string() : " " + std::string(text.option);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? option : std::string();
  if (const auto* seconds = std::get_if<double>(&value)) {
    return *seconds < 0 ? std::string() : option + " " + Json(*seconds).dump();
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return option + " " + std::to_string(*number);
  }
  if (const auto* word = std::get_if<std::string_view>(&value)) {
    return option + " " + quote_word(*word);
  }
  return option + " " + list_text(std::get<std::vector<uint64_t>>(value));
}

std::string phrase_of(const FieldText& text, const FieldValue& value, const FieldValue& usual) {
  const bool shown = text.required || text.always || value != usual;
  if (!shown) return {};
  const bool flag = std::holds_alternative<bool>(value);
  if (text.phrase != nullptr) return filled(text.phrase, value_text(text.unit, value));
  std::string_view option = text.option;
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  return ", " + std::string(option) + (flag ? "" : " " + value_text(text.unit, value));
}

}  // namespace stripline::plan
