#include "suites/results/update_choices.h"

#include <algorithm>
#include <utility>

#include "optimizer/experiment/json.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"

namespace stripline::suites::results {
namespace {

using experiment::Params;
using experiment::Point;

constexpr const char* kVariant = "tuned";

const std::vector<std::string> kProviders = {"shm"};
const std::vector<std::string> kFabrics = {"tcp", "shm", "emulated:cloud-ethernet",
                                           "emulated:modern-rdma", "emulated:opteron-vapi"};

// Messages, and operations of the network, take microseconds each; locks four round trips.
constexpr int64_t kFewUpdates = 100;
constexpr int64_t kMostSingly = 1000;

Point histogram(const char* keys, int64_t updates, const char* mode) {
  return {kernels::kHistogram.name,
          kVariant,
          {{"keys", std::string(keys)}, {"updates", updates}, {"mode", std::string(mode)}}};
}

Point uniform_histogram(int64_t bins, int64_t updates) {
  Point point = histogram("uniform", updates, "accumulate");
  point.params["bins_per_rank"] = bins;
  return point;
}

Point random_access(int64_t log2_cells, int64_t updates, const char* mode) {
  return {kernels::kGups.name,
          kVariant,
          {{"log2_cells", log2_cells},
           {"updates", updates},
           {"look_ahead", int64_t{0}},
           {"mode", std::string(mode)}}};
}

Point triangles(int64_t vertices, int64_t edges) {
  return {
      kernels::kTriangleCount.name,
      kVariant,
      {{"vertices", vertices}, {"edges_per_vertex", edges}, {"mode", std::string("accumulate")}}};
}

std::vector<Point> problems(uint32_t ranks) {
  std::vector<Point> all = {uniform_histogram(1000, 16384),
                            histogram("out_degree", 4096, "accumulate"),
                            random_access(20, 4096, "log")};
  if (ranks > 8) return all;
  all.push_back(uniform_histogram(1000, kFewUpdates));
  all.push_back(histogram("language", 16384, "log"));
  if (ranks > 2) return all;
  all.push_back(triangles(1024, 16));
  all.push_back(random_access(12, kFewUpdates, "log"));
  return all;
}

std::vector<Point> problems_of_real_networks() {
  std::vector<Point> all = problems(2);
  all.push_back(uniform_histogram(int64_t{1} << 18, 65536));
  all.push_back(histogram("sorting", 65536, "accumulate"));
  all.push_back(random_access(20, kMostSingly, "accumulate"));
  return all;
}

int64_t updates_of(const Point& point) {
  return static_cast<int64_t>(experiment::number_param(point, "updates").value_or(1e9));
}

// The points that decisions on updates rest on.
std::vector<Point> update_campaign_points(const Network& network, bool quick) {
  std::vector<Point> points = vis_campaign_points(network, quick);
  std::erase_if(points, [](const Point& point) {
    return point.experiment != micro::kLatency && point.experiment != micro::kIssue &&
           point.experiment != micro::kFlood;
  });
  for (Point& point : campaign_points(network, quick)) {
    if (point.experiment == micro::kUpdateItem || point.experiment == micro::kAtomic) {
      points.push_back(std::move(point));
    }
  }
  return points;
}

}  // namespace

Result<std::vector<Cell>> update_cells(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> all, networks(options, true, kProviders));
  std::vector<Cell> cells;
  for (const Network& network : all) {
    if (std::ranges::find(kFabrics, network.fabric) == kFabrics.end()) continue;
    const std::vector<uint32_t> ranks = network.emulated() && !options.quick
                                            ? std::vector<uint32_t>{2, 8, 64}
                                            : std::vector<uint32_t>{2};
    for (const uint32_t count : ranks) {
      // What is computed counts alike whatever the host does, and for more ranks than processors.
      const Network judged = network.emulated() ? declared(network) : network;
      for (const Point& problem :
           network.emulated() ? problems(count) : problems_of_real_networks()) {
        Cell cell{judged, count, problem};
        if (cell.key().find(options.cells) != std::string::npos) cells.push_back(std::move(cell));
      }
    }
  }
  if (options.quick && cells.size() > 2) cells.resize(2);
  if (!cells.empty()) return cells;
  return no_such_cell(options, kFabrics);
}

Result<RowPoints> update_rows(const Cell& cell) {
  const experiment::Experiment& declaration = find_benchmark(cell.problem.experiment)->declaration;
  RowPoints rows;
  const auto add = [&](const std::string& row, const char* method, int64_t buffer_bytes,
                       bool merges = true) {
    Point point = cell.problem;
    point.params["method"] = std::string(method);
    point.params["buffer_bytes"] = buffer_bytes;
    if (!merges) point.params["mode"] = std::string("log");
    rows.emplace_back(row, std::move(point));
  };
  add(kChosenRow, "automatic", 0);
  const bool may_merge = experiment::text_param(cell.problem, "mode") == "accumulate";
  for (const int64_t kib : {1, 4, 16, 64}) {
    const std::string size = std::to_string(kib) + " KiB";
    add("buffers of " + size, "buffers", kib << 10);
    if (may_merge && kib >= 16) add("unmerged, " + size, "buffers", kib << 10, false);
  }
  const int64_t updates = updates_of(cell.problem);
  if (may_merge && updates <= kMostSingly) {
    add("messages", "messages", 0);
    add("provider", "provider", 0);
  }
  if (updates <= kFewUpdates) {
    add("owner locks", "owner_locks", 0);
    add("cell locks", "cell_locks", 0);
  }
  for (auto& [row, point] : rows) {
    if (const auto refused = experiment::complete_point(declaration, point)) {
      return Error(ErrorCode::internal, cell.key() + ", " + row + ": " + *refused);
    }
  }
  return rows;
}

ChoiceQuestion update_question() {
  const std::string most_singly = std::to_string(kMostSingly);
  return {.name = "updates",
          .problems = "updates",
          .explained =
              "The sweep: buffers of 1, 4, 16 and 64 KiB, those of 16 and 64 KiB also "
              "without merging; messages and operations of the network for at most " +
              most_singly + " updates a rank, locks for at most " + std::to_string(kFewUpdates) +
              ".",
          .campaign = update_campaign_points,
          .rows = update_rows};
}

Status print_update_choices(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells, update_cells(options));
  return print_choices(update_question(), options, cells);
}

}  // namespace stripline::suites::results
