// Sweeps over ranks: stages that each need what another rank has computed of the stage before. A
// program says what a stage leaves for the next one, and computes ranges of it; the runtime decides
// into how many pieces a stage is cut, and hands each piece on, with a flag, while the next one is
// computed (optimizer/plan/wavefront.h).
//
//   auto made = stripline::Wavefront::create(ctx, 1, {.stages = n, .all_busy = false});
//   ...
//   stripline::Wavefront& sweep = *made;
//   if (me > 0) stage.comes = 0;
//   if (me + 1 < n) {
//     stage.leaves = 0;
//     stage.results = last_column;                          // `lines` times `width` elements
//     stage.place = ctx.on_rank(ghosts, me + 1);            // where the next rank reads them
//   }
//   sweep.run(stage, [&](size_t begin, size_t end) { ... lines [begin, end), which leave results
//   });
//
// A crossing is a place where a stage takes over from the one before: a rank receives at a crossing
// of its own what the predecessor sends there, once in each round of the sweep, in the same order
// on both. Who sends decides on the pieces, and tells the receiver with the first one; so ranks
// need not agree, and have different models or none.
//
// The first rounds of a stage go in one piece and are timed; then it is planned with the least time
// that its computation took, as loops are. What a line leaves must not depend on where ranges begin
// and end.
//
// Nothing is copied: results are put from where they are to where they are read. So a stage may not
// be sent before its predecessor's place has been read in the round before. A sweep that comes back
// sees to that, and so does one with an exchange or a barrier between its rounds. finish() says
// when results may be written again.
//
// Cost: as rput_signal() for each piece; no allocation after the first rounds. Threads: as Context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include <stripline/call_site.h>
#include <stripline/context.h>

namespace stripline {

/// What is known of the sweeps of a Wavefront.
struct WavefrontOptions {
  uint32_t stages = 2;    ///< of a sweep, one after the other
  bool all_busy = true;   ///< every rank has a part of each stage; false: each is another rank's
  bool use_model = true;  ///< false: as if there were no model
  uint32_t pieces = 0;    ///< for measurements; 0: planned. At most 64
  /// True if planned pieces are now and then compared with one, and given up where that is faster
  /// (Options::guard). False for measurements of plans.
  bool self_check = true;
};

namespace detail {

class WavefrontEngine;

/// A stage without its type.
struct RawStage {
  size_t lines = 0;
  size_t comes = 0;
  size_t leaves = 0;
  size_t line_bytes = 0;
  const std::byte* results = nullptr;
  rank_t target = 0;
  uint64_t offset = 0;
  CallSite call;
};

}  // namespace detail

/// Moves, does not copy. One rank's; before the Context goes.
class Wavefront {
 public:
  /// Instead of a crossing, where a sweep begins or ends.
  static constexpr size_t kNoCrossing = std::numeric_limits<size_t>::max();

  /// What this rank does of a stage.
  template <typename T>
  struct Stage {
    size_t lines = 0;             ///< of which none needs a later one: ranges come in order
    size_t comes = kNoCrossing;   ///< this rank's crossing; kNoCrossing: the sweep begins here
    size_t leaves = kNoCrossing;  ///< the crossing of place's rank; kNoCrossing: it ends here
    size_t width = 0;             ///< elements that a line leaves
    const T* results = nullptr;   ///< lines * width elements, line after line
    global_ptr<T> place;          ///< of as many; of another rank or this one
  };

  /// Collective, with the same number of crossings on all ranks. Errors: as
  /// Context::new_symmetric_array().
  static Result<Wavefront> create(Context& context, size_t crossings, WavefrontOptions options = {},
                                  CallSite site = CallSite::current());
  /// Collective. Ends the rank's puts.
  ~Wavefront();
  Wavefront(Wavefront&& other) noexcept;  ///< moves: calls of the other one end the process
  Wavefront& operator=(Wavefront&&) = delete;
  Wavefront(const Wavefront&) = delete;
  Wavefront& operator=(const Wavefront&) = delete;

  /// Calls body(begin, end) for ranges that together are [0, lines), in order, each when what the
  /// predecessor left for it is here. Returns when the last one has been computed; what it left may
  /// still be in flight. Ends the job on crossings that do not exist, and if the predecessor began
  /// another round before this one was read. `call` is where Options::trace shows the stage.
  template <typename T, typename Body>
  void run(const Stage<T>& stage, Body&& body, CallSite call = CallSite::current()) {
    detail::check_callable(body, "Wavefront::run", call);
    begin({stage.lines, stage.comes, stage.leaves, detail::byte_count<T>(stage.width),
           reinterpret_cast<const std::byte*>(stage.results), stage.place.where(),
           stage.place.offset(), call});
    size_t range_begin = 0;
    size_t range_end = 0;
    while (next(range_begin, range_end)) body(range_begin, range_end);
  }

  /// Returns when everything that left is visible where it went.
  void finish();

  /// The pieces in which this rank last sent at a crossing of another one; 0: never.
  uint32_t pieces(size_t crossing) const;

 private:
  explicit Wavefront(std::unique_ptr<detail::WavefrontEngine> engine);
  void begin(const detail::RawStage& stage);
  bool next(size_t& range_begin, size_t& range_end);

  std::unique_ptr<detail::WavefrontEngine> engine_;
};

}  // namespace stripline
