#include "optimizer/plan/wavefront.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <stripline/wavefront.h>

#include "base/quantity.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_state.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline {
namespace {

// Of the first piece of a round: the round, and how many pieces follow.
constexpr int kRoundShift = 8;
static_assert(plan::kMostWavefrontPieces <= (1U << kRoundShift));

uint64_t flag_value(uint64_t round, size_t pieces) { return round << kRoundShift | (pieces - 1); }

// What the planner is asked about a stage.
plan::WavefrontRequest request_of(const detail::ContextState& state,
                                  const WavefrontOptions& options, model::Path path, size_t lines,
                                  size_t line_bytes, double compute_s) {
  plan::WavefrontRequest request;
  request.lines = lines;
  request.line_bytes = line_bytes;
  request.compute_s = compute_s;
  request.stages = options.stages;
  request.all_busy = options.all_busy;
  request.surroundings = decide::surroundings_of(
      state.fabric->info(), plan::WavefrontRequest::kFacts, {.path = path, .puts = true});
  return request;
}

}  // namespace

Result<Wavefront> Wavefront::create(Context& context, size_t crossings, WavefrontOptions options,
                                    CallSite site) {
  if (options.pieces > plan::kMostWavefrontPieces) {
    context.state().fail(
        Error(ErrorCode::invalid_argument, "a Wavefront in " + std::to_string(options.pieces) +
                                               " pieces; a stage has at most " +
                                               std::to_string(plan::kMostWavefrontPieces)));
  }
  // As many crossings as a segment has bytes do not fit, and more are no number of bytes.
  const size_t counted =
      std::clamp<size_t>(crossings, 1, std::max<size_t>(context.state().options.segment_bytes, 1));
  const size_t words = counted * plan::kMostWavefrontPieces;
  STRIPLINE_ASSIGN_OR_RETURN(const auto flags, context.new_symmetric_array<uint64_t>(words, site));
  std::fill_n(context.local(flags), words, 0);
  Wavefront made(context, options, flags, crossings, detail::site_of(0, site));
  context.barrier(site);
  return made;
}

Wavefront::Wavefront(Context& context, WavefrontOptions options, global_ptr<uint64_t> flags,
                     size_t crossings, uint64_t site)
    : context_(&context),
      options_(options),
      site_(site),
      traces_(context.state().trace != nullptr),
      flags_(flags),
      sent_(crossings),
      came_(crossings) {}

