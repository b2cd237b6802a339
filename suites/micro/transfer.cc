#include "suites/micro/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "suites/grids.h"
#include "suites/pattern.h"

namespace stripline::suites {
namespace {

// The ranks that take part; the others wait inside the library.
constexpr rank_t kFirst = 0;
constexpr rank_t kSecond = 1;
// Operations in flight use memory of their own up to this much; beyond it slots are used again, as
// the buffers of a program are.
constexpr size_t kFootprintBytes = size_t{8} << 20;
constexpr size_t kLineBytes = 64;

}  // namespace

Operation operation_of(const experiment::Point& point) {
  if (point.variant == "put") return Operation::put;
  return point.variant == "am" ? Operation::am : Operation::get;
}

experiment::Factor bytes_factor() {
  return integer_factor("bytes", "B", "Payload of one operation.", size_grid(8, 4 << 20, 2), 1,
                        double{64 << 20});
}

size_t bytes_of(const experiment::Point& point) { return size_param(point, "bytes"); }

Status check_am_bytes(Context& context, size_t bytes) {
  if (bytes <= context.am_max_bytes()) return {};
  return Error(ErrorCode::invalid_argument,
               "active messages carry at most " + std::to_string(context.am_max_bytes()) +
                   " B on this fabric, not " + std::to_string(bytes) + " B");
}

Result<TransferArea> TransferArea::create(Session& session, Operation operation, size_t bytes,
                                          size_t in_flight, Initiators initiators) {
  const size_t stride = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  const size_t slots = std::clamp<size_t>(kFootprintBytes / stride, 1, in_flight);
  Context& context = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(auto array, context.new_symmetric_array<std::byte>(stride * slots));
  return TransferArea(context, operation, bytes, slots, array, initiators);
}

TransferArea::TransferArea(Context& context, Operation operation, size_t bytes, size_t slots,
                           global_ptr<std::byte> array, Initiators initiators)
    : context_(&context),
      operation_(operation),
      bytes_(bytes),
      stride_((bytes + kLineBytes - 1) / kLineBytes * kLineBytes),
      slots_(slots),
      initiates_(context.rank_me() == kFirst ||
                 (context.rank_me() == kSecond && initiators == Initiators::both)),
      serves_(context.rank_me() == kSecond ||
              (context.rank_me() == kFirst && initiators == Initiators::both)),
      array_(array),
      remote_(context.on_rank(array, context.rank_me() == kSecond ? kFirst : kSecond)) {
  if (initiates_) private_.resize(stride_ * slots_);
  // The source: the server's part for gets, the initiator's private memory for puts.
  std::byte* source = nullptr;
  if (operation_ == Operation::get && serves_) source = context.local(array_);
  if (operation_ == Operation::put && initiates_) source = private_.data();
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
      initiates_(other.initiates_),
      serves_(other.serves_),
      array_(other.array_),
      remote_(other.remote_),
      private_(std::move(other.private_)) {}

TransferArea::~TransferArea() {
  if (context_ != nullptr) context_->delete_symmetric_array(array_);
}

bool TransferArea::verify(size_t operations) {
  const size_t used = std::min(operations, slots_);
  std::byte* destination = nullptr;
  if (operation_ == Operation::get && initiates_) destination = private_.data();
  if (operation_ == Operation::put && serves_) destination = context_->local(array_);
  if (destination != nullptr) std::memset(destination, 0, stride_ * slots_);
  context_->barrier();
  if (initiates_) {
    std::vector<future> operations_in_flight;
    for (size_t i = 0; i < operations; ++i) operations_in_flight.push_back(issue(i));
    for (const future& one : operations_in_flight) one.wait();
  }
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
