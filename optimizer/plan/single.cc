#include "optimizer/plan/single.h"

namespace stripline::plan {
namespace {

Reason by(bool model) { return model ? Reason::measured : Reason::no_model; }

}  // namespace

SingleCosts::SingleCosts(const model::RmaModel& model)
    : knows_atomic(model.atomic.has_value()),
      knows_combining(model.put_combining.has_value()),
      knows_copying(model.buffered_put.has_value()),
      knows_progress(model.progress.has_value()) {
  if (model.atomic) atomic = model.atomic->path;
  if (model.put_combining) combined_put_bytes = model.put_combining->max_put_bytes;
  if (model.buffered_put) copied_put_bytes = model.buffered_put->max_bytes;
  if (model.progress) progress = {model.progress->call_s.value, model.progress->answer_s.value};
}

AtomicPlan plan_atomic(const AtomicRequest& request, const SingleCosts& costs) noexcept {
  if (request.together && costs.combined_put_bytes >= sizeof(uint64_t)) {
    return {AtomicMethod::combined, by(costs.knows_combining)};
  }
  // All who change a variable have to go by its owner, or all by the provider.
  if (request.mapped || request.lacking) return {AtomicMethod::message, Reason::forced};
  return {
      costs.atomic == model::AtomicPath::message ? AtomicMethod::message : AtomicMethod::provider,
      by(costs.knows_atomic)};
}

PutPlan plan_put(const PutRequest& request, const SingleCosts& costs) noexcept {
  if (request.buffered) {
    const bool copied = request.bytes <= costs.copied_put_bytes;
    return {copied ? PutMethod::copied : PutMethod::alone, by(costs.knows_copying)};
  }
  const bool combined = request.implicit && request.bytes <= costs.combined_put_bytes;
  return {combined ? PutMethod::combined : PutMethod::alone, by(costs.knows_combining)};
}

ProgressPlan plan_progress(const ProgressRequest& request, const SingleCosts& costs) noexcept {
  const double left_s =
      static_cast<double>(request.missed) * (request.absence_s + costs.progress.answer_s);
  const bool pays =
      request.waited_s - left_s > static_cast<double>(request.calls) * costs.progress.call_s;
  return {pays ? ProgressMethod::thread : ProgressMethod::calls, by(costs.knows_progress)};
}

}  // namespace stripline::plan
