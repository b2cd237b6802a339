#include "optimizer/plan/strip.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "optimizer/plan/strip_time.h"

namespace stripline::plan {
namespace {

using cost::Corner;
using cost::MessageCosts;

// Strips start at cache lines where their size allows it.
constexpr uint64_t kCacheLineBytes = 64;
// After so many sizes in a row that cannot win, smaller ones of the same protocol cannot either:
// the cost of issuing grows with their number.
constexpr int kHopelessSizes = 2;
constexpr uint64_t kMaxStrips = uint64_t{1} << 24;

uint64_t saturating_add(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  return b != 0 && a > std::numeric_limits<uint64_t>::max() / b
             ? std::numeric_limits<uint64_t>::max()
             : a * b;
}

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint64_t granule_bytes(const StripRequest& request) {
  const uint64_t bytes = saturating_multiply(request.element_bytes, request.granule_elements);
  return bytes == 0 ? 1 : bytes;
}

// What sizes are rounded up to: whole granules, and whole cache lines as well where that is a small
// part of the strip.
struct Rounding {
  explicit Rounding(const StripRequest& request)
      : granule(granule_bytes(request)),
        line(granule > (uint64_t{1} << 32)
                 ? granule
                 : granule * (kCacheLineBytes / std::gcd(granule, kCacheLineBytes))) {}
  uint64_t operator()(uint64_t bytes) const {
    return round_up(std::max(bytes, granule), bytes >= 16 * line ? line : granule);
  }
  uint64_t granule;
  uint64_t line;
};

uint64_t halo_of(const StripRequest& request) {
  return request.direction == Direction::get ? request.halo_bytes : 0;
}

uint64_t blocks_of(const StripRequest& request) { return request.blocks == 0 ? 1 : request.blocks; }

// Consecutive blocks of one rank.
uint64_t blocks_per_peer(const StripRequest& request) {
  return blocks_of(request) / std::clamp<uint64_t>(request.peers, 1, blocks_of(request));
}

// Bytes of one of the contiguous regions, the largest if they differ.
uint64_t block_bytes(const StripRequest& request) {
  const uint64_t element = request.element_bytes == 0 ? 1 : request.element_bytes;
  const uint64_t blocks = blocks_of(request);
  return round_up((request.total_bytes + blocks - 1) / blocks, element);
}

// Buffer bytes of schedule A.
uint64_t whole_bytes(const StripRequest& request) {
  return saturating_add(request.total_bytes,
                        saturating_multiply(halo_of(request), blocks_of(request)));
}

// The largest strip whose blocking transfer the buffer holds.
uint64_t largest_piece(const StripRequest& request) {
  const uint64_t total = block_bytes(request);
  if (saturating_add(total, request.halo_bytes) <= request.max_buffer_bytes) return total;
  const uint64_t granule = granule_bytes(request);
  const uint64_t room = request.max_buffer_bytes > request.halo_bytes
                            ? request.max_buffer_bytes - request.halo_bytes
                            : 0;
  return std::clamp(room / granule * granule, std::min(granule, total), total);
}

uint64_t strips_per_block(uint64_t block, uint64_t strip) {
  return strip == 0 || strip >= block ? 1 : (block + strip - 1) / strip;
}

uint64_t strip_count(const StripRequest& request, uint64_t strip) {
  return saturating_multiply(blocks_of(request), strips_per_block(block_bytes(request), strip));
}

// A request with everything resolved that does not depend on the candidate.
class Evaluator {
 public:
  Evaluator(const StripRequest& request, const StripCosts& costs)
      : request_(request),
        costs_(costs),
        link_(request.direction == Direction::get ? costs.get() : costs.put()),
        total_(request.total_bytes),
        blocks_(blocks_of(request)),
        block_(block_bytes(request)),
        halo_(halo_of(request)) {}

  const cost::LinkCosts& link() const { return link_; }
  uint32_t queue_depth() const { return link_.queue_depth(); }

