// Carries nests out (<stripline/nest.h>): plans them, moves what their steps need, and hands the
// steps out as tiles.
//
// What moves from step to step has slots: one for the step that is computed on, one for each step
// whose data are in transit to this rank, and as many for data that are in transit back. What
// is held for several steps has two buffers. Accesses in reach of loads and stores have neither.
// A nest that cannot be cut is one tile per iteration, whose elements are fetched and stored one by
// one.
//
// One engine per level of nesting; it keeps its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <stripline/nest.h>

#include "runtime/decide/execution.h"
#include "runtime/fabric/fabric.h"
#include "runtime/loop/buffer_pool.h"
#include "runtime/loop/data_cache.h"
#include "runtime/loop/nest_sites.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

struct LoopState;

class NestEngine {
 public:
  NestEngine(Context& context, LoopState& loops)
      : context_(context), state_(context.state()), loops_(loops) {}

  void begin(const access::Nest& nest, const NestOptions& options, CallSite call);
  const NestTile* next();
  void end();
  /// Iterations of the body, in a tile.
  uint64_t iterations(const NestTile& tile) const;
  const plan::NestPlan& plan() const { return layout_->plan; }

  // As a mechanism (runtime/decide/execution.h), for the nest that is being carried out.
  NestLayout make(decide::Arm, double compute_s) const;
  bool fits(const NestLayout& layout) const;
  void decide(decide::Site<NestLayout>& site, double compute_s) const;
  void note(decide::Trace& trace, double seconds) const;

 private:
  // Iterations of the loops up to that of the cut, and which step that is.
  struct Place {
    std::array<uint64_t, access::kMaxDepth> index{};
    uint64_t step = 0;
  };

  // How tiles of many regions travel.
  struct Methods {
    std::optional<const plan::VisPlan> get;
    std::optional<const plan::VisPlan> put;
  };

  // Something that is fetched and stored as a whole.
  struct Flight {
    fabric::Counter in;
    fabric::Counter out;
  };

  // Tiles of a group that are held, in two buffers.
  struct Held {
    uint64_t fetched = 0;  // how many have been asked for
    std::array<Flight, 2> flight;
  };

  bool is_served(uint32_t r) const { return (served_ >> r & 1) != 0; }
  void look_for_kept();
  void keep();
  void note_stores() const;
  access::Extent extent_of(const access::Reference& reference) const;
  void find_plan(const NestOptions& options);
  bool is_forced() const;
  void look_up(const NestKey& key, const NestOptions& options);
  decide::Terms terms_of(const NestKey& key);
  // The baseline's plan is made when it is asked for.
  const NestLayout& decided() const {
    if (site_ == nullptr) return *forced_;
    return site_->plan(site_->decided(),
                       [this](decide::Arm arm, double compute_s) { return make(arm, compute_s); });
  }
  bool looks_first() const;
  void check_bounds(CallSite call) const;
  void begin_tiles();
  void take_methods();
  void follow_delays();
  // As the key of its site describes it, but for where it is.
  const access::Nest& planned_nest() const { return served_ == 0 ? nest_ : described_; }
  plan::NestRequest request_for(double compute_s) const {
    return request_of(state_, site_->key, compute_s, site_->service_delay_s);
  }
  uint64_t granule() const { return plan().cut.granule; }
  uint32_t groups() const { return layout_->whole.groups(); }
  bool is_rest(const Place& place) const {
    return place.index[plan().cut.loop] + granule() > nest_.counts[plan().cut.loop];
  }
  const access::Group& group(uint32_t g, const Place& place) const {
    return (is_rest(place) ? layout_->rest : layout_->whole).group[g];
  }
  const NestShape& shape(uint32_t g, const Place& place) const {
    return (is_rest(place) ? layout_->rest_shapes : layout_->whole_shapes)[g];
  }
  const access::Reference& reference_of(uint32_t g) const {
    return nest_.reference[layout_->whole.group[g].member[0]];
  }

  void advance(Place& place) const;
  uint64_t tile_of(const access::Group& group, const Place& place) const;
  Place place_of(const access::Group& group, uint64_t tile) const;
  bool ends_tile(const access::Group& group, const Place& place) const;
  int64_t base_of(uint32_t g, const Place& place) const;
  rank_t owner_at(const access::Reference& reference, const Place& place) const;
  uint64_t offset_at(const access::Reference& reference, const Place& place, uint32_t loops) const;
  bool is_reached(uint32_t g, const Place& place) const {
    return layout_->in_reach[g] ||
           state_.memory.reachable(owner_at(reference_of(g), place)) != nullptr;
  }

  Flight& flight(uint32_t g, uint64_t step) {
    return flights_[(step % layout_->slots) * groups() + g];
  }
  std::byte* slot(uint32_t g, const Place& place) const {
    if (layout_->whole_shapes[g].in_whole) return place_in_whole(g, place);
    return memory_.memory() + (place.step % layout_->slots) * layout_->slot_bytes +
           shape(g, place).offset;
  }
  std::byte* place_in_whole(uint32_t g, const Place& place) const;
  std::byte* held_buffer(uint32_t g, uint64_t tile) const;

  void fetch_step();
  void fetch_held(uint32_t g);
  void transfer(plan::Direction direction, uint32_t g, const Place& place, std::byte* memory,
                fabric::Counter& counter);
  void wait(uint32_t g, const fabric::Counter& counter);
  void await_step();
  void point_at_elements();
  void take_back();
  void wait_for_all();

  // nest_accesses.cc
  const NestTile* next_access();
  void move_elements(plan::Direction direction);

  Context& context_;
  ContextState& state_;
  LoopState& loops_;
  access::Nest nest_;
  decide::Execution<NestLayout> execution_;
  const NestLayout* layout_ = nullptr;  // its plan
  NestSite* site_ = nullptr;            // null: forced_ is carried out
  std::optional<const NestLayout> forced_;
  bool use_model_ = true;
  bool guarded_ = true;                                   // plans may be compared
  uint64_t max_buffer_bytes_ = 0;                         // that the plan is made for
  std::array<int64_t, access::kMaxReferences> origin_{};  // by group, of the layout's bases
  std::array<Methods, access::kMaxReferences> methods_;   // by group
  std::array<Held, access::kMaxReferences> held_{};       // by group
  BufferPool::Use memory_;
  // What the data cache has: references, as bits, where they are, and the nest as the key sees it.
  uint32_t served_ = 0;
  bool caches_ = false;
  bool keeps_ = false;
  std::array<KeptRegion, access::kMaxReferences> served_at_{};
  std::vector<BufferPool::Use> served_in_;
  access::Nest described_;
  std::vector<Flight> flights_;  // by slot and group
  Place fetch_;
  Place compute_;
  bool out_ = false;  // a tile is being computed on
  Attention attention_;
  NestTile tile_;

  CallSite call_;
};

}  // namespace stripline::detail
