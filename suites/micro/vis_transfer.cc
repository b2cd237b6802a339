#include "suites/micro/vis_transfer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/rma/context_state.h"
#include "suites/grids.h"
#include "suites/micro/transfer.h"
#include "suites/pattern.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

constexpr size_t kMostRegions = 4096;
constexpr uint64_t kSeed = 0x7615;
constexpr std::byte kSpoiled{0xa5};

}  // namespace

Result<VisTransfer> VisTransfer::create(Session& session, const experiment::Point& point,
                                        plan::Direction direction) {
  const size_t region_bytes = size_param(point, factor::kRegionBytes);
  const size_t regions = size_param(point, factor::kBytes) / region_bytes;
  const size_t stride = size_param(point, factor::kStride);
  if (regions < 2 || regions > kMostRegions) {
    return Error(ErrorCode::invalid_argument,
                 "bytes must be 2 to " + std::to_string(kMostRegions) + " times region_bytes");
  }
  const size_t span = ((regions - 1) * stride + 1) * region_bytes;
  STRIPLINE_ASSIGN_OR_RETURN(auto array, session.context().new_symmetric_array<std::byte>(span));
  return VisTransfer(session, direction, region_bytes, regions, stride, array);
}

VisTransfer::VisTransfer(Session& session, plan::Direction direction, size_t region_bytes,
                         size_t regions, size_t stride, global_ptr<std::byte> array)
    : context_(&session.context()),
      direction_(direction),
      region_bytes_(region_bytes),
      regions_(regions),
      stride_(stride),
      array_(array),
      remote_(context_->on_rank(array, kServer)),
      packed_(regions * region_bytes) {
  fill_pattern({context_->local(array_), span_bytes()}, kSeed);
  fill_pattern(packed_, kSeed + 1);
  context_->barrier();
}

VisTransfer::VisTransfer(VisTransfer&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      direction_(other.direction_),
      region_bytes_(other.region_bytes_),
      regions_(other.regions_),
      stride_(other.stride_),
      array_(other.array_),
      remote_(other.remote_),
      packed_(std::move(other.packed_)) {}

VisTransfer::~VisTransfer() {
  if (context_ != nullptr) context_->delete_symmetric_array(array_);
}

future VisTransfer::start(const VisOptions& options) {
  const std::array<std::ptrdiff_t, 2> there = {
      1, static_cast<std::ptrdiff_t>(stride_ * region_bytes_)};
  const std::array<std::ptrdiff_t, 2> here = {1, static_cast<std::ptrdiff_t>(region_bytes_)};
  const std::array<size_t, 2> extents = {region_bytes_, regions_};
  return gets() ? rget_strided<2, std::byte>(*context_, remote_, there, packed_.data(), here,
                                             extents, options)
                : rput_strided<2, std::byte>(*context_, packed_.data(), here, remote_, there,
                                             extents, options);
}

Status VisTransfer::check_method(const VisOptions& options) {
  uint64_t carried_out = 1;
  if (context_->rank_me() == kInitiator && options.method != VisMethod::best) {
    const auto& statistics = context_->state().operations.vis().statistics().of(options.method);
    const uint64_t before = statistics.gets + statistics.puts;
    start(options).wait();
    carried_out = statistics.gets + statistics.puts - before;
  }
  if (context_->broadcast(carried_out, kInitiator) != 0) return {};
  return Error(ErrorCode::invalid_argument,
               "this transfer cannot be carried out by that method here: the network has no such "
               "operations, or the buffers are too small");
}

bool VisTransfer::holds(const std::byte* scattered, const std::byte* packed) const {
  for (size_t i = 0; i < regions_; ++i) {
    if (std::memcmp(scattered + i * stride_ * region_bytes_, packed + i * region_bytes_,
                    region_bytes_) != 0) {
      return false;
    }
  }
  return true;
}

bool VisTransfer::verify(const VisOptions& options) {
  const rank_t me = context_->rank_me();
  if (gets() && me == kInitiator) std::fill(packed_.begin(), packed_.end(), kSpoiled);
  if (!gets() && me == kServer) std::memset(context_->local(array_), 0xa5, span_bytes());
  context_->barrier();
  if (me == kInitiator) start(options).wait();
  context_->barrier();
  uint64_t good = 1;
  if (gets() && me == kInitiator) {
    std::vector<std::byte> source(span_bytes());
    fill_pattern(source, kSeed);
    good = holds(source.data(), packed_.data()) ? 1 : 0;
  }
  if (!gets() && me == kServer) {
    std::vector<std::byte> source(packed_.size());
    fill_pattern(source, kSeed + 1);
    const std::byte* const arrived = context_->local(array_);
    if (!holds(arrived, source.data())) good = 0;
    for (size_t i = 0; i + 1 < regions_; ++i) {
      const std::byte* const gap = arrived + (i * stride_ + 1) * region_bytes_;
      const size_t bytes = (stride_ - 1) * region_bytes_;
      if (!std::all_of(gap, gap + bytes, [](std::byte b) { return b == kSpoiled; })) good = 0;
    }
  }
  return context_->reduce_all(good, Context::ReduceOp::min) != 0;
}

std::vector<experiment::Factor> vis_shape_factors(std::vector<experiment::ParamValue> region_bytes,
                                                  std::vector<experiment::ParamValue> bytes,
                                                  std::vector<experiment::ParamValue> stride) {
  return {integer_factor(factor::kRegionBytes, "B", "Size of a region (VOL).",
                         std::move(region_bytes), 1, 1 << 20),
          integer_factor(factor::kBytes, "B",
                         "Data of the transfer; divided by region_bytes, the number of regions "
                         "(DEPTH), which is 2 to 4096.",
                         std::move(bytes), 2, double{64 << 20}),
          integer_factor(factor::kStride, "1", "Distance of two regions in units of their size.",
                         std::move(stride), 2, 1 << 10)};
}

size_t vis_iov_limit(Session& session) {
  return session.context().state().job.fabric().info().iov_limit;
}

}  // namespace stripline::suites
