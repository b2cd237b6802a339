#include "optimizer/plan/vis.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "optimizer/access/few.h"
#include "optimizer/cost/log2_of.h"
#include "optimizer/plan/vis_choice.h"
#include "optimizer/plan/vis_costs.h"
#include "optimizer/plan/vis_time.h"

namespace stripline::plan {
namespace {

using namespace detail;

// Data bytes below which a packed message is not worth its header.
constexpr uint64_t kLeastData = 8;

// Regions of this many messages or more travel as well by themselves as in chunks.
constexpr uint64_t kPackedBelowMessages = 2;

// A window is this many times what suffices on an idle network, as others' messages come between.
constexpr uint32_t kSlack = 2;

// Chunks that are tried where none was tuned: the largest and this many halvings.
constexpr int kHalvings = 5;

uint64_t least_chunk(const VisRequest& request) {
  return uint64_t{request.message_header_bytes} + request.region_header_bytes + kLeastData;
}

uint64_t buffer_per_peer(const VisRequest& request) {
  return request.peers > 1 ? request.max_buffer_bytes / request.peers : request.max_buffer_bytes;
}

bool is_allowed(const VisRequest& request, VisMethod method) {
  switch (method) {
    case VisMethod::pipelined:
      return true;
    case VisMethod::native_iov:
      return request.iov_limit > 1 && vis_pieces(request) > 1;
    case VisMethod::bounding_box:
      return request.direction == Direction::get && request.bounding_box_allowed &&
             vis_pieces(request) > 1 && request.extent_bytes <= buffer_per_peer(request);
    case VisMethod::packed:
    case VisMethod::best:
      break;
  }
  // What goes through a landing zone is asked for, or announced, by messages.
  const uint64_t least_message =
      uint64_t{request.message_header_bytes} + request.region_header_bytes + kLeastPackedBytes;
  return std::min(request.medium_bytes, buffer_per_peer(request)) >= least_chunk(request) &&
         request.message_bytes >= least_message;
}

// A candidate and its time by the cost model, 0 without one.
struct Prepared {
  VisCandidate candidate;
  bool lands = false;  // packed only
  double model_s = 0;
};

// Packed messages, with what they take, if there is a model.
struct PreparedPacked : Prepared {
  PackedParts parts;
};

// What another size of chunks than the one used without a model is predicted to save at least, as a
// share, beside computation: how chunks queue there is known no better.
constexpr double kChunkDoubt = 0.1;

// The window and chunk of packed messages next to those asked for that the request allows. The
// window is reduced for the buffer first: half a chunk costs twice the messages.
PreparedPacked fitting_packed(const VisRequest& request, const VisCosts* costs,
                              uint64_t chunk_bytes, uint32_t window) {
  const uint64_t buffer = buffer_per_peer(request);
  const uint64_t chunk =
      std::clamp(chunk_bytes, least_chunk(request), std::min(request.medium_bytes, buffer));
  const PackedShape shape = packed_shape(request, chunk);
  uint64_t most = std::min(buffer / chunk, shape.messages);
  if (shape.lands) {
    most = std::min<uint64_t>(most, kLandingSlots);
  } else if (costs != nullptr && request.compute != ComputeClass::communication_only) {
    // A message for which the queue has no place holds up its sender, who could compute meanwhile.
    // Puts of chunks that land leave the queue when they are sent.
    most = std::min<uint64_t>(most, costs->am().queue_depth());
  }
  const auto fitting =
      static_cast<uint32_t>(std::clamp<uint64_t>(most, 1, std::max<uint32_t>(window, 1)));
  PreparedPacked packed{{{VisMethod::packed, fitting, chunk}, shape.lands},
                        costs != nullptr
                            ? packed_parts(request, *costs, shape,
                                           packed_delay(request, costs->tuning(request.direction)))
                            : PackedParts{}};
  if (costs != nullptr) {
    packed.model_s = packed_time(request, *costs, packed.parts, shape.lands, fitting);
  }
  return packed;
}

// The same where the caller may leave both to the planner (0).
PreparedPacked prepare_packed(const VisRequest& request, const VisCosts* costs,
                              uint64_t chunk_bytes, uint32_t window) {
  static constexpr VisTuning kUntuned;
  const VisTuning& tuning = costs != nullptr ? costs->tuning(request.direction) : kUntuned;
  const uint32_t tuned_window = tuning.window > 0 ? tuning.window : kDefaultPackedWindow;
  // Chunks and windows were tuned with regions at the target, and nothing to compute. Where there
  // is one region, chunks can go to their place, which takes nothing of the target's time.
  const bool computes = request.compute != ComputeClass::communication_only;
  const auto fitting = [&](uint64_t bytes) {
    const bool usual = computes && bytes != tuning.chunk_bytes;
    const uint32_t unasked = usual ? kDefaultPackedWindow : tuned_window;
    return fitting_packed(request, costs, bytes, window != 0 ? window : unasked);
  };
  if (chunk_bytes != 0) return fitting(chunk_bytes);
  const bool as_tuned = tuning.chunk_bytes != 0 && !computes;
  if (as_tuned && !one_place(request)) return fitting(tuning.chunk_bytes);
  PreparedPacked best = fitting(request.medium_bytes);
  if (costs == nullptr) return best;
  if (as_tuned && !best.lands) return fitting(tuning.chunk_bytes);
  const double doubt = computes ? kChunkDoubt : 0;
  const auto consider = [&](uint64_t bytes) {
    const PreparedPacked other = fitting(bytes);
    if (other.model_s < (1 - doubt) * best.model_s) best = other;
  };
  if (tuning.chunk_bytes != 0) {
    consider(tuning.chunk_bytes);
    return best;
  }
  for (int i = 1; i <= kHalvings; ++i) consider(request.medium_bytes >> i);
  return best;
}

uint32_t fitting_window(const VisRequest& request, VisMethod method, uint64_t window) {
  const uint64_t operations =
      method == VisMethod::native_iov ? iov_operations(request) : vis_pieces(request);
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  return static_cast<uint32_t>(std::clamp<uint64_t>(window, 1, std::min(operations, kMost)));
}

// Operations in flight that keep the slowest stage busy.
uint64_t sufficient_window(const VisRequest& request, const VisCosts& costs, VisMethod method) {
  const cost::LinkCosts& link = costs.link(request.direction);
  const bool native = method == VisMethod::native_iov;
  const uint64_t operations = native ? iov_operations(request) : vis_pieces(request);
  const double bytes = static_cast<double>(vis_bytes(request)) / static_cast<double>(operations);
  const double largest = native ? iov_bytes(request) : bytes;
  const cost::MessageCosts& m = link.at(static_cast<uint64_t>(largest));
  const double stage = m.stream(bytes);
  if (!(stage > 0)) return kDefaultPipelinedWindow;
  const double round = m.blocking(bytes) + contiguous_delay(request, costs);
  const double enough = kSlack * (round / stage + 1);
  return std::min<uint64_t>(most_outstanding(link, request.direction),
                            enough < 1e6 ? static_cast<uint64_t>(enough) + 1 : 1000000);
}

// A possible method other than packed with its window, where the caller does not choose it (0).
Prepared prepare_unpacked(const VisRequest& request, const VisCosts* costs, VisMethod method,
                          uint32_t window) {
  Prepared one{{method, 1, 0}};
  if (method != VisMethod::bounding_box) {
    uint64_t in_flight = window;
    if (in_flight == 0 && costs != nullptr) {
      const uint32_t tuned = costs->tuning(request.direction).pipelined_window;
      in_flight = tuned > 0 ? tuned : sufficient_window(request, *costs, method);
    }
    if (in_flight == 0) in_flight = kDefaultPipelinedWindow;
    one.candidate.window = fitting_window(request, method, in_flight);
  }
  if (costs != nullptr) one.model_s = model_time(request, *costs, one.candidate);
  return one;
}

Prepared prepare(const VisRequest& request, const VisCosts* costs, VisMethod method,
                 uint64_t chunk_bytes, uint32_t window) {
  if (method == VisMethod::packed) return prepare_packed(request, costs, chunk_bytes, window);
  return prepare_unpacked(request, costs, method, window);
}

// The plan of a candidate that was not compared with others.
VisPlan plan_of(const VisCandidate& candidate, Reason reason, double predicted_s = 0) {
  return {.method = candidate.method,
          .reason = reason,
          .window = candidate.window,
          .chunk_bytes = candidate.chunk_bytes,
          .predicted_s = predicted_s,
          .runner_up_s = predicted_s,
          .runner_up = candidate.method};
}

bool predictable(const VisRequest& request, const VisCosts* costs) {
  return costs != nullptr && costs->has(request.direction) &&
         (costs->has_am() || !vis_allowed(request, VisMethod::packed));
}

// What corrects the times of methods.
const VisCosts::Residuals& residuals_of(const VisRequest& request, const VisCosts& costs) {
  // Residuals of the other classes go with their delays.
  const ComputeClass compute =
      request.signalled ? ComputeClass::communication_only : request.compute;
  return costs.residuals(request.direction, compute, vis_spread(request));
}

// Every possible method, the simplest first. What was prepared stays where it was made.
class Methods {
 public:
  struct One {
    const Prepared* prepared;
    const cost::ResidualTable* residuals;  // that correct its time
    double model_s() const { return prepared->model_s; }
    double at_least_s() const { return model_s() * residuals->least(); }
    double at_most_s() const { return model_s() * residuals->most(); }
  };
  using All = access::Few<One, kVisMethods>;