  /// Blocking transfers of pieces, each followed (or preceded) by its computation; own work hides
  /// under the first.
  double vectorised(uint64_t piece, Corner corner, double compute_s) const {
    const uint64_t count = strips_per_block(block_, piece);
    const uint64_t last = block_ - (count - 1) * std::min(piece, block_);
    double per_block = blocking(last + halo_, corner);
    if (count > 1) per_block += static_cast<double>(count - 1) * blocking(piece + halo_, corner);
    double time = compute_s + static_cast<double>(blocks_) * per_block;
    const double own_s = own_work(compute_s);
    if (own_s > 0) {
      const uint64_t first = (count > 1 ? piece : last) + halo_;
      time += std::max(0.0, own_s - at(first, corner).round_trip(static_cast<double>(first)));
    }
    return time;
  }

  /// Everything of a strip size that both schedules share. With `whole_halo` every message carries
  /// the halo (schedule B: separate buffers), else only the first (A: one buffer).
  StripTerms terms(uint64_t strip, bool whole_halo, Corner corner, double compute_s) const {
    const uint64_t per_block = strips_per_block(block_, strip);
    const uint64_t count = blocks_ * per_block;
    const uint64_t full = per_block == 1 ? block_ : strip;
    const uint64_t last = block_ - (per_block - 1) * full;
    const double overhead =
        costs_.strip_overhead(corner == Corner::nominal ? overhead_corner_ : corner);
    const double per_byte = compute_s / static_cast<double>(total_);
    StripTerms t;
    t.strips = static_cast<double>(count);
    t.queue = static_cast<double>(queue_depth());
    if (blocks_ == 1) {
      t.work = overhead + per_byte * static_cast<double>(full);
      t.work_last = overhead + per_byte * static_cast<double>(last);
    } else {  // blocks end in shorter strips all along the loop: work with the mean
      t.work = t.work_last = overhead + compute_s / t.strips;
    }
    t.own_work = own_work(compute_s);
    const uint64_t extra = whole_halo ? halo_ : 0;
    const double bytes = static_cast<double>(full + extra);
    const MessageCosts& message = at(full + extra, corner);
    t.o = message.o(bytes);
    t.r = message.r(bytes);
    t.round_trip = message.round_trip(bytes);
    t.gap = message.gap(bytes);
    if (last == full) {
      t.o_last = t.o;
      t.r_last = t.r;
      t.round_trip_last = t.round_trip;
    } else {
      const double short_bytes = static_cast<double>(last + extra);
      const MessageCosts& short_message = at(last + extra, corner);
      t.o_last = short_message.o(short_bytes);
      t.r_last = short_message.r(short_bytes);
      t.round_trip_last = short_message.round_trip(short_bytes);
    }
    if (whole_halo || halo_ == 0) {
      t.o_first = t.o;
      t.round_trip_first = t.round_trip;
      t.gap_first = t.gap;
    } else {
      const double first_bytes = static_cast<double>(full + halo_);
      const MessageCosts& first = at(full + halo_, corner);
      t.o_first = first.o(first_bytes);
      t.round_trip_first = first.round_trip(first_bytes);
      t.gap_first = first.gap(first_bytes);
    }
    return t;
  }

  double all_issued(StripTerms& t) const {
    t.lag = lag(t, t.strips);
    return request_.direction == Direction::get ? strip_time::get_all_issued(t)
                                                : strip_time::put_all_issued(t);
  }

  double pipelined(StripTerms& t, uint32_t window) const {
    t.window = window;
    t.lag = lag(t, t.window);
    return request_.direction == Direction::get ? strip_time::get_pipelined(t)
                                                : strip_time::put_pipelined(t);
  }

  /// No schedule of a strip size is faster: the CPU's work, and the NIC's with the first message's
  /// issue and the last one's return.
  static double bound(const StripTerms& t) {
    const double more = t.strips - 1;
    const double cpu = t.own_work + more * (t.o + t.r + t.work) + t.o_last + t.r_last + t.work_last;
    const double nic = t.o_last + more * t.gap + t.round_trip_last + t.r_last;
    return std::max(cpu, nic);
  }

