#include "tests/claims/loops.h"

#include <algorithm>
#include <cmath>

namespace stripline::claims {
namespace {

using plan::Direction;
using plan::Schedule;

const fit::TrueOperation& operation_of(const Network& network, Direction direction) {
  const char* const name = direction == Direction::get ? "get" : "put";
  return *std::ranges::find(network.operations, name, &fit::TrueOperation::name);
}

// One message.
struct Message {
  double issue = 0;
  double retire = 0;
  double latency = 0;  // from injection to completion
  double gap = 0;
};

Message message_of(const fit::TrueOperation& operation, uint64_t bytes) {
  const fit::TrueSegment& s = operation.at(bytes);
  const auto size = static_cast<double>(bytes);
  return {s.o_base + s.o_per_byte * size, s.r_base + s.r_per_byte * size, 2 * s.L + s.G * size,
          s.g + s.G * size};
}

class Execution {
 public:
  Execution(const fit::TrueOperation& operation, bool get) : get_(get), operation_(operation) {}

  void issue(uint64_t bytes) {
    const Message m = message_of(operation_, bytes);
    const auto depth = static_cast<size_t>(operation_.queue_depth);
    const size_t i = arrived_.size();
    if (i >= depth) now_ = std::max(now_, (get_ ? arrived_ : sent_)[i - depth]);
    now_ += m.issue;
    const double injected = std::max(now_, sent_.empty() ? 0.0 : sent_.back());
    sent_.push_back(injected + m.gap);
    arrived_.push_back(injected + m.latency);
    retire_.push_back(m.retire);
  }
  void retire() {
    now_ = std::max(now_, arrived_[retired_]) + retire_[retired_];
    ++retired_;
  }
  void compute(double seconds) { now_ += seconds; }
  bool next_has_arrived() const { return retired_ < arrived_.size() && arrived_[retired_] <= now_; }
  size_t retired() const { return retired_; }
  double now() const { return now_; }

 private:
  bool get_;
  const fit::TrueOperation& operation_;
  double now_ = 0;
  size_t retired_ = 0;
  std::vector<double> sent_, arrived_, retire_;
};

}  // namespace

Loop draw_loop(Draw& draw, const Network& network) {
  Loop loop;
  plan::StripRequest& r = loop.request;
  r.direction = draw.one_in(2) ? Direction::put : Direction::get;
  r.element_bytes = 8;
  r.granule_elements = draw.one_in(3) ? draw.below(200) + 1 : 1;
  const uint64_t granule = r.element_bytes * r.granule_elements;
  r.total_bytes = granule * (1 + static_cast<uint64_t>(draw.scaled(2 << 10, 4 << 20)) / granule);
  const Message whole = message_of(operation_of(network, r.direction), r.total_bytes);
  // From much cheaper to dearer than the transfer, mostly of the same order.
  r.compute_s = whole.latency * draw.scaled(0.05, 5);
  loop.body = 1 + std::clamp(0.02 * draw.normal(), -0.06, 0.06);
  return loop;
}

double true_time(const Network& network, const Loop& loop, Schedule schedule, uint64_t strip_bytes,
                 uint32_t window) {
  const plan::StripRequest& r = loop.request;
  const bool get = r.direction == Direction::get;
  Execution run(operation_of(network, r.direction), get);
  if (schedule == Schedule::vectorised || strip_bytes >= r.total_bytes) {
    if (!get) run.compute(r.compute_s);
    run.issue(r.total_bytes);
    run.retire();
    if (get) run.compute(r.compute_s);
    return run.now();
  }
  const uint64_t count = (r.total_bytes + strip_bytes - 1) / strip_bytes;
  const auto bytes_of = [&](uint64_t i) {
    return i + 1 < count ? strip_bytes : r.total_bytes - (count - 1) * strip_bytes;
  };
  const auto work_of = [&](uint64_t i) {
    return network.strip_overhead_s + loop.body * r.compute_s * static_cast<double>(bytes_of(i)) /
                                          static_cast<double>(r.total_bytes);
  };
  const uint64_t ahead =
      schedule == Schedule::all_issued ? count : std::min<uint64_t>(window, count);
  if (get) {
    for (uint64_t i = 0; i < ahead; ++i) run.issue(bytes_of(i));
    for (uint64_t i = 0; i < count; ++i) {
      run.retire();
      if (i + ahead < count) run.issue(bytes_of(i + ahead));
      run.compute(work_of(i));
    }
    return run.now();
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (i >= ahead && run.retired() <= i - ahead) {  // who waits for one retires all that have come
      do {
        run.retire();
      } while (run.retired() <= i - ahead || (run.retired() < i && run.next_has_arrived()));
    }
    run.compute(work_of(i));
    run.issue(bytes_of(i));
  }
  while (run.retired() < count) run.retire();
  return run.now();
}

double best_of_sweep(const Network& network, const Loop& loop) {
  const plan::StripRequest& r = loop.request;
  const uint64_t granule = r.element_bytes * r.granule_elements;
  double best_s = true_baseline(network, loop);
  for (double parts = 2; parts <= 512; parts *= std::sqrt(2.0)) {
    const auto bytes = static_cast<uint64_t>(static_cast<double>(r.total_bytes) / parts);
    const uint64_t strip = std::max((bytes + granule - 1) / granule * granule, granule);
    if (strip >= r.total_bytes) continue;
    best_s = std::min(best_s, true_time(network, loop, Schedule::all_issued, strip, 1));
    for (const uint32_t window : {1, 2, 4, 8, 16, 32, 64, 128}) {
      best_s = std::min(best_s, true_time(network, loop, Schedule::pipelined, strip, window));
    }
  }
  return best_s;
}

}  // namespace stripline::claims
