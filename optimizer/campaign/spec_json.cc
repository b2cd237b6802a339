#include "optimizer/campaign/spec_json.h"

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace stripline::campaign {
namespace {

template <typename Value>
void write(Json& json, const SpecField& field, const Value& value) {
  if (!field.stored_always && value == Value()) return;
  if constexpr (std::is_enum_v<Value>) {
    json[field.name] = to_string(value);
  } else {
    json[field.name] = value;
  }
}

// Throws Json::exception.
template <typename Value>
void read(const Json& json, const SpecField& field, Value& value) {
  const auto found = json.find(field.name);
  if (found == json.end() && !field.stored_always) return;
  const Json& member = json.at(field.name);
  if constexpr (std::is_same_v<Value, Effort>) {
    value = member == "full" ? Effort::full : Effort::budgeted;
  } else if constexpr (std::is_same_v<Value, WhenBusy>) {
    value = when_busy_from_string(member.get<std::string>()).value_or(WhenBusy::wait);
  } else {
    member.get_to(value);
  }
}

// How a page asks for a member.
const char* unit_of(const SpecField& field) {
  if (std::holds_alternative<std::vector<std::string> Spec::*>(field.member)) return "names";
  if (std::holds_alternative<std::string Spec::*>(field.member)) return "text";
  if (std::holds_alternative<bool Spec::*>(field.member)) return "flag";
  return "number";
}

}  // namespace

Json to_json(const Spec& spec) {
  Json json = Json::object();
  for (const SpecField& field : spec_fields()) {
    std::visit([&](auto member) { write(json, field, spec.*member); }, field.member);
  }
  if (!spec.verifies.empty()) json["verifies"] = spec.verifies;
  if (!spec.left_out.empty()) json["left_out"] = spec.left_out;
  return json;
}

Result<Spec> spec_from_json(const Json& json) {
  try {
    Spec spec;
    for (const SpecField& field : spec_fields()) {
      std::visit([&](auto member) { read(json, field, spec.*member); }, field.member);
    }
    spec.verifies = json.value("verifies", spec.verifies);
    spec.left_out = json.value("left_out", spec.left_out);
    return spec;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored campaign spec: ") + error.what());
  }
}

Json form_fields_json() {
  Json fields = Json::array();
  for (const SpecField& field : spec_fields()) {
    if (field.form.label == nullptr) continue;
    fields.push_back({{"name", field.name},
                      {"option", field.option},
                      {"unit", unit_of(field)},
                      // From what people type, percent, to what the message holds.
                      {"factor", field.quantity == Quantity::share ? 0.01 : 1.0},
                      {"label", field.form.label},
                      {"hint", field.form.hint},
                      {"help", field.form.help}});
  }
  return fields;
}

}  // namespace stripline::campaign
