// The engine of bulk regions (<stripline/bulk.h>): puts that are not waited for, gets that are made
// ahead, bursts that become transfers of many regions.
//
//   * Puts are in lists by target (put_list.h) until they are known to be complete. What they read
//     is copied, unless the program promises that it stays. Whatever could show that one is not
//     complete asks before (rma/unfinished_calls.h): an access to the same memory waits for it, and
//     all else by which other ranks may learn something for all of them.
//   * Gets that a visit of a phase (phase.h) is expected to make are made when it begins, in a
//     window, into buffers (ahead_buffers.h). They hold until the rank's next acquire, as all
//     copies of other ranks' memory do (rma::Operations::acquire_epoch()), and where this rank
//     stores they do not, of which it learns as a keeper (rma/keepers.h).
//   * Bursts (aggregation.h).
//
// In debug mode it does nothing of that, and waits for each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <stripline/bulk.h>

#include "runtime/bulk/aggregation.h"
#include "runtime/bulk/ahead_buffers.h"
#include "runtime/bulk/companion.h"
#include "runtime/bulk/laps.h"
#include "runtime/bulk/phase.h"
#include "runtime/bulk/phase_gets.h"
#include "runtime/bulk/put_list.h"
#include "runtime/rma/bounce_ring.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/mechanisms.h"
#include "runtime/rma/unfinished_calls.h"

namespace stripline::bulk {

/// What has become of calls, for tests.
struct Statistics {
  uint64_t deferred_puts = 0;  ///< that were not waited for
  uint64_t copied_puts = 0;    ///< of these, those whose source was copied
  uint64_t conflicts = 0;      ///< of these, those that an access to the same memory waited for
  uint64_t made_ahead = 0;     ///< gets
  uint64_t served = 0;         ///< of these, those that a call of the program was served from
  uint64_t bursts = 0;         ///< transfers of many regions that calls became
  uint64_t dependences = 0;    ///< bursts that ended before their time
};

class BulkEngine final : public rma::Mechanism, private rma::Keeper, private rma::UnfinishedCalls {
 public:
  static constexpr const char kName[] = "bulk";
  explicit BulkEngine(detail::ContextState& state);
  ~BulkEngine() override;

  static BulkEngine& of(Context& context);

  void enter_region(const BulkOptions& options, CallSite site);
  void leave_region();
  void begin_burst(CallSite site);
  void end_burst();

  /// `source_goes`: whatever the options say, the source is not there any more when it returns.
  void put(const rma::Call& call, const std::byte* source, global_ptr<std::byte> destination,
           size_t bytes, bool source_goes = false);
  void get(const rma::Call& call, std::byte* destination, global_ptr<const std::byte> source,
           size_t bytes);
  /// From one rank to another, both out of reach of loads and stores: a get and then a put.
  void copy_between(const rma::Call& call, global_ptr<std::byte> destination,
                    global_ptr<const std::byte> source, size_t bytes);

  /// To be asked from now on before this engine is, whose puts it carries out by defer(); null: no
  /// one is, and all puts are completed. It outlives that.
  void accompany(Companion* companion);
  /// A put of the companion, which is out of reach of loads and stores: as those of a region that
  /// are not waited for. `source` may change when it returns. No more than copy_bytes().
  void defer(const rma::Call& call, const std::byte* source, global_ptr<std::byte> destination,
             size_t bytes);
  /// Ends a burst before an access of the companion.
  void before_access() {
    const Own own(own_);
    end_burst_early();
  }
  /// Memory for copies of puts.
  size_t copy_bytes() const { return (is_active() ? options() : BulkOptions()).buffer_bytes / 2; }
  /// Waits for an operation of a mechanism, also where what follows a future is running, and gives
  /// its slot back. It may have been waited for before.
  void finish(const rma::SlotUse& use);
  /// Operations that may be in flight at a time, by the model.
  uint32_t in_flight() const { return in_flight_; }

  const Statistics& statistics() const { return statistics_; }
  /// Puts that may not be complete.
  bool has_puts() const { return !puts_.empty(); }

  // As a mechanism.
  void add_to(rma::MechanismReport& report) const override;
  void leaves() override;
  void frees(const rma::Call& call, uint64_t offset, uint64_t bytes) override;
  uint64_t buffer_bytes() const override {
    return copies_.capacity() + ahead_.capacity() + between_.capacity();
  }

