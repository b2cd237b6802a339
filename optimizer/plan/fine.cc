#include "optimizer/plan/fine.h"

#include <algorithm>
#include <array>

#include "optimizer/plan/fine_mechanism.h"
#include "optimizer/plan/list_time.h"

namespace stripline::plan {
namespace {

// Puts, or gets, of one size.
class FineMessages {
 public:
  FineMessages(const FineRequest& request, const CompiledPath& path, Direction direction,
               uint64_t bytes, const Ends& ends)
      : size_(static_cast<double>(bytes)),
        nic_ranks_(std::max(request.surroundings.nic_ranks, 1U)),
        in_flight_(std::max(request.in_flight, 1U)) {
    const cost::LinkCosts& link = path.vis.link(direction);
    message_ = detail::at_ends(link.at(bytes), link.at(bytes, ends.corner), ends);
  }

  double processor_s() const { return message_.o(size_) + message_.r(size_); }
  double latency_s() const { return 2 * message_.L; }
  /// One that is waited for, beside those of the ranks that share its NIC.
  double blocking_s() const {
    return message_.blocking(size_) + (nic_ranks_ - 1) * message_.gap(size_);
  }
  /// `count` of them that are issued one after the other, and then waited for.
  double flight_s(double count) const {
    if (count <= 0) return 0;
    const double each = std::max(
        {processor_s(), nic_ranks_ * message_.gap(size_), message_.blocking(size_) / in_flight_});
    return blocking_s() + std::max(0.0, count - 1) * each;
  }

 private:
  const double size_;
  const double nic_ranks_;
  const double in_flight_;
  cost::MessageCosts message_;
};

double list_s(const FineRequest& request, const CompiledPath& path, double reads,
              const Ends& ends) {
  if (reads <= 0) return 0;
  const double owners = std::clamp<double>(request.ranks, 1, std::max(reads, 1.0));
  return detail::list_get_s({std::max(1.0, reads / owners), request.read_bytes, 0, owners}, path,
                            request.surroundings, ends);
}

}  // namespace

double predict_fine(const FineRequest& request, const CompiledPath& path, FineMethod method,
                    const Ends& ends) noexcept {
  const auto reads = static_cast<double>(request.reads);
  const auto writes = static_cast<double>(request.writes);
  const auto bursts = static_cast<double>(std::max<uint64_t>(request.bursts, 1));
  const FineMessages gets(request, path, Direction::get, request.read_bytes, ends);
  const FineMessages puts(request, path, Direction::put, request.write_bytes, ends);
  if (method == FineMethod::blocking) {
    return request.compute_s + reads * gets.blocking_s() + writes * puts.blocking_s();
  }
  double burst_s = 0;
  switch (method) {
    case FineMethod::blocking:
    case FineMethod::single:
      burst_s = gets.flight_s(reads / bursts);
      break;
    case FineMethod::boxes:
      burst_s = FineMessages(request, path, Direction::get, request.box_bytes, ends)
                    .flight_s(static_cast<double>(request.boxes) / bursts);
      break;
    case FineMethod::lists:
      burst_s = list_s(request, path, reads / bursts, ends);
  }
  const double copy_s = path.vis.pack().pack(1, static_cast<double>(request.write_bytes),
                                             request.write_bytes, ends.of(Source::regions));
  const double puts_s =
      writes > 0 ? writes * (puts.processor_s() + copy_s) + puts.latency_s() : 0.0;
  return request.compute_s + bursts * burst_s + puts_s;
}

uint64_t fine_gap_bytes(const CompiledPath* path) noexcept {
  if (!FineMechanism::knows(path)) return kUsualFineGapBytes;
  constexpr uint64_t kReadBytes = 8;
  constexpr uint64_t kLeastGap = 8;
  const cost::LinkCosts& get = path->vis.link(Direction::get);
  const double two_s = get.blocking(kReadBytes) + get.stream(kReadBytes);
  const auto is_worth = [&](uint64_t bytes) {
    return bytes <= kFineBoxBytes && get.blocking(2 * kReadBytes + bytes) <= two_s;
  };
  if (!is_worth(kLeastGap)) return 0;
  uint64_t gap = kLeastGap;
  while (is_worth(2 * gap)) gap *= 2;
  for (uint64_t step = gap / 2; step >= kLeastGap; step /= 2) {
    if (is_worth(gap + step)) gap += step;
  }
  return gap;
}

uint64_t fine_block_bytes(const CompiledPath* path) noexcept {
  if (!FineMechanism::knows(path)) return kUsualFineBlockBytes;
  constexpr uint64_t kReadBytes = 8;
  const cost::LinkCosts& get = path->vis.link(Direction::get);
  const double twice_s = 2 * get.blocking(kReadBytes);
  uint64_t block = 64;
  while (2 * block <= kFineBoxBytes && get.blocking(2 * block) <= twice_s) block *= 2;
  return block;
}

FinePlan plan_fine(const FineRequest& request, const CompiledPath* path) noexcept {
  NoRecord record;
  return choose<FineMechanism>(request, path, record);
}

FinePlan plan_fine(const FineRequest& request, const CompiledPath* path, FineRecord& record) {
  return choose<FineMechanism>(request, path, record);
}

std::span<const Field<FineRequest>> FineMechanism::fields() {
  using Region = FineRequest;
  static constexpr std::array<Field<Region>, 11> kFields = {
      field<Region, &Region::reads>("reads", "--reads", "{} reads",
                                    "Reads of a region that do not repeat an earlier one")
          .within(0, kMostNumber)
          .always(),
      plan::bytes<Region, &Region::read_bytes>("read_bytes", "--read-bytes", " of {}",
                                               "The size of a read")
          .within(1, kMostExtent),
      field<Region, &Region::boxes>("boxes", "--boxes", " in {} boxes",
                                    "What neighbouring reads make together")
          .within(0, kMostNumber)
          .always(),
      plan::bytes<Region, &Region::box_bytes>("box_bytes", "--box-bytes", " of {}",
                                              "The size of a box")
          .within(1, kMostExtent),
      field<Region, &Region::bursts>("bursts", "--bursts", ", {} bursts",
                                     "How many times the program waits for reads")
          .within(1, kMostNumber),
      field<Region, &Region::ranks>("ranks", "--ranks", ", of {} ranks each",
                                    "Ranks that a burst reads from")
          .from(1),
      field<Region, &Region::writes>("writes", "--writes", ", {} writes",
                                     "Writes of a region; neighbours, in order, are one")
          .within(0, kMostNumber)
          .always(),
      plan::bytes<Region, &Region::write_bytes>("write_bytes", "--write-bytes", " of {}",
                                                "The size of a write")
          .within(1, kMostExtent),
      field<Region, &Region::compute_s>("compute_s", "--compute", ", {} of computing",
                                        "Computing in the region, in all"),
      field<Region, &Region::in_flight>("in_flight", "--in-flight", ", {} in flight",
                                        "Operations in flight, at most")
          .from(1),
      field<Region, &Region::at_once>("at_once", "--at-once", ", each used at once",
                                      "Each value is used before the next one is read")};
  return kFields;
}

Result<FineRequest> FineMechanism::request_of(const FineRequest& asked) {
  if (asked.reads == 0 && asked.writes == 0) return refused("neither --reads nor --writes");
  if (asked.boxes > asked.reads) return refused("more --boxes than --reads");
  if (asked.bursts > std::max<uint64_t>(asked.reads, 1)) {
    return refused("more --bursts than --reads");
  }
  FineRequest request = asked;
  if (request.reads > 0 && request.boxes == 0) request.boxes = request.reads;
  return request;
}

}  // namespace stripline::plan
