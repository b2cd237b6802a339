// Carries loops over strips out (<stripline/loop.h>): plans them, moves their strips, and hands
// them out.
//
// One engine per level of nesting; it keeps its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <stripline/loop.h>

#include "optimizer/plan/strip.h"
#include "optimizer/plan/strip_costs.h"
#include "runtime/decide/execution.h"
#include "runtime/fabric/fabric.h"
#include "runtime/loop/attention.h"
#include "runtime/loop/buffer_pool.h"
#include "runtime/loop/loop_site.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

struct LoopState;

class LoopEngine {
 public:
  using Site = decide::Site<plan::StripPlan>;

  LoopEngine(Context& context, LoopState& loops)
      : context_(context), state_(context.state()), loops_(loops) {}

  /// Plans, and for reading issues the first transfers.
  void begin(plan::Direction direction, const LoopBlocks& blocks, size_t element_bytes,
             const LoopOptions& options, CallSite call);
  const Strip* next() { return direction_ == plan::Direction::get ? next_get() : next_put(); }
  void end();
  const plan::StripPlan& plan() const { return execution_.plan(); }

  // As a mechanism (runtime/decide/execution.h), for the loop that is being carried out.
  plan::StripPlan make(decide::Arm, double compute_s) const;
  bool fits(const plan::StripPlan& plan) const;
  void decide(Site& site, double compute_s) const;
  void look_for_ties(Site& site) const;
  void note(decide::Trace& trace, double seconds) const;

 private:
  // Goes through the strips of all remote blocks in order.
  struct Cursor {
    size_t block = 0;
    uint64_t begin = 0;  // bytes into the block
    RawBlock raw;
    uint64_t index = 0;  // of the strip, over all blocks
    uint64_t base = 0;   // buffer offset of the block, schedule A
  };

  // The blocks that are transferred, as far as the request does not say it.
  struct Remote {
    RawBlock first;
    uint32_t blocks = 0;
    uint64_t whole_bytes = 0;  // of buffers for all of it
  };

  // loop_plan.cc
  Remote describe(const LoopOptions& options);
  void find_plan(const LoopOptions& options, const Remote& remote);
  void look_up(const LoopOptions& options);
  plan::StripRequest request_for(double compute_s) const;
  // The baseline's plan is made when it is asked for.
  const plan::StripPlan& decided() const {
    if (site_ == nullptr) return *given_;
    return site_->plan(site_->decided(),
                       [this](decide::Arm arm, double compute_s) { return make(arm, compute_s); });
  }
  void learn();
  void look_for_kept(size_t index, const RawBlock& block);

  void prepare_buffer();
  uint64_t lay_out_slots();
  void enter_block(Cursor& cursor) const;
  void advance(Cursor& cursor) const;
  uint64_t strip_end(const Cursor& cursor) const;
  std::byte* place_of(const Cursor& cursor) const;
  size_t slot_of(const Cursor& cursor) const;
  void issue_get();
  void issue_put();
  std::byte* in_place(size_t index, const RawBlock& block) const;
  const Strip* hand_out();
  const Strip* hand_out_local(size_t end);
  void settle_local();
  const Strip* next_get();
  const Strip* next_put();
  void note_stores() const;
  void wait_for_all();
  void begin_computing();
  bool end_computing();

  Context& context_;
  ContextState& state_;
  LoopState& loops_;

  plan::Direction direction_ = plan::Direction::get;
  LoopBlocks blocks_;
  uint64_t element_bytes_ = 1;
  uint64_t halo_bytes_ = 0;
  CallSite call_;
  plan::StripRequest request_;
  model::Path path_ = model::Path::network;  // to the blocks
  const plan::StripCosts* costs_ = nullptr;  // of the path to the blocks
  decide::Execution<plan::StripPlan> execution_;
  LoopSite* site_ = nullptr;  // null: given_ is carried out
  std::optional<const plan::StripPlan> given_;
  bool guarded_ = true;  // plans may be compared
  uint64_t place_ = 0;   // of the site

  bool placed_ = false;           // by the program: no buffer
  bool keeps_ = false;            // for the data cache
  bool whole_in_buffer_ = false;  // not strip after strip in slots
  uint64_t slots_ = 1;            // buffers, or counters where the whole is in one
  uint64_t slot_bytes_ = 0;
  uint64_t strips_ = 0;
  BufferPool::Use buffer_;
  std::vector<fabric::Counter> counters_;
  Attention attention_;
  // By block: where the data cache has it, or null. Empty if it has none of them.
  std::vector<std::byte*> kept_;
  std::vector<BufferPool::Use> kept_in_;

  Cursor issue_;        // next to issue
  Cursor compute_;      // next to hand out
  size_t local_ = 0;    // next block to look at for data of this rank
  RawBlock local_out_;  // a placed one that the body is writing
  bool out_ = false;    // a remote strip is being computed on
  bool over_ = false;
  Strip strip_;
};

}  // namespace stripline::detail
