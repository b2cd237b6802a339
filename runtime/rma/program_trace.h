// What --trace "sites" sees of a program: what was chosen for loops, nests, sweeps and transfers of
// many regions, and what operations took that it makes one by one. Of this rank; of which rank 0
// shows its own when the job ends. A report of the run (run_report.h) needs the choices alone.
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
  enum class Of {
    choices,        ///< loops, nests, transfers of many regions: what decisions are about
    all_operations  ///< and those that the program makes one by one
  };
  /// Begins now.
  ProgramTrace(detail::ContextState& state, Of what);

  /// Where decisions are noted.
  decide::Trace& choices() { return choices_; }
  /// What was noted, for the end of the job: later transfers in flight are not recorded.
  const decide::Trace& all_choices();
  /// False: nothing is noted that ends before the next call with true. It begins with true.
  void set_noting(bool noting) {
    noting_ = noting;
    choices_.set_noting(noting);
  }
  /// Since it began.
  double seconds() const;

  /// What there is to show, as all_choices(), and what the guard took.
  std::string text(const decide::GuardTime& guard);

  void begins(Observation& operation) override;
  void started(Observation& operation, const std::optional<SlotUse>& use, bool complete) override;
  void waited(const SlotUse& use, double seconds) override;

 private:
  detail::ContextState& state_;
  decide::Trace choices_;
  detail::CallTrace calls_;
  OperationTrace operations_;
  const double begun_s_;
  const bool all_operations_;
  bool noting_ = true;
};

}  // namespace stripline::rma