  Methods(const VisRequest& request, const VisCosts& costs)
      : packs_(is_allowed(request, VisMethod::packed)),
        packed_(packs_ ? prepare_packed(request, &costs, 0, 0) : PreparedPacked{}) {
    const VisCosts::Residuals& residuals = residuals_of(request, costs);
    for (const VisMethod method :
         {VisMethod::pipelined, VisMethod::native_iov, VisMethod::bounding_box}) {
      if (!is_allowed(request, method)) continue;
      const Prepared& one =
          unpacked_.add([&] { return prepare_unpacked(request, &costs, method, 0); });
      all_.emplace_back(&one, &residuals[static_cast<size_t>(method)][0]);
    }
    if (!packs_) return;
    all_.emplace_back(&packed_,
                      &residuals[static_cast<size_t>(VisMethod::packed)][packed_.lands ? 1 : 0]);
  }
  Methods(const Methods&) = delete;
  Methods& operator=(const Methods&) = delete;

  const All& all() const { return all_; }
  /// The parts of the packed candidate, if there is one.
  const PackedParts& packed_parts() const { return packed_.parts; }

  // The one that is faster than all others, whatever their residuals are; null if that is not
  // clear.
  const One* clearly_fastest() const {
    const One* const fastest =
        std::min_element(all_.begin(), all_.end(),
                         [](const One& a, const One& b) { return a.model_s() < b.model_s(); });
    for (const One& other : all_) {
      if (&other != fastest && other.at_least_s() <= fastest->at_most_s()) return nullptr;
    }
    return fastest;
  }

