#include "proto/campaign_messages.h"

#include <string>
#include <variant>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

namespace stripline {
namespace {

using campaign::Effort;
using campaign::Spec;
using campaign::WhenBusy;
using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

// The field of the message that has the member's name; tests miss none.
template <typename Message>
const FieldDescriptor* field_of(const Message& message, const campaign::SpecField& member) {
  return message.GetDescriptor()->FindFieldByName(member.name);
}

struct Writer {
  v1::CampaignSpec& message;
  const Reflection& reflection;
  const FieldDescriptor* field;

  void operator()(const std::string& value) { reflection.SetString(&message, field, value); }
  void operator()(const std::vector<std::string>& values) {
    for (const std::string& value : values) reflection.AddString(&message, field, value);
  }
  void operator()(uint32_t value) { reflection.SetUInt32(&message, field, value); }
  void operator()(uint64_t value) { reflection.SetUInt64(&message, field, value); }
  void operator()(double value) { reflection.SetDouble(&message, field, value); }
  void operator()(bool value) { reflection.SetBool(&message, field, value); }
  void operator()(Effort value) {
    const bool full = value == Effort::full;
    reflection.SetEnumValue(&message, field,
                            full ? v1::CampaignSpec::FULL : v1::CampaignSpec::BUDGETED);
  }
  void operator()(WhenBusy value) {
    reflection.SetString(&message, field, std::string(to_string(value)));
  }
};

struct Reader {
  const v1::CampaignSpec& message;
  const Reflection& reflection;
  const FieldDescriptor* field;

  void operator()(std::string& value) { value = reflection.GetString(message, field); }
  void operator()(std::vector<std::string>& values) {
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      values.push_back(reflection.GetRepeatedString(message, field, i));
    }
  }
  void operator()(uint32_t& value) { value = reflection.GetUInt32(message, field); }
  void operator()(uint64_t& value) { value = reflection.GetUInt64(message, field); }
  void operator()(double& value) { value = reflection.GetDouble(message, field); }
  void operator()(bool& value) { value = reflection.GetBool(message, field); }
  void operator()(Effort& value) {
    const int effort = reflection.GetEnumValue(message, field);
    if (effort == v1::CampaignSpec::BUDGETED) value = Effort::budgeted;
    if (effort == v1::CampaignSpec::FULL) value = Effort::full;
  }
  void operator()(WhenBusy& value) {
    value = campaign::when_busy_from_string(reflection.GetString(message, field))
                .value_or(WhenBusy::unknown);
  }
};

}  // namespace

v1::CampaignSpec to_message(const Spec& spec) {
  v1::CampaignSpec message;
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    Writer writer{message, *message.GetReflection(), field_of(message, field)};
    std::visit([&](auto member) { writer(spec.*member); }, field.member);
  }
  return message;
}

Spec from_message(const v1::CampaignSpec& message) {
  Spec spec;
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    Reader reader{message, *message.GetReflection(), field_of(message, field)};
    std::visit([&](auto member) { reader(spec.*member); }, field.member);
  }
  return spec;
}

Spec budgets_of(const v1::RetryCampaignRequest& request) {
  Spec budgets;
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    if (field.retry_help == nullptr) continue;
    budgets.*std::get<double Spec::*>(field.member) =
        request.GetReflection()->GetDouble(request, field_of(request, field));
  }
  return budgets;
}

void set_budgets(v1::RetryCampaignRequest& request, const Spec& budgets) {
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    if (field.retry_help == nullptr) continue;
    request.GetReflection()->SetDouble(&request, field_of(request, field),
                                       budgets.*std::get<double Spec::*>(field.member));
  }
}

}  // namespace stripline
