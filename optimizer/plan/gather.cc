#include "optimizer/plan/gather.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "optimizer/plan/gather_mechanism.h"
#include "optimizer/plan/perturbed.h"

namespace stripline::plan {
namespace {

// The number by which an element is named to its owner.
constexpr uint64_t kPlaceBytes = 4;

class Prediction {
 public:
  Prediction(const GatherRequest& request, const CompiledPath& path, const Ends& ends)
      : request_(request), path_(path), ends_(ends) {}

  // To each of the readers, one after another.
  double sent_s(bool packs) const {
    const uint64_t bytes = packs ? request_.bytes() + besides_bytes() : request_.all_span_bytes();
    const double copied = copied_s(bytes, packs ? request_.runs + request_.besides : 1);
    if (request_.by_stores) return request_.readers * copied;
    const bool in_place = !packs && request_.vectors == 1;
    const double ready_s = in_place ? 0 : copied;
    const double others_s =
        (request_.readers - 1) * std::max(ready_s, message(bytes).gap(static_cast<double>(bytes)));
    return ready_s + put_s(bytes) + (in_place ? answer_s(bytes) : 0) + others_s;
  }

  double pulled_s() const {
    if (!path_.vis.has(Direction::put)) return std::numeric_limits<double>::infinity();
    const double copied = copied_s(request_.bytes(), request_.runs);
    // That it may, and that it has.
    const double words_s = 2 * put_s(sizeof(uint64_t));
    if (request_.by_stores) return words_s + copied;
    // What lies in one piece needs no list of places.
    if (request_.runs == 1 && path_.vis.has(Direction::get)) return words_s + got_s();
    return words_s + put_s(request_.elements * sizeof(uint64_t)) + request_.readers * copied +
           put_s(request_.bytes());
  }

  double broadcast_s() const {
    const double hops = std::bit_width(request_.readers);
    const uint64_t bytes = request_.bytes();
    const double of_others_s =
        (request_.owners - 1) * message(bytes).gap(static_cast<double>(bytes));
    const double passed_on_s = hops * put_s(bytes) + answer_s(bytes) + of_others_s;
    if (request_.besides == 0) return ready_s() + passed_on_s;
    const uint64_t others = besides_bytes();
    const double copied = copied_s(others, request_.besides);
    const double besides_s =
        hops * message(bytes).gap(static_cast<double>(bytes)) + copied + put_s(others) +
        (request_.readers - 1) * std::max(copied, message(others).gap(static_cast<double>(others)));
    return ready_s() + std::max(passed_on_s, besides_s);
  }

  // To a node: a message for each of its ranks, or one.
  double apart_s() const {
    const uint64_t bytes = each_bytes();
    const double each_s = copied_s(bytes, each_elements());
    return each_s + one_way_s(bytes) +
           (request_.node_ranks - 1) *
               std::max(each_s, message(bytes).gap(static_cast<double>(bytes)));
  }
  // The part of a gather in naming to the owner the elements that it is to send.
  double named_s(GatherMethod method) const {
    const bool side_by_side = request_.runs == 1 && request_.besides == 0;
    if (request_.uses == 0 || side_by_side || method == GatherMethod::bound ||
        method == GatherMethod::pull) {
      return 0;
    }
    const bool apart = request_.node_ranks > 1 && method != GatherMethod::share;
    const uint64_t elements = apart ? each_elements() : request_.elements + request_.besides;
    const uint64_t bytes = elements * kPlaceBytes;
    return (request_.by_stores ? copied_s(bytes, 1) : put_s(bytes)) /
           static_cast<double>(request_.uses);
  }
  double shared_s() const {
    const double answered_s = as_they_lie() ? answer_s(request_.bytes()) : 0;
    return ready_s() + one_way_s(request_.bytes()) + answered_s +
           copied_s(each_bytes(), each_elements());
  }

 private:
  uint64_t besides_bytes() const {
    return request_.besides * request_.element_bytes * request_.vectors;
  }
  uint64_t each_elements() const {
    return std::max<uint64_t>(1, request_.node_elements / request_.node_ranks);
  }
  uint64_t each_bytes() const {
    return each_elements() * request_.element_bytes * request_.vectors;
  }
  bool as_they_lie() const { return request_.runs == 1 && request_.vectors == 1; }
  double ready_s() const { return as_they_lie() ? 0 : copied_s(request_.bytes(), request_.runs); }

