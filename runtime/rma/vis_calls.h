// Transfers of many regions: from the public calls to runtime/vis.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <stripline/vis.h>

#include "optimizer/plan/vis.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

class VisCalls {
 public:
  static future start(Context& context, const char* name, VisDirection direction,
                      const VisStrided& transfer, const VisOptions& options, CallSite site,
                      const VisSignal* signal);
  static future start(Context& context, const char* name, VisDirection direction,
                      const VisPieces& pieces, const VisOptions& options, CallSite site,
                      const VisSignal* signal);

 private:
  static plan::VisPlan choose(ContextState& state, rank_t target, plan::VisRequest& request,
                              const VisOptions& options, const decide::RunGuard::Call& call);
  static plan::VisRequest request_for(ContextState& state, VisDirection direction, rank_t target,
                                      const vis::Extent& extent, const VisOptions& options,
                                      bool signalled);
  static future contiguous(Context& context, VisDirection direction, rank_t target, uint64_t offset,
                           std::byte* memory, size_t bytes, const VisSignal* signal, CallSite site);
  static future nothing(Context& context, const VisSignal* signal, CallSite site);
  /// `traced`: what to tell the trace; none without one.
  template <typename Start>
  static future with_slot(Context& context, const std::optional<TracedCall>& traced,
                          const Start& start);
  template <typename Regions, typename Start>
  static future checked(Context& context, rma::Call call, VisDirection direction, rank_t target,
                        const Regions& regions, std::byte* local, const VisSignal* signal,
                        const std::optional<TracedCall>& traced, const Start& start);
};

}  // namespace stripline::detail
