#include "optimizer/experiment/held_out.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/experiment/catalogue.h"

namespace stripline::experiment {
namespace {

constexpr std::array<std::string_view, kHeldOutKinds> kKindNames = {
    "size",   "burst",  "call",     "window", "loop", "nest",
    "update", "gather", "indirect", "fine",   "bulk", "shared"};

// The order in which kinds take turns, twice, with other kinds in three turns: updates and
// indexed loops, gathers and single reads, calls and blocking copies. Nests share none: there must
// be enough of them to see what they take longer than is predicted (fit/doubts.h).
constexpr std::array kTurns = {
    HeldOutKind::size,   HeldOutKind::call,   HeldOutKind::burst, HeldOutKind::loop,
    HeldOutKind::size,   HeldOutKind::window, HeldOutKind::call,  HeldOutKind::size,
    HeldOutKind::burst,  HeldOutKind::nest,   HeldOutKind::size,  HeldOutKind::update,
    HeldOutKind::window, HeldOutKind::loop,   HeldOutKind::size,  HeldOutKind::burst,
    HeldOutKind::gather, HeldOutKind::call,  // and again
    HeldOutKind::size,   HeldOutKind::call,   HeldOutKind::burst, HeldOutKind::loop,
    HeldOutKind::size,   HeldOutKind::window, HeldOutKind::call,  HeldOutKind::size,
    HeldOutKind::burst,  HeldOutKind::nest,   HeldOutKind::size,  HeldOutKind::indirect,
    HeldOutKind::window, HeldOutKind::loop,   HeldOutKind::size,  HeldOutKind::burst,
    HeldOutKind::fine,   HeldOutKind::bulk};

constexpr std::array<HeldOutKind, kIrregularKinds> kIrregular = {
    HeldOutKind::shared, HeldOutKind::gather, HeldOutKind::indirect, HeldOutKind::update};

// Tells these draws from other uses of a campaign's seed.
constexpr uint64_t kPurpose = 0x4e1d007;

constexpr uint64_t kLeastBytes = 8;
constexpr uint64_t kMostBytes = 1 << 20;        // of a single operation
constexpr uint64_t kMostStreamBytes = 4 << 20;  // of all operations of a burst together
constexpr uint64_t kMostCallBytes = 256 << 10;
constexpr uint64_t kMostRegions = 2000;
constexpr uint64_t kLeastLoopBytes = 16 << 10;
constexpr uint64_t kMostLoopBytes = 1 << 20;
constexpr uint64_t kLeastStripBytes = 256;
constexpr uint64_t kElementBytes = 8;  // of kernels
constexpr uint64_t kMostApart = 640;   // elements, from one single read to the next one
constexpr uint64_t kMostBoxBytes = 16 << 10;
constexpr uint64_t kMostPhaseBytes = 1 << 20;

// Numbers that depend on the seed alone.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  double unit() { return static_cast<double>(random_.next() >> 11U) * 0x1p-53; }
  uint64_t below(uint64_t count) { return random_.next() % count; }
  // From `low` to `high`, alike on a logarithmic scale; a multiple of `step`, which `low` is.
  uint64_t between(uint64_t low, uint64_t high, uint64_t step = 1) {
    const double drawn = static_cast<double>(low) *
                         std::pow(static_cast<double>(high) / static_cast<double>(low), unit());
    return std::clamp(static_cast<uint64_t>(drawn) / step * step, low, high);
  }
  // The same, on no grid: those are of powers of two, and halfway between them. May exceed `high`
  // by a few steps.
  uint64_t size(uint64_t low, uint64_t high, uint64_t step = 1) {
    uint64_t drawn = between(low, high, step);
    while (std::has_single_bit(drawn) || (drawn % 3 == 0 && std::has_single_bit(drawn / 3))) {
      drawn += step;
    }
    return drawn;
  }
  const char* one_of(std::initializer_list<const char*> names) {
    return names.begin()[below(names.size())];
  }