Wavefront::Wavefront(Wavefront&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      options_(other.options_),
      site_(other.site_),
      traces_(other.traces_),
      flags_(other.flags_),
      sent_(std::move(other.sent_)),
      came_(std::move(other.came_)),
      leaving_(std::move(other.leaving_)) {}

Wavefront::~Wavefront() {
  if (context_ == nullptr) return;
  finish();
  context_->barrier();
  context_->delete_symmetric_array(flags_);
}

global_ptr<uint64_t> Wavefront::flag(rank_t rank, size_t crossing, size_t piece) const {
  return context_->on_rank(flags_, rank) +
         static_cast<std::ptrdiff_t>(crossing * plan::kMostWavefrontPieces + piece);
}

void Wavefront::begin(const Raw& stage) {
  for (const size_t crossing : {stage.comes, stage.leaves}) {
    if (crossing == kNoCrossing || crossing < sent_.size()) continue;
    context_->state().fail(Error(
        ErrorCode::invalid_argument,
        text(rma::Call("Wavefront::run", stage.call)) + " at crossing " + std::to_string(crossing) +
            "; this one was made with " + std::to_string(sent_.size()) +
            " crossings, from 0 on: make it with more, or take kNoCrossing where nothing "
            "comes or leaves"));
  }
  if (stage.leaves != kNoCrossing && stage.lines != 0) {
    context_->state().check({"Wavefront::run", stage.call}, stage.target, stage.offset,
                            access::saturating_multiply(stage.lines, stage.line_bytes));
  }
  stage_ = stage;
  if (stage.lines == 0) stage_.comes = stage_.leaves = kNoCrossing;
  begin_ = end_ = here_ = 0;
  in_piece_ = out_piece_ = 0;
  out_pieces_ = 1;
  computed_s_ = 0;
  measuring_ = false;
  if (traces_) begun_s_ = context_->now_s();
  if (stage_.comes == kNoCrossing) {
    here_ = stage.lines;
  } else {
    ++came_[stage_.comes];
  }
  if (stage_.leaves == kNoCrossing) return;
  Sent& sent = sent_[stage_.leaves];
  ++sent.round;
  if (sent.lines != stage.lines || sent.line_bytes != stage.line_bytes) {
    sent = {.round = sent.round, .lines = stage.lines, .line_bytes = stage.line_bytes};
  }
  sent.pieces = pieces_of(sent);
  out_pieces_ = sent.pieces;
}

uint32_t Wavefront::pieces_of(Sent& sent) {
  if (options_.pieces != 0) {
    return static_cast<uint32_t>(std::min<size_t>(options_.pieces, sent.lines));
  }
  detail::ContextState& state = context_->state();
  if (!options_.use_model || state.reachable[stage_.target] != nullptr) return 1;
  measuring_ = sent.executions < detail::kTimedExecutions;
  if (measuring_ && sent.executions >= detail::kRefineAfter) plan(sent);
  if (!options_.self_check || state.run_guard == nullptr) return sent.planned;
  const uint64_t what = rma::call_id(site_, stage_.leaves);
  const rma::RunGuard::Turn turn =
      state.run_guard->report({.what = what, .rank = stage_.target, .offset = stage_.offset});
  if (sent.planned == 1) return 1;
  state.run_guard->differs(what);
  return turn.way == rma::RunGuard::Way::tuned ? sent.planned : 1;
}

void Wavefront::plan(Sent& sent) {
  detail::ContextState& state = context_->state();
  detail::LoopState& loops = detail::LoopState::of(state);
  const model::Path path = state.path_to(stage_.target);
  const plan::StripCosts* const costs = loops.costs(path);
  if (costs == nullptr) return loops.say_no_model(state);
  sent.planned_compute_s = sent.least_compute_s;
  const plan::WavefrontRequest request =
      request_of(state, options_, path, sent.lines, sent.line_bytes, sent.planned_compute_s);
  sent.planned = plan::plan_wavefront(request, costs).pieces;
}

bool Wavefront::next() {
  if (measuring_ && end_ > 0) computed_s_ += context_->now_s() - since_s_;
  if (stage_.leaves != kNoCrossing) {
    while (out_piece_ < out_pieces_ && end_of(out_piece_, out_pieces_) <= end_) hand_on();
  }
  if (end_ == stage_.lines) {
    if (traces_ && stage_.leaves != kNoCrossing) trace();
    refine();
    return false;
  }
  if (here_ == end_) receive();
  begin_ = end_;
  end_ = here_;
  if (stage_.leaves != kNoCrossing) end_ = std::min(end_, end_of(out_piece_, out_pieces_));
  if (measuring_) since_s_ = context_->now_s();
  return true;
}

void Wavefront::hand_on() {
  const size_t first = out_piece_ == 0 ? 0 : end_of(out_piece_ - 1, out_pieces_);
  const size_t skipped = first * stage_.line_bytes;
  const size_t bytes = end_of(out_piece_, out_pieces_) * stage_.line_bytes - skipped;
  const Sent& sent = sent_[stage_.leaves];
  leaving_.push_back(context_->rput_signal(
      stage_.results + skipped, global_ptr<std::byte>(stage_.target, stage_.offset + skipped),
      bytes, flag(stage_.target, stage_.leaves, out_piece_), flag_value(sent.round, out_pieces_),
      stage_.call));
  ++out_piece_;
  // Retires what has come back, and raises the flags of what has arrived.
  context_->progress();
}

void Wavefront::receive() {
  const uint64_t round = came_[stage_.comes];
  const uint64_t seen = context_->wait_signal(flag(context_->rank_me(), stage_.comes, in_piece_),
                                              flag_value(round, 1), stage_.call);
  if (seen >> kRoundShift != round) {
    context_->state().fail(
        Error(ErrorCode::invalid_argument,
              "round " + std::to_string(seen >> kRoundShift) + " of a Wavefront came to crossing " +
                  std::to_string(stage_.comes) + " before this rank had read round " +
                  std::to_string(round) +
                  "; something must keep a stage from being sent again before "
                  "its successor has been through it, e.g. a barrier between rounds"));
  }
  // Where ranks wait for the front, that is no part of the stage.
  if (traces_ && in_piece_ == 0 && !options_.all_busy) begun_s_ = context_->now_s();
  if (in_piece_ == 0) in_pieces_ = (seen & ((1U << kRoundShift) - 1)) + 1;
  here_ = end_of(in_piece_, in_pieces_);
  ++in_piece_;
}

// The least time is the safer error, as for loops: it promises less to hide.
void Wavefront::refine() {
  if (!measuring_) return;
  measuring_ = false;
  Sent& sent = sent_[stage_.leaves];
  ++sent.executions;
  sent.least_compute_s =
      sent.executions == 1 ? computed_s_ : std::min(sent.least_compute_s, computed_s_);
}

// The plan is made again for its reasons and times, so that nothing of them is kept without a
// trace.
void Wavefront::trace() {
  const double seconds = context_->now_s() - begun_s_;
  const Sent& sent = sent_[stage_.leaves];
  detail::ContextState& state = context_->state();
  detail::LoopState& loops = detail::LoopState::of(state);
  const model::Path path = state.path_to(stage_.target);
  const plan::StripCosts* const costs = loops.costs(path);
  const bool takes_over = stage_.comes != kNoCrossing;
  const plan::WavefrontRequest request =
      request_of(state, options_, path, sent.lines, sent.line_bytes, sent.planned_compute_s);
  std::function<std::string()> command = [] { return std::string(); };
  detail::Choice choice;
  choice.pieces = sent.pieces;
  if (options_.pieces != 0) {
    choice.reason = plan::Reason::forced;
  } else if (state.reachable[stage_.target] != nullptr) {
    choice.reason = plan::Reason::own_memory;
  } else if (!options_.use_model || costs == nullptr) {
    choice.reason = plan::Reason::no_model;
  } else if (sent.planned_compute_s < 0) {
    choice.unplanned = true;
  } else if (sent.pieces != sent.planned) {
    choice.reason = plan::Reason::guarded;
  } else {
    command = [&] { return detail::explain_command(state, request, path); };
    choice.reason = plan::plan_wavefront(request, costs).reason;
    if (choice.reason != plan::Reason::no_model) {
      plan::WavefrontRequest of_rank = request;
      // Nothing comes to the first rank of a pipeline, which therefore serves nobody.
      of_rank.surroundings.target_polls_only &= takes_over || options_.all_busy;
      const plan::WavefrontTime time = plan::predict_wavefront(of_rank, *costs, sent.pieces);
      choice.predicted_s = takes_over && options_.all_busy ? time.step_s : time.busy_s;
    }
  }
  state.trace->note(stage_.call,
                    rma::call_id(stage_.leaves, sent.lines, sent.line_bytes, takes_over), choice,
                    seconds,
                    "crossing " + std::to_string(stage_.leaves) + ", " +
                        std::to_string(sent.lines) + " x " + exact_bytes_text(sent.line_bytes),
                    command);
}

void Wavefront::finish() {
  for (future& one : leaving_) one.wait();
  leaving_.clear();
}

uint32_t Wavefront::pieces(size_t crossing) const {
  return crossing < sent_.size() ? sent_[crossing].pieces : 0;
}

}  // namespace stripline
