#include "runtime/rma/operation.h"

#include <optional>
#include <utility>
#include <vector>

namespace stripline::rma {
namespace {

OperationTrace::Kind kind_of(Access access) {
  switch (access) {
    case Access::get:
      return OperationTrace::Kind::get;
    case Access::put:
      return OperationTrace::Kind::put;
    case Access::atomic:
      return OperationTrace::Kind::atomic;
    case Access::none:
      break;
  }
  return OperationTrace::Kind::message;
}

}  // namespace

struct Operation::Observed {
  /// For the trace, unless the operation is a part of another one.
  std::optional<OperationTrace::Operation> traced;
  double begun_s = 0;
  /// For debug mode, its own and then that of raises(): open from finish() on.
  std::vector<OpenAccess> accesses;
};

Operation::Operation(Context& context, const Call& call, Access access,
                     global_ptr<const std::byte> place, size_t bytes, const std::byte* memory)
    : state_(context.state()),
      inside_(state_.exclusion),
      context_(context),
      target_(place.where()),
      offset_(place.offset()),
      bytes_(bytes),
      memory_(const_cast<std::byte*>(memory)),  // puts only read it
      is_get_(access == Access::get) {
  if (state_.observed()) [[unlikely]]
    observe(call, kind_of(access));
  there_ = state_.locate(call, target_, offset_, bytes_, access);
  if (state_.debug != nullptr) [[unlikely]] {
    observed_->accesses.push_back(
        state_.debug->begin(call, access, target_, offset_, bytes_, memory_));
  }
}

Operation::Operation(Context& context, const Call& call, rank_t target, size_t bytes)
    : state_(context.state()),
      inside_(state_.exclusion),
      context_(context),
      target_(target),
      offset_(0),
      bytes_(bytes),
      memory_(nullptr),
      is_get_(false) {
  if (state_.observed()) [[unlikely]]
    observe(call, OperationTrace::Kind::message);
  state_.check_target(call, target_);
}

Operation::~Operation() = default;

void Operation::raises(const Call& call, uint64_t offset) {
  state_.check(call, target_, offset, sizeof(uint64_t), Access::atomic);
  state_.check_alignment(call, target_, offset, sizeof(uint64_t));
  if (state_.debug == nullptr) [[likely]]
    return;
  observed_->accesses.push_back(
      state_.debug->begin(call, Access::atomic, target_, offset, sizeof(uint64_t), nullptr));
  for (OpenAccess& access : observed_->accesses) access.observable = true;
}

std::byte* Operation::destination() const {
  if (state_.debug != nullptr) [[unlikely]] {
    std::vector<std::byte>& kept = observed_->accesses.front().fetched;
    if (!kept.empty()) return kept.data();
  }
  return memory_;
}

fabric::Counter& Operation::counter(CompletionSlots::Kind kind) {
  slot_ = state_.acquire_slot(kind);
  has_slot_ = true;
  return state_.slots.counter(slot_);
}

future Operation::finish() {
  // Debug mode knows an operation by its future, also one that is complete.
  if (state_.debug != nullptr && !has_slot_) [[unlikely]]
    counter(is_get_ ? CompletionSlots::Kind::get : CompletionSlots::Kind::put);
  future started;
  if (has_slot_) {
    if (state_.debug != nullptr || state_.slots.counter(slot_).pending != 0) {
      started = {&context_, slot_, state_.slots.generation(slot_)};
    } else {
      if (is_get_) state_.synchronise();  // nobody waits for it
      state_.slots.release(slot_);
    }
  }
  if (observed_ == nullptr) [[likely]]
    return started;
  open(AccessLog::of_future(started.slot_, started.generation_));
  if (observed_->traced) {
    const double seconds = end_trace();
    if (started.context_ != nullptr) {
      state_.operations.begun(*observed_->traced, seconds, started.slot_, started.generation_);
    } else {
      state_.operations.done(*observed_->traced, seconds, true);
    }
  }
  return started;
}

void Operation::finish_without_future() {
  if (observed_ == nullptr) [[likely]]
    return;
  open(AccessLog::of_target(target_));
  if (observed_->traced) state_.operations.done(*observed_->traced, end_trace(), false);
}

void Operation::observe(const Call& call, OperationTrace::Kind kind) {
  observed_ = std::make_unique<Observed>();
  if (!state_.traces_operations()) return;
  observed_->traced = {call, kind, target_, offset_, bytes_};
  state_.operations.enter();
  observed_->begun_s = state_.fabric->now_s();
}

double Operation::end_trace() {
  state_.operations.leave();
  return state_.fabric->now_s() - observed_->begun_s;
}

void Operation::open(AccessLog::Token token) {
  for (OpenAccess& access : observed_->accesses) state_.debug->begun(token, std::move(access));
}

}  // namespace stripline::rma
