#include "optimizer/fit/vis_samples.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;
using plan::ComputeClass;
using plan::Direction;
using plan::VisMethod;

constexpr double kMostCount = 9007199254740992.0;  // 2^53: integers up to here are exact.
constexpr const char* kExperiments[] = {"micro.pack", "micro.vis", "micro.vis_chunk",
                                        "micro.vis_window"};

// The factors of a point, read one after the other; the first that is wrong is remembered.
class Reader {
 public:
  explicit Reader(const SampleSeries& series) : series_(series) {}

  uint64_t whole(const char* factor, double minimum) {
    const auto value = experiment::number_param(series_.point, factor);
    if (!value || !(*value >= minimum) || !(*value <= kMostCount) || std::floor(*value) != *value) {
      fail(std::string("the factor ") + factor + " is missing or not a whole number");
      return 1;
    }
    return static_cast<uint64_t>(*value);
  }

  // One of the names of an enumeration whose values count from 0.
  template <typename Enum>
  Enum name_of(const std::string& text, const char* what, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (text == plan::to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
    }
    fail(std::string("the ") + what + " is unknown to the fitter");
    return {};
  }
  template <typename Enum>
  Enum factor_of(const char* factor, size_t count) {
    return name_of<Enum>(experiment::text_param(series_.point, factor).value_or(""), factor, count);
  }

  VisSetting setting() {
    return {whole("chunk_bytes", 0), static_cast<uint32_t>(whole("window", 0)), 1};
  }

  VisShape shape(Direction direction) {
    VisShape shape{direction, whole("region_bytes", 1), 0, whole("stride", 1)};
    const uint64_t bytes = whole("bytes", 1);
    shape.regions = bytes / shape.region_bytes;
    if (shape.regions == 0) fail("its transfer is smaller than a region");
    return shape;
  }

  void fail(const std::string& why) {
    if (!why_) why_ = why;
  }
  const std::optional<std::string>& why() const { return why_; }

 private:
  const SampleSeries& series_;
  std::optional<std::string> why_;
};

constexpr size_t kDirections = 2;

// Pooled until all series of a point and run are known.
using Pool = std::map<uint32_t, std::vector<double>>;

struct Pools {
  std::map<uint64_t, std::map<uint64_t, Pool>> pack;
  std::map<uint64_t, std::map<uint64_t, Pool>> unpack;
  struct Times {
    std::array<std::map<VisSetting, Pool>, plan::kVisMethods> methods;
    Pool compute;
  };
  std::array<std::map<VisShape, Times>, plan::kComputeClasses> cells;
  std::map<VisShape, std::map<VisSetting, Pool>> chunks;
  std::map<VisShape, std::map<VisSetting, Pool>> windows;
};

// Where the series belongs; nullptr if the reader found it wrong.
Pool* place_of(const SampleSeries& series, Reader& reader, Pools& pools) {
  const std::string& name = series.point.experiment;
  const std::string& variant = series.point.variant;
  if (name == "micro.pack") {
    if (variant != "pack" && variant != "unpack") {
      reader.fail("the variant is unknown to the fitter");
    }
    const uint64_t span = reader.whole("span_bytes", 1);
    const uint64_t region = reader.whole("region_bytes", 1);
    if (reader.why()) return nullptr;
    return &(variant == "pack" ? pools.pack : pools.unpack)[span][region];
  }
  if (name == "micro.vis") {
    const VisShape shape = reader.shape(reader.factor_of<Direction>("direction", kDirections));
    const auto compute = reader.factor_of<ComputeClass>("class", plan::kComputeClasses);
    VisSetting setting = reader.setting();
    const bool alone = variant == "compute";
    const auto method = alone ? VisMethod::pipelined
                              : reader.name_of<VisMethod>(variant, "variant", plan::kVisMethods);
    if (!alone && method == VisMethod::native_iov) {
      setting.iov_limit = static_cast<uint32_t>(reader.whole("iov_limit", 1));
    }
    if (reader.why()) return nullptr;
    Pools::Times& times = pools.cells[static_cast<size_t>(compute)][shape];
    return alone ? &times.compute : &times.methods[static_cast<size_t>(method)][setting];
  }
  const VisShape shape = reader.shape(reader.name_of<Direction>(variant, "variant", kDirections));
  const VisSetting setting =
      name == "micro.vis_chunk"
          ? reader.setting()
          : VisSetting{0, static_cast<uint32_t>(reader.whole("window", 1)), 1};
  if (reader.why()) return nullptr;
  return &(name == "micro.vis_chunk" ? pools.chunks : pools.windows)[shape][setting];
}

RunMedians medians_of(const Pool& pool) {
  RunMedians medians;
  for (const auto& [run, values] : pool) medians[run] = stats::median(values);
  return medians;
}

template <typename Key, typename Inner, typename Out>
void medians_of_all(const std::map<Key, std::map<Inner, Pool>>& pools, Out& out) {
  for (const auto& [key, by_inner] : pools) {
    for (const auto& [inner, pool] : by_inner) out[key][inner] = medians_of(pool);
  }
}

}  // namespace

plan::VisRequest request_of(const VisShape& shape, ComputeClass compute, uint64_t medium_bytes) {
  plan::VisRequest request;
  request.direction = shape.direction;
  request.regions = shape.regions;
  request.region_bytes = shape.region_bytes;
  request.extent_bytes = ((shape.regions - 1) * shape.stride + 1) * shape.region_bytes;
  request.local_regions = 1;
  request.bounding_box_allowed = shape.direction == Direction::get;
  request.medium_bytes = medium_bytes;
  request.message_bytes = plan::kUsualMessageBytes;
  request.compute = compute;
  return request;
}

VisSamples sort_vis_samples(std::span<const SampleSeries> series) {
  VisSamples sorted;
  Pools pools;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const SampleSeries& one = series[i];
    const std::string& name = one.point.experiment;
    if (std::none_of(std::begin(kExperiments), std::end(kExperiments),
                     [&](const char* known) { return name == known; })) {
      continue;
    }
    Reader reader(one);
    if (!one.verified) reader.fail("its result was not verified");
    if (one.values.empty()) reader.fail("it holds no samples");
    for (const double value : one.values) {
      if (!std::isfinite(value) || value < 0) reader.fail("a sample is not a time");
    }
    Pool* pool = reader.why() ? nullptr : place_of(one, reader, pools);
    if (pool == nullptr) {
      sorted.rejected.push_back(experiment::point_key(one.point) + ", run " +
                                std::to_string(one.run) + ": left out, " +
                                reader.why().value_or(""));
      continue;
    }
    std::vector<double>& values = (*pool)[one.run];
    values.insert(values.end(), one.values.begin(), one.values.end());
    sorted.raw_samples[name] += static_cast<uint32_t>(one.values.size());
    sorted.used.push_back(i);
  }
  medians_of_all(pools.pack, sorted.pack);
  medians_of_all(pools.unpack, sorted.unpack);
  medians_of_all(pools.chunks, sorted.chunks);
  medians_of_all(pools.windows, sorted.windows);
  for (size_t c = 0; c < plan::kComputeClasses; ++c) {
    for (const auto& [shape, times] : pools.cells[c]) {
      VisTimes& out = sorted.cells[c][shape];
      out.compute = medians_of(times.compute);
      for (size_t m = 0; m < plan::kVisMethods; ++m) {
        for (const auto& [setting, pool] : times.methods[m]) {
          out.methods[m][setting] = medians_of(pool);
        }
      }
    }
  }
  return sorted;
}

}  // namespace stripline::fit