 private:
  bool packs_;
  PreparedPacked packed_;
  access::Few<Prepared, kVisMethods - 1> unpacked_;
  All all_;
};

// Where residuals are looked up.
class Place {
 public:
  explicit Place(const VisRequest& request)
      : log2_region_bytes_(log2_or_zero(request.region_bytes)),
        log2_data_bytes_(log2_region_bytes_ + log2_or_zero(request.regions)) {}

  cost::LogRatio in(const cost::ResidualTable& residuals) const {
    return residuals.at(log2_region_bytes_, log2_data_bytes_);
  }

 private:
  static double log2_or_zero(uint64_t value) {
    return value > 1 ? cost::quick_log2(static_cast<double>(value)) : 0.0;
  }

  double log2_region_bytes_;
  double log2_data_bytes_;
};

// A candidate with what corrects its time, and the logarithm of both together.
struct Judged {
  const Prepared* prepared;
  cost::LogRatio residual;
  double log_s;  // nearly
  LogTime time() const {
    return {log_s, residual.value - residual.low, residual.high - residual.value};
  }
  double predicted_s() const { return prepared->model_s * std::exp(residual.value); }

  Judged(const Methods::One& one, const Place& place)
      : prepared(one.prepared),
        residual(place.in(*one.residuals)),
        log_s(std::numbers::ln2 * cost::quick_log2(std::max(one.model_s(), 1e-12)) +
              residual.value) {}
};

VisMethod blind_method(const VisRequest& request) {
  const uint64_t pieces = vis_pieces(request);
  const uint64_t piece_bytes = vis_bytes(request) / pieces;
  const bool pack = pieces >= 2 && piece_bytes < request.medium_bytes &&
                    piece_bytes / kPackedBelowMessages < request.message_bytes &&
                    vis_allowed(request, VisMethod::packed);
  return pack ? VisMethod::packed : VisMethod::pipelined;
}

// Without a model.
VisPlan blind(const VisRequest& request, Reason reason = Reason::no_model) {
  return plan_of(prepare(request, nullptr, blind_method(request), 0, 0).candidate, reason);
}

// The method that is chosen, and what it was chosen before. As long as the methods live.
class Decision {
 public:
  template <typename Recorder>
  Decision(const Methods& methods, const Place& place, VisMethod without_model, Recorder& record) {
    // The two fastest; of methods that take equally long the simpler one, which comes first.
    for (size_t i = 0; i < methods.all().size(); ++i) {
      const Judged& judged = judged_.add([&] { return Judged(methods.all()[i], place); });
      if constexpr (Recorder::kRecords) {
        const VisAlternative alternative{
            judged.prepared->candidate, judged.prepared->model_s, std::exp(judged.residual.value),
            std::exp(judged.residual.low), std::exp(judged.residual.high)};
        record.consider(alternative, alternative.predicted_s());
      }
      if (judged.log_s < chosen().log_s) {
        other_ = std::exchange(chosen_, i);
      } else if (i == 1 || (i > 1 && judged.log_s < other().log_s)) {
        other_ = i;
      }
    }
    if (judged_.size() < 2) return;
    const LeastRegret regret = least_regret(chosen().time(), other().time());
    uncertain_ = regret.uncertain;
    // A loss against what programs do without a model is worse than a gain that is missed.
    const auto loses = [&](const Judged& judged, double ratio) {
      const bool departs = uncertain_ && judged.prepared->candidate.method != without_model;
      return departs ? kLossAversion * ratio : ratio;
    };
    if (loses(chosen(), regret.faster_loses) > loses(other(), regret.other_loses)) {
      std::swap(chosen_, other_);
    }
  }

