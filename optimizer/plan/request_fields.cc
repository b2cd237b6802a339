#include "optimizer/plan/request_fields.h"

#include <array>

#include "optimizer/plan/explain_text.h"
#include "optimizer/plan/fields_json.h"

namespace stripline::plan {
namespace {

// Ranks and nodes, of which nobody has more.
constexpr uint64_t kMany = uint64_t{1} << 20;

constexpr std::array<SurroundingsField, 7> kFields = {{
    {Fact::nic_ranks, field<Surroundings, &Surroundings::nic_ranks>(
                          {.name = "nic_ranks",
                           .option = "--nic-ranks",
                           .help = "Ranks that share a NIC, and do the same",
                           .least = 1,
                           .most = kMany})},
    {Fact::target_polls_only,
     field<Surroundings, &Surroundings::target_polls_only>(
         {.name = "target_polls_only",
          .option = "--target-polls-only",
          .help = "The network needs calls of the target, which does the same as this rank and "
                  "makes them in between (tcp)",
          .unit = Unit::flag})},
    {Fact::alone,
     field<Surroundings, &Surroundings::alone>({.name = "alone",
                                                .option = "--alone",
                                                .help = "No other rank does the same at the time",
                                                .unit = Unit::flag})},
    {Fact::flag_with_data,
     field<Surroundings, &Surroundings::flag_with_data>(
         {.name = "flag_with_data",
          .option = "--flag-with-data",
          .help = "The network takes the flag of a put along with its data, as emulated ones do "
                  "(default: it follows)",
          .unit = Unit::flag})},
    {Fact::service_delay,
     field<Surroundings, &Surroundings::service_delay_s>(
         {.name = "service_delay_s",
          .option = "--service-delay",
          .help = "How long messages wait at the target until it looks for them",
          .unit = Unit::seconds})},
    {Fact::load, field<Surroundings, &Surroundings::load, &cost::NetworkLoad::nodes>(
                     {.name = "nodes",
                      .option = "--nodes",
                      .help = "Nodes that communicate at the same time",
                      .least = 1,
                      .most = kMany})},
    {Fact::load,
     field<Surroundings, &Surroundings::load, &cost::NetworkLoad::at_distance>(
         {.name = "distances",
          .option = "--distances",
          .help = "Of the peers, those at distance 0, 1, ... of the model's service levels",
          .unit = Unit::numbers,
          .most = std::numeric_limits<uint16_t>::max()})},
}};

}  // namespace

std::span<const SurroundingsField> surroundings_fields() { return kFields; }

std::string surroundings_text(const Surroundings& surroundings, Fact facts) {
  std::string out;
  if (has(facts, Fact::nic_ranks) && surroundings.nic_ranks > 1) {
    out += ", " + std::to_string(surroundings.nic_ranks) + " ranks sharing a NIC";
  }
  if (has(facts, Fact::target_polls_only) && surroundings.target_polls_only) {
    out += ", targets only poll";
  }
  if (has(facts, Fact::alone) && surroundings.alone) out += ", no other rank does the same";
  if (has(facts, Fact::service_delay) && surroundings.service_delay_s > 0) {
    out += ", peers answer after " + detail::time_text(surroundings.service_delay_s);
  }
  if (has(facts, Fact::load) && surroundings.load.nodes > 1) {
    out += ", while " + std::to_string(surroundings.load.nodes) + " nodes communicate";
  }
  return out;
}

std::string option_text(const FieldText& text, const FieldValue& value) {
  const std::string option = " " + std::string(text.option);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? option : std::string();
  if (const auto* seconds = std::get_if<double>(&value)) {
    return *seconds < 0 ? std::string() : option + " " + Json(*seconds).dump();
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return option + " " + std::to_string(*number);
  }
  if (const auto* word = std::get_if<std::string_view>(&value)) {
    return option + " " + std::string(*word);
  }
  std::string list;
  for (const uint64_t number : std::get<std::vector<uint64_t>>(value)) {
    list += (list.empty() ? "" : ",") + std::to_string(number);
  }
  return option + " " + list;
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

}  // namespace stripline::plan
