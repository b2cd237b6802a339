#include "optimizer/plan/wavefront.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stripline/wavefront.h>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/wavefront_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/execution.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_state.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"
#include "runtime/rma/operation.h"

namespace stripline {
namespace {

// The first piece of a round carries the round, and how many pieces follow.
constexpr int kRoundShift = 8;
static_assert(plan::kMostWavefrontPieces <= (1U << kRoundShift));

uint64_t flag_value(uint64_t round, size_t pieces) { return round << kRoundShift | (pieces - 1); }

}  // namespace

namespace detail {

class WavefrontEngine {
 public:
  static constexpr size_t kNoCrossing = Wavefront::kNoCrossing;
  using Site = decide::Site<plan::WavefrontPlan>;

  WavefrontEngine(Context& context, const WavefrontOptions& options, global_ptr<uint64_t> flags,
                  size_t crossings, uint64_t place)
      : context_(context),
        state_(context.state()),
        options_(options),
        place_(place),
        flags_(flags),
        sent_(crossings),
        came_(crossings) {}
  ~WavefrontEngine() {
    if (state_.job.in_child()) return;
    finish();
    context_.barrier();
    context_.delete_symmetric_array(flags_);
  }
  WavefrontEngine(const WavefrontEngine&) = delete;
  WavefrontEngine& operator=(const WavefrontEngine&) = delete;

  void begin(const RawStage& stage);
  bool next(size_t& range_begin, size_t& range_end);
  void finish();
  uint32_t pieces(size_t crossing) const {
    return crossing < sent_.size() ? sent_[crossing].pieces : 0;
  }

  // As a mechanism (runtime/decide/execution.h), for the stage that is being run. Its own time is
  // not what its pieces are for: others wait for them.
  plan::WavefrontPlan make(decide::Arm, double compute_s) const {
    return plan::baseline_of_wavefront(request_for(compute_s), costs_);
  }
  bool fits(const plan::WavefrontPlan&) const { return true; }
  void decide(Site& site, double compute_s) const {
    const plan::WavefrontPlan plan = plan::plan_wavefront(request_for(compute_s), costs_);
    site.decide(plan.pieces > 1 ? decide::Arm{1} : decide::kBaseline, plan);
    if (plan.pieces > 1) site.expect(plan);
  }
  void note(decide::Trace& trace, double seconds) const;

 private:
  // What is known of a stage, by the crossing where it leaves.
  struct Sent {
    uint64_t round = 0;
    size_t lines = 0;
    size_t line_bytes = 0;
    uint32_t pieces = 0;  // last time
    std::optional<Site> site;
  };

  std::optional<plan::WavefrontPlan> given_plan() const;
  plan::WavefrontRequest request_for(double compute_s) const;
  void decide_on(Sent& sent);
  void hand_on();
  void receive();
  global_ptr<uint64_t> flag(rank_t rank, size_t crossing, size_t piece) const {
    return context_.on_rank(flags_, rank) +
           static_cast<std::ptrdiff_t>(crossing * plan::kMostWavefrontPieces + piece);
  }
  bool leaves() const { return stage_.leaves != kNoCrossing; }
  bool takes_over() const { return stage_.comes != kNoCrossing; }
  size_t end_of(size_t piece, size_t pieces) const { return stage_.lines * (piece + 1) / pieces; }

  Context& context_;
  ContextState& state_;
  const WavefrontOptions options_;
  const uint64_t place_;              // where it was made
  const global_ptr<uint64_t> flags_;  // [crossing][piece]
  std::vector<Sent> sent_;
  std::vector<uint64_t> came_;  // rounds, by crossing
  std::vector<future> leaving_;

