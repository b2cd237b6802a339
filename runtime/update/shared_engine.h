// The engine of shared updates (<stripline/shared_updates.h>): a worker's part of it. What workers
// report to each other is on boards, one of each worker in memory that all reach.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <stripline/shared_updates.h>

#include "optimizer/plan/shared_update.h"
#include "runtime/update/density.h"
#include "runtime/update/replica_boxes.h"
#include "runtime/update/shared_site.h"
#include "runtime/update/team_blocks.h"

namespace stripline::update {

inline constexpr uint64_t kLocks = 4096;

/// Extents of boxes among which the points decide, smaller ones first.
using BoxShapes = std::array<BoxShift, 3>;
BoxShapes box_shapes(const grid_extent& shape);
/// The box of these extents, which are powers of two.
BoxShift shift_of(const grid_extent& box);

/// What a worker reports to the others at the end of an epoch.
struct EpochReport {
  uint64_t replica = 0;  ///< a block; of the cells
  plan::CellRange range;
  uint64_t boxes = 0;  ///< in use
  uint64_t away = 0;   ///< updates in them
  uint64_t no_room = 0;
  uint64_t announces = 0;  ///< of the first worker: how the epochs that follow are carried out
};

/// What a worker reports to the others once it has looked at its points.
struct SurveyReport {
  uint64_t updates = 0;
  uint64_t own = 0;                                            ///< of cells in its slab
  uint64_t mirror = 0;                                         ///< in its slab if all are equal
  std::array<uint64_t, std::tuple_size_v<BoxShapes>> boxes{};  ///< needed, by shape
  double sort_s = 0;
};

struct Board {
  std::atomic<uint32_t> revoked;
  std::atomic<uint64_t> heeded;  ///< the last epoch in which this worker makes no plain updates
  // By the parity of epochs: slow readers of one are done before the next but one is written.
  std::array<EpochReport, 2> epoch;
  SurveyReport survey;
  BoxChunks chunks;
};

/// What is known of the workers and the machine.
struct Machine {
  plan::SharedTeam team;
  plan::SharedCosts costs{};
  const model::SharedUpdateModel* known = nullptr;  ///< of the tuned model, if they are from there
};

class Engine final : public detail::SharedEngine {
 public:
  Engine(worker_team& team, std::byte* cells, const grid_extent& shape,
         const SharedUpdatesOptions& options, const detail::CellOperations& operations,
         const Machine& machine, TeamBlocks boards, std::optional<TeamBlocks> locks, CallSite site);
  ~Engine() override;

  worker_team& team() override { return team_; }
  void expect(uint64_t calls) override { expected_calls_ = static_cast<double>(calls); }
  uint64_t look(uint64_t index, uint64_t updates) override;
  std::byte* add_box(uint64_t number) override;
  void heed() override;
  void finish() override;
  const SharedUpdatesState& state() override;

  bool sorts_now(size_t points) override;
  std::span<uint32_t> begin_sort() override;
  std::span<const uint32_t> cut(const grid_extent& patch) override;
  std::span<const size_t> point_ends() const override { return point_ends_; }
  const plan::Slab& point_slab() const override { return point_slabs_[team_.index()]; }
  std::vector<size_t> own_columns() const override;
  bool survey_column(size_t column) override;
  void survey(const grid_cell& corner) override;
  void end_sort() override;

  [[noreturn]] void fail_cell(uint64_t index) override;
  [[noreturn]] void fail_patch(const char* call, const grid_cell& corner,
                               const grid_extent& patch) override;
  [[noreturn]] void fail_arrange(const char* of_what) override;

 private:
  Board& board(uint32_t worker) const { return *reinterpret_cast<Board*>(boards_.of(worker)); }
  Board& mine() const { return board(team_.index()); }
  uint64_t plane_cells() const { return lane.shape.y * lane.shape.z; }

  // --- which strategy ---
  void take(plan::SharedStrategy strategy);
  void decide(plan::SharedStrategy strategy);
  void set_range(const plan::CellRange& range);
  bool replicate(const plan::CellRange& range);
  void give_up_replica();
  bool choose_range();
  void change_range(const plan::CellRange& range);
  plan::SharedRequest request_of(double updates) const;
  void use_boxes();
  uint64_t budget_cells() const { return budget_bytes_ / operations_.bytes; }
  uint64_t calls_so_far() const { return calls_ + (gap_ - lane.until_look); }

  // --- at the end of an epoch ---
  void fold_replicas();
  void fold_boxes(uint32_t worker);
  void learn_growth(uint64_t away);
  plan::SharedStrategy choose_strategy(const SurveyReport& most, double own_share,
                                       double mirror_share);
  void begin_epoch(bool announced);

  worker_team& team_;
  const SharedUpdatesOptions options_;
  const detail::CellOperations operations_;
  const Machine machine_;
  const plan::SharedCosts& costs_;  ///< the machine's
  TeamBlocks boards_;
  std::optional<TeamBlocks> locks_;
  plan::SharedStrategy shared_method_;  // atomic or locked
  const std::atomic<uint32_t> never_revoked_{0};

  std::unique_ptr<SharedSite> site_;  ///< of the first worker, if it has a context
  /// Bits of the epochs that come, as the first worker has said: those in which all updates
  /// compete, to compare.
  uint64_t baselines_ = 0;

  uint64_t epoch_ = 1;
  plan::SharedStrategy strategy_ = plan::SharedStrategy::atomic;
  plan::SharedStrategy decided_ = plan::SharedStrategy::hybrid;  ///< of the other epochs
  bool range_is_free_ = true;                                    ///< looks may change it
  plan::CellRange free_range_;                                   ///< what they have found
  bool has_looked_ = false;                                      ///< since it was decided
  uint64_t budget_bytes_;        ///< for replicas; 0 once there was no memory
  const plan::Slab equal_slab_;  ///< of this worker, if all are equal
  std::vector<plan::Slab> slabs_;
  bool no_room_for_boxes_ = false;

  // Replicas.
  std::optional<uint64_t> replica_;
  uint64_t replica_cells_ = 0;
  plan::CellRange range_;

  Density density_;
  double expected_calls_ = 0;
  uint64_t calls_ = 0;  ///< of the epoch, but for those before the next look
  uint64_t gap_ = 0;    ///< calls between the last look and the next one

  BoxShift box_shift_;
  ReplicaBoxes boxes_;

  // Points.
  grid_extent patch_;
  std::vector<size_t> point_ends_;
  size_t points_ = 0;
  std::vector<plan::Slab> point_slabs_;
  std::optional<TeamBlocks> columns_;
  std::vector<uint32_t> column_points_;
  std::vector<uint32_t> column_owner_;
  BoxShapes box_shapes_;  ///< of which one is to be chosen
  std::array<std::vector<bool>, std::tuple_size_v<BoxShapes>> needed_boxes_;
  SurveyReport surveyed_;
  double sort_start_s_ = 0;
  double sort_s_ = 0;  ///< the same on all workers, as what follows from it
  uint64_t epochs_since_sort_ = 0;
  uint64_t first_away_ = 0;

  SharedUpdatesState state_;
};

}  // namespace stripline::update
