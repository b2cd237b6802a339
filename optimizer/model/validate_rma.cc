#include "optimizer/model/validate_parts.h"

namespace stripline::model::detail {
namespace {

Status check_atomic(const AtomicModel& atomic) {
  const std::string where = "rma.atomic";
  STRIPLINE_RETURN_IF_ERROR(
      check_parameter(where + ".provider_s", atomic.provider_s, kSecondsRule));
  STRIPLINE_RETURN_IF_ERROR(check_parameter(where + ".message_s", atomic.message_s, kSecondsRule));
  STRIPLINE_RETURN_IF_ERROR(check_optional(where + ".gain", atomic.gain, kGainRule));
  if (atomic.gain.has_value() != (atomic.way == AtomicWay::message)) {
    return wrong(where + ".gain", "belongs to the way message, and only to it");
  }
  return {};
}

}  // namespace

Status check_rma(const RmaModel& rma) {
  if (rma.atomic) STRIPLINE_RETURN_IF_ERROR(check_atomic(*rma.atomic));
  return {};
}

}  // namespace stripline::model::detail
