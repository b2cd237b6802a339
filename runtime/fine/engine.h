// The engine of fine-grained regions (<stripline/fine.h>): reads that are waited for when their
// values are used, and writes that are not waited for.
//
//   * Reads are boxes of other ranks' memory (read_cache.h). Those that may still grow are held
//     back, some of them; the others are in flight. What a box holds serves later reads as all
//     copies of other ranks' memory may: until the rank's next acquire
//     (rma::Operations::acquire_epoch()), but where this rank stores, of which it learns as a
//     keeper (rma/keepers.h).
//   * Writes are put together while they follow each other (write_run.h), and carried out by the
//     engine of bulk regions (runtime/bulk), whose puts are in effect at once for this rank. That
//     asks this one before anything could show that a read or a write is not complete.
//   * Reads whose values are used at once have nothing to be in flight with: they are fetched by
//     themselves, or with the block around them, which serves later ones (read_ahead.h).
//   * By which method is decided for each place where regions begin (visit.h), or, in regions
//     across barriers, for each place of a barrier.
//
// In debug mode, and where loads and stores reach the memory, accesses do not come here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include <stripline/fine.h>

#include "runtime/bulk/companion.h"
#include "runtime/bulk/engine.h"
#include "runtime/bulk/laps.h"
#include "runtime/decide/site_table.h"
#include "runtime/fine/read_ahead.h"
#include "runtime/fine/read_cache.h"
#include "runtime/fine/visit.h"
#include "runtime/fine/write_run.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/mechanisms.h"

namespace stripline::fine {

/// What has become of accesses, for tests.
struct Statistics {
  uint64_t fetched = 0;    ///< reads that no earlier one had fetched for
  uint64_t served = 0;     ///< and those that one had
  uint64_t gets = 0;       ///< single ones, of a box each
  uint64_t lists = 0;      ///< transfers of many boxes
  uint64_t waits = 0;      ///< of values for boxes that were not here
  uint64_t puts = 0;       ///< that writes became
  uint64_t conflicts = 0;  ///< writes that waited for a read of the same memory
};

class FineEngine final : public rma::Mechanism, private rma::Keeper, private bulk::Companion {
 public:
  static constexpr const char kName[] = "fine";
  explicit FineEngine(detail::ContextState& state);

  static FineEngine& of(Context& context);

  detail::FineEntry enter(const FineOptions& options, CallSite site);
  void leave(uint32_t region);

  detail::FineRead read(const rma::Call& call, global_ptr<const std::byte> source, size_t bytes);
  void take(detail::FineRead& read, std::byte* value, size_t bytes, CallSite site);
  void drop(const detail::FineRead& read);
  /// A read whose value is used at once, out of reach of loads and stores.
  void read_now(const rma::Call& call, global_ptr<const std::byte> source, std::byte* value,
                size_t bytes);
  void write(const rma::Call& call, const std::byte* source, global_ptr<std::byte> destination,
             size_t bytes);
  /// Sends what is held back.
  void issue();

  const Statistics& statistics() const { return statistics_; }

  // As a mechanism.
  void add_to(rma::MechanismReport& report) const override;
  void frees(const rma::Call& call, uint64_t offset, uint64_t bytes) override;
  uint64_t buffer_bytes() const override { return cache_.bytes(); }

 private:
  // Boxes that may grow at a time, and those that are collected for transfers of many.
  static constexpr size_t kHeldBoxes = 8;
  static constexpr size_t kListedBoxes = 256;
  static constexpr double kForever = std::numeric_limits<double>::infinity();
  static constexpr size_t kHints = 256;
  // Looks for a block from one look at the clock to the next.
  static constexpr uint32_t kLooks = 16;
  // Reads that a block serves, also where the clock stands still: a program may poll.
  static constexpr uint32_t kMostServed = 1U << 18U;

  // As a keeper, and as a companion.
  void stored(rank_t rank, uint64_t offset, uint64_t bytes) override;
  void before(rma::Access access, rank_t target, uint64_t offset, size_t bytes) override;
  void arrived() override;
  void synchronised(CallSite site) override;

  void complete();
  bool is_active() const { return scope_ != nullptr; }
  // A region that a new model has ended is carried out as if each access stood alone.
  bool waits_for_each() const { return !is_active() || method_ == plan::FineMethod::blocking; }
  bool measures() const { return is_active() && scope_->visits.measures(); }
  // The number of times that copies have become stale.
  uint64_t epoch();
  // All copies become stale.
  void give_up();

  // Reads.
  bulk::Laps begin_read(const rma::Call& call, rank_t rank, uint64_t begin, size_t bytes);
  uint32_t add_box(rank_t rank, uint64_t begin, uint64_t end);
  uint32_t box_for(rank_t rank, uint64_t begin, uint64_t end);
  uint32_t growing(rank_t rank, uint64_t begin, uint64_t end);
  void send_reads();
  void send_single(uint32_t number);
  void send_list(std::span<const uint32_t> numbers);
  void limit_flights();
  void begin_flight(Box& box, const rma::SlotUse& use, uint64_t in_epoch);
  void arrive(Box& box);
  void end_burst();
  // Reads whose values are used at once. Null: no block serves them.
  Box* kept(rank_t rank, uint64_t begin, uint64_t end);
  Box* fetch_block(rank_t rank, uint64_t begin, uint64_t end);
  void fetch_one(const rma::Call& call, global_ptr<const std::byte> source, std::byte* value,
                 size_t bytes);
  // Writes.
  void complete_reads_of(rank_t rank, uint64_t begin, uint64_t end);
  void send_writes();
  void put_and_wait(const rma::Call& call, const std::byte* source,
                    global_ptr<std::byte> destination, size_t bytes);

  void begin_visit(CallSite site);
  void end_visit();
  void go_by(plan::FineMethod method);
  void limit_waiting();

  detail::ContextState& state_;
  Context* context_ = nullptr;
  bulk::BulkEngine* bulk_ = nullptr;
  const bool waits_;  // for each access: debug mode
  const bool all_mapped_;
  bool own_ = false;
  Statistics statistics_;

  std::vector<uint32_t> open_;  // regions, the outermost one first
  uint32_t last_region_ = 0;
  FineOptions options_;
  CallSite site_;

  plan::FineMethod method_ = plan::FineMethod::boxes;
  double waits_until_s_ = kForever;  // after which a visit that waits in order to compare goes on
  uint64_t gap_bytes_ = 0;
  decide::SiteTable<Scope> scopes_;
  Scope* scope_ = nullptr;
  Tally tally_;
  double visit_begun_s_ = 0;

  ReadCache cache_;
  std::vector<uint32_t> held_;       // boxes, by age
  std::deque<rma::SlotUse> flying_;  // gets that may not be complete, by age
  uint64_t epoch_ = 1;
  uint64_t acquires_ = 0;             // when epoch_ was last looked at
  uint64_t burst_ = 1;                // its number, among those of all regions
  bool in_burst_ = false;             // something was sent in it
  std::vector<uint64_t> last_burst_;  // by rank, in which something was sent there

  ReadAhead ahead_;
  unsigned block_shift_ = 0;
  std::array<uint32_t, kHints> hints_;  // where blocks may be, by hash
  uint32_t looks_ = 0;
  double now_s_ = 0;                         // when the clock was last looked at
  global_ptr<const std::byte> last_source_;  // of those that are used at once
  uint64_t last_value_ = 0;                  // its first bytes

  WriteRun run_;
  rma::Call writer_{nullptr};
};

}  // namespace stripline::fine
