#include "runtime/loop/loop_state.h"

#include <new>

namespace stripline::detail {
namespace {

// The path that ranks talk over, as campaigns name it.
constexpr const char* kPath = "inter-node";

}  // namespace

void LoopFrame::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{64});
}

LoopState::LoopState(const ContextState& context) {
  if (context.model == nullptr || context.model->network.empty()) return;
  const auto& network = context.model->network;
  const auto named = network.find(kPath);
  const model::PathModel& path = named != network.end() ? named->second : network.begin()->second;
  costs.emplace(path, context.model->compute, context.model->strip);
}

LoopState& LoopState::of(ContextState& context) {
  if (context.loop == nullptr) context.loop = std::make_unique<LoopState>(context);
  return static_cast<LoopState&>(*context.loop);
}

LoopFrame& LoopState::enter_frame() {
  if (depth_ == frames_.size()) frames_.push_back(std::make_unique<LoopFrame>());
  return *frames_[depth_++];
}

}  // namespace stripline::detail
