// What --trace shows of transfers of many regions (vis_calls.h): as loops, by the place of the
// call. A transfer ends somewhere behind it, so that its time is only known if the program waits
// for it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include <stripline/call_site.h>

#include "optimizer/model/paths.h"
#include "optimizer/plan/vis.h"

namespace stripline::detail {

struct ContextState;

/// A call whose transfer was begun.
struct TracedCall {
  CallSite call;
  plan::VisRequest request;
  model::Path path = model::Path::network;
  plan::VisPlan plan;
  double begun_s = 0;
};

/// The traced calls of one rank. Allocates; for programs that are traced.
class CallTrace {
 public:
  /// A transfer is in flight, and completes in this slot (completion_slots.h).
  void begin(ContextState& state, uint32_t slot, uint32_t generation, const TracedCall& call);
  /// A transfer that was complete when it had been begun.
  void done(ContextState& state, const TracedCall& call);
  /// The program has waited for what is in this slot, which was not complete before.
  void waited(ContextState& state, uint32_t slot, uint32_t generation);
  /// No one will wait for what is still in flight.
  void end(ContextState& state);

 private:
  struct InFlight {
    uint32_t generation = 0;
    TracedCall call;
  };
  static void note(ContextState& state, const TracedCall& call, std::optional<double> seconds);

  std::unordered_map<uint32_t, InFlight> in_flight_;  // by slot
};

}  // namespace stripline::detail
