#include "runtime/rma/tuning.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stripline::rma {
namespace {

struct Setting {
  const char* name;
  const char* values;  // for messages
  bool (*set)(Tuning& tuning, std::string_view value);
};

bool set_atomic_way(Tuning& tuning, std::string_view value) {
  const auto way = model::atomic_way_from(value);
  if (!way) return false;
  tuning.atomic_way =
      *way == model::AtomicWay::message ? AtomicPath::message : AtomicPath::provider;
  return true;
}

constexpr std::array kSettings = {Setting{"atomic.way", "provider or message", set_atomic_way}};

Error unusable(std::string_view setting, const std::string& why) {
  std::string message = "STRIPLINE_TUNING: '" + std::string(setting) + "' " + why + "; there are";
  const char* separator = " ";
  for (const Setting& one : kSettings) {
    message.append(separator).append(one.name).append("=(").append(one.values).append(")");
    separator = ", ";
  }
  return {ErrorCode::invalid_argument, message};
}

}  // namespace

Result<Tuning> tuning_of(const model::TunedModel* model, const std::string& settings) {
  Tuning tuning;
  if (model != nullptr && model->rma && model->rma->atomic) {
    set_atomic_way(tuning, model::to_string(model->rma->atomic->way));
  }
  std::string_view rest = settings;
  while (!rest.empty()) {
    const std::string_view setting = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(setting.size() + 1, rest.size()));
    const std::string_view name = setting.substr(0, setting.find('='));
    const auto known =
        std::ranges::find_if(kSettings, [name](const Setting& one) { return one.name == name; });
    if (known == kSettings.end()) return unusable(setting, "is not known");
    if (name.size() == setting.size() || !known->set(tuning, setting.substr(name.size() + 1))) {
      return unusable(setting, "has no such value");
    }
  }
  return tuning;
}

}  // namespace stripline::rma