  /// The smallest window that does not limit the pipeline: within it a message comes back.
  uint32_t sufficient_window(const StripTerms& t) const {
    const double step = std::max(t.o + t.r + t.work, t.gap);
    double cycle = t.o + t.round_trip + t.r;
    if (request_.direction == Direction::put) cycle += t.work;
    if (!(step > 0)) return 1;
    const double window = std::ceil(cycle / step);
    return window < 65536 ? std::max<uint32_t>(static_cast<uint32_t>(window), 1) : 65536;
  }

  /// The strips of one rank's blocks: with more in flight than these, gets wait among those of
  /// other ranks' loops.
  uint32_t strips_per_peer(uint64_t count) const {
    return static_cast<uint32_t>(
        std::min<uint64_t>(count / blocks_ * blocks_per_peer(request_), 65536));
  }

  /// The largest window that request and queue allow for a strip size; 0: none.
  uint32_t largest_window(uint64_t strip, uint64_t count) const {
    const uint64_t per_strip = saturating_add(strip, halo_);
    uint64_t buffers = per_strip == 0 ? 0 : request_.max_buffer_bytes / per_strip;
    if (request_.direction == Direction::get) buffers -= buffers > 0 ? 1 : 0;  // being computed on
    return static_cast<uint32_t>(
        std::min({buffers, count - 1, static_cast<uint64_t>(queue_depth()), uint64_t{65536}}));
  }

  /// From here on `message`, a segment of link(), counts as `replacement` at the nominal corner.
  void replace(const MessageCosts& message, const MessageCosts& replacement) {
    replaced_ = &message;
    replacement_ = replacement;
  }
  void restore() { replaced_ = nullptr; }
  void set_overhead(Corner corner) { overhead_corner_ = corner; }

  bool fits_whole() const { return whole_bytes(request_) <= request_.max_buffer_bytes; }

  double predict(const StripCandidate& candidate, Corner corner, double compute_s) const {
    if (candidate.schedule == Schedule::vectorised) {
      return vectorised(candidate.strip_bytes, corner, compute_s);
    }
    const bool pipeline = candidate.schedule == Schedule::pipelined;
    StripTerms t = terms(candidate.strip_bytes, pipeline, corner, compute_s);
    if (pipeline && t.strips > candidate.window) return pipelined(t, candidate.window);
    return all_issued(t);
  }

 private:
  const MessageCosts& at(uint64_t bytes, Corner corner) const {
    const MessageCosts& message = link_.at(bytes, corner);
    return &message == replaced_ ? replacement_ : message;
  }

  // Of `in_flight` strips, those of the second and later ranks, which may be served first.
  double lag(const StripTerms& t, double in_flight) const {
    if (request_.peers < 2 || request_.direction == Direction::put) return 0;
    const double per_peer =
        t.strips * static_cast<double>(blocks_per_peer(request_)) / static_cast<double>(blocks_);
    return in_flight > per_peer ? (std::ceil(in_flight / per_peer) - 1) * per_peer * t.gap : 0;
  }

  double own_work(double compute_s) const {
    if (request_.own_bytes == 0 || request_.direction == Direction::put) return 0;
    return compute_s * static_cast<double>(request_.own_bytes) / static_cast<double>(total_);
  }

  double blocking(uint64_t bytes, Corner corner) const {
    return at(bytes, corner).blocking(static_cast<double>(bytes));
  }

