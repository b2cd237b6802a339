#include "optimizer/plan/bulk.h"

#include <algorithm>
#include <array>
#include <limits>

#include "optimizer/plan/bulk_mechanism.h"

namespace stripline::plan {
namespace {

bool defers_puts(BulkMethod method) {
  return method == BulkMethod::puts || method == BulkMethod::both;
}
bool prefetches(BulkMethod method) {
  return method == BulkMethod::gets || method == BulkMethod::both;
}

// The puts, or the gets, of a phase: many messages of one size.
class BulkMessages {
 public:
  BulkMessages(const BulkRequest& request, const CompiledPath& path, Direction direction,
               const Ends& ends)
      : count_(static_cast<double>(direction == Direction::put ? request.puts : request.gets)),
        bytes_(direction == Direction::put ? request.put_bytes : request.get_bytes),
        size_(static_cast<double>(bytes_)),
        nic_ranks_(std::max(request.surroundings.nic_ranks, 1U)) {
    const cost::LinkCosts& link = path.vis.link(direction);
    message_ = detail::at_ends(link.at(bytes_), link.at(bytes_, ends.corner), ends);
    const cost::Corner corner = ends.of(Source::regions);
    check_s_ = path.bulk.check_s(corner);
    const bool copies = direction == Direction::get || !request.stable_sources;
    const uint64_t room = request.buffer_bytes / 2;
    fits_ = !copies || bytes_ <= room;
    if (direction == Direction::get) fits_ = fits_ && bytes_ <= path.bulk.max_get_bytes();
    if (!copies) {
      in_flight_ = request.in_flight;
      return;
    }
    copy_s_ = path.bulk.has_copies()        ? path.bulk.copy_s(bytes_, corner)
              : direction == Direction::put ? path.vis.pack().pack(1, size_, bytes_, corner)
                                            : path.vis.pack().unpack(1, size_, bytes_, corner);
    in_flight_ = std::min<uint64_t>(request.in_flight, room / std::max<uint64_t>(bytes_, 1));
  }

  bool any() const { return count_ > 0; }
  // False where one is larger than the memory for copies, or a get than what is made ahead: it is
  // waited for by whatever method.
  bool may_be_deferred() const { return any() && fits_; }
  double blocking_s() const {
    return count_ * (message_.blocking(size_) + (nic_ranks_ - 1) * message_.gap(size_));
  }
  double processor_s() const { return count_ * each_s(); }
  // The processor's time for one of them.
  double each_s() const { return message_.o(size_) + message_.r(size_) + copy_s_; }
  // Until the last one is over, from the first one on, if the processor does nothing else.
  double wire_s() const {
    const double of_window =
        message_.blocking(size_) / static_cast<double>(std::max<uint64_t>(in_flight_, 1));
    return count_ * std::max(nic_ranks_ * message_.gap(size_), of_window);
  }
  double latency_s() const { return 2 * message_.L; }
  // Against puts in flight, of each.
  double checks_s() const { return count_ * check_s_; }