 private:
  SplitMix64 random_;
};

ParamValue whole(uint64_t value) { return static_cast<int64_t>(value); }
ParamValue text(const char* value) { return std::string(value); }

std::vector<Point> size_of(Draw& draw) {
  const char* const operation = draw.one_of({variant::kGet, variant::kPut});
  return {{micro::kLatency.name,
           operation,
           {{factor::kBytes, whole(draw.size(kLeastBytes, kMostBytes))}}}};
}

std::vector<Point> burst_of(Draw& draw) {
  const char* const operation = draw.one_of({variant::kGet, variant::kPut});
  const uint64_t count = draw.between(2, 256);
  const uint64_t most = std::min(kMostBytes / 16, kMostStreamBytes / count);
  return {
      {micro::kFlood.name,
       operation,
       {{factor::kBytes, whole(draw.size(kLeastBytes, most))}, {factor::kCount, whole(count)}}}};
}

// Sizes, numbers and distances of regions.
Params regions_of(Draw& draw, uint64_t largest_region, uint64_t fewest) {
  const uint64_t region_bytes = draw.size(16, largest_region, 8);
  const uint64_t most = std::clamp(kMostCallBytes / region_bytes, fewest, kMostRegions);
  return {{factor::kRegionBytes, whole(region_bytes)},
          {factor::kBytes, whole(region_bytes * draw.between(fewest, most))},
          {factor::kStride, whole(2 + draw.below(7))}};
}

std::vector<Point> call_of(Draw& draw) {
  Params params = regions_of(draw, 32 << 10, 2);
  const char* const direction = draw.one_of({variant::kGet, variant::kPut});
  params[factor::kDirection] = text(direction);
  params[factor::kClass] = text(draw.one_of({"communication_only", "light", "heavy"}));
  std::vector<Point> points;
  // Without a model packed, if regions are small: fit/judge_decisions.cc says which of them.
  for (const char* method : {"packed", "pipelined", variant::kNativeIov, "bounding_box"}) {
    if (method == std::string_view("bounding_box") && direction == std::string_view("put"))
      continue;
    points.push_back({micro::kVis.name, method, params});
  }
  return points;
}

std::vector<Point> window_of(Draw& draw) {
  const char* const operation = draw.one_of({variant::kGet, variant::kPut});
  const Params params = regions_of(draw, 2 << 10, 64);
  std::vector<Point> points;
  for (const uint64_t window : {64, 1, 4, 16}) {  // 64 without a model
    Params with = params;
    with[factor::kWindow] = whole(window);
    points.push_back({micro::kVisWindow.name, operation, std::move(with)});
  }
  return points;
}

// What is fetched in one piece without a model, and the same in strips.
std::vector<Point> in_strips(Draw& draw, const char* experiment, const Params& problem,
                             uint64_t total_bytes) {
  struct Strips {
    const char* schedule;
    uint64_t pieces;  // to twice as many
    uint64_t window;
  };
  const auto with = [&](const char* variant, const char* schedule, uint64_t strip_bytes,
                        uint64_t window) {
    Params params = problem;
    params["schedule"] = text(schedule);
    params["strip_bytes"] = whole(strip_bytes);
    params[factor::kWindow] = whole(window);
    return Point{experiment, variant, std::move(params)};
  };
  std::vector<Point> points = {with("untuned", "A", 0, 0)};
  for (const Strips& one : {Strips{"A", 3, 0}, Strips{"A", 10, 0}, Strips{"A", 40, 0},
                            Strips{"B", 10, 2}, Strips{"B", 40, 6}}) {
    const uint64_t strip_bytes =
        total_bytes / draw.between(one.pieces, 2 * one.pieces) / kElementBytes * kElementBytes;
    if (strip_bytes < kLeastStripBytes) continue;
    points.push_back(with("forced", one.schedule, strip_bytes, one.window));
  }
  return points;
}

std::vector<Point> loop_of(Draw& draw) {
  const uint64_t columns = draw.between(64, 1024, 8);
  const uint64_t rows = std::max<uint64_t>(
      1, draw.between(kLeastLoopBytes, kMostLoopBytes, 8) / (columns * kElementBytes));
  return in_strips(draw, kernels::kMatvec.name,
                   {{"rows", whole(rows)},
                    {"cols", whole(columns)},
                    {"passes", whole(draw.between(1, 16))},
                    {"active", text("one")}},
                   rows * columns * kElementBytes);
}

std::vector<Point> nest_of(Draw& draw) {
  const uint64_t elements = draw.between(kLeastLoopBytes, kMostLoopBytes / 2, 8) / kElementBytes;
  return in_strips(draw, kernels::kTriad.name, {{"elements", whole(elements)}, {"shift", whole(1)}},
                   elements * kElementBytes);
}

std::vector<Point> update_of(Draw& draw) {
  const Params problem = {{"updates", whole(draw.between(64, 4096))},
                          {"bins_per_rank", whole(draw.between(256, 1 << 16))},
                          {"keys", text("uniform")},
                          {"mode", text("accumulate")}};
  std::vector<Point> points;
  const auto add = [&](const char* method, uint64_t buffer_bytes) {
    Params params = problem;
    params["method"] = text(method);
    params[factor::kBufferBytes] = whole(buffer_bytes);
    points.push_back({kernels::kHistogram.name, "tuned", std::move(params)});
  };
  add("automatic", 0);
  for (const uint64_t kib : {1, 4, 16}) add("buffers", kib << 10U);
  add("messages", 0);
  add("provider", 0);
  return points;
}

std::vector<Point> gather_of(Draw& draw, uint32_t ranks) {
  const Params problem = {{"matrix", text("random")},
                          {"rows", whole(draw.between(256, 1 << 14) * ranks)},
                          {"entries", whole(draw.between(1, 32))},
                          {"iterations", whole(2)},
                          {"inspection", text("before")}};
  std::vector<Point> points;
  for (const char* method : {"pack", "bound", "pull"}) {
    points.push_back({kernels::kSpmv.name, method, problem});
  }
  return points;
}

std::vector<Point> indirect_of(Draw& draw) {
  const Params problem = {{"iterations", whole(draw.between(2048, 1 << 14))},
                          {"elements_per_rank", whole(draw.between(1 << 10, 1 << 17))}};
  std::vector<Point> points;
  // 4096 without a model; the last one is the whole loop, as a model often has it.
  for (const uint64_t block : {4096, 64, 256, 1024, 16384}) {
    Params with = problem;
    with["block"] = whole(block);
    points.push_back({kernels::kIndirectSum.name, "tuned", std::move(with)});
  }
  return points;
}

// The methods of a fine-grained region, as programs that do the same by themselves. Reads that are
// fetched together are one box.
std::vector<Point> fine_of(Draw& draw) {
  const uint64_t apart = draw.size(2, kMostApart);
  const uint64_t most = std::clamp<uint64_t>(kMostBoxBytes / kElementBytes / apart, 2, 64);
  const Params problem = {{"reads", whole(draw.between(2, most))}, {factor::kStride, whole(apart)}};
  std::vector<Point> points;
  for (const char* method : {"pipelined", "bounding_box", "packed", "naive"}) {
    points.push_back({kernels::kStridedReads.name, method, problem});
  }
  return points;
}

std::vector<Point> bulk_of(Draw& draw) {
  const uint64_t bytes = draw.size(64, 32 << 10, kElementBytes);
  const Params problem = {
      {"copies", whole(draw.between(1, std::min<uint64_t>(128, kMostPhaseBytes / bytes)))},
      {factor::kBytes, whole(bytes)},
      {factor::kDirection, text(draw.one_of({variant::kGet, variant::kPut}))},
      {factor::kComputeUs, whole(draw.between(1, 1000))}};
  return {{kernels::kPhases.name, variant::kDeferred, problem},
          {kernels::kPhases.name, "plain", problem}};
}

// What competes for its cells first: that is what a replica is to be faster than.
std::vector<Point> shared_of(Draw& draw) {
  const Params problem = {{"distribution", text("uniform")},
                          {"updates", whole(draw.size(1 << 10, 1 << 18))},
                          {"buckets", whole(draw.size(64, 1 << 18))}};
  std::vector<Point> points;
  for (const char* strategy : {"atomic", "locked", "replicate"}) {
    points.push_back({kernels::kSharedHistogram.name, strategy, problem});
  }
  return points;
}

std::vector<Point> points_of(HeldOutKind kind, Draw& draw, uint32_t ranks) {
  switch (kind) {
    case HeldOutKind::size:
      return size_of(draw);
    case HeldOutKind::burst:
      return burst_of(draw);
    case HeldOutKind::call:
      return call_of(draw);
    case HeldOutKind::window:
      return window_of(draw);
    case HeldOutKind::loop:
      return loop_of(draw);
    case HeldOutKind::nest:
      return nest_of(draw);
    case HeldOutKind::update:
      return update_of(draw);
    case HeldOutKind::gather:
      return gather_of(draw, std::max<uint32_t>(ranks, 1));
    case HeldOutKind::indirect:
      return indirect_of(draw);
    case HeldOutKind::fine:
      return fine_of(draw);
    case HeldOutKind::bulk:
      return bulk_of(draw);
    case HeldOutKind::shared:
      return shared_of(draw);
  }
  return {};
}

uint64_t number(const Point& point, const char* name) {
  return static_cast<uint64_t>(number_param(point, name).value_or(0));
}

std::string name(const Point& point, const char* factor) {
  return text_param(point, factor).value_or("");
}

std::string count_of(uint64_t count) { return std::to_string(count); }

std::string regions_text(const Point& point) {
  const uint64_t region_bytes = std::max<uint64_t>(1, number(point, factor::kRegionBytes));
  return count_of(number(point, factor::kBytes) / region_bytes) + " x " + count_of(region_bytes) +
         " B, stride " + count_of(number(point, factor::kStride));
}

}  // namespace