  const Judged& chosen() const { return judged_[chosen_]; }
  /// The same, where there is no other.
  const Judged& other() const { return judged_[other_]; }
  bool uncertain() const { return uncertain_; }

 private:
  static constexpr double kLossAversion = 2;

  access::Few<Judged, kVisMethods> judged_;
  size_t chosen_ = 0;
  size_t other_ = 0;
  bool uncertain_ = false;
};

// The residual of a candidate that was not found by its time.
cost::LogRatio residual_of(const VisRequest& request, const VisCosts& costs,
                           const VisCandidate& candidate) {
  const bool lands = vis_lands(request, candidate.chunk_bytes);
  const auto& of_method = residuals_of(request, costs)[static_cast<size_t>(candidate.method)];
  return Place(request).in(of_method[lands ? 1 : 0]);
}

template <typename Recorder>
VisPlan plan_with(const VisRequest& request, const VisCosts* costs, Recorder& record) {
  if (!predictable(request, costs)) return blind(request);
  const Methods methods(request, *costs);
  const Decision decision(methods, Place(request), blind_method(request), record);
  const VisCandidate& chosen = decision.chosen().prepared->candidate;
  return {.method = chosen.method,
          .reason = Reason::tuned,
          .window = chosen.window,
          .chunk_bytes = chosen.chunk_bytes,
          .predicted_s = decision.chosen().predicted_s(),
          .runner_up_s = decision.other().predicted_s(),
          .runner_up = decision.other().prepared->candidate.method,
          .uncertain = decision.uncertain()};
}

}  // namespace

uint64_t vis_message_count(const VisRequest& request, uint64_t chunk_bytes) noexcept {
  const uint64_t header = request.message_header_bytes;
  // A region that is cut between messages is described in both.
  const uint64_t overhead = header + request.region_header_bytes;
  const uint64_t room = chunk_bytes > overhead ? chunk_bytes - overhead : 1;
  const uint64_t data = vis_bytes(request);
  const uint64_t metadata = request.regions * request.region_header_bytes;
  // A put carries both in one message, a get has them in request and reply.
  const uint64_t bytes =
      request.direction == Direction::put ? data + metadata : std::max(data, metadata);
  return std::max<uint64_t>(1, bytes / room + (bytes % room != 0 ? 1 : 0));
}

bool vis_lands(const VisRequest& request, uint64_t chunk_bytes) noexcept {
  if (chunk_bytes <= request.message_bytes) return false;
  if (one_place(request)) return true;
  if (vis_bytes(request) <= kLandingFromMessages * request.message_bytes) return false;
  return request.region_header_bytes == 0 || request.direction == Direction::put ||
         request.region_bytes >= kLandingListRegion;
}

bool vis_allowed(const VisRequest& request, VisMethod method) noexcept {
  return is_allowed(request, method);
}

VisPlan plan_vis(const VisRequest& request, const VisCosts* costs) noexcept {
  NoRecord record;
  return plan_with(request, costs, record);
}

VisPlan baseline_of_vis(const VisRequest& request) noexcept {
  return blind(request, Reason::guarded);
}

VisPlan plan_vis(const VisRequest& request, const VisCosts* costs, VisRecord& record) {
  return plan_with(request, costs, record);
}

VisChoice detail::untuned_vis(const VisRequest& request, const VisCosts& costs) noexcept {
  const VisPlan plan = blind(request);
  const VisCandidate candidate{plan.method, plan.window, plan.chunk_bytes};
  const cost::LogRatio residual = residual_of(request, costs, candidate);
  return {candidate, vis_stage(request, costs, candidate), residual, std::exp(residual.value)};
}

VisChoice detail::choose_vis(const VisRequest& request, const VisCosts& costs) noexcept {
  if (!predictable(request, &costs)) return untuned_vis(request, costs);
  const auto choose = [](const VisCandidate& candidate, const VisStage& stage,
                         const cost::LogRatio& residual) -> VisChoice {
    return {candidate, stage, residual, std::exp(residual.value)};
  };
  const Methods methods(request, costs);
  const Place place(request);
  const auto with_stage = [&](const VisCandidate& candidate, const cost::LogRatio& residual) {
    return candidate.method == VisMethod::packed
               ? choose(candidate, packed_stage(methods.packed_parts()), residual)
               : choose(candidate, vis_stage(request, costs, candidate), residual);
  };
  if (const Methods::One* const fastest = methods.clearly_fastest()) {
    return with_stage(fastest->prepared->candidate, place.in(*fastest->residuals));
  }
  NoRecord record;
  const Decision decision(methods, place, blind_method(request), record);
  return with_stage(decision.chosen().prepared->candidate, decision.chosen().residual);
}

VisPlan force_vis(const VisRequest& request, const VisCosts* costs, VisMethod method,
                  uint64_t chunk_bytes, uint32_t window) noexcept {
  if (!vis_allowed(request, method)) return plan_vis(request, costs);
  const bool known = costs != nullptr && costs->has(request.direction) &&
                     (method != VisMethod::packed || costs->has_am());
  const Prepared prepared = prepare(request, known ? costs : nullptr, method, chunk_bytes, window);
  if (!known) return plan_of(prepared.candidate, Reason::forced);
  const cost::LogRatio residual = residual_of(request, *costs, prepared.candidate);
  return plan_of(prepared.candidate, Reason::forced, prepared.model_s * std::exp(residual.value));
}

}  // namespace stripline::plan
