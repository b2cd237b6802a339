// Updates of memory of other ranks, `cell = op(cell, value)`, which need no answer one by one.
//
//   stripline::UpdateEpoch<uint64_t, stripline::op_add> epoch(ctx);   // collective
//   const auto bins = epoch.into(histogram);                         // a shared array
//   for (uint64_t key : keys) bins.update(key % n, 1);
//   epoch.end();                                                     // collective
//
// Updates are collected in a buffer for each owner, which is sent when it is full; the owner
// carries them out, one after the other, wherever it makes progress, and its own ones as it makes
// them, or with the others. So an update costs some nanoseconds, however far its owner is, and no
// cell needs a lock or an atomic operation: what the operator does is up to the program. What a
// rank may have in flight at another one is a fixed number of buffers: others wait for an owner
// that is busy while the rank fills more, within its budget; then it waits, and serves others
// meanwhile.
//
// Cells side by side are updated by one call (update_run), and patches of a grid that a shared
// array holds by one, too (spread). Where the cells of an owner get several updates each in an
// epoch, and these may be merged, they are summed up in memory of this rank, as its own cells are
// updated, and each of them is sent once.
//
// When updates are complete: at the end of the epoch, or of flush(). Until then no one else reads
// or writes the cells, neither their owner by loads and stores; updates of them by other epochs are
// not ordered with those of this one. Between two ends an epoch may be used for any number of
// updates. docs/memory-model.md says it in its own terms.
//
// Handlers of active messages, and what follows futures, make no updates. To ask for that at each
// update would take as long as the update: debug mode finds the first one, other runs the one with
// which a buffer is full, or as many updates have been made at once, and those before it are
// carried out as others are. Fetches there are always found. One thread at a time, as all calls of
// a Context; with a progress thread the operator runs there, too. An operator that throws where it
// updates cells for others ends the job.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <stripline/context.h>
#include <stripline/future.h>
#include <stripline/grid.h>
#include <stripline/shared_array.h>
#include <stripline/update_operator.h>
#include <stripline/update_type.h>

#include "optimizer/access/saturate.h"
#include "optimizer/plan/methods.h"