 private:
  const double count_;
  const uint64_t bytes_;
  const double size_;
  const double nic_ranks_;
  cost::MessageCosts message_;
  double copy_s_ = 0;
  double check_s_ = 0;
  bool fits_ = true;
  uint64_t in_flight_ = 0;
};

}  // namespace

bool allows(const BulkRequest& request, BulkMethod method) noexcept {
  return (!defers_puts(method) || request.puts > 0) && (!prefetches(method) || request.gets > 0);
}

BulkMethod usual_bulk(const BulkRequest& request) noexcept {
  for (const BulkMethod method : {BulkMethod::both, BulkMethod::puts, BulkMethod::gets}) {
    if (allows(request, method)) return method;
  }
  return BulkMethod::blocking;
}

double predict_bulk(const BulkRequest& request, const CompiledPath& path, BulkMethod method,
                    const Ends& ends) noexcept {
  const BulkMessages puts(request, path, Direction::put, ends);
  const BulkMessages gets(request, path, Direction::get, ends);
  const bool deferred = defers_puts(method) && puts.may_be_deferred();
  double busy_s = request.compute_s + (deferred ? puts.processor_s() : puts.blocking_s());
  if (prefetches(method) && gets.may_be_deferred()) {
    // One of them hides nothing: it is issued before anything is in flight, and copied when all is
    // here.
    const double hidden_s =
        std::min(request.lead_s, request.compute_s) + gets.processor_s() - gets.each_s();
    busy_s += gets.processor_s() + std::max(0.0, gets.latency_s() + gets.wire_s() - hidden_s);
  } else {
    busy_s += gets.blocking_s();
  }
  if (!deferred) return busy_s;
  busy_s += puts.checks_s() + gets.checks_s();
  const double hidden_s = busy_s - puts.each_s();  // the first one is copied and issued before
  return busy_s + std::max(0.0, puts.wire_s() - hidden_s) + puts.latency_s();
}

uint64_t max_bulk_get_bytes(const CompiledPath* path) noexcept {
  return path == nullptr ? BulkCosts::kUnlimited : path->bulk.max_get_bytes();
}

uint32_t bulk_in_flight(const CompiledPath* path) noexcept {
  if (path != nullptr && path->bulk.in_flight() > 0) return path->bulk.in_flight();
  constexpr uint32_t kUnknown = std::numeric_limits<uint32_t>::max();
  uint32_t depth = kUnknown;
  if (path != nullptr) {
    for (const Direction direction : {Direction::put, Direction::get}) {
      if (path->vis.has(direction))
        depth = std::min(depth, path->vis.link(direction).queue_depth());
    }
  }
  return depth == kUnknown ? kUsualBulkInFlight : std::max(depth, 1U);
}

BulkPlan plan_bulk(const BulkRequest& request, const CompiledPath* path) noexcept {
  NoRecord record;
  return choose<BulkMechanism>(request, path, record);
}

BulkPlan plan_bulk(const BulkRequest& request, const CompiledPath* path, BulkRecord& record) {
  return choose<BulkMechanism>(request, path, record);
}

std::span<const Field<BulkRequest>> BulkMechanism::fields() {
  using Phase = BulkRequest;
  static constexpr std::array<Field<Phase>, 9> kFields = {
      field<Phase, &Phase::puts>("puts", "--puts", "{} puts", "Puts between two barriers")
          .within(0, kMostNumber)
          .always(),
      plan::bytes<Phase, &Phase::put_bytes>("put_bytes", "--put-bytes", " of {}",
                                            "The size of a put")
          .within(0, kMostExtent),
      field<Phase, &Phase::gets>("gets", "--gets", ", {} gets", "Gets between two barriers")
          .within(0, kMostNumber)
          .always(),
      plan::bytes<Phase, &Phase::get_bytes>("get_bytes", "--get-bytes", " of {}",
                                            "The size of a get")
          .within(0, kMostExtent),
      field<Phase, &Phase::compute_s>("compute_s", "--compute", ", {} of computing",
                                      "Computing between the barriers, in all"),
      field<Phase, &Phase::lead_s>("lead_s", "--lead", ", {} of it before a get",
                                   "The part of the computing that is before a get, in the mean"),
      field<Phase, &Phase::stable_sources>("stable_sources", "--stable-sources",
                                           ", sources that stay",
                                           "Sources of puts stay as they are until the end"),
      plan::bytes<Phase, &Phase::buffer_bytes>("buffer_bytes", "--buffer", ", {} for copies",
                                               "Memory for copies")
          .within(0, kMostExtent),
      field<Phase, &Phase::in_flight>("in_flight", "--in-flight", ", {} in flight",
                                      "Operations in flight to one rank, at most")
          .from(1)};
  return kFields;
}

Result<BulkRequest> BulkMechanism::request_of(const BulkRequest& asked) {
  if (asked.puts == 0 && asked.gets == 0) return refused("neither --puts nor --gets");
  if (asked.lead_s > asked.compute_s) return refused("--lead is a part of --compute");
  return asked;
}

}  // namespace stripline::plan