std::string_view to_string(HeldOutKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

HeldOutProblem draw_held_out(uint64_t seed, uint32_t ranks, size_t index) {
  HeldOutProblem problem;
  problem.kind = index < kHeldOutInTurn ? kTurns[index % kTurns.size()]
                                        : kIrregular[(index - kHeldOutInTurn) % kIrregular.size()];
  Draw draw(derive_seed(seed ^ kPurpose, index));
  problem.points = points_of(problem.kind, draw, ranks);
  return problem;
}

size_t held_out_at(size_t place) {
  constexpr size_t kBlock = kIrregular.size() + kTurns.size();
  const size_t round = place / kBlock;
  const size_t of_round = place % kBlock;
  if (round >= kHeldOutRounds) return place - kHeldOutRounds * kIrregular.size();
  return of_round < kIrregular.size() ? kHeldOutInTurn + round * kIrregular.size() + of_round
                                      : round * kTurns.size() + of_round - kIrregular.size();
}

std::string describe(const HeldOutProblem& problem) {
  const Point& point = problem.points.front();
  const std::string kind = std::string(to_string(problem.kind)) + ": ";
  switch (problem.kind) {
    case HeldOutKind::size:
      return kind + point.variant + " of " + count_of(number(point, factor::kBytes)) + " B";
    case HeldOutKind::burst:
      return kind + count_of(number(point, factor::kCount)) + " times " + point.variant + " of " +
             count_of(number(point, factor::kBytes)) + " B";
    case HeldOutKind::call:
      return kind + name(point, factor::kDirection) + " " + regions_text(point) + ", " +
             name(point, factor::kClass);
    case HeldOutKind::window:
      return kind + point.variant + " " + regions_text(point);
    case HeldOutKind::loop:
      return kind + count_of(number(point, "rows")) + " x " + count_of(number(point, "cols")) +
             " elements, used " + count_of(number(point, "passes")) + " times";
    case HeldOutKind::nest:
      return kind + "two arrays of " + count_of(number(point, "elements")) + " elements";
    case HeldOutKind::update:
      return kind + count_of(number(point, "updates")) + " of " +
             count_of(number(point, "bins_per_rank")) + " cells a rank";
    case HeldOutKind::gather:
      return kind + count_of(number(point, "rows")) + " rows with " +
             count_of(number(point, "entries")) + " entries";
    case HeldOutKind::indirect:
      return kind + count_of(number(point, "iterations")) + " iterations over " +
             count_of(number(point, "elements_per_rank")) + " elements a rank";
    case HeldOutKind::fine:
      return kind + count_of(number(point, "reads")) + " single reads, every " +
             count_of(number(point, factor::kStride)) + " elements";
    case HeldOutKind::bulk:
      return kind + count_of(number(point, "copies")) + " times " +
             name(point, factor::kDirection) + " of " + count_of(number(point, factor::kBytes)) +
             " B, " + count_of(number(point, factor::kComputeUs)) + " us of computing";
    case HeldOutKind::shared:
      return kind + count_of(number(point, "updates")) + " of a rank, of " +
             count_of(number(point, "buckets")) + " cells";
  }
  return kind;
}

HeldOutPoints::HeldOutPoints(std::span<const uint64_t> seeds, uint32_t ranks) {
  for (const uint64_t seed : seeds) {
    for (size_t index = 0; index < kMostHeldOut; ++index) {
      problems_.push_back(draw_held_out(seed, ranks, index));
      const std::vector<Point>& points = problems_.back().points;
      for (size_t i = 0; i < points.size(); ++i) {
        auto& factors = factors_[{points[i].experiment, points[i].variant}];
        if (factors.empty()) {
          for (const auto& [factor, value] : points[i].params) factors.push_back(factor);
        }
        places_.emplace(point_key(points[i]), Place{problems_.size() - 1, i});
      }
    }
  }
}

std::optional<HeldOutPoints::Place> HeldOutPoints::find(const Point& point) const {
  const auto factors = factors_.find({point.experiment, point.variant});
  if (factors == factors_.end()) return std::nullopt;
  Point drawn{point.experiment, point.variant, {}};
  for (const std::string& factor : factors->second) {
    const auto value = point.params.find(factor);
    if (value != point.params.end()) drawn.params.insert(*value);
  }
  const auto place = places_.find(point_key(drawn));
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

}  // namespace stripline::experiment
