// Predicted times of a request's candidates. For the files of this folder; inline, because planning
// must not cost more than about a microsecond.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "optimizer/plan/step_costs.h"
#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/strip_shape.h"
#include "optimizer/plan/strip_time.h"

namespace stripline::plan::detail {

using cost::Corner;
using cost::MessageCosts;

// A candidate's terms, and what they are proportional to.
struct CandidateTerms : StripTerms {
  uint64_t strip = 0;
  uint64_t message_bytes = 0, message_bytes_last = 0, message_bytes_first = 0;
  double work_bytes = 0, work_bytes_last = 0;
};

// The loop that is not cut, likewise: blocks of one or more pieces.
struct VectorisedTerms {
  uint64_t piece = 0;
  uint64_t message_bytes = 0, message_bytes_last = 0;
  double messages = 0, messages_last = 0;  // how many of each
  double transfer = 0;                     // seconds of all messages
  double round_trip_first = 0;
  double work = 0, own_work = 0;
  double time() const {
    return transfer + work + (own_work > round_trip_first ? own_work - round_trip_first : 0);
  }
};

// A request with everything resolved that does not depend on the candidate.
class Evaluator {
 public:
  Evaluator(const StripRequest& request, const StripCosts& costs)
      : request_(request),
        costs_(costs),
        link_(request.direction == Direction::get ? costs.get() : costs.put()),
        load_(request.direction == Direction::get ? costs.get_load() : costs.put_load()),
        shape_(request),
        nic_ranks_(request.surroundings.nic_ranks),
        piece_touch_(touch(shape_.piece, shape_.piece + shape_.halo, Corner::nominal)) {}

  const StripShape& shape() const { return shape_; }
  const cost::LinkCosts& link() const { return link_; }
  /// Strips that may be outstanding: a put leaves the queue when it is sent
  /// (optimizer/fit/hinge.h).
  uint32_t queue_depth() const {
    return request_.direction == Direction::get ? link_.queue_depth()
                                                : std::numeric_limits<uint32_t>::max();
  }

  /// Blocking transfers of pieces, each followed (or preceded) by its computation; own work hides
  /// under the first, unless no one serves that meanwhile.
  VectorisedTerms vectorised(uint64_t piece, Corner corner, double compute_s) const {
    const uint64_t per_block = shape_.strips_per_block(piece);
    const uint64_t full = std::min(piece, shape_.block);
    const uint64_t last = shape_.block - (per_block - 1) * full;
    VectorisedTerms t;
    t.piece = piece;
    t.message_bytes = full + shape_.halo;
    t.message_bytes_last = last + shape_.halo;
    t.messages = static_cast<double>(shape_.blocks * (per_block - 1));
    t.messages_last = static_cast<double>(shape_.blocks);
    set_messages(t, corner);
    set_work(t, corner, compute_s);
    return t;
  }
  void set_messages(VectorisedTerms& t, Corner corner) const {
    t.transfer = t.messages_last * message(t.message_bytes_last, corner).blocking_s();
    if (t.messages > 0) t.transfer += t.messages * message(t.message_bytes, corner).blocking_s();
    if (request_.own_bytes == 0 || waits_for_peers(request_)) return;  // nothing hides under it
    const uint64_t first = t.messages > 0 ? t.message_bytes : t.message_bytes_last;
    t.round_trip_first = message(first, corner).round_trip();
  }
  void set_work(VectorisedTerms& t, Corner corner, double compute_s) const {
    t.work = static_cast<double>(shape_.total) *
             per_byte(t.piece, t.piece + shape_.halo, corner, compute_s);
    t.own_work = own_work(compute_s);
  }

  /// The same where ranks share the NIC, and take turns, going through loops like this one: while
  /// one computes, the others' messages come. The one that is served last waits for all the others
  /// once, and later for the NIC only if that has more to do than each rank by itself.
  double vectorised_in_turns(const VectorisedTerms& t) const {
    const TransferCosts last = message(t.message_bytes_last, Corner::nominal);
    const double last_alone = alone_s(t.message_bytes_last);
    double transfer = t.messages_last * last_alone;
    double nic = t.messages_last * last.gap;
    double first_alone = last_alone;
    double first = last.blocking_s();
    if (t.messages > 0) {
      const TransferCosts one = message(t.message_bytes, Corner::nominal);
      first_alone = alone_s(t.message_bytes);
      first = one.blocking_s();
      transfer += t.messages * first_alone;
      nic += t.messages * one.gap;
    }
    const double own = t.own_work > t.round_trip_first ? t.own_work - t.round_trip_first : 0;
    const double work_last = t.work * (static_cast<double>(t.message_bytes_last - shape_.halo) /
                                       static_cast<double>(shape_.total));
    return std::max(transfer + first - first_alone + t.work + own,
                    nic - last.gap / nic_ranks_ + last_alone + work_last);
  }