  const StripRequest& request_;
  const StripCosts& costs_;
  const cost::LinkCosts& link_;
  uint64_t total_;
  uint64_t blocks_;
  uint64_t block_;
  uint64_t halo_;
  const MessageCosts* replaced_ = nullptr;
  MessageCosts replacement_;
  Corner overhead_corner_ = Corner::nominal;
};

bool knows(const StripCosts* costs, Direction direction) {
  return costs != nullptr && (direction == Direction::get ? costs->has_get() : costs->has_put());
}

StripPlan plan_of(const StripRequest& request, const StripCandidate& candidate, Reason reason) {
  StripPlan plan;
  plan.schedule = candidate.schedule;
  plan.reason = reason;
  plan.count = strip_count(request, candidate.strip_bytes);
  plan.strip_bytes = std::min(candidate.strip_bytes, block_bytes(request));
  if (candidate.schedule == Schedule::all_issued) {
    plan.burst = static_cast<uint32_t>(plan.count);
    if (request.direction == Direction::put) plan.sync_burst = plan.burst;
  } else if (candidate.schedule == Schedule::pipelined) {
    plan.burst = candidate.window;
  }
  return plan;
}

// Sinks of plan_strip: nothing, at no cost.
struct NoSink {
  void considered(const StripCandidate&, double) {}
  void pruned(uint64_t, double) {}
  void sensitivity(Source, bool, double) {}
};

// The nominal message with one source at another end of its interval.
MessageCosts perturbed(const MessageCosts& nominal, const MessageCosts& end, Source source) {
  MessageCosts message = nominal;
  switch (source) {
    case Source::issue:
      message.o_base = end.o_base;
      message.o_per_byte = end.o_per_byte;
      break;
    case Source::latency:
      message.L = end.L;
      break;
    case Source::gap:
      message.g = end.g;
      break;
    case Source::bandwidth:
      message.G = end.G;
      break;
    case Source::retire:
      message.r_base = end.r_base;
      message.r_per_byte = end.r_per_byte;
      break;
    case Source::overhead:
    case Source::compute:
      break;  // not of a message
  }
  return message;
}

constexpr std::array kMessageSources = {Source::issue, Source::latency, Source::gap,
                                        Source::bandwidth, Source::retire};

// Propagates the parameters' intervals to the gain of `best` over `baseline`.
template <typename Sink>
double lower_gain(Evaluator& evaluator, const StripRequest& request, const StripCosts& costs,
                  const StripCandidate& baseline, const StripCandidate& best, double compute_s,
                  double nominal_gain, Sink& sink) {
  const auto gain = [&](double with_compute_s) {
    const double before =
        evaluator.vectorised(baseline.strip_bytes, Corner::nominal, with_compute_s);
    const double after = evaluator.predict(best, Corner::nominal, with_compute_s);
    return before > 0 ? 1 - after / before : 0.0;
  };
  double squares = 0;
  const auto add = [&](Source source, bool of_baseline, double lowest_gain) {
    const double loss = std::max(0.0, nominal_gain - lowest_gain);
    squares += loss * loss;
    sink.sensitivity(source, of_baseline, loss);
  };

  const uint64_t halo = halo_of(request);
  const uint64_t sizes[] = {best.strip_bytes, baseline.strip_bytes + halo};
  const bool one_segment = &evaluator.link().at(sizes[0]) == &evaluator.link().at(sizes[1]);
  for (size_t which = 0; which < (one_segment ? 1U : 2U); ++which) {
    const MessageCosts& nominal = evaluator.link().at(sizes[which]);
    const MessageCosts& low = evaluator.link().at(sizes[which], Corner::low);
    const MessageCosts& high = evaluator.link().at(sizes[which], Corner::high);
    for (const Source source : kMessageSources) {
      double lowest = nominal_gain;
      // Dearer strips lose, a cheaper whole message loses; where both are in one segment, issue,
      // gap and retirement are paid more often by strips, latency and bandwidth may go either way.
      const bool try_high = which == 0;
      const bool try_low =
          which == 1 || (one_segment && (source == Source::latency || source == Source::bandwidth));
      if (try_high) {
        evaluator.replace(nominal, perturbed(nominal, high, source));
        lowest = std::min(lowest, gain(compute_s));
      }
      if (try_low) {
        evaluator.replace(nominal, perturbed(nominal, low, source));
        lowest = std::min(lowest, gain(compute_s));
      }
      add(source, which == 1, lowest);
    }
  }
  evaluator.restore();
  evaluator.set_overhead(Corner::high);
  add(Source::overhead, false, gain(compute_s));
  evaluator.set_overhead(Corner::nominal);
  if (request.compute_s < 0) {
    add(Source::compute, false,
        std::min(gain(strip_compute_s(request, costs, Corner::low)),
                 gain(strip_compute_s(request, costs, Corner::high))));
  }
  return nominal_gain - std::sqrt(squares);
}

// The strip sizes to try, from large to small: whole blocks where that is a decomposition, a half,
// a third, a quarter of a block and every power of two below, the largest messages below each
// protocol switch, and what fills a small buffer.
class Sizes {
 public:
  Sizes(const StripRequest& request, uint64_t halo, std::span<const uint64_t> breakpoints)
      : block_(block_bytes(request)), blocks_(blocks_of(request)), rounding_(request) {
    if (blocks_ > 1 || request.own_bytes > 0) sizes_[count_++] = block_;
    for (uint64_t power = std::bit_floor(std::max<uint64_t>(block_ / 2, 1)); power > 0;
         power /= 2) {
      const uint64_t bytes = even(rounding_(power));
      if (usable(bytes) && (count_ == 0 || bytes < sizes_[count_ - 1])) sizes_[count_++] = bytes;
      if (power <= rounding_.granule) break;
    }
    for (uint64_t parts = 2; parts <= 4; ++parts) {
      insert(rounding_((block_ + parts - 1) / parts));
      if (request.max_buffer_bytes / 2 < block_) {
        const uint64_t room = request.max_buffer_bytes / parts;
        insert((room > halo ? room - halo : 0) / rounding_.granule * rounding_.granule);
      }
    }
    size_t switches = 0;
    for (size_t i = breakpoints.size(); i > 0 && switches < kMaxSwitches; --i) {
      const uint64_t largest = breakpoints[i - 1] - 1;
      if (largest <= halo || largest - halo >= block_) continue;
      const uint64_t below = (largest - halo) / rounding_.granule * rounding_.granule;
      insert(below, below);
      ++switches;
    }
  }