namespace stripline {

/// What becomes of several updates of one cell by one rank.
enum class UpdateMode : uint8_t {
  accumulate,  ///< they may be merged before they are sent, where the operator is associative
  log,         ///< each reaches the cell, in the order in which the rank made them
};

/// How the updates of a buffer are written into their message; by which method updates reach cells
/// of other ranks.
using UpdateEncoding = plan::UpdateEncoding;
using UpdateMethod = plan::UpdateMethod;

/// How updates travel. For programs that measure; what is 0 or automatic the runtime chooses. With
/// none of it set, and a tuned model, it may choose again at each end of the epoch.
struct UpdateSettings {
  /// The same on every rank. Ends the job where the network, the operator or the mode do not allow
  /// it: `provider` needs an atomic operation of the network that does the same, and neither that
  /// nor `messages` keep the order of a rank's updates.
  UpdateMethod method = UpdateMethod::automatic;
  /// The size of a buffer, of which there is one for each rank that this one sends to, and a few
  /// more. At most what one parcel of the bulk transport takes (64 KiB, less with many ranks).
  size_t buffer_bytes = 0;
  /// 1: straight to their owners. 2: over the rows and columns of a grid of the ranks, so that a
  /// rank has buffers for about two times the root of the number of ranks. 3: of layers of such,
  /// for three times the cube root. 0: more than 1 where the budget would leave too little for each
  /// rank. No more than there can be, for which there are at least 4 and 8 ranks. Where this is
  /// set, rows are the ranks of a node if these reach each other's memory and are numbered one
  /// after the other, unless a rank would then have more than twice as many buffers; else if the
  /// model says so. The same on every rank.
  uint32_t hops = 0;
  UpdateEncoding encoding = UpdateEncoding::automatic;     ///< of parcels
  bool operator==(const UpdateSettings&) const = default;  ///< equal in all members
};

/// How the updates of an epoch are carried out.
struct UpdateOptions {
  UpdateMode mode = UpdateMode::accumulate;  ///< whether updates of one cell may be merged
  /// The program promises that no one stores to cells between those that are updated before the
  /// epoch has ended. Where updates are dense, their owner then also updates cells between them, by
  /// the identity of the operator, which are not named one by one. No effect without an identity.
  bool fills_gaps = false;
  /// What the buffers of this epoch take at most; they become smaller where there are many ranks,
  /// and more where an owner is busy.
  size_t budget_bytes = size_t{16} << 20;
  /// Decide by the tuned model of the job. The same on every rank.
  bool use_model = true;
  UpdateSettings settings = {};  ///< how, where it is not left to the runtime
};

/// What an epoch of this rank has done so far.
struct UpdateStatistics {
  uint64_t updates = 0;    ///< that were sent, or carried out here; those that were merged are one
  uint64_t merged = 0;     ///< that needed no place of their own
  uint64_t fetches = 0;    ///< that also returned what was there before
  uint64_t parcels = 0;    ///< in which they were sent
  uint64_t bytes = 0;      ///< of those
  uint64_t forwarded = 0;  ///< of other ranks, sent on to their owners
};

namespace detail {

/// Cells for which an owner's lane has one mark (UpdateLane::marks).
inline constexpr uint64_t kMarkedCells = 16;

/// The buffer of an owner while it is filled. Cells are counted from `window` << 32 on.
struct UpdateLane {
  uint32_t* cells = nullptr;
  std::byte* values = nullptr;
  uint16_t* positions = nullptr;  ///< by hash: where a cell was last; null: nothing is merged
  uint32_t count = 0;
  uint32_t limit = 0;  ///< filled up to here it is looked after
  uint32_t window = 0;
  uint32_t shift = 0;   ///< of hashes
  uint32_t merged = 0;  ///< since it is filled
  /// Where updates of this owner go instead, with a number added to their cells; null: here. The
  /// lane itself, with 0, where there is `memory`.
  UpdateLane* via = nullptr;
  uint64_t number = 0;
  /// Cells [first, first + extent) are updated at once, in `memory` of this rank: its own segment,
  /// or what updates of another rank's cells are summed up in.
  std::byte* memory = nullptr;
  uint64_t first = 0;
  uint64_t extent = 0;
  /// By kMarkedCells cells of what is summed up: set where there are updates. Null for the segment.
  uint8_t* marks = nullptr;
  uint64_t at_once = 0;  ///< updates in `memory`; with `limit` of them it is looked after, too
};

/// An epoch of any type.
class UpdateEpochState {
 public:
  static std::unique_ptr<UpdateEpochState> begin(Context& context, const UpdateType& type,
                                                 const UpdateOptions& options, CallSite site);
  virtual ~UpdateEpochState() = default;
  /// By rank; they stay where they are.
  virtual UpdateLane* lanes() = 0;
  /// The last offset of a segment at which a cell may be.
  virtual uint64_t last_offset() const = 0;
  /// The lane of `target` is filled up to its limit, or as many updates have been made at once.
  virtual void filled(rank_t target, CallSite site) = 0;
  /// The lane of `target` is to begin at another window.
  virtual void move_window(rank_t target, uint32_t window, CallSite site) = 0;
  /// Ends the job: there is no such cell.
  [[noreturn]] virtual void fail(global_ptr<const std::byte> cell, CallSite site) = 0;
  /// Ends the job: `grid` has not all cells of the patch, or else there are no values for them.
  [[noreturn]] virtual void fail_patch(const grid_cell& corner, const grid_extent& patch,
                                       const grid_extent& grid, CallSite site) = 0;
  /// An update of which `previous` gets what the cell held before.
  virtual future fetch(rank_t target, uint64_t cell, const std::byte* value, std::byte* previous,
                       CallSite site) = 0;
  virtual void flush(CallSite site) = 0;
  virtual void end(CallSite site) = 0;
  /// end() of an epoch that makes no more updates.
  virtual void close() = 0;
  virtual UpdateSettings in_use() const = 0;
  virtual UpdateStatistics statistics() const = 0;
};

/// Division by a number that is known at run time, in a few multiplications.
class Divisor {
 public:
  explicit Divisor(uint64_t divisor = 1) : divisor_(divisor), inverse_(~uint64_t{0} / divisor) {}
  struct Parts {
    uint64_t quotient;
    uint64_t remainder;
  };
  Parts divide(uint64_t number) const {
    __extension__ using Wide = unsigned __int128;
    // At most one too small.
    auto quotient = static_cast<uint64_t>(Wide{number} * inverse_ >> 64U);
    uint64_t remainder = number - quotient * divisor_;
    const bool more = remainder >= divisor_;
    quotient += more ? 1 : 0;
    remainder -= more ? divisor_ : 0;
    return {quotient, remainder};
  }

