// Carries nests out (<stripline/nest.h>): plans them, moves what their steps need, and hands the
// steps out as tiles.
//
// What moves from step to step has slots: one for the step that is computed on, one for each step
// whose data are on their way to this rank, and as many for those that are on their way back. What
// is held for several steps has two buffers. Accesses in reach of loads and stores have neither.
// A nest that cannot be cut is one tile per iteration, whose elements are fetched and stored one by
// one.
//
// One engine per level of nesting; it keeps its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <stripline/nest.h>

#include "runtime/fabric/fabric.h"
#include "runtime/rma/context_state.h"
#include "runtime/vis/strided.h"

namespace stripline::detail {

/// A nest by place and shape. An owner is the first reference that has it; bases count from that
/// one's.
struct NestKey {
  uint64_t place = 0;
  access::Nest nest;
  std::array<uint8_t, access::kMaxReferences> link{};
  uint64_t max_buffer_bytes = 0;
  double compute_s = -1;
  bool use_model = true;
};

/// What was found out about a nest that was carried out before.
struct NestSite {
  NestKey key;
  plan::NestPlan plan;
  access::Tiling whole;  ///< of a full step, bases as in the key
  access::Tiling rest;   ///< of the last one, if it is shorter
  uint32_t executions = 0;
  double least_compute_s = 0;
};

/// Sites, found again by what they are; a place that is taken is taken over.
class NestSites {
 public:
  NestSites() : sites_(kPlaces) {}
  /// The site of a key, or null.
  NestSite* find(const NestKey& key);
  /// A site for a key that find() did not find. Others may be forgotten.
  NestSite& insert(const NestKey& key);

 private:
  static constexpr size_t kPlaces = 128;  // a power of two
  std::vector<std::unique_ptr<NestSite>> sites_;
};

class NestEngine {
 public:
  explicit NestEngine(Context& context) : context_(context), state_(context.state()) {}

  void begin(const access::Nest& nest, const NestOptions& options, CallSite site);
  const NestTile* next();
  void end();
  const plan::NestPlan& plan() const { return plan_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  // Iterations of the loops up to that of the cut, and which step that is.
  struct Place {
    std::array<uint64_t, access::kMaxDepth> index{};
    uint64_t step = 0;
  };

  // The bytes of a group, and how they travel.
  struct Shape {
    uint64_t bytes = 0;
    uint64_t offset = 0;  // in a slot, or in the memory for what is held
    bool many_regions = false;
    vis::Strided strided;  // of many regions; remote offsets from the tile's base
    plan::VisPlan get;
    plan::VisPlan put;
  };
  using Shapes = std::array<Shape, access::kMaxReferences>;

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

  NestKey key_of(const NestOptions& options, CallSite site) const;
  void find_plan(const NestOptions& options, CallSite site);
  void use(const NestSite& site);
  void decide(NestSite& site, const NestOptions& options, double compute_s) const;
  bool is_reached(uint32_t reference) const;
  rank_t owner_of(const access::Group& group) const;
  void check_bounds() const;
  void begin_tiles();
  void lay_out(const access::Tiling& tiling, Shapes& shapes);
  void reserve(size_t bytes);

  uint64_t granule() const { return plan_.cut.granule; }
  bool is_rest(const Place& place) const {
    return place.index[plan_.cut.loop] + granule() > nest_.counts[plan_.cut.loop];
  }
  const access::Group& group(uint32_t g, const Place& place) const {
    return (is_rest(place) ? rest_ : whole_).group[g];
  }
  const Shape& shape(uint32_t g, const Place& place) const {
    return (is_rest(place) ? rest_shapes_ : shapes_)[g];
  }
  bool moves(uint32_t g) const { return !reached_[g] && whole_.group[g].hold > plan_.cut.loop; }
  bool is_held(uint32_t g) const { return !reached_[g] && whole_.group[g].hold <= plan_.cut.loop; }

  void advance(Place& place) const;
  uint64_t tile_of(const access::Group& group, const Place& place) const;
  Place place_of(const access::Group& group, uint64_t tile) const;
  bool ends_tile(const access::Group& group, const Place& place) const;
  int64_t base_of(const access::Group& group, const Place& place) const;

  Flight& flight(uint32_t g, uint64_t step) {
    return flights_[(step % slots_) * whole_.groups() + g];
  }
  std::byte* slot(uint32_t g, const Place& place) const {
    return memory_.get() + (place.step % slots_) * slot_bytes_ + shape(g, place).offset;
  }
  std::byte* held_buffer(uint32_t g, uint64_t tile) const;

  void fetch_step();
  void fetch_held(uint32_t g);
  void transfer(plan::Direction direction, const access::Group& group, const Shape& shape,
                int64_t base, std::byte* memory, fabric::Counter& counter);
  void wait(const Shape& shape, const fabric::Counter& counter);
  void await_step();
  void point_at_elements();
  void take_back();
  void wait_for_all();

  void begin_accesses();
  const NestTile* next_access();
  void move_elements(plan::Direction direction);

  void start_clock();
  void stop_clock();
  void refine();

  Context& context_;
  ContextState& state_;
  access::Nest nest_;
  plan::NestPlan plan_;
  access::Tiling whole_;  // of a full step; bases are offsets
  access::Tiling rest_;   // of the last, shorter one
  Shapes shapes_;
  Shapes rest_shapes_;
  std::array<bool, access::kMaxReferences> reached_{};  // by group
  std::array<Held, access::kMaxReferences> held_{};     // by group
  std::unique_ptr<std::byte[], Free> memory_;           // NOLINT(*-avoid-c-arrays)
  size_t capacity_ = 0;
  uint64_t slots_ = 1;
  uint64_t slot_bytes_ = 0;
  uint64_t ahead_ = 0;           // steps that are fetched before they are computed on
  std::vector<Flight> flights_;  // by slot and group
  Place fetch_;
  Place compute_;
  bool out_ = false;  // a tile is being computed on
  NestTile tile_;

  // Of the first executions, which are timed.
  bool measuring_ = false;
  NestKey key_;
  NestOptions options_;
  double out_since_s_ = 0;
  double computed_s_ = 0;
};

}  // namespace stripline::detail
