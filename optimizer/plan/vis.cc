#include "optimizer/plan/vis.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "optimizer/plan/vis_choice.h"
#include "optimizer/plan/vis_costs.h"
#include "optimizer/plan/vis_time.h"

namespace stripline::plan {
namespace {

using namespace detail;

// Data bytes below which a packed message is not worth its header.
constexpr uint64_t kLeastData = 8;

// Regions of so many messages or more travel as well by themselves as in chunks.
constexpr uint64_t kPackedBelowMessages = 2;

// A window is so many times what suffices on an idle network, as others' messages come between.
constexpr uint32_t kSlack = 2;

// Chunks that are tried where none was tuned: the largest and so many halvings.
constexpr int kHalvings = 5;

uint64_t least_chunk(const VisRequest& request) {
  return uint64_t{request.message_header_bytes} + request.region_header_bytes + kLeastData;
}

uint64_t buffer_per_peer(const VisRequest& request) {
  return request.max_buffer_bytes / std::max<uint32_t>(request.peers, 1);
}

// The window and chunk of packed messages next to those asked for that the request allows. The
// window gives way to the buffer first: half a chunk costs twice the messages.
VisCandidate fitting_packed(const VisRequest& request, uint64_t chunk_bytes, uint32_t window) {
  const uint64_t buffer = buffer_per_peer(request);
  VisCandidate candidate{VisMethod::packed, window, 0};
  candidate.chunk_bytes =
      std::clamp(chunk_bytes, least_chunk(request), std::min(request.medium_bytes, buffer));
  uint64_t most =
      std::min(buffer / candidate.chunk_bytes,
               vis_message_count(request, carried_chunk(request, candidate.chunk_bytes)));
  if (vis_lands(request, candidate.chunk_bytes)) most = std::min<uint64_t>(most, kLandingSlots);
  candidate.window =
      static_cast<uint32_t>(std::clamp<uint64_t>(most, 1, std::max<uint32_t>(window, 1)));
  return candidate;
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
  const uint64_t operations =
      method == VisMethod::native_iov ? iov_operations(request) : vis_pieces(request);
  const double bytes = static_cast<double>(vis_bytes(request)) / static_cast<double>(operations);
  const cost::MessageCosts& m = link.at(static_cast<uint64_t>(bytes));
  const double stage = m.stream(bytes);
  if (!(stage > 0)) return kDefaultPipelinedWindow;
  const double round = m.blocking(bytes) + contiguous_delay(request, costs);
  const double enough = kSlack * (round / stage + 1);
  return std::min<uint64_t>(link.queue_depth(),
                            enough < 1e6 ? static_cast<uint64_t>(enough) + 1 : 1000000);
}

// The window and chunk of a possible method, where the caller does not choose (0).
VisCandidate candidate_of(const VisRequest& request, const VisCosts* costs, VisMethod method,
                          uint64_t chunk_bytes, uint32_t window) {
  switch (method) {
    case VisMethod::pipelined:
    case VisMethod::native_iov: {
      uint64_t in_flight = window;
      if (in_flight == 0 && costs != nullptr) {
        const uint32_t tuned = costs->tuning(request.direction).pipelined_window;
        in_flight = tuned > 0 ? tuned : sufficient_window(request, *costs, method);
      }
      if (in_flight == 0) in_flight = kDefaultPipelinedWindow;
      return {method, fitting_window(request, method, in_flight), 0};
    }
    case VisMethod::bounding_box:
      return {method, 1, 0};
    case VisMethod::packed:
      break;
  }
  const VisTuning tuning = costs != nullptr ? costs->tuning(request.direction) : VisTuning{};
  if (window == 0) window = tuning.window > 0 ? tuning.window : kDefaultPackedWindow;
  if (chunk_bytes != 0) return fitting_packed(request, chunk_bytes, window);
  // Chunks were tuned with regions at the target. Where there is one, chunks can go to their place,
  // which takes nothing of the target's time.
  if (tuning.chunk_bytes != 0 && !one_place(request)) {
    return fitting_packed(request, tuning.chunk_bytes, window);
  }
  VisCandidate best = fitting_packed(request, request.medium_bytes, window);
  if (costs == nullptr) return best;
  if (tuning.chunk_bytes != 0 && !vis_lands(request, best.chunk_bytes)) {
    return fitting_packed(request, tuning.chunk_bytes, window);
  }
  double best_s = model_time(request, *costs, best);
  const auto consider = [&](uint64_t bytes) {
    const VisCandidate other = fitting_packed(request, bytes, window);
    const double other_s = model_time(request, *costs, other);
    if (other_s >= best_s) return;
    best = other;
    best_s = other_s;
  };
  if (tuning.chunk_bytes != 0) {
    consider(tuning.chunk_bytes);
    return best;
  }
  for (int i = 1; i <= kHalvings; ++i) consider(request.medium_bytes >> i);
  return best;
}

VisPlan plan_of(const VisCandidate& candidate, Reason reason) {
  VisPlan plan;
  plan.method = candidate.method;
  plan.reason = reason;
  plan.window = candidate.window;
  plan.chunk_bytes = candidate.chunk_bytes;
  plan.runner_up = candidate.method;
  return plan;
}

bool predictable(const VisRequest& request, const VisCosts* costs) {
  return costs != nullptr && costs->has(request.direction) &&
         (costs->has_am() || !vis_allowed(request, VisMethod::packed));
}

// A candidate with the logarithm of its time.
struct Judged {
  VisCandidate candidate;
  cost::LogRatio residual;
  double log_s = 0;
  // Down to the lower end of its interval, and up to the upper one.
  double below() const { return residual.value - residual.low; }
  double above() const { return residual.high - residual.value; }
};

// Of logarithms, which are neither huge nor tiny: std::hypot() takes care of such.
double length(double a, double b) { return std::sqrt(a * a + b * b); }

cost::LogRatio residual_of(const VisRequest& request, const VisCosts& costs,
                           const VisCandidate& candidate, double log2_region_bytes,
                           double log2_data_bytes) {
  // Residuals of the other classes go with their delays.
  const ComputeClass compute =
      request.signalled ? ComputeClass::communication_only : request.compute;
  return costs.residual(request.direction, compute, candidate.method, vis_spread(request),
                        vis_lands(request, candidate.chunk_bytes), log2_region_bytes,
                        log2_data_bytes);
}

double log2_or_zero(uint64_t value) {
  return value > 1 ? std::log2(static_cast<double>(value)) : 0.0;
}

struct NoSink {
  void considered(const VisCandidate&, double, double, double, double) {}
};

struct Adapter {
  VisSink& sink;
  void considered(const VisCandidate& candidate, double model_s, double residual, double low,
                  double high) {
    sink.considered(candidate, model_s, residual, low, high);
  }
};

// Without a model.
VisPlan blind(const VisRequest& request) {
  const uint64_t pieces = vis_pieces(request);
  const uint64_t piece_bytes = vis_bytes(request) / pieces;
  const bool pack = pieces >= 2 && piece_bytes < request.medium_bytes &&
                    piece_bytes / kPackedBelowMessages < request.message_bytes &&
                    vis_allowed(request, VisMethod::packed);
  const VisMethod method = pack ? VisMethod::packed : VisMethod::pipelined;
  return plan_of(candidate_of(request, nullptr, method, 0, 0), Reason::no_model);
}

// The method that is chosen, and what it was chosen before.
struct Decision {
  Judged chosen;
  Judged other;  // the same, where there is no other
  bool uncertain = false;
  PackedParts packed;  // of the packed candidate, if there is one
};

template <typename Sink>
Decision decide(const VisRequest& request, const VisCosts& costs, Sink sink) {
  const double x = log2_or_zero(request.region_bytes);
  const double y = x + log2_or_zero(request.regions);
  Decision decision;
  // The two fastest; of methods that take equally long the simpler one, which comes first.
  Judged& best = decision.chosen;
  Judged& next = decision.other;
  size_t count = 0;
  for (size_t i = 0; i < kVisMethods; ++i) {
    const auto method = static_cast<VisMethod>(i);
    if (!vis_allowed(request, method)) continue;
    const VisCandidate candidate = candidate_of(request, &costs, method, 0, 0);
    const bool is_packed = method == VisMethod::packed;
    if (is_packed) {
      decision.packed = packed_parts(request, costs, candidate.chunk_bytes,
                                     packed_delay(request, costs.tuning(request.direction)));
    }
    const double model_s = is_packed ? packed_time(request, costs, decision.packed,
                                                   candidate.chunk_bytes, candidate.window)
                                     : model_time(request, costs, candidate);
    const cost::LogRatio residual = residual_of(request, costs, candidate, x, y);
    if constexpr (!std::is_same_v<Sink, NoSink>) {
      sink.considered(candidate, model_s, std::exp(residual.value), std::exp(residual.low),
                      std::exp(residual.high));
    }
    const Judged judged{candidate, residual, std::log(std::max(model_s, 1e-12)) + residual.value};
    if (count == 0 || judged.log_s < best.log_s) {
      next = best;
      best = judged;
    } else if (count == 1 || judged.log_s < next.log_s) {
      next = judged;
    }
    ++count;
  }
  if (count < 2) {
    next = best;
    return decision;
  }
  // ln(best / next) lies in [difference - down, difference + up].
  const double difference = best.log_s - next.log_s;
  const double up = length(best.above(), next.below());
  const double down = length(best.below(), next.above());
  decision.uncertain = difference + up >= 0;
  // What either loses at most: the best one exp(difference + up) - 1, the other one
  // exp(down - difference) - 1.
  if (difference + up > down - difference) std::swap(best, next);
  return decision;
}

template <typename Sink>
VisPlan plan_with(const VisRequest& request, const VisCosts* costs, Sink sink) {
  if (!predictable(request, costs)) return blind(request);
  const Decision decision = decide(request, *costs, sink);
  VisPlan plan = plan_of(decision.chosen.candidate, Reason::tuned);
  plan.predicted_s = std::exp(decision.chosen.log_s);
  plan.runner_up = decision.other.candidate.method;
  plan.runner_up_s = std::exp(decision.other.log_s);
  plan.uncertain = decision.uncertain;
  return plan;
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
  switch (method) {
    case VisMethod::pipelined:
      return true;
    case VisMethod::native_iov:
      return request.iov_limit > 1 && vis_pieces(request) > 1;
    case VisMethod::bounding_box:
      return request.direction == Direction::get && request.bounding_box_allowed &&
             vis_pieces(request) > 1 && request.extent_bytes <= buffer_per_peer(request);
    case VisMethod::packed:
      break;
  }
  return std::min(request.medium_bytes, buffer_per_peer(request)) >= least_chunk(request);
}

VisPlan plan_vis(const VisRequest& request, const VisCosts* costs) noexcept {
  return plan_with(request, costs, NoSink{});
}

VisPlan explain_vis(const VisRequest& request, const VisCosts* costs, VisSink& sink) {
  return plan_with(request, costs, Adapter{sink});
}

VisChoice detail::choose_vis(const VisRequest& request, const VisCosts& costs) noexcept {
  if (predictable(request, &costs)) {
    const Decision decision = decide(request, costs, NoSink{});
    const VisCandidate& candidate = decision.chosen.candidate;
    return {candidate,
            candidate.method == VisMethod::packed ? packed_stage(decision.packed)
                                                  : vis_stage(request, costs, candidate),
            decision.chosen.residual};
  }
  const VisPlan plan = blind(request);
  const VisCandidate candidate{plan.method, plan.window, plan.chunk_bytes};
  const double x = log2_or_zero(request.region_bytes);
  return {candidate, vis_stage(request, costs, candidate),
          residual_of(request, costs, candidate, x, x + log2_or_zero(request.regions))};
}

VisPlan force_vis(const VisRequest& request, const VisCosts* costs, VisMethod method,
                  uint64_t chunk_bytes, uint32_t window) noexcept {
  if (!vis_allowed(request, method)) return plan_vis(request, costs);
  const bool known = costs != nullptr && costs->has(request.direction) &&
                     (method != VisMethod::packed || costs->has_am());
  const VisCandidate candidate =
      candidate_of(request, known ? costs : nullptr, method, chunk_bytes, window);
  VisPlan plan = plan_of(candidate, Reason::forced);
  if (known) {
    const double log2_region_bytes = log2_or_zero(request.region_bytes);
    const cost::LogRatio residual = residual_of(request, *costs, candidate, log2_region_bytes,
                                                log2_region_bytes + log2_or_zero(request.regions));
    plan.predicted_s = model_time(request, *costs, candidate) * std::exp(residual.value);
    plan.runner_up_s = plan.predicted_s;
  }
  return plan;
}

std::string_view to_string(VisMethod method) {
  switch (method) {
    case VisMethod::pipelined:
      return "pipelined";
    case VisMethod::native_iov:
      return "native_iov";
    case VisMethod::bounding_box:
      return "bounding_box";
    case VisMethod::packed:
      return "packed";
  }
  return "unknown";
}

std::string_view to_string(ComputeClass compute) {
  switch (compute) {
    case ComputeClass::communication_only:
      return "communication_only";
    case ComputeClass::light:
      return "light";
    case ComputeClass::heavy:
      return "heavy";
  }
  return "unknown";
}

}  // namespace stripline::plan
