#include "suites/micro/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "optimizer/stats/order.h"
#include "suites/grids.h"
#include "suites/pattern.h"
#include "suites/registry.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

// Operations in flight use memory of their own up to this much; beyond it slots are used again, as
// the buffers of a program are.
constexpr size_t kFootprintBytes = size_t{8} << 20;
constexpr size_t kSlotAlignment = 64;
constexpr int kBlockingProbes = 5;

}  // namespace

Operation operation_of(const experiment::Point& point) {
  if (point.variant == "put") return Operation::put;
  return point.variant == "am" ? Operation::am : Operation::get;
}

experiment::Factor bytes_factor() {
  return integer_factor(factor::kBytes, "B", "Payload of one operation.", size_grid(8, 4 << 20, 2),
                        1, double{64 << 20});
}

size_t bytes_of(const experiment::Point& point) { return size_param(point, factor::kBytes); }

Status check_am_bytes(Context& context, size_t bytes) {
  if (bytes <= context.am_max_bytes()) return {};
  return Error(ErrorCode::invalid_argument,
               "active messages carry at most " + std::to_string(context.am_max_bytes()) +
                   " B on this fabric, not " + std::to_string(bytes) + " B");
}

Result<TransferArea> TransferArea::create(Session& session, Operation operation, size_t bytes,
                                          size_t in_flight) {
  const size_t stride = (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  const size_t slots = std::clamp<size_t>(kFootprintBytes / stride, 1, in_flight);
  Context& context = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(auto array, context.new_symmetric_array<std::byte>(stride * slots));
  return TransferArea(context, operation, bytes, slots, array);
}

TransferArea::TransferArea(Context& context, Operation operation, size_t bytes, size_t slots,
                           global_ptr<std::byte> array)
    : context_(&context),
      operation_(operation),
      bytes_(bytes),
      stride_((bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment),
      slots_(slots),
      array_(array),
      remote_(context.on_rank(array, kServer)) {
  const rank_t me = context.rank_me();
  if (me == kInitiator) private_.resize(stride_ * slots_);
  // The source: the server's part for gets, the initiator's private memory for puts.
  std::byte* source = nullptr;
  if (operation_ == Operation::get && me == kServer) source = context.local(array_);
  if (operation_ == Operation::put && me == kInitiator) source = private_.data();
  if (source != nullptr) {
    for (size_t slot = 0; slot < slots_; ++slot) {
      fill_pattern({source + slot * stride_, bytes_}, slot);
    }
  }
  context.barrier();
}

TransferArea::TransferArea(TransferArea&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      operation_(other.operation_),
      bytes_(other.bytes_),
      stride_(other.stride_),
      slots_(other.slots_),
      array_(other.array_),
      remote_(other.remote_),
      private_(std::move(other.private_)),
      in_flight_(std::move(other.in_flight_)) {}

TransferArea::~TransferArea() {
  if (context_ != nullptr) context_->delete_symmetric_array(array_);
}

double TransferArea::blocking_s() {
  std::vector<double> probes_s;
  for (int i = 0; i <= kBlockingProbes; ++i) {
    const double start_s = context_->now_s();
    run(1);
    if (i > 0) probes_s.push_back(context_->now_s() - start_s);  // the first one warms up
  }
  return stats::median(probes_s);
}

experiment::SampleSeries TransferArea::measure(Session& session, const experiment::StopRule& rule,
                                               size_t operations,
                                               const std::function<double()>& repetition) {
  experiment::SampleSeries series;
  if (context_->rank_me() == kInitiator) repeat_alone(session, rule, repetition, series);
  check(operations, series);
  return series;
}

void TransferArea::check(size_t operations, experiment::SampleSeries& series) {
  context_->barrier();
  series.verified = arrives(operations);
}

bool TransferArea::arrives(size_t operations) {
  const rank_t me = context_->rank_me();
  const size_t used = std::min(operations, slots_);
  std::byte* destination = nullptr;
  if (operation_ == Operation::get && me == kInitiator) destination = private_.data();
  if (operation_ == Operation::put && me == kServer) destination = context_->local(array_);
  if (destination != nullptr) std::memset(destination, 0, stride_ * slots_);
  context_->barrier();
  if (me == kInitiator) run(operations);
  context_->barrier();
  uint64_t good = 1;
  if (destination != nullptr) {
    for (size_t slot = 0; slot < used; ++slot) {
      if (first_mismatch({destination + slot * stride_, bytes_}, slot)) good = 0;
    }
  }
  return context_->reduce_all(good, Context::ReduceOp::min) != 0;
}

}  // namespace stripline::suites