  /// Everything of a strip size that both schedules share. With `whole_halo` every message carries
  /// the halo (schedule B: separate buffers), else only the first (A: one buffer). `buffer_bytes`:
  /// as of set_work().
  CandidateTerms terms(uint64_t strip, bool whole_halo, uint64_t buffer_bytes, Corner corner,
                       double compute_s) const {
    const uint64_t per_block = shape_.strips_per_block(strip);
    const uint64_t full = per_block == 1 ? shape_.block : strip;
    const uint64_t last = shape_.block - (per_block - 1) * full;
    const uint64_t extra = whole_halo ? shape_.halo : 0;
    CandidateTerms t;
    t.strip = strip;
    t.strips = static_cast<double>(shape_.blocks * per_block);
    t.strips_per_peer = static_cast<double>(per_block * shape_.blocks_per_peer);
    t.queue = static_cast<double>(queue_depth());
    t.message_bytes = full + extra;
    t.message_bytes_last = last + extra;
    t.message_bytes_first = full + shape_.halo;
    if (shape_.blocks == 1) {
      t.work_bytes = static_cast<double>(full);
      t.work_bytes_last = static_cast<double>(last);
    } else {  // blocks end in shorter strips all along the loop: work with the mean
      t.work_bytes = t.work_bytes_last = static_cast<double>(shape_.total) / t.strips;
    }
    set_messages(t, corner);
    set_work(t, buffer_bytes, corner, compute_s);
    return t;
  }
  void set_messages(CandidateTerms& t, Corner corner) const {
    const TransferCosts each = message(t.message_bytes, corner);
    t.o = t.o_last = t.o_first = each.issue;
    t.r = t.r_last = each.retire_and_serve();
    t.filled = each.filled();
    t.round_trip = t.round_trip_last = t.round_trip_first = each.round_trip();
    t.gap = t.gap_first = each.gap;
    if (t.message_bytes_last != t.message_bytes) {
      const TransferCosts last = message(t.message_bytes_last, corner);
      t.o_last = last.issue;
      t.r_last = last.retire_and_serve();
      t.round_trip_last = last.round_trip();
    }
    if (t.message_bytes_first != t.message_bytes) {
      const TransferCosts first = message(t.message_bytes_first, corner);
      t.o_first = first.issue;
      t.round_trip_first = std::max(0.0, first.latency - each.serve);
      t.gap_first = first.gap;
    }
  }
  /// The work of a strip when the loop uses `buffer_bytes` of buffers.
  void set_work(CandidateTerms& t, uint64_t buffer_bytes, Corner corner, double compute_s) const {
    const double overhead =
        costs_.strip_overhead(corner == Corner::nominal ? overhead_corner_ : corner);
    const double of_byte = per_byte(t.strip, buffer_bytes, corner, compute_s);
    t.work = overhead + of_byte * t.work_bytes;
    t.work_last = overhead + of_byte * t.work_bytes_last;
    t.own_work = own_work(compute_s);
  }

  /// True if it matters how many bytes of buffers a loop uses, and how large its strips are.
  bool buffers_matter() const {
    return request_.direction == Direction::get && (costs_.has_buffers() || request_.sweeps > 1);
  }

  /// Bytes of buffers that the schedules use.
  uint64_t all_issued_buffer() const { return shape_.whole; }
  uint64_t pipelined_buffer(uint64_t strip, uint32_t window) const {
    if (request_.placed) return shape_.whole;
    return saturating_multiply(uint64_t{window} + 1, shape_.slot(strip));
  }

  /// Bytes of a strip at which the first one's transfer, which is not hidden, takes as long as
  /// issuing all of them: the sum of both is least there.
  double balanced_strip() const {
    const MessageCosts& message = link_.at(shape_.block + shape_.halo);
    const double serve = request_.surroundings.target_polls_only ? message.s_base : 0;
    const double each =
        message.o_base + message.r_base + serve + costs_.strip_overhead(Corner::nominal);
    const double served_per_byte = request_.surroundings.target_polls_only ? message.s_per_byte : 0;
    const double per_byte = sharing(shape_.block) * message.G - served_per_byte;
    const auto all = static_cast<double>(shape_.block);
    return each < all * per_byte ? std::sqrt(static_cast<double>(shape_.total) * each / per_byte)
                                 : all;
  }

