#include "runtime/rma/operation.h"

#include <optional>

namespace stripline::rma {

Operation::Operation(Context& context, const Call& call, Access access,
                     global_ptr<const std::byte> place, size_t bytes, const std::byte* memory)
    : state_(context.state()),
      inside_(state_.job.exclusion()),
      context_(context),
      target_(place.where()),
      offset_(place.offset()),
      bytes_(bytes),
      memory_(const_cast<std::byte*>(memory)),  // puts only read it
      is_get_(access == Access::get) {
  there_ = state_.operations.locate(call, target_, offset_, bytes_, access);
  if (state_.job.observers().any()) [[unlikely]]
    observe(call, access, false);
}

Operation::Operation(Context& context, const Call& call, rank_t target, size_t bytes)
    : state_(context.state()),
      inside_(state_.job.exclusion()),
      context_(context),
      target_(target),
      offset_(0),
      bytes_(bytes),
      memory_(nullptr),
      is_get_(false) {
  state_.memory.check_target(call, target_);
  state_.operations.before_message();
  if (state_.job.observers().any()) [[unlikely]]
    observe(call, Access::none, false);
}

Operation::Operation(Context& context, const Call& call, Access access, rank_t target)
    : state_(context.state()),
      inside_(state_.job.exclusion()),
      context_(context),
      target_(target),
      offset_(0),
      bytes_(0),
      memory_(nullptr),
      is_get_(access == Access::get) {
  if (state_.job.observers().any()) [[unlikely]]
    observe(call, access, true);
}

Operation::~Operation() = default;

void Operation::observe(const Call& call, Access access, bool many_regions) {
  observed_ = std::make_unique<Observation>();
  observed_->call = call;
  observed_->access = access;
  observed_->target = target_;
  observed_->offset = offset_;
  observed_->bytes = bytes_;
  observed_->memory = observed_->destination = memory_;
  observed_->many_regions = many_regions;
  state_.job.observers().tell(&Observer::begins, *observed_);
}

void Operation::raises(const Call& call, uint64_t offset) {
  state_.operations.check(call, target_, offset, sizeof(uint64_t), Access::atomic);
  state_.memory.check_alignment(call, target_, offset, sizeof(uint64_t));
  if (observed_ == nullptr) [[likely]]
    return;
  state_.job.observers().tell(&Observer::raises, *observed_,
                              Touched{call, Access::atomic, offset, sizeof(uint64_t), nullptr});
}

void Operation::touches(uint64_t offset, uint64_t bytes, std::byte* memory) {
  state_.operations.check(observed_->call, target_, offset, bytes, observed_->access);
  state_.job.observers().tell(&Observer::touches, *observed_,
                              Touched{observed_->call, observed_->access, offset, bytes, memory});
}

void Operation::planned(const detail::TracedCall& plan) {
  if (observed_ != nullptr) observed_->plan.emplace(plan);
}

std::byte* Operation::destination() const {
  return observed_ == nullptr ? memory_ : observed_->destination;
}

fabric::Counter& Operation::counter(CompletionSlots::Kind kind) {
  slot_ = state_.operations.acquire_slot(kind);
  has_slot_ = true;
  return state_.operations.counter(slot_);
}

future Operation::finish() {
  // Debug mode knows an operation by its future, also one that is complete.
  const bool must_have_future = state_.job.observers().debug() != nullptr;
  if (must_have_future && !has_slot_) [[unlikely]]
    counter(is_get_ ? CompletionSlots::Kind::get : CompletionSlots::Kind::put);
  std::optional<SlotUse> use;
  bool complete = true;
  if (has_slot_) {
    complete = state_.operations.counter(slot_).pending == 0;
    if (must_have_future || !complete) {
      use = state_.operations.use_of(slot_);
    } else {
      state_.operations.release(slot_);
    }
  }
  if (observed_ != nullptr) [[unlikely]]
    state_.job.observers().tell(&Observer::started, *observed_, use, complete);
  return use ? future({&context_, use->slot, use->generation}) : future();
}

void Operation::finish_without_future() {
  if (observed_ != nullptr) [[unlikely]]
    state_.job.observers().tell(&Observer::started, *observed_, std::nullopt, false);
}

}  // namespace stripline::rma
