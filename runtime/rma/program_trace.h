// What --trace "sites" sees of a program: what was chosen for loops, nests, sweeps and transfers of
// many regions, and what operations took that it makes one by one. Of this rank; of which rank 0
// shows its own when the job ends.
#pragma once

#include <optional>

#include "runtime/decide/trace.h"
#include "runtime/rma/call_trace.h"
#include "runtime/rma/observers.h"
#include "runtime/rma/operation_trace.h"

namespace stripline::detail {
struct ContextState;
}

namespace stripline::rma {

class ProgramTrace final : public Observer {
 public:
  /// Begins now.
  explicit ProgramTrace(detail::ContextState& state);

  /// Where decisions are noted.
  decide::Trace& choices() { return choices_; }
  const decide::Trace& choices() const { return choices_; }

  /// What there is to show, for the end of the job: no more is told of transfers under way.
  std::string text();

  void begins(Observation& operation) override;
  void started(Observation& operation, const std::optional<SlotUse>& use, bool complete) override;
  void waited(const SlotUse& use, double seconds) override;

 private:
  detail::ContextState& state_;
  decide::Trace choices_;
  detail::CallTrace calls_;
  OperationTrace operations_;
  const double begun_s_;
};

}  // namespace stripline::rma