  /// True if smaller strips could be gone through at less cost, because they stay in a cache.
  bool smaller_is_cheaper(uint64_t strip) const {
    constexpr double kNoticeably = 1.02;
    return touch(strip, pipelined_buffer(strip, 1), Corner::nominal) >
           kNoticeably *
               touch(strip / kFewer, pipelined_buffer(strip / kFewer, 1), Corner::nominal);
  }

  /// What the computation takes when the loop is not cut, if it takes `measured_s` with such strips
  /// and buffers.
  double uncut(uint64_t strip, uint64_t buffer_bytes, double measured_s) const {
    const double saved = piece_touch_ - touch(strip, buffer_bytes, Corner::nominal);
    return compute_left(measured_s, -saved * static_cast<double>(shape_.total));
  }

  double all_issued(CandidateTerms& t) const {
    set_lag(t, t.strips);
    return request_.direction == Direction::get ? strip_time::get_all_issued(t)
                                                : strip_time::put_all_issued(t);
  }

  /// Gets beyond the queue wait for a place in it, so that no more are in flight.
  double pipelined(CandidateTerms& t, uint32_t window) const {
    t.window = std::min(window, queue_depth());
    set_lag(t, t.window);
    return request_.direction == Direction::get ? strip_time::get_pipelined(t)
                                                : strip_time::put_pipelined(t);
  }

  /// No schedule of a strip size is faster: the CPU's work, and the NIC's, each with what must come
  /// before and after.
  double bound(const StripTerms& t) const {
    const double more = t.strips - 1;
    const double tail = t.round_trip_last + t.r_last;
    if (request_.direction == Direction::put) {
      const double issue = more * (t.o + t.work) + t.o_last + t.work_last;
      const double first = more > 0 ? t.o + t.work : t.o_last + t.work_last;
      return std::max({issue + tail, issue + more * t.r + t.r_last, first + more * t.gap + tail});
    }
    const double last = t.r_last + t.work_last;
    const double compute = more * (t.r + t.work) + last;
    const double cpu = t.own_work + more * t.o + t.o_last + compute;
    const double first = std::min(t.o + t.round_trip, t.o_last + t.round_trip_last);
    const double nic = std::min(t.o, t.o_last) + more * t.gap + t.round_trip_last + last;
    return std::max({cpu, first + compute, nic});
  }

  /// The window that does not limit the pipeline, with slack.
  uint32_t window_for(const StripTerms& t) const {
    double cycle = t.o + t.round_trip + t.r;
    if (request_.direction == Direction::put || waits_for_peers(request_)) cycle += t.work;
    return ample_window(cycle, std::max(t.o + t.r + t.work, t.gap));
  }

  /// The strips of one rank's blocks: with more in flight than these, gets wait among those of
  /// other ranks' loops.
  uint32_t strips_per_peer(uint64_t count) const {
    return static_cast<uint32_t>(
        std::min<uint64_t>(count / shape_.blocks * shape_.blocks_per_peer, kMostWindow));
  }

  /// The largest window that request and queue allow for a strip size; 0: none.
  uint32_t largest_window(uint64_t strip, uint64_t count) const {
    const uint64_t per_strip = shape_.slot(strip);
    uint64_t buffers = per_strip == 0 ? 0 : request_.max_buffer_bytes / per_strip;
    if (request_.direction == Direction::get) buffers -= buffers > 0 ? 1 : 0;  // being computed on
    return static_cast<uint32_t>(
        std::min({buffers, count - 1, uint64_t{queue_depth()}, uint64_t{kMostWindow}}));
  }

  /// From here on `message`, a segment of link(), counts as `replacement` at the nominal corner.
  void replace(const MessageCosts& message, const MessageCosts& replacement) {
    replaced_ = &message;
    replacement_ = replacement;
  }
  void restore() { replaced_ = nullptr; }
  void set_overhead(Corner corner) { overhead_corner_ = corner; }
  void set_buffers(Corner corner) { buffer_corner_ = corner; }

  bool fits_whole() const { return shape_.whole <= request_.max_buffer_bytes; }

  /// The terms of a candidate other than the vectorised loop, and its time by them.
  CandidateTerms terms(const StripCandidate& candidate, Corner corner, double compute_s) const {
    return terms(candidate.strip_bytes, candidate.schedule == Schedule::pipelined,
                 buffer_bytes(candidate), corner, compute_s);
  }
  uint64_t buffer_bytes(const StripCandidate& candidate) const {
    return candidate.schedule == Schedule::pipelined
               ? pipelined_buffer(candidate.strip_bytes, candidate.window)
               : all_issued_buffer();
  }
  double time(const StripCandidate& candidate, CandidateTerms& t) const {
    const bool pipeline = candidate.schedule == Schedule::pipelined && t.strips > candidate.window;
    return pipeline ? pipelined(t, candidate.window) : all_issued(t);
  }

