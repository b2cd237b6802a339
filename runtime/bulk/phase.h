// A phase: what a rank does from one barrier to the next one. What was fetched in the last visit,
// and by which method its puts and gets are carried out, decided by what the visits before took
// (optimizer/plan/bulk.h), compared with waiting for each call (runtime/decide/visits.h), and shown
// in traces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <stripline/call_site.h>

#include "optimizer/plan/bulk_mechanism.h"
#include "runtime/bulk/phase_gets.h"
#include "runtime/decide/visits.h"
#include "runtime/rma/context_state.h"

namespace stripline::bulk {

/// What puts, or gets, of a visit were and took: the columns of Chen's tables 7.1 and 7.2.
struct CallTally {
  uint64_t count = 0;
  uint64_t bytes = 0;
  double issue_s = 0;  ///< starting them, copies of puts included; gets that were not made ahead
  double check_s = 0;  ///< for operations in flight that overlap
  double wait_s = 0;   ///< for puts also before what could show that they are not complete
  double copy_s = 0;   ///< of what was fetched ahead
  double total_s() const { return issue_s + check_s + wait_s + copy_s; }
  /// "40 puts: issue 1.2 us, check 0 s, wait 0.3 us, copy 0 s each".
  std::string text(const char* what) const;
};

/// What a rank did in a visit.
struct Tally {
  CallTally puts;
  CallTally gets;
  double ahead_s = 0;  ///< fetching ahead
  double lead_s = 0;   ///< computing before gets, the sum over them
  uint64_t calls() const { return puts.count + gets.count; }
  uint64_t bytes() const { return puts.bytes + gets.bytes; }
  double calls_s() const { return puts.total_s() + gets.total_s() + ahead_s; }
};

/// What holds for its puts and gets.
struct Terms {
  bool stable_sources = false;
  uint64_t buffer_bytes = 0;
  uint32_t in_flight = 0;
  bool use_model = true;
  bool self_check = true;  ///< it may be compared
};

/// Not thread-safe. Does not move.
class Phase {
 public:
  /// The visits that begin at `call`. `in_step`: that is a barrier, which all ranks come to
  /// together, so that they compare at the same visits.
  Phase(detail::ContextState& state, CallSite call, bool in_step) : state_(state), call_(call) {
    if (!in_step) visits_.share_budget(state.job.ranks());
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  std::vector<GetRecord> gets;  ///< of the last visit
  uint64_t last_visit = 0;      ///< its number, among the visits of all phases

  /// A visit begins: by which method.
  plan::BulkMethod begin(const Terms& terms);
  /// True if end() is to be given what the visit took.
  bool measures() const { return visits_.measures(); }
  /// When a visit that waits for each call in order to compare may go on by rival(); none: it goes
  /// on as it has begun. After begin().
  std::optional<double> waits_until_s() const;
  plan::BulkMethod rival() const { return visits_.rival(); }
  /// It is over, after this time. Without a tally that was measured, times are 0.
  void end(const Tally& tally, double seconds);

  const decide::Race& race() const { return visits_.race(); }

 private:
  plan::BulkRequest request_of(const Tally& tally, double seconds) const;
  void note(decide::Trace& trace, double seconds) const;

  detail::ContextState& state_;
  const CallSite call_;
  Terms terms_;
  Tally tally_;  // of the last visit
  decide::Visits<plan::BulkMechanism, plan::BulkMethod::both> visits_;
};

}  // namespace stripline::bulk