  // The stage that is being run.
  RawStage stage_;
  model::Path path_ = model::Path::network;
  const plan::StripCosts* costs_ = nullptr;
  std::optional<plan::WavefrontPlan> given_;
  decide::Execution<plan::WavefrontPlan> execution_;
  size_t begin_ = 0;  // the range that the body has
  size_t end_ = 0;
  size_t here_ = 0;      // lines for which all has come
  size_t in_piece_ = 0;  // the next one to come, and to leave
  size_t in_pieces_ = 1;
  size_t out_piece_ = 0;
  size_t out_pieces_ = 1;
};

void WavefrontEngine::begin(const RawStage& stage) {
  for (const size_t crossing : {stage.comes, stage.leaves}) {
    if (crossing == kNoCrossing || crossing < sent_.size()) continue;
    state_.fail(Error(
        ErrorCode::invalid_argument,
        text(rma::Call("Wavefront::run", stage.call)) + " at crossing " + std::to_string(crossing) +
            "; this one was made with " + std::to_string(sent_.size()) +
            " crossings, from 0 on: make it with more, or take kNoCrossing where nothing "
            "comes or leaves"));
  }
  if (stage.leaves != kNoCrossing && stage.lines != 0) {
    const rma::Call call("Wavefront::run", stage.call);
    const size_t bytes = access::saturating_multiply(stage.lines, stage.line_bytes);
    state_.operations.check(call, stage.target, stage.offset, bytes);
    rma::check_private(state_, call, stage.results, bytes);
  }
  execution_.abandon();
  stage_ = stage;
  if (stage.lines == 0) stage_.comes = stage_.leaves = kNoCrossing;
  begin_ = end_ = here_ = 0;
  in_piece_ = out_piece_ = 0;
  out_pieces_ = 1;
  if (takes_over()) {
    ++came_[stage_.comes];
  } else {
    here_ = stage.lines;
  }
  if (!leaves()) return;
  Sent& sent = sent_[stage_.leaves];
  ++sent.round;
  decide_on(sent);
  sent.pieces = execution_.plan().pieces;
  out_pieces_ = sent.pieces;
}

// The plan of a stage that no one is asked about.
std::optional<plan::WavefrontPlan> WavefrontEngine::given_plan() const {
  uint64_t pieces = options_.pieces;
  if (pieces == 0) {
    const std::string_view forced = state_.job.tuning().forced.forced(
        plan::WavefrontMechanism::kWords.command, stage_.lines * stage_.line_bytes);
    pieces = plan::number_forced(forced).value_or(forced == plan::kForcedBaseline ? 1 : 0);
  }
  if (pieces != 0) {
    const uint64_t most = std::min<uint64_t>(plan::kMostWavefrontPieces, stage_.lines);
    return plan::WavefrontPlan{.pieces = static_cast<uint32_t>(std::min(pieces, most)),
                               .reason = plan::Reason::forced};
  }
  if (state_.memory.reachable(stage_.target) != nullptr) {
    return plan::WavefrontPlan{.reason = plan::Reason::own_memory};
  }
  if (!options_.use_model || costs_ == nullptr) return plan::WavefrontPlan{};
  return std::nullopt;
}

void WavefrontEngine::decide_on(Sent& sent) {
  LoopState& loops = LoopState::of(state_);
  path_ = state_.job.path_to(stage_.target);
  costs_ = loops.costs(path_);
  if (const auto given = given_plan()) {
    if (options_.use_model && given->reason == plan::Reason::no_model) loops.say_no_model(state_);
    given_.emplace(*given);
    return execution_.begin(state_.mechanisms.instruments(), *given_);
  }
  if (!sent.site || sent.lines != stage_.lines || sent.line_bytes != stage_.line_bytes) {
    sent.lines = stage_.lines;
    sent.line_bytes = stage_.line_bytes;
    // In one piece until its computation is known.
    sent.site.emplace().decide(decide::kBaseline, {});
  }
  execution_.begin(state_.mechanisms.instruments(), *this, *sent.site,
                   {.call = {.what = stripline::hash_of(place_, stage_.leaves),
                             .rank = stage_.target,
                             .offset = stage_.offset},
                    .guarded = options_.self_check,
                    .measures = true,
                    .judges_itself = false});
}

plan::WavefrontRequest WavefrontEngine::request_for(double compute_s) const {
  plan::WavefrontRequest request;
  request.lines = stage_.lines;
  request.line_bytes = stage_.line_bytes;
  request.compute_s = compute_s;
  request.stages = options_.stages;
  request.all_busy = options_.all_busy;
  request.surroundings = decide::surroundings_of(
      state_.job.fabric().info(), plan::WavefrontRequest::kFacts, {.path = path_, .puts = true});
  return request;
}

bool WavefrontEngine::next(size_t& range_begin, size_t& range_end) {
  if (end_ > 0) execution_.end_computing();
  if (leaves()) {
    while (out_piece_ < out_pieces_ && end_of(out_piece_, out_pieces_) <= end_) hand_on();
  }
  if (end_ == stage_.lines) {
    if (leaves()) execution_.finish(*this, execution_.computed_s());
    return false;
  }
  if (here_ == end_) receive();
  begin_ = end_;
  end_ = here_;
  if (leaves()) end_ = std::min(end_, end_of(out_piece_, out_pieces_));
  range_begin = begin_;
  range_end = end_;
  execution_.begin_computing();
  return true;
}

void WavefrontEngine::hand_on() {
  const size_t first = out_piece_ == 0 ? 0 : end_of(out_piece_ - 1, out_pieces_);
  const size_t skipped = first * stage_.line_bytes;
  const size_t bytes = end_of(out_piece_, out_pieces_) * stage_.line_bytes - skipped;
  const Sent& sent = sent_[stage_.leaves];
  leaving_.push_back(context_.rput_signal(
      stage_.results + skipped, global_ptr<std::byte>(stage_.target, stage_.offset + skipped),
      bytes, flag(stage_.target, stage_.leaves, out_piece_), flag_value(sent.round, out_pieces_),
      stage_.call));
  ++out_piece_;
  // Retires what has come back, and raises the flags of what has arrived.
  context_.progress();
}

void WavefrontEngine::receive() {
  const uint64_t round = came_[stage_.comes];
  const uint64_t seen = context_.wait_signal(flag(context_.rank_me(), stage_.comes, in_piece_),
                                             flag_value(round, 1), stage_.call);
  if (seen >> kRoundShift != round) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      "round " + std::to_string(seen >> kRoundShift) +
                          " of a Wavefront came to crossing " + std::to_string(stage_.comes) +
                          " before this rank had read round " + std::to_string(round) +
                          "; something must keep a stage from being sent again before "
                          "its successor has been through it, e.g. a barrier between rounds"));
  }
  // Where ranks wait for the front, that is no part of the stage.
  if (in_piece_ == 0 && leaves() && !options_.all_busy) execution_.restart_clock();
  if (in_piece_ == 0) in_pieces_ = (seen & ((1U << kRoundShift) - 1)) + 1;
  here_ = end_of(in_piece_, in_pieces_);
  ++in_piece_;
}

