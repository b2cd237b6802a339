#include "runtime/rma/tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "base/cut_text.h"
#include "base/number_text.h"
#include "base/quantity.h"

namespace stripline::rma {
namespace {

struct Setting {
  const char* name;
  const char* values;  // for messages
  bool (*set)(Tuning& tuning, std::string_view value);
};

constexpr size_t kMostPutBytes = size_t{1} << 19;
constexpr size_t kMostBytes = size_t{1} << 40;

bool set_bytes(uint64_t& member, std::string_view value, size_t minimum, size_t maximum) {
  const auto bytes = parse_bytes(value, "");
  if (!bytes.ok() || *bytes < minimum || *bytes > maximum) return false;
  member = *bytes;
  return true;
}

bool set_max_put_bytes(Tuning& tuning, std::string_view value) {
  return set_bytes(tuning.single.combined_put_bytes, value, 0, kMostPutBytes);
}

bool set_message_bytes(Tuning& tuning, std::string_view value) {
  return set_bytes(tuning.combining.message_bytes, value, 64, kMostBytes);
}

bool set_combining_budget(Tuning& tuning, std::string_view value) {
  return set_bytes(tuning.combining.budget_bytes, value, 1, kMostBytes);
}

bool set_seconds(double& member, std::string_view value) {
  const auto seconds = number_from_text<double>(value);
  if (!seconds || !std::isfinite(*seconds) || *seconds < 0) return false;
  member = *seconds;
  return true;
}

bool set_max_delay(Tuning& tuning, std::string_view value) {
  return set_seconds(tuning.combining.max_delay_s, value);
}

bool set_progress_call(Tuning& tuning, std::string_view value) {
  return set_seconds(tuning.single.progress.call_s, value);
}

bool set_progress_answer(Tuning& tuning, std::string_view value) {
  return set_seconds(tuning.single.progress.answer_s, value);
}

bool set_buffered_put(Tuning& tuning, std::string_view value) {
  return set_bytes(tuning.single.copied_put_bytes, value, 0, kMostBytes);
}

bool set_buffered_budget(Tuning& tuning, std::string_view value) {
  return set_bytes(tuning.buffered_budget_bytes, value, 1, kMostBytes);
}

constexpr std::array kSettings = {
    Setting{"buffered_put.max_bytes", "0 to 1T", set_buffered_put},
    Setting{"buffered_put.budget_bytes", "1 to 1T", set_buffered_budget},
    Setting{"put_combining.max_put_bytes", "0 to 512K", set_max_put_bytes},
    Setting{"put_combining.message_bytes", "64 to 1T", set_message_bytes},
    Setting{"put_combining.max_delay_s", "seconds", set_max_delay},
    Setting{"put_combining.budget_bytes", "1 to 1T", set_combining_budget},
    Setting{"progress.call_s", "seconds", set_progress_call},
    Setting{"progress.answer_s", "seconds", set_progress_answer}};

void follow(const model::RmaModel& model, Tuning& tuning) {
  tuning.single = plan::SingleCosts(model);
  if (!model.put_combining) return;
  tuning.combining.message_bytes = model.put_combining->message_bytes;
  tuning.combining.max_delay_s = model.put_combining->max_delay_s.value;
}

// The planner has puts up to some size travel together. It is asked here, for all sizes: the
// combiner, which takes a put in nanoseconds, only compares.
uint64_t largest_combined(const plan::SingleCosts& costs) {
  uint64_t combined = 0;
  uint64_t alone = kMostPutBytes + 1;
  while (alone - combined > 1) {
    const uint64_t bytes = combined + (alone - combined) / 2;
    const plan::PutPlan plan = plan::plan_put({.bytes = bytes, .implicit = true}, costs);
    (plan.method == plan::PutMethod::combined ? combined : alone) = bytes;
  }
  return combined;
}

Error unusable(std::string_view setting, const std::string& why) {
  std::string message = "STRIPLINE_TUNING: " + quoted_text(setting) + " " + why + "; there are";
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
  if (model != nullptr && model->rma) follow(*model->rma, tuning);
  std::string_view rest = settings;
  std::set<std::string_view> given;
  while (!rest.empty()) {
    const std::string_view setting = rest.substr(0, rest.find_first_of(",;"));
    rest.remove_prefix(std::min(setting.size() + 1, rest.size()));
    const std::string_view name = setting.substr(0, setting.find('='));
    if (name.find(':') != std::string_view::npos) {
      if (const Status added = tuning.forced.add(setting); !added.ok()) {
        return Error(added.error().code(), "STRIPLINE_TUNING: " + added.error().message());
      }
      continue;
    }
    const auto known =
        std::ranges::find_if(kSettings, [name](const Setting& one) { return one.name == name; });
    if (known == kSettings.end()) return unusable(setting, "is not known");
    if (name.size() == setting.size() || !known->set(tuning, setting.substr(name.size() + 1))) {
      return unusable(setting, "has no such value");
    }
    if (!given.insert(name).second) {
      return Error(ErrorCode::invalid_argument, "STRIPLINE_TUNING: " + quoted_text(settings) +
                                                    " says " + quoted_text(name) +
                                                    " twice; leave one of them");
    }
  }
  tuning.single.copied_put_bytes =
      std::min<uint64_t>(tuning.single.copied_put_bytes, tuning.buffered_budget_bytes);
  tuning.combining.max_put_bytes = largest_combined(tuning.single);
  return tuning;
}

}  // namespace stripline::rma
