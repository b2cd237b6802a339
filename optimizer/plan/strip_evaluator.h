// Predicted times of a request's candidates. For the files of this folder; inline, because planning
// must not cost more than about a microsecond.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/strip_shape.h"
#include "optimizer/plan/strip_time.h"

namespace stripline::plan::detail {

using cost::Corner;
using cost::MessageCosts;

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

}  // namespace stripline::plan::detail
