// An epoch of updates of one rank: the buffers of what it sends, and the door through which what
// others send reaches its memory.
//
// Every owner has a lane (detail::UpdateLane), which the program fills. A full one is sent as a
// parcel, in a slot that this rank has at the owner (am::Bulk), and the lane goes on in another
// buffer. The owner carries the updates out in its handler and gives the slot back, which tells
// this rank that they are complete. A buffer without a slot waits for one (backlog.h), and the rank
// goes on with others as far as its budget allows; then it waits, too, and serves others while it
// does. So what is in flight is bounded by the slots, no one's memory fills up, and ranks that all
// send to each other come on, since handlers wait for nothing.
//
// Networks may deliver a parcel before an earlier one. The owner keeps it in its slot until that
// has come, so that updates of one source take effect in their order.
//
// Updates of its own memory a rank carries out at once, as a program without an epoch would: the
// handlers that carry out those of others run on the same thread, in calls. Where they may run on
// another thread, or each update has to be seen, it collects them in a lane, too, and carries them
// out in a call, so that all updates of its memory come one by one.
//
// Updates of another rank's cells are carried out at once, too, on an array that stands for these
// (accumulators.h), where those of the epoch before, or before the last flush, met often enough. At
// the end their sums are written into the lane, from where they travel as all others do.
//
// Full buffers are sent when they are full; the others at the end, starting with the next rank, so
// that not all ranks send to the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include <stripline/update.h>
#include <stripline/work.h>

#include "runtime/rma/context_state.h"
#include "runtime/rma/debug_checks.h"
#include "runtime/update/accumulators.h"
#include "runtime/update/backlog.h"
#include "runtime/update/chooser.h"
#include "runtime/update/encoder.h"
#include "runtime/update/engine.h"
#include "runtime/update/fetches.h"
#include "runtime/update/forwarder.h"
#include "runtime/update/parcel.h"
#include "runtime/update/singly.h"

namespace stripline::update {

class Epoch final : public detail::UpdateEpochState {
 public:
  Epoch(Context& context, const detail::UpdateType& type, const UpdateOptions& options,
        CallSite site);
  ~Epoch() override;
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  detail::UpdateLane* lanes() override { return lanes_.data(); }
  uint64_t last_offset() const override { return last_offset_; }
  void filled(rank_t target, CallSite site) override;
  void move_window(rank_t target, uint32_t window, CallSite site) override;
  [[noreturn]] void fail(global_ptr<const std::byte> cell, CallSite site) override;
  [[noreturn]] void fail_patch(const grid_cell& corner, const grid_extent& patch,
                               const grid_extent& grid, CallSite site) override;
  future fetch(rank_t target, uint64_t cell, const std::byte* value, std::byte* previous,
               CallSite site) override;
  void flush(CallSite site) override;
  void end(CallSite site) override;
  void close() override;
  UpdateSettings in_use() const override;
  UpdateStatistics statistics() const override { return statistics_; }

  // --- for the engine, inside of handlers ---

  void arrived(const am::Bulk::Parcel& parcel, const Head& head);
  void arrived(rank_t source, const Single& head, std::span<const std::byte> value);
  void asked(rank_t source, const Asked& asked);
  void answered(rank_t source, const Asked& answer);
  /// A parcel of this rank has been carried out, and its buffer is not needed any more.
  void returned(rank_t target, uint32_t slot, uint32_t buffer);
  void fetched(rank_t source, uint32_t sequence, std::span<const std::byte> values);

  // --- for the engine, in the background ---

  /// A filled buffer can be sent without waiting.
  bool can_send_backlog() const {
    return !backlog_.empty() && has_room() &&
           backlog_.can_send([this](rank_t target) { return bulk_.has_free(target); });
  }
  void send_backlog();
  /// Something that fetches can be sent without waiting.
  bool can_send_fetches() const;
  void send_fetches();
  /// The same for what others send on through this rank.
  bool can_go_on() const { return forwarder_ != nullptr && forwarder_->ready(); }
  void go_on() {
    if (forwarder_ != nullptr) forwarder_->advance();
  }

  // --- for the forwarder ---

