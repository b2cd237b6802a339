#include "optimizer/model/sections/update.h"

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

std::string update_text(const TunedModel& model) {
  if (!model.update) return {};
  ParameterTable table("span");
  for (const UpdatePoint& point : model.update->items) {
    const std::string span = bytes_text(point.span_bytes);
    table.add(span, "into a buffer", point.append_s, time_text);
    table.add(span, "merged in a table", point.merge_s, time_text);
    table.add(span, "not found in a table", point.miss_s, time_text);
    table.add(span, "to its cell", point.apply_s, time_text);
  }
  table.add("", "atomic of the fabric", model.update->provider_s, time_text);
  table.add("", "atomic by message", model.update->message_s, time_text);
  table.add("", "minimum gain", model.update->minimum_gain, share_text);
  return table.titled("updates");
}

}  // namespace

Section update_section() {
  const auto point = object<UpdatePoint>(
      "update_point",
      {required("span_bytes", &UpdatePoint::span_bytes, bytes(),
                "of the memory that updates go to at random"),
       required("append_s", &UpdatePoint::append_s, seconds(), "to the end of one of many buffers"),
       required("merge_s", &UpdatePoint::merge_s, seconds(), "into a table of cells"),
       required("apply_s", &UpdatePoint::apply_s, seconds(), "from a message to its cell"),
       optional("miss_s", &UpdatePoint::miss_s, seconds(),
                "into a table of cells that has none of its cell")});
  const auto form = object<UpdateModel>(
      nullptr,
      {required(
           "items", &UpdateModel::items,
           list(point, 1, kMaxPoints,
                std::optional(Order<UpdatePoint>{[](const UpdatePoint& a, const UpdatePoint& b) {
                                                   return a.span_bytes < b.span_bytes;
                                                 },
                                                 "spans must ascend", ".span_bytes"})),
           "What one update of eight bytes takes of a processor"),
       optional("provider_s", &UpdateModel::provider_s, seconds(),
                "An atomic operation of a stream, by the fabric"),
       optional("message_s", &UpdateModel::message_s, seconds(),
                "An atomic operation of a stream, by active message"),
       optional("minimum_gain", &UpdateModel::minimum_gain, gain(),
                "By which another method must be faster than buffers")});
  // Memory that stays in a cache of 1 MiB, and other memory.
  return {
      optional("update", &TunedModel::update, form, "Updates of other ranks' memory"), update_text,
      [](TunedModel& model) {
        model.update = UpdateModel{
            {{64 << 10, example_parameter(4e-9), example_parameter(12e-9), example_parameter(3e-9)},
             {8 << 20, example_parameter(6e-9), example_parameter(60e-9),
              example_parameter(40e-9)}},
            example_parameter(1.2e-6),
            example_parameter(1.6e-6),
            example_parameter(0.02, 0)};
      },
      "updates of other ranks' memory"};
}

}  // namespace stripline::model
