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

// A message holds two of the largest puts at least, each with a word of its own.
constexpr uint64_t kSmallestMessage = 64;

Status check_put_combining(const PutCombiningModel& combining) {
  const std::string where = "rma.put_combining";
  if (combining.message_bytes < kSmallestMessage || combining.message_bytes > kMaxBytes) {
    return wrong(where + ".message_bytes", "must be " + std::to_string(kSmallestMessage) + " to " +
                                               std::to_string(kMaxBytes));
  }
  if (combining.max_put_bytes > combining.message_bytes / 2 - sizeof(uint64_t)) {
    return wrong(where + ".max_put_bytes", "two such puts must fit into a message");
  }
  STRIPLINE_RETURN_IF_ERROR(
      check_parameter(where + ".message_s", combining.message_s, kSecondsRule));
  STRIPLINE_RETURN_IF_ERROR(
      check_parameter(where + ".max_delay_s", combining.max_delay_s, kSecondsRule));
  STRIPLINE_RETURN_IF_ERROR(check_optional(where + ".gain", combining.gain, kGainRule));
  if (combining.gain.has_value() != (combining.max_put_bytes != 0)) {
    return wrong(where + ".gain", "belongs to puts that are combined, and only to them");
  }
  return {};
}

Status check_buffered_put(const BufferedPutModel& buffered) {
  const std::string where = "rma.buffered_put";
  if (buffered.max_bytes > kMaxBytes) {
    return wrong(where + ".max_bytes", "larger than " + std::to_string(kMaxBytes));
  }
  STRIPLINE_RETURN_IF_ERROR(check_optional(where + ".gain", buffered.gain, kGainRule));
  if (buffered.gain.has_value() != (buffered.max_bytes != 0)) {
    return wrong(where + ".gain", "belongs to puts that are copied, and only to them");
  }
  return {};
}

Status check_progress(const ProgressModel& progress) {
  const std::string where = "rma.progress";
  STRIPLINE_RETURN_IF_ERROR(check_parameter(where + ".call_s", progress.call_s, kSecondsRule));
  return check_parameter(where + ".answer_s", progress.answer_s, kSecondsRule);
}

}  // namespace

Status check_rma(const RmaModel& rma) {
  if (rma.buffered_put) STRIPLINE_RETURN_IF_ERROR(check_buffered_put(*rma.buffered_put));
  if (rma.put_combining) STRIPLINE_RETURN_IF_ERROR(check_put_combining(*rma.put_combining));
  if (rma.atomic) STRIPLINE_RETURN_IF_ERROR(check_atomic(*rma.atomic));
  if (rma.progress) STRIPLINE_RETURN_IF_ERROR(check_progress(*rma.progress));
  return {};
}

}  // namespace stripline::model::detail