  bool has_spare_buffer() {
    collect_sent();
    return !free_.empty();
  }
  uint32_t spare_buffer();
  std::byte* memory_of(uint32_t buffer) const { return buffers_[buffer].memory; }
  bool can_forward(rank_t owner) { return bulk_.has_free(owner) && has_spare_buffer(); }
  /// Sends a buffer with `count` updates of other ranks; requires can_forward().
  void forward(rank_t next, Onward onward, uint32_t buffer, uint32_t window, uint32_t count);
  void carry_out_one(rank_t source, uint64_t cell, const std::byte* value);
  void give_back(rank_t source, uint32_t slot) { bulk_.give_back(source, slot); }
  /// Has `next` say when it has carried out all that was sent to it as `onward`, on behalf of the
  /// forwarder or of this rank itself.
  void ask_to_flush(rank_t next, Onward onward, bool for_others);
  void tell_flushed(rank_t source, uint32_t number);
  [[noreturn]] void fail_malformed(rank_t source) const;

  // --- for the engine, as others free memory and leave ---

  /// Mechanism::frees().
  void frees(const rma::Call& call, uint64_t offset, uint64_t bytes);
  /// The Context goes before this epoch.
  void outlives_context();

  uint64_t buffer_bytes() const {
    return memory_.size() + more_memory_bytes_ + positions_.size() * sizeof(uint16_t) +
           accumulators_.bytes();
  }

 private:
  // With what is forced beside what the program has set.
  Epoch(Context& context, const detail::UpdateType& type, CallSite site,
        const UpdateOptions& options);
  static constexpr uint32_t kNone = UINT32_MAX;
  // What notes of parcels say instead of a buffer, and beside it.
  static constexpr uint32_t kFetches = UINT32_MAX;
  static constexpr uint32_t kForwarded = uint32_t{1} << 31;

  struct Buffer {
    std::byte* memory = nullptr;
    rank_t target = 0;
    uint32_t slot = kNone;  // through which it is being sent
  };

  // What the lane of an owner does not show.
  struct Filling {
    uint32_t buffer = 0;
    uint16_t* positions = nullptr;  // of this lane, where updates may be merged
    uint32_t without_merging = 0;   // buffers to fill before it is tried again
    Onward onward = Onward::nothing;
    bool sent_on = false;  // since the last flush
    CellsSeen seen;
    uint64_t summed = 0;           // updates that the owner's accumulator holds
    uint32_t without_summing = 0;  // flushes or ends before it is tried again
  };

  // What came before an earlier parcel of its source.
  struct Early {
    rank_t source = 0;
    uint32_t slot = 0;
    Head head;
    std::span<const std::byte> body;
  };

  // How far the order of parcels has come, by peer.
  struct Order {
    uint32_t sent = 0;
    uint32_t applied = 0;
  };

  size_t values_offset() const { return values_at(capacity_); }
  // From one buffer to the next, in cache lines.
  size_t buffer_stride() const {
    return (body_bytes(capacity_, capacity_, type_.value_bytes) + 63) / 64 * 64;
  }
  size_t item_bytes() const { return sizeof(Cell) + type_.value_bytes; }
  size_t least_bytes() const;
  size_t usual_bytes() const;
  plan::UpdateRequest request_of(const UpdateOptions& options) const;
  uint32_t most_hops() const;
  void weigh_encodings();
  void show_encoding() const;
  plan::UpdateCandidate given(const plan::UpdateRequest& request, CallSite site) const;
  void configure(const plan::UpdateCandidate& candidate);
  void choose_again();
  void look_at_values();
  void open_lanes();
  void lead_over(const Grid& grid);
  void send_flush(rank_t target, const char* handler, uint32_t number);
  void flush_for(rank_t source, uint32_t number);
  void flushed(rank_t source, uint32_t number);
  void ask_to_flush();
  void open_lane(rank_t target, uint32_t buffer);
  void check_options(const UpdateOptions& options, CallSite site) const;
  std::string description() const;
  bool has_in_flight() const;
  // Updates are carried out where their rank waits, whose calls no exception may end.
  template <typename Apply>
  void carry_out_by(const Apply& apply) const {
    try {
      apply();
    } catch (const detail::UpdateFailure& failure) {
      fail_operator(failure);
    }
  }
  [[noreturn]] void fail_operator(const detail::UpdateFailure& failure) const;
  void meet(const char* name, CallSite site);
  void enter(const char* name, CallSite site);
  void send(rank_t target);
  void count(rank_t target);
  void send_singly(rank_t target);
  void send_one_by_one(rank_t target, uint64_t first, std::span<const Cell> cells,
                       const std::byte* values);
  void put(rank_t target, uint32_t slot, Head& head, std::span<const std::byte> body,
           uint32_t buffer);
  void send_fetches(rank_t target);
  void wait_for_slot(rank_t target);
  bool has_room() const;
  void keep_to_budget();
  bool add_buffers();
  void check_closely(rank_t target, uint64_t cell, CallSite site);
  void begin_lane(rank_t target, bool merging_paid);
  bool begin_own_lane();
  void count_at_once(rank_t target);
  void see(rank_t owner);
  void append(rank_t owner, uint64_t cell, const std::byte* value);
  void drain(rank_t owner);
  void choose_accumulators();
  uint32_t take_buffer();
  void collect_sent();
  void complete();
  void check_type(rank_t source, uint32_t type) const;
  void apply(rank_t source, uint32_t slot, const Head& head, std::span<const std::byte> body);
  bool carry_out(const Head& head, std::span<const std::byte> body, std::byte* previous = nullptr);
  bool carry_out_boxes(std::byte* base, uint64_t last_cell, uint32_t count,
                       std::span<const std::byte> body) const;
  // What the processor reads and writes for updates takes time where it is declared.
  void declare(uint64_t bytes) const {
    if (Work* const work = state_.job.fabric().work()) work->bytes += static_cast<double>(bytes);
  }
  // A cell is read and written, and the update of it is read.
  uint64_t applied_bytes() const { return item_bytes() + 2 * uint64_t{type_.value_bytes}; }

