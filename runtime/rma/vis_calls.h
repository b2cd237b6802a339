// Transfers of many regions: from the public calls to runtime/vis.
#pragma once

#include <cstddef>

#include <stripline/indexed_list.h>
#include <stripline/vis.h>

#include "optimizer/plan/vis.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/operation.h"

namespace stripline::detail {

/// The request for a transfer of regions of `target`, but for the regions: what the job limits, and
/// what is known of the surroundings. Gets may read what lies between.
plan::VisRequest vis_request_to(ContextState& state, plan::Direction direction, rank_t target,
                                bool signalled = false);
/// The headers of a message of a strided shape, beside those of any.
uint32_t strided_header_bytes(size_t dimensions);

class VisCalls {
 public:
  static future start(Context& context, const char* name, VisDirection direction,
                      const VisStrided& transfer, const VisOptions& options, CallSite site,
                      const VisSignal* signal);
  static future start(Context& context, const char* name, VisDirection direction,
                      const VisPieces& pieces, const VisOptions& options, CallSite site,
                      const VisSignal* signal);
  static future start(Context& context, const char* name, VisDirection direction,
                      const VisIndexed& transfer, const VisOptions& options, CallSite site,
                      const VisSignal* signal);

 private:
  static future start(Context& context, rma::Call call, VisDirection direction, rank_t target,
                      vis::RegionList regions, uint64_t offset, const VisOptions& options,
                      const VisSignal* signal);
  static plan::VisPlan choose(ContextState& state, rank_t target, const plan::VisRequest& request,
                              const VisOptions& options, const decide::RunGuard::Call& call);
  static plan::VisRequest request_for(ContextState& state, VisDirection direction, rank_t target,
                                      const vis::Extent& extent, const VisOptions& options,
                                      bool signalled);
  static future contiguous(Context& context, VisDirection direction, rank_t target, uint64_t offset,
                           std::byte* memory, size_t bytes, const VisSignal* signal, CallSite site);
  static future nothing(Context& context, const VisSignal* signal, CallSite site);
  template <typename Regions>
  static void observe(rma::Operation& operation, const Regions& regions, std::byte* local,
                      const VisSignal* signal, CallSite site);
};

}  // namespace stripline::detail