 private:
  uint64_t divisor_;
  uint64_t inverse_;
};

}  // namespace detail

/// Updates of cells of type T by Op, of any rank's memory. A handle, which is not copied.
template <typename T, typename Op>
requires(update_operator<Op, T>) class UpdateEpoch {
 public:
  using element_type = T;    ///< of the cells
  using operator_type = Op;  ///< how a value changes a cell

  /// Collective, and waits for all ranks. The same type, operator and mode on every rank, and all
  /// epochs in the same order: what does not match ends the job when the first updates arrive, in
  /// debug mode at once. A
  /// value that does not fit into a parcel, or an operator that would have to be associative for
  /// what `options` ask for, ends the job.
  explicit UpdateEpoch(Context& context, const UpdateOptions& options = {},
                       CallSite site = CallSite::current())
      : state_(
            detail::UpdateEpochState::begin(context, detail::update_type<T, Op>(), options, site)),
        context_(&context),
        lanes_(state_->lanes()),
        ranks_(context.rank_n()),
        last_offset_(state_->last_offset()) {}
  /// Collective: end(), before the Context goes. One that outlives the Context is of no use any
  /// more; if it has updates that are not complete, the end of the Context ends the job.
  ~UpdateEpoch() {
    if (state_ != nullptr) state_->close();
  }
  /// Moves: the other one is of no use any more; its calls end the process.
  UpdateEpoch(UpdateEpoch&& other) noexcept
      : state_(std::move(other.state_)),
        context_(other.context_),
        lanes_(other.lanes_),
        ranks_(std::exchange(other.ranks_, rank_t{0})),
        last_offset_(other.last_offset_) {}
  UpdateEpoch& operator=(UpdateEpoch&&) = delete;
  UpdateEpoch(const UpdateEpoch&) = delete;
  UpdateEpoch& operator=(const UpdateEpoch&) = delete;

  /// `cell` becomes op(cell, value), at the latest when the epoch ends. Makes progress when a
  /// buffer is full, and waits while its owner has more that it has not come to than the budget
  /// has room for. Ends the job
  /// if there is no such cell in its rank's segment, or it is not aligned.
  void update(global_ptr<T> cell, const T& value, CallSite site = CallSite::current()) {
    check("UpdateEpoch::update", cell, site);
    append(cell.where(), cell.offset() / alignof(T), value, site);
  }

  /// Updates cells side by side, from `cell` on, with as many values: the same as update() of each
  /// of them in turn, for less time. `values` may change when it returns. Ends the job, and updates
  /// none, if one of the cells is not in its rank's segment, or the values are at a null pointer.
  void update_run(global_ptr<T> cell, std::span<const T> values,
                  CallSite site = CallSite::current()) {
    if (values.empty()) return;
    check_there(values, site);
    check("UpdateEpoch::update_run", cell, site);
    const uint64_t behind = (last_offset_ - cell.offset()) / sizeof(T);
    if (values.size() - 1 > behind) [[unlikely]]
      check("UpdateEpoch::update_run", cell + static_cast<std::ptrdiff_t>(behind + 1), site);
    append_run(cell.where(), cell.offset() / alignof(T), values, site);
  }

  /// update() that also tells what the cell held just before: `previous` has it when the future is
  /// ready, and stays until then. These are collected, too, and leave when a buffer is full or this
  /// rank waits, for the future or for something else. They are not ordered with other updates of
  /// this rank before the next flush() or end(), which completes them all. Ends the job if
  /// `previous` is null.
  future fetch(global_ptr<T> cell, const T& value, T* previous,
               CallSite site = CallSite::current()) {
    check("UpdateEpoch::fetch", cell, site);
    return fetch_at(cell.where(), cell.offset() / alignof(T), value, previous, site);
  }
  /// The same with a future that has the value, and takes an allocation.
  future_of<T> fetch_async(global_ptr<T> cell, const T& value,
                           CallSite site = CallSite::current()) {
    check("UpdateEpoch::fetch_async", cell, site);
    return fetch_async_at(cell.where(), cell.offset() / alignof(T), value, site);
  }

  /// Where updates name elements of a shared array by their index.
  template <typename Layout, typename Ranks>
  class Into {
   public:
    /// As UpdateEpoch::update(). Ends the job if there is no element `index`.
    void update(uint64_t index, const T& value, CallSite site = CallSite::current()) const {
      const place at = find("UpdateEpoch::update", index, site);
      epoch_->append(at.rank, at.index, value, site);
    }
    /// As UpdateEpoch::update_run(), of the elements from `index` on, whichever ranks have them.
    /// Ends the job if there are not as many, or the values are at a null pointer.
    void update_run(uint64_t index, std::span<const T> values,
                    CallSite site = CallSite::current()) const {
      if (index > size_ || values.size() > size_ - index) [[unlikely]] {
        detail::fail_elements(context_, "UpdateEpoch::update_run", index, index + values.size(),
                              size_, site);
      }
      check_there(values, site);
      while (!values.empty()) {
        const place at = locate(index);
        const std::span<const T> here =
            values.first(std::min<uint64_t>(values.size(), to_end_of_block(index)));
        epoch_->append_run(at.rank, first_cell_ + at.index * kUnits, here, site);
        index += here.size();
        values = values.subspan(here.size());
      }
    }
    /// Updates the cells of a patch, from `corner` on, with as many values, z running fastest. The
    /// array has the cells of `grid` in that order, in its first elements; the grid is spread over
    /// the ranks as these are. Ends the job, and updates none, if the patch is not within the grid,
    /// the array has not all cells of the grid, or `values` is null for a patch that has cells.
    void spread(const grid_extent& grid, const grid_cell& corner, const grid_extent& patch,
                const T* values, CallSite site = CallSite::current()) const {
      const bool lacks_values = values == nullptr && !patch.is_empty();
      if (!detail::is_within(corner, patch, grid) || lacks_values) [[unlikely]]
        epoch_->state_->fail_patch(corner, patch, grid, site);
      const uint64_t cells =
          access::saturating_multiply(grid.x, access::saturating_multiply(grid.y, grid.z));
      if (cells > size_) [[unlikely]]
        detail::fail_elements(context_, "UpdateEpoch::spread", 0, cells, size_, site);
      if (patch.is_empty()) return;
      for (uint64_t x = corner.x; x < corner.x + patch.x; ++x) {
        for (uint64_t y = corner.y; y < corner.y + patch.y; ++y, values += patch.z) {
          update_run((x * grid.y + y) * grid.z + corner.z, {values, patch.z}, site);
        }
      }
    }
    /// As UpdateEpoch::fetch() and fetch_async().
    future fetch(uint64_t index, const T& value, T* previous,
                 CallSite site = CallSite::current()) const {
      const place at = find("UpdateEpoch::fetch", index, site);
      return epoch_->fetch_at(at.rank, at.index, value, previous, site);
    }
    /// As UpdateEpoch::fetch_async().
    future_of<T> fetch_async(uint64_t index, const T& value,
                             CallSite site = CallSite::current()) const {
      const place at = find("UpdateEpoch::fetch_async", index, site);
      return epoch_->fetch_async_at(at.rank, at.index, value, site);
    }

   private:
    friend class UpdateEpoch;
    using Distribution = distribution<Layout, Ranks>;
    static constexpr uint64_t kUnit = alignof(T);
    static constexpr uint64_t kUnits = sizeof(T) / kUnit;
    static constexpr bool kKnownDivisors = [] {
      if constexpr (std::is_same_v<Layout, indefinite>) {
        return true;
      } else {
        return Layout::kStatic != kRunTimeBlock && Ranks::kStatic != 0;
      }
    }();

    Into(UpdateEpoch& epoch, const shared_array<T, Layout, Ranks>& array)
        : epoch_(&epoch),
          context_(array ? &array.context() : nullptr),
          size_(array.size()),
          first_cell_(size_ == 0 ? 0 : array.global(0).offset() / alignof(T)),
          distribution_(array.distribution()),
          by_ranks_(distribution_.ranks.count()) {
      if constexpr (!std::is_same_v<Layout, indefinite>) {
        by_block_ = detail::Divisor(distribution_.layout.block());
      }
    }

    // The rank and the cell of an element.
    place find(const char* name, uint64_t index, CallSite site) const {
      if (index >= size_) [[unlikely]]
        detail::fail_element(context_, name, index, size_, site);
      const place at = locate(index);
      return {at.rank, first_cell_ + at.index * kUnits};
    }

    // distribution::locate() without divisions.
    place locate(uint64_t index) const {
      if constexpr (kKnownDivisors) {
        return distribution_.locate(index);
      } else {
        const auto [block, phase] = divide_by_block(index);
        if (block < distribution_.ranks.count()) return {static_cast<rank_t>(block), phase};
        const auto [round, rank] = by_ranks_.divide(block);
        return {static_cast<rank_t>(rank), round * distribution_.layout.block() + phase};
      }
    }

    // Elements from `index` on that lie side by side.
    uint64_t to_end_of_block(uint64_t index) const {
      if constexpr (std::is_same_v<Layout, indefinite>) {
        return size_ - index;
      } else {
        return distribution_.layout.block() - divide_by_block(index).remainder;
      }
    }

    detail::Divisor::Parts divide_by_block(uint64_t index) const {
      if constexpr (Layout::kStatic != kRunTimeBlock) {
        return {index / Layout::kStatic, index % Layout::kStatic};
      } else {
        return by_block_.divide(index);
      }
    }

    UpdateEpoch* epoch_;
    Context* context_;
    uint64_t size_;
    uint64_t first_cell_;
    Distribution distribution_;
    detail::Divisor by_block_;
    detail::Divisor by_ranks_;
  };

  /// The epoch stays where it is while this is used. Elements of all layouts.
  template <typename Layout, typename Ranks>
  Into<Layout, Ranks> into(const shared_array<T, Layout, Ranks>& array,
                           CallSite site = CallSite::current()) {
    check_whole("UpdateEpoch::into", site);
    return {*this, array};
  }

  /// Not collective: all updates that this rank has made are carried out when it returns. Their
  /// owners have to make progress meanwhile.
  void flush(CallSite site = CallSite::current()) {
    check_whole("UpdateEpoch::flush", site);
    state_->flush(site);
  }

  /// Collective: all updates of all ranks are carried out, and every rank sees them. Others may
  /// follow, which belong to a new epoch.
  void end(CallSite site = CallSite::current()) {
    check_whole("UpdateEpoch::end", site);
    state_->end(site);
  }

  /// What it has counted so far.
  UpdateStatistics statistics(CallSite site = CallSite::current()) const {
    check_whole("UpdateEpoch::statistics", site);
    return state_->statistics();
  }
  /// How updates travel until the next end(). Of buffers, `buffer_bytes` is what one takes.
  UpdateSettings in_use(CallSite site = CallSite::current()) const {
    check_whole("UpdateEpoch::in_use", site);
    return state_->in_use();
  }

 private:
  void check_whole(const char* call, CallSite site) const {
    if (state_ == nullptr) [[unlikely]]
      detail::fail_moved_from(call, site);
  }
  static void check_there(std::span<const T> values, CallSite site) {
    if (values.data() == nullptr && !values.empty()) [[unlikely]]
      detail::fail_null("UpdateEpoch::update_run", values.size(), site);
  }
  // What has been moved from has no ranks.
  void check(const char* call, global_ptr<T> cell, CallSite site) const {
    const uint64_t offset = cell.offset();
    if (cell.where() >= ranks_ || offset > last_offset_ || offset % alignof(T) != 0) [[unlikely]] {
      check_whole(call, site);
      state_->fail(global_ptr<const std::byte>::from_word(cell.word()), site);
    }
  }

  future fetch_at(rank_t target, uint64_t cell, const T& value, T* previous, CallSite site) {
    check_whole("UpdateEpoch::fetch", site);
    return state_->fetch(target, cell, reinterpret_cast<const std::byte*>(&value),
                         reinterpret_cast<std::byte*>(previous), site);
  }
  future_of<T> fetch_async_at(rank_t target, uint64_t cell, const T& value, CallSite site) {
    auto state = detail::FutureState::make_for_operation<detail::ValueState<T>>(*context_);
    state->settle_by(fetch_at(target, cell, value, &state->value.emplace(), site));
    return detail::FutureAccess::make(std::move(state));
  }

  // For an Into, too, whose epoch has been moved.
  void filled(rank_t target, CallSite site) {
    check_whole("UpdateEpoch::update", site);
    state_->filled(target, site);
  }
  void move_window(rank_t target, uint32_t window, CallSite site) {
    check_whole("UpdateEpoch::update", site);
    state_->move_window(target, window, site);
  }

  // What costs time here is paid for each update.
  void append(rank_t target, uint64_t cell, const T& value, CallSite site) {
    detail::UpdateLane* next = &lanes_[target];
    if (next->via != nullptr) [[unlikely]] {
      const uint64_t at = cell - next->first;
      if (at < next->extent) return update_at_once(*next, target, at, {&value, 1}, site);
      cell += next->number;
      next = next->via;
      target = static_cast<rank_t>(next - lanes_);
    }
    detail::UpdateLane& lane = *next;
    if (cell >> 32U != lane.window) [[unlikely]]
      move_window(target, static_cast<uint32_t>(cell >> 32U), site);
    const auto low = static_cast<uint32_t>(cell);
    const uint32_t count = lane.count;
    if constexpr (operator_algebra<Op, T>::associative()) {
      if (lane.positions != nullptr) {
        constexpr uint32_t kGolden = 0x9E3779B1;  // Knuth's multiplicative hashing
        uint16_t& position = lane.positions[low * kGolden >> lane.shift];
        if (position < count && lane.cells[position] == low) {
          std::byte* const at = lane.values + size_t{position} * sizeof(T);
          T merged;
          std::memcpy(&merged, at, sizeof(T));
          merged = Op{}(merged, value);
          std::memcpy(at, &merged, sizeof(T));
          ++lane.merged;
          return;
        }
        position = static_cast<uint16_t>(count);
      }
    }
    lane.cells[count] = low;
    std::memcpy(lane.values + size_t{count} * sizeof(T), &value, sizeof(T));
    lane.count = count + 1;
    if (count + 1 == lane.limit) [[unlikely]]
      filled(target, site);
  }

  // As many cells side by side as there are values.
  void append_run(rank_t target, uint64_t cell, std::span<const T> values, CallSite site) {
    constexpr uint64_t kStep = sizeof(T) / alignof(T);
    detail::UpdateLane& lane = lanes_[target];
    // Below the first of them, it is far above the last.
    const uint64_t at = cell - lane.first;
    if (at < lane.extent && (values.size() - 1) * kStep < lane.extent - at) {
      return update_at_once(lane, target, at, values, site);
    }
    for (const T& value : values) {
      append(target, cell, value, site);
      cell += kStep;
    }
  }

  // What a program would do by itself to memory of its own rank, and count it.
  void update_at_once(detail::UpdateLane& lane, rank_t target, uint64_t at,
                      std::span<const T> values, CallSite site) {
    if (lane.marks != nullptr) {  // of types whose cells are one unit each
      const uint64_t last = (at + values.size() - 1) / detail::kMarkedCells;
      for (uint64_t mark = at / detail::kMarkedCells; mark <= last; ++mark) lane.marks[mark] = 1;
    }
    T* const there = reinterpret_cast<T*>(lane.memory + at * alignof(T));
    for (size_t i = 0; i < values.size(); ++i) there[i] = Op{}(there[i], values[i]);
    lane.at_once += values.size();
    if (lane.at_once >= lane.limit) [[unlikely]]
      filled(target, site);
  }

  std::unique_ptr<detail::UpdateEpochState> state_;
  Context* context_;
  detail::UpdateLane* lanes_;
  rank_t ranks_;
  uint64_t last_offset_;
};

}  // namespace stripline