  Context& context_;
  detail::ContextState& state_;
  const std::shared_ptr<const detail::ContextLife> life_;
  const CallSite site_;  // of the call that has begun it
  const UpdateMode mode_;
  EpochEngine& engine_;
  am::Bulk& bulk_;
  const detail::UpdateType type_;
  const UpdateSettings settings_;
  const size_t budget_bytes_;
  const bool merges_;  // may be merged
  const bool sums_;    // and summed up before they are sent
  const bool weighs_;  // encodings by the model
  const rank_t me_;
  const rank_t ranks_;
  const uint64_t cells_;  // of a segment, in units of its type
  uint64_t last_offset_ = 0;
  uint32_t type_hash_ = 0;
  uint32_t row_ = 1;               // ranks of a node, if hops may be within nodes
  plan::UpdateCandidate usual_;    // without a model
  plan::UpdateCandidate chosen_;   // by the chooser
  plan::UpdateCandidate current_;  // as it is carried out
  uint64_t lane_bytes_ = 0;        // of what is filled for an owner
  bool merging_ = false;
  bool one_by_one_ = false;  // nothing stays in a buffer
  uint32_t capacity_ = 0;    // of a buffer, in updates
  size_t position_count_ = 0;
  uint32_t shift_ = 0;
  uint32_t number_ = 0;
  rma::DebugChecks* const debug_;         // null in most programs
  std::unordered_set<uint64_t> checked_;  // cells by debug mode, as words of global pointers
  Encoder encoder_;
  std::vector<std::byte> memory_;  // of all buffers
  std::vector<uint16_t> positions_;
  std::vector<detail::UpdateLane> lanes_;
  std::vector<Filling> filling_;  // by rank
  Accumulators accumulators_;
  bool may_sum_up_ = false;
  bool draining_ = false;  // into a lane
  std::vector<Buffer> buffers_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> sending_;
  // Buffers that wait for a slot, each of which has its like among buffers beyond those that are
  // always needed: else forwarders could wait for buffers in a circle.
  Backlog backlog_;
  size_t more_buffers_ = 0;
  uint64_t more_memory_bytes_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> more_memory_;
  std::unique_ptr<Forwarder> forwarder_;  // null where updates go straight to their owners
  uint32_t unflushed_ = 0;                // ranks that have not answered
  std::unique_ptr<Fetches> fetches_;      // null until the first one
  std::vector<std::byte> previous_;       // what cells held, until it is sent
  std::vector<Order> order_;
  std::vector<Early> early_;
  uint64_t unreturned_ = 0;  // parcels that have not been carried out
  UpdateStatistics statistics_;
  std::unique_ptr<Singly> singly_;
  std::unique_ptr<Chooser> chooser_;  // null where nothing is to be chosen
  bool closely_ = false;              // updates are counted for it
  Tally tally_;
  // Others have been informed how to go on, this rank has not: what has come for the new method.
  bool changing_ = false;
  std::vector<Forwarder::Held> too_early_;
  std::vector<std::pair<rank_t, uint32_t>> flushed_too_early_;
};

}  // namespace stripline::update