 private:
  // As a keeper, and as what is asked.
  void stored(rank_t rank, uint64_t offset, uint64_t bytes) override;
  void before(rma::Access access, rank_t target, uint64_t offset, size_t bytes) override;
  void complete() override { before(rma::Access::none, 0, 0, 0); }
  void arrived() override {
    end_visit();
    ask_companion([](Companion& asked) { asked.arrived(); });
  }
  void synchronised(CallSite site) override {
    if (is_active()) begin_visit(site, true);
    ask_companion([site](Companion& asked) { asked.synchronised(site); });
  }

  void begin_to_ask();
  // What that starts asks this engine, whatever it is doing.
  template <typename Ask>
  void ask_companion(const Ask& ask) {
    if (companion_ == nullptr) [[likely]]
      return;
    const bool own = std::exchange(own_, false);
    ask(*companion_);
    own_ = own;
  }
  bool is_active() const { return !regions_.empty(); }
  const BulkOptions& options() const { return regions_.back(); }
  bool measures() const { return visit_ != nullptr && visit_->measures(); }
  void check_memory(const rma::Call& call, const std::byte* memory, size_t bytes) const;
  void check_range(const rma::Call& call, global_ptr<const std::byte> place, size_t bytes,
                   rma::Access access) const;

  // Operations of any kind.
  bool retire(const rma::SlotUse& use);
  void finish_source(const rma::SlotUse& use);

  // Puts.
  bool defers(size_t bytes, bool stays) const;
  future begin_put(const rma::Call& call, const std::byte* source,
                   global_ptr<std::byte> destination, size_t bytes, bool source_goes);
  future start_put(const rma::Call& call, const std::byte* source,
                   global_ptr<std::byte> destination, size_t bytes, bool stays);
  void send(const rma::Call& call, const std::byte* source, global_ptr<std::byte> destination,
            size_t bytes, bool stays);
  const std::byte* copy(const std::byte* source, size_t bytes, const rma::SlotUse& use);
  void make_room(rank_t target);
  void complete_overlapping(rank_t target, uint64_t begin, uint64_t end);
  void complete_all();

  // Gets.
  future begin_get(const rma::Call& call, std::byte* destination,
                   global_ptr<const std::byte> source, size_t bytes);
  bool serve(std::byte* destination, rank_t target, uint64_t offset, size_t bytes, Laps& laps);
  void make_ahead();
  void take_back();

  // Bursts. True: it is kept in the burst.
  bool keep_in_burst(Aggregation::Direction direction, const Piece& piece);
  void flush_before_copy(const std::byte* from, const std::byte* to, size_t bytes);
  void end_burst_early();
  void flush();

  // Phases.
  void begin_visit(CallSite site, bool at_barrier);
  void end_visit();
  void limit_waiting();
  Phase& phase_of(CallSite site, bool at_barrier);

  detail::ContextState& state_;
  Context* context_ = nullptr;
  const bool waits_;  // for each call: debug mode
  std::vector<BulkOptions> regions_;
  Companion* companion_ = nullptr;
  bool own_ = false;
  uint32_t in_flight_ = 0;
  uint64_t max_get_bytes_ = 0;  // that are made ahead
  Statistics statistics_;

  PutLists puts_;
  rma::BounceRing copies_{0};
  std::vector<std::byte> between_;  // the get of a copy between other ranks

  std::map<std::pair<const char*, int>, std::unique_ptr<Phase>> phases_;
  decide::Savings forgotten_;  // of phases that had to go
  uint64_t visits_ = 0;
  Phase* visit_ = nullptr;
  plan::BulkMethod method_ = plan::BulkMethod::both;
  std::optional<double> waits_until_s_;  // Phase::waits_until_s() of the visit
  Tally tally_;
  double visit_begun_s_ = 0;
  uint64_t epoch_ = 0;  // in which what was made ahead holds
  PhaseGets gets_;
  AheadBuffers ahead_;
  std::deque<rma::SlotUse> flying_;  // made ahead in this visit, and not known to be complete

  bool in_burst_ = false;
  CallSite burst_site_;
  Aggregation burst_;
};

}  // namespace stripline::bulk
