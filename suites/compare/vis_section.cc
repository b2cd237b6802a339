#include "suites/compare/vis_section.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include <stripline/vis.h>

#include "optimizer/stats/order.h"
#include "runtime/fabric/ofi/monotonic_clock.h"
#include "runtime/rma/context_state.h"
#include "suites/harness/alternate.h"

namespace stripline::suites::compare {
namespace {

using fabric::ofi::monotonic_s;

// Transfers that one measurement repeats: enough for about this time, and at most this many.
constexpr double kBatchSeconds = 2e-3;
constexpr double kMaxTransfers = 40;
// Measurements before the first that counts.
constexpr int kWarmUpRounds = 2;

constexpr std::array<size_t, 5> kPieceBytes = {8, 64, 512, 4096, 32768};

}  // namespace

VisSection::VisSection(Context& context, global_ptr<std::byte> array)
    : context_(context),
      array_(array),
      hand_(context, array, kSpan),
      source_(kSpan),
      sink_(kSpan) {}

std::vector<VisCell> VisSection::run(int rounds) {
  std::vector<VisCell> cells;
  for (const bool is_put : {true, false}) {
    for (const size_t bytes : kPieceBytes) cells.push_back(measure(is_put, bytes, rounds));
  }
  return cells;
}

VisCell VisSection::measure(bool is_put, size_t piece_bytes, int rounds) {
  VisCell cell;
  cell.is_put = is_put;
  cell.pieces = {piece_bytes, 2 * piece_bytes, kPayload / piece_bytes};
  const Pieces& pieces = cell.pieces;
  const auto there = context_.on_rank(array_, 1);
  std::vector<std::function<void()>> methods;
  const auto add = [&](const char* name, std::function<void()> transfer) {
    cell.methods.push_back({name, {}});
    methods.push_back(std::move(transfer));
  };
  add("loop", [&] {
    for (uint64_t i = 0; i < pieces.count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i * pieces.stride);
      if (is_put) {
        context_.rput(source_.data() + at, there + at, pieces.bytes).wait();
      } else {
        context_.rget(there + at, sink_.data() + at, pieces.bytes).wait();
      }
    }
  });
  add("by hand",
      [&] { is_put ? hand_.put(source_.data(), pieces) : hand_.get(sink_.data(), pieces); });
  const auto strided = [&](const VisOptions& options) {
    const std::array<std::ptrdiff_t, 2> strides{static_cast<std::ptrdiff_t>(pieces.stride), 1};
    const std::array<size_t, 2> extents{pieces.count, pieces.bytes};
    const future done =
        is_put ? rput_strided(context_, source_.data(), strides, there, strides, extents, options)
               : rget_strided(context_, there, strides, sink_.data(), strides, extents, options);
    done.wait();
  };
  const auto by = [&](VisMethod method) {
    VisOptions options;
    options.method = method;
    options.self_check = false;
    options.bounding_box = method == VisMethod::bounding_box;
    return [strided, options] { strided(options); };
  };
  add("pipelined", by(VisMethod::pipelined));
  if (context_.state().job.fabric().info().iov_limit > 1)
    add("native iov", by(VisMethod::native_iov));
  if (!is_put) add("bounding box", by(VisMethod::bounding_box));
  add("packed", by(VisMethod::packed));
  cell.chosen = methods.size();
  add("chosen", by(VisMethod::best));

  const auto holds = [&](const std::vector<std::byte>& data, std::byte salt) {
    for (size_t i = 0; i < kSpan; ++i) {
      const bool moved = i % pieces.stride < pieces.bytes;
      const std::byte expected = static_cast<std::byte>(i * 7 + i / 256) ^ salt;
      if (data[i] != (moved ? expected : std::byte{0})) return false;
    }
    return true;
  };
  const auto fill = [](std::vector<std::byte>& data, std::byte salt) {
    for (size_t i = 0; i < kSpan; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 256) ^ salt;
  };
  std::vector<std::byte> all(kSpan);
  std::vector<double> transfers(methods.size(), 1);
  unsigned salt = 0;
  const auto one = [&](size_t i, int round) {
    // Other data each time, and nothing where they go.
    const auto change = static_cast<std::byte>(++salt);
    fill(source_, change);
    std::fill(sink_.begin(), sink_.end(), std::byte{0});
    context_.rput(is_put ? sink_.data() : source_.data(), there, kSpan).wait();
    const double begin_s = monotonic_s();
    for (double k = 0; k < transfers[i]; ++k) methods[i]();
    const double seconds = (monotonic_s() - begin_s) / transfers[i];
    if (is_put) context_.rget(there, all.data(), kSpan).wait();
    if (round < 0) {
      transfers[i] = std::clamp(std::floor(kBatchSeconds / seconds), 1.0, kMaxTransfers);
    }
    return std::pair(seconds, holds(is_put ? all : sink_, change));
  };
  auto measured = harness::alternate(methods.size(), kWarmUpRounds, rounds, one);
  for (size_t i = 0; i < measured.size(); ++i) {
    cell.methods[i].seconds = std::move(measured[i].seconds);
    cell.verified = cell.verified && measured[i].right;
  }
  cell.rival =
      stats::median(cell.methods[0].seconds) < stats::median(cell.methods[1].seconds) ? 0 : 1;
  return cell;
}

}  // namespace stripline::suites::compare