  const uint64_t* begin() const { return sizes_.data(); }
  const uint64_t* end() const { return sizes_.data() + count_; }

 private:
  static constexpr size_t kMaxSwitches = 8;

  bool usable(uint64_t bytes) const {
    return bytes > 0 && bytes < block_ &&
           strips_per_block(block_, bytes) <= std::max<uint64_t>(kMaxStrips / blocks_, 2);
  }
  // Strips of about the same size throughout, instead of a short last one, which might even travel
  // by another protocol and overtake.
  uint64_t even(uint64_t bytes) const {
    if (bytes == 0 || bytes >= block_) return bytes;
    const uint64_t parts = strips_per_block(block_, bytes);
    return rounding_((block_ + parts - 1) / parts);
  }
  void insert(uint64_t bytes, uint64_t limit = std::numeric_limits<uint64_t>::max()) {
    if (const uint64_t same = even(bytes); same <= limit) bytes = same;
    if (!usable(bytes)) return;
    size_t place = 0;
    while (place < count_ && sizes_[place] > bytes) ++place;
    if (place < count_ && sizes_[place] == bytes) return;
    for (size_t i = count_; i > place; --i) sizes_[i] = sizes_[i - 1];
    sizes_[place] = bytes;
    ++count_;
  }

  uint64_t block_;
  uint64_t blocks_;
  Rounding rounding_;
  std::array<uint64_t, 1 + 64 + 6 + kMaxSwitches> sizes_;  // NOLINT: filled up to count_
  size_t count_ = 0;
};

template <typename Sink>
StripPlan evaluate(const StripRequest& request, const StripCosts* costs, Sink& sink) {
  const StripCandidate baseline{Schedule::vectorised, largest_piece(request), 1};
  if (!knows(costs, request.direction) || request.total_bytes == 0) {
    return plan_of(request, baseline, Reason::no_model);
  }
  Evaluator evaluator(request, *costs);
  const double compute_s = strip_compute_s(request, *costs, Corner::nominal);
  const double baseline_s = evaluator.vectorised(baseline.strip_bytes, Corner::nominal, compute_s);
  sink.considered(baseline, baseline_s);

  StripCandidate best = baseline;
  double best_s = baseline_s;
  const auto consider = [&](const StripCandidate& candidate, double predicted_s) {
    sink.considered(candidate, predicted_s);
    if (predicted_s < best_s) {
      best_s = predicted_s;
      best = candidate;
    }
  };

  const uint64_t halo = halo_of(request);
  int hopeless = 0;
  const MessageCosts* last_protocol = nullptr;
  for (const uint64_t strip : Sizes(request, halo, evaluator.link().breakpoints())) {
    const MessageCosts* const protocol = &evaluator.link().at(strip + halo);
    if (protocol != last_protocol) hopeless = 0;
    last_protocol = protocol;
    if (hopeless == kHopelessSizes) continue;
    const uint64_t count = strip_count(request, strip);
    // Without a halo both schedules send the same messages; with one, A sends less.
    StripTerms t = evaluator.terms(strip, false, Corner::nominal, compute_s);
    const double bound_s = Evaluator::bound(t);
    if (bound_s >= best_s) {
      sink.pruned(strip, bound_s);
      ++hopeless;
      continue;
    }
    hopeless = 0;
    // Beyond the queue depth issuing gets blocks, and B with as many in flight computes meanwhile.
    if (evaluator.fits_whole() &&
        (request.direction == Direction::put || count <= evaluator.queue_depth())) {
      consider({Schedule::all_issued, strip, 1}, evaluator.all_issued(t));
    }
    if (halo > 0) t = evaluator.terms(strip, true, Corner::nominal, compute_s);
    const uint32_t limit = count < 2 ? 0 : evaluator.largest_window(strip, count);
    if (limit == 0) continue;
    const uint32_t window = std::min(std::bit_ceil(evaluator.sufficient_window(t)), limit);
    consider({Schedule::pipelined, strip, window}, evaluator.pipelined(t, window));
    const uint32_t half = window > 1 ? std::bit_ceil(window) / 2 : 0;
    if (half > 0) consider({Schedule::pipelined, strip, half}, evaluator.pipelined(t, half));
    const uint32_t of_one_peer = evaluator.strips_per_peer(count);
    if (request.peers > 1 && of_one_peer < window && of_one_peer != half) {
      consider({Schedule::pipelined, strip, of_one_peer}, evaluator.pipelined(t, of_one_peer));
    }
  }

  if (best.schedule == Schedule::vectorised) {
    StripPlan plan = plan_of(request, baseline, Reason::no_faster_plan);
    plan.predicted_s = plan.baseline_s = baseline_s;
    return plan;
  }

  const double gain_low = lower_gain(evaluator, request, *costs, baseline, best, compute_s,
                                     1 - best_s / baseline_s, sink);
  const bool sure = gain_low > costs->minimum_gain();
  StripPlan plan = sure ? plan_of(request, best, Reason::tuned)
                        : plan_of(request, baseline, Reason::below_margin);
  plan.predicted_s = sure ? best_s : baseline_s;
  plan.baseline_s = baseline_s;
  plan.gain_low = gain_low;
  return plan;
}

}  // namespace

StripPlan plan_strip(const StripRequest& request, const StripCosts* costs) noexcept {
  NoSink sink;
  return evaluate(request, costs, sink);
}

StripPlan explain_strip(const StripRequest& request, const StripCosts* costs, StripSink& sink) {
  return evaluate(request, costs, sink);
}

StripPlan force_strip(const StripRequest& request, const StripCosts* costs,
                      const StripCandidate& candidate) noexcept {
  StripCandidate allowed = candidate;
  const uint64_t piece = largest_piece(request);
  const bool whole = whole_bytes(request) <= request.max_buffer_bytes;
  if (allowed.schedule == Schedule::vectorised) {
    allowed.strip_bytes = std::min(allowed.strip_bytes == 0 ? piece : allowed.strip_bytes, piece);
  }
  if (allowed.schedule == Schedule::all_issued && !whole) allowed.schedule = Schedule::pipelined;
  const uint64_t granule = granule_bytes(request);
  allowed.strip_bytes =
      std::min(round_up(std::max<uint64_t>(allowed.strip_bytes, 1), granule), piece);
  if (allowed.schedule == Schedule::pipelined) {
    allowed.window = std::max<uint32_t>(allowed.window, 1);
    // Fewer operations in flight, then smaller strips, until the buffers fit.
    while (strip_buffer_bytes(request, allowed) > request.max_buffer_bytes) {
      if (allowed.window > 1) {
        --allowed.window;
      } else if (allowed.strip_bytes > granule) {
        allowed.strip_bytes = round_up(allowed.strip_bytes / 2, granule);
      } else {
        allowed.schedule = Schedule::vectorised;
        break;
      }
    }
    const uint64_t count = strip_count(request, allowed.strip_bytes);
    if (allowed.schedule == Schedule::pipelined && count > 1) {
      allowed.window = static_cast<uint32_t>(std::min<uint64_t>(allowed.window, count - 1));
    }
    if (count == 1) allowed.window = 1;
  }
  StripPlan plan = plan_of(request, allowed, Reason::forced);
  if (knows(costs, request.direction) && request.total_bytes > 0) {
    const Evaluator evaluator(request, *costs);
    const double compute_s = strip_compute_s(request, *costs, Corner::nominal);
    plan.predicted_s = evaluator.predict(allowed, Corner::nominal, compute_s);
    plan.baseline_s = evaluator.vectorised(piece, Corner::nominal, compute_s);
  }
  return plan;
}

double predict_strip(const StripRequest& request, const StripCosts& costs,
                     const StripCandidate& candidate, Corner corner) noexcept {
  if (request.total_bytes == 0) return 0;
  return Evaluator(request, costs)
      .predict(candidate, corner, strip_compute_s(request, costs, corner));
}

double strip_compute_s(const StripRequest& request, const StripCosts& costs,
                       Corner corner) noexcept {
  if (request.compute_s >= 0) return request.compute_s;
  const double elements = static_cast<double>(request.total_bytes) /
                          static_cast<double>(std::max<uint64_t>(request.element_bytes, 1));
  return elements *
         costs.compute().seconds_per_element(
             request.loop, {request.sweeps, request.total_bytes, request.local_bytes}, corner);
}

uint64_t strip_buffer_bytes(const StripRequest& request, const StripCandidate& candidate) noexcept {
  const uint64_t per_strip =
      saturating_add(std::min(candidate.strip_bytes, block_bytes(request)), halo_of(request));
  switch (candidate.schedule) {
    case Schedule::vectorised:
      return per_strip;
    case Schedule::all_issued:
      return whole_bytes(request);
    case Schedule::pipelined: {
      const uint64_t buffers =
          uint64_t{candidate.window} + (request.direction == Direction::get ? 1 : 0);
      return saturating_multiply(std::min(buffers, strip_count(request, candidate.strip_bytes)),
                                 per_strip);
    }
  }
  return 0;
}

std::string_view to_string(Direction direction) {
  return direction == Direction::get ? "get" : "put";
}

std::string_view to_string(Schedule schedule) {
  switch (schedule) {
    case Schedule::vectorised:
      return "vectorised";
    case Schedule::all_issued:
      return "A";
    case Schedule::pipelined:
      return "B";
  }
  return "vectorised";
}

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::no_model:
      return "no_model";
    case Reason::no_faster_plan:
      return "no_faster_plan";
    case Reason::below_margin:
      return "below_margin";
    case Reason::tuned:
      return "tuned";
    case Reason::forced:
      return "forced";
    case Reason::own_memory:
      return "own_memory";
  }
  return "no_model";
}

std::string_view to_string(Source source) {
  switch (source) {
    case Source::issue:
      return "o";
    case Source::latency:
      return "L";
    case Source::gap:
      return "g";
    case Source::bandwidth:
      return "G";
    case Source::retire:
      return "r";
    case Source::overhead:
      return "strip overhead";
    case Source::compute:
      return "computation";
  }
  return "o";
}

}  // namespace stripline::plan
