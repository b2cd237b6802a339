#include "optimizer/model/sections/bulk.h"

#include <string>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

std::string bulk_text(const TunedModel& model) {
  if (!model.bulk) return {};
  const BulkModel& bulk = *model.bulk;
  std::string text = "\nblocking copies that do not wait\n";
  if (bulk.max_get_bytes) {
    text += *bulk.max_get_bytes == 0 ? "  gets are not made ahead\n"
                                     : "  gets of up to " + bytes_text(*bulk.max_get_bytes) +
                                           " are made ahead, no larger ones\n";
  }
  if (bulk.in_flight) {
    text += "  " + std::to_string(*bulk.in_flight) + " operations in flight to a rank\n";
  }
  ParameterTable table("size");
  for (const BulkCopyPoint& point : bulk.copies) {
    table.add(bytes_text(point.bytes), "copying what came", point.copy_s, time_text);
  }
  table.add("", "comparing with puts in flight", bulk.check_s, time_text);
  return text + table.text();
}

}  // namespace

Section bulk_section() {
  const auto point = object<BulkCopyPoint>(
      "bulk_copy_point",
      {required("bytes", &BulkCopyPoint::bytes, bytes(1)),
       required("copy_s", &BulkCopyPoint::copy_s, seconds(), "to where the program wants them")});
  const auto form = object<BulkModel>(
      nullptr,
      {required("copies", &BulkModel::copies,
                list(point, 1, kMaxPoints,
                     std::optional(
                         Order<BulkCopyPoint>{[](const BulkCopyPoint& a, const BulkCopyPoint& b) {
                                                return a.bytes < b.bytes;
                                              },
                                              "sizes must ascend", ".bytes"})),
                "What copying bytes takes that came over the network"),
       optional("max_get_bytes", &BulkModel::max_get_bytes, bytes(),
                "Larger gets are not made ahead; absent: all may be"),
       optional("in_flight", &BulkModel::in_flight, number<uint32_t>(1, kMaxBulkInFlight),
                "Operations in flight to one rank with which a stream is about as fast as it gets"),
       optional("check_s", &BulkModel::check_s, seconds(),
                "Comparing an access with puts in flight")});
  return {optional("bulk", &TunedModel::bulk, form, "Blocking copies that do not wait"), bulk_text,
          [](TunedModel& model) {
            model.bulk = BulkModel{
                {{1 << 10, example_parameter(300e-9)}, {64 << 10, example_parameter(30e-6)}},
                1 << 20,
                64,
                example_parameter(80e-9)};
          },
          "blocking copies that do not wait"};
}

}  // namespace stripline::model