  // Copied in `pieces` pieces; those of several arrays come side by side, element by element.
  double copied_s(uint64_t bytes, uint64_t pieces) const {
    if (request_.vectors > 1) pieces = bytes / request_.element_bytes;
    return path_.vis.pack().pack(static_cast<double>(pieces), static_cast<double>(bytes),
                                 std::max(request_.all_span_bytes(), bytes),
                                 ends_.of(Source::regions));
  }
  cost::MessageCosts message(uint64_t bytes) const {
    const cost::LinkCosts& put = path_.vis.link(Direction::put);
    return detail::at_ends(put.at(bytes), put.at(bytes, ends_.corner), ends_);
  }
  // One get; the owner's NIC serves the readers in turn.
  double got_s() const {
    const uint64_t bytes = request_.bytes();
    const auto size = static_cast<double>(bytes);
    const cost::LinkCosts& get = path_.vis.link(Direction::get);
    const cost::MessageCosts one =
        detail::at_ends(get.at(bytes), get.at(bytes, ends_.corner), ends_);
    const uint32_t others = std::max({request_.surroundings.nic_ranks, request_.readers, 1U}) - 1;
    return one.blocking(size) + others * one.gap(size);
  }
  double one_way_s(uint64_t bytes) const {
    return message(bytes).one_way(static_cast<double>(bytes));
  }
  // One put, until it is visible; of ranks that share a NIC each takes its turn.
  double put_s(uint64_t bytes) const {
    const auto size = static_cast<double>(bytes);
    const uint32_t others = std::max(request_.surroundings.nic_ranks, 1U) - 1;
    const cost::MessageCosts one = message(bytes);
    return one.one_way(size) + others * one.gap(size);
  }

  // From when data that leave from where they lie are there until their sender may change them.
  // Where the flag follows the data, they have been answered for before.
  double answer_s(uint64_t bytes) const {
    return request_.surroundings.flag_with_data ? message(bytes).L : 0;
  }

  const GatherRequest& request_;
  const CompiledPath& path_;
  const Ends& ends_;
};

}  // namespace

double predict_gather(const GatherRequest& request, const CompiledPath& path, GatherMethod method,
                      const Ends& ends) noexcept {
  const Prediction of(request, path, ends);
  const double named_s = of.named_s(method);
  switch (method) {
    case GatherMethod::pull:
      return named_s + of.pulled_s();
    case GatherMethod::broadcast:
      return named_s + of.broadcast_s();
    case GatherMethod::share:
      return named_s + of.shared_s();
    case GatherMethod::pack:
    case GatherMethod::bound:
    case GatherMethod::best:
      break;
  }
  if (request.node_ranks > 1) return named_s + of.apart_s();
  return named_s + of.sent_s(method == GatherMethod::pack);
}

bool allows(const GatherRequest& request, GatherMethod method) noexcept {
  switch (method) {
    case GatherMethod::pack:
      return true;
    case GatherMethod::bound:
      return request.besides == 0 && (!request.copied_on || request.runs == 1);
    case GatherMethod::pull:
      // Elements of several arrays are not brought together in transit through a network.
      return !request.copied_on && (request.vectors == 1 || request.by_stores);
    case GatherMethod::broadcast:
      return request.alike && request.readers > 1;
    case GatherMethod::share:
      return request.node_ranks > 1;
    case GatherMethod::best:
      break;
  }
  return false;
}

double one_by_one_s(const GatherRequest& request, const CompiledPath& path,
                    uint64_t reads) noexcept {
  if (!path.vis.has(Direction::get)) return 0;
  return static_cast<double>(request.vectors * reads) *
         path.vis.link(Direction::get).blocking(request.element_bytes);
}

GatherDecision plan_gather(const GatherRequest& request, const CompiledPath* path) noexcept {
  NoRecord record;
  return choose<GatherMechanism>(request, GatherMechanism::known(request, path), record);
}

GatherDecision force_gather(const GatherRequest& request, const CompiledPath* path,
                            GatherMethod method) noexcept {
  return plan_of<GatherMechanism>(request, GatherMechanism::known(request, path),
                                  allows(request, method) ? method : GatherMethod::pack,
                                  Reason::forced);
}

GatherDecision plan_gather(const GatherRequest& request, const CompiledPath* path,
                           GatherRecord& record) {
  return choose<GatherMechanism>(request, GatherMechanism::known(request, path), record);
}

}  // namespace stripline::plan