void WavefrontEngine::note(decide::Trace& trace, double seconds) const {
  const plan::WavefrontPlan& plan = execution_.plan();
  double predicted_s = 0;  // of this stage; the plan's is of a sweep
  const plan::WavefrontRequest request = request_for(std::max(execution_.compute_s(), 0.0));
  const bool unplanned = execution_.site() != nullptr && execution_.compute_s() < 0;
  const bool planned = execution_.site() != nullptr && !unplanned;
  if (planned && plan.reason != plan::Reason::no_model) {
    plan::WavefrontRequest of_rank = request;
    // Nothing comes to the first rank of a pipeline, which therefore serves no one.
    of_rank.surroundings.target_polls_only &= takes_over() || options_.all_busy;
    const plan::WavefrontTime time = plan::predict_wavefront(of_rank, *costs_, plan.pieces);
    predicted_s = takes_over() && options_.all_busy ? time.step_s : time.busy_s;
  }
  trace.note(
      stage_.call, stripline::hash_of(stage_.leaves, stage_.lines, stage_.line_bytes, takes_over()),
      decide::choice_of<plan::WavefrontMechanism>(
          request, plan, {.unplanned = unplanned, .predicted_s = predicted_s}),
      seconds,
      "crossing " + std::to_string(stage_.leaves) + ", " + std::to_string(stage_.lines) + " x " +
          exact_bytes_text(stage_.line_bytes),
      [&] {
        return unplanned
                   ? std::string()
                   : explain_command<plan::WavefrontMechanism>(state_, request, plan.reason, path_);
      });
}

void WavefrontEngine::finish() {
  for (future& one : leaving_) one.wait();
  leaving_.clear();
}

}  // namespace detail

Result<Wavefront> Wavefront::create(Context& context, size_t crossings, WavefrontOptions options,
                                    CallSite site) {
  if (options.pieces > plan::kMostWavefrontPieces) {
    context.state().fail(
        Error(ErrorCode::invalid_argument, "a Wavefront in " + std::to_string(options.pieces) +
                                               " pieces; a stage has at most " +
                                               std::to_string(plan::kMostWavefrontPieces)));
  }
  // As many crossings as a segment has bytes do not fit, and more are no number of bytes.
  const size_t counted = std::clamp<size_t>(
      crossings, 1, std::max<size_t>(context.state().job.options().segment_bytes, 1));
  const size_t words = counted * plan::kMostWavefrontPieces;
  STRIPLINE_ASSIGN_OR_RETURN(const auto flags, context.new_symmetric_array<uint64_t>(words, site));
  std::fill_n(context.local(flags), words, 0);
  Wavefront made(std::make_unique<detail::WavefrontEngine>(context, options, flags, crossings,
                                                           detail::site_of(0, site)));
  context.barrier(site);
  return made;
}

Wavefront::Wavefront(std::unique_ptr<detail::WavefrontEngine> engine)
    : engine_(std::move(engine)) {}
Wavefront::Wavefront(Wavefront&& other) noexcept = default;
Wavefront::~Wavefront() = default;

void Wavefront::begin(const detail::RawStage& stage) {
  if (engine_ == nullptr) detail::fail_moved_from("Wavefront::run", stage.call);
  engine_->begin(stage);
}

bool Wavefront::next(size_t& range_begin, size_t& range_end) {
  return engine_->next(range_begin, range_end);
}

void Wavefront::finish() {
  if (engine_ == nullptr) detail::fail_moved_from("Wavefront::finish");
  engine_->finish();
}

uint32_t Wavefront::pieces(size_t crossing) const {
  if (engine_ == nullptr) detail::fail_moved_from("Wavefront::pieces");
  return engine_->pieces(crossing);
}

}  // namespace stripline