  double predict(const StripCandidate& candidate, Corner corner, double compute_s) const {
    if (candidate.schedule == Schedule::vectorised) {
      return vectorised(candidate.strip_bytes, corner, compute_s).time();
    }
    CandidateTerms t = terms(candidate, corner, compute_s);
    return time(candidate, t);
  }

 private:
  static constexpr uint64_t kFewer = 4;

  // Seconds per byte that go into going through the data: the first time, out of a buffer of
  // `buffer_bytes`, then strip by strip.
  double touch(uint64_t strip, uint64_t buffer_bytes, Corner corner) const {
    double seconds = costs_.first_read(buffer_bytes, corner);
    if (request_.sweeps > 1) seconds += (request_.sweeps - 1) * costs_.reuse(strip, corner);
    return seconds;
  }

  // CPU seconds per byte after its arrival: the computation, given as that of the loop that is not
  // cut, with what smaller strips and buffers save; and what retiring into the buffer costs.
  double per_byte(uint64_t strip, uint64_t buffer_bytes, Corner corner, double compute_s) const {
    const double uncut = compute_s / static_cast<double>(shape_.total);
    if (request_.direction == Direction::put) return uncut;
    if (corner == Corner::nominal) corner = buffer_corner_;
    const double whole = corner == Corner::nominal
                             ? piece_touch_
                             : touch(shape_.piece, shape_.piece + shape_.halo, corner);
    const double saved = whole - touch(strip, buffer_bytes, corner);
    return compute_left(uncut, saved) + costs_.retire_into(buffer_bytes, corner);
  }

  const MessageCosts& at(uint64_t bytes, Corner corner) const {
    const MessageCosts& message = link_.at(bytes, corner);
    return &message == replaced_ ? replacement_ : message;
  }

  [[gnu::always_inline]] TransferCosts message(uint64_t bytes, Corner corner) const {
    return message_costs(at(bytes, corner), static_cast<double>(bytes), nic_ranks_, sharing(bytes),
                         request_.surroundings.target_polls_only);
  }
  // How many times as long a byte takes as in a network without others.
  double sharing(uint64_t bytes) const {
    if (load_.empty()) return nic_ranks_;
    return nic_ranks_ * load_.slowdown(request_.surroundings.load, bytes);
  }

  // If `in_flight` strips are issued, those of the second and later ranks may be served first.
  // Each message of a window may find another one before it, as windows have room for.
  // Peers that serve between strips have gone through their own data before they serve what is
  // asked of them first; what comes later finds them at a strip, begun when it was asked for.
  void set_lag(CandidateTerms& t, double in_flight) const {
    t.lag = t.others = 0;
    if (request_.direction == Direction::put) return;
    if (request_.surroundings.target_polls_only) {
      t.lag = t.own_work;
      t.others = std::max(0.0, t.work - at(t.message_bytes, Corner::nominal).L);
    }
    if (request_.peers < 2) return;
    if (finds_others(request_)) {
      t.others += (kSlack - 1) * message(t.message_bytes, Corner::nominal).latency;
    }
    const double per_peer = t.strips_per_peer;
    if (in_flight > per_peer) t.lag += (std::ceil(in_flight / per_peer) - 1) * per_peer * t.gap;
  }

  double own_work(double compute_s) const {
    if (request_.own_bytes == 0 || request_.direction == Direction::put) return 0;
    return compute_s * static_cast<double>(request_.own_bytes) / static_cast<double>(shape_.total);
  }

  // The time of a message of a rank that has the NIC to itself.
  double alone_s(uint64_t bytes) const {
    return message_costs(at(bytes, Corner::nominal), static_cast<double>(bytes), 1,
                         sharing(bytes) / nic_ranks_, request_.surroundings.target_polls_only)
        .blocking_s();
  }

  const StripRequest& request_;
  const StripCosts& costs_;
  const cost::LinkCosts& link_;
  const cost::LoadCosts& load_;
  StripShape shape_;
  double nic_ranks_;
  double piece_touch_;
  const MessageCosts* replaced_ = nullptr;
  MessageCosts replacement_;
  Corner overhead_corner_ = Corner::nominal;
  Corner buffer_corner_ = Corner::nominal;
};

}  // namespace stripline::plan::detail
