#include "suites/results/gather_choices.h"

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/json.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;
namespace factor = experiment::factor;

constexpr const char* kVariant = "tuned";
constexpr int64_t kSmall = 4096;
constexpr int64_t kLarge = 32768;

Point product(const char* matrix, int64_t rows) {
  return {kernels::kSpmv.name, kVariant, {{"matrix", std::string(matrix)}, {"rows", rows}}};
}

// The same with `entries` entries in each row.
Point with_density(Point point, int64_t entries) {
  point.params["entries"] = entries;
  return point;
}

// The same with an inspection that is timed, and made again after `products` products.
Point used_few_times(Point point, int64_t products) {
  point.params["inspection"] = std::string("timed");
  point.params["iterations"] = products;
  return point;
}

std::vector<Point> problems(uint32_t ranks) {
  std::vector<Point> all = {product("space", kSmall), product("power_law", kSmall),
                            product("random", kSmall), with_density(product("random", kLarge), 2),
                            used_few_times(product("plane", kSmall), 20)};
  if (ranks > 8) return all;
  all.push_back(with_density(product("banded", kSmall), 2));
  all.push_back(product("banded", kLarge));
  all.push_back(product("power_law", kLarge));
  all.push_back(used_few_times(with_density(product("random", kSmall), 3), 20));
  return all;
}

struct Where {
  Network network;
  std::vector<uint32_t> ranks;
};

// Real networks with as many ranks as this host has processors, and with twice as many.
std::vector<Where> places(const Options& options) {
  std::vector<Where> all = {
      {{.fabric = "tcp", .clock = "real"}, {2, 4}},
      {{.fabric = "tcp", .clock = "real", .same_node = "mapped"}, {2, 4}},
      {{.fabric = "tcp", .clock = "real", .same_node = "mapped:2"}, {4}},
  };
  for (const char* profile : {"cloud-ethernet", "modern-rdma", "opteron-vapi"}) {
    const Network network{.fabric = std::string("emulated:") + profile, .clock = "virtual"};
    all.push_back({declared(network), {2, 8, 32}});
  }
  const std::string only = options.only.empty() && options.quick ? "opteron" : options.only;
  const bool exact =
      std::ranges::any_of(all, [&](const Where& where) { return where.network.path() == only; });
  std::erase_if(all, [&](const Where& where) {
    const std::string path = where.network.path();
    return exact ? path != only : path.find(only) == std::string::npos;
  });
  return all;
}

bool on_nodes(const Network& network) { return network.same_node.find(':') != std::string::npos; }

// Operations between ranks of a node through mapped memory, at sizes as vis_campaign_points() has
// them.
std::vector<Point> points_of_mapped_memory() {
  constexpr int64_t kMostBytes = 1 << 20;
  const std::set<std::string_view> operations = {micro::kNodeLatency.name, micro::kNodeIssue.name,
                                                 micro::kNodeFlood.name};
  std::vector<Point> points;
  for (const Benchmark& benchmark : benchmarks()) {
    if (operations.contains(benchmark.declaration.name)) {
      append_points(benchmark.declaration, points);
    }
  }
  std::erase_if(points, [](const Point& point) {
    if (experiment::text_param(point, factor::kSameNode) != "mapped" || point.variant == "am") {
      return true;
    }
    const auto bytes =
        static_cast<int64_t>(experiment::number_param(point, factor::kBytes).value_or(1));
    return bytes > kMostBytes || !std::has_single_bit(static_cast<uint64_t>(bytes));
  });
  return points;
}

std::vector<Point> gather_campaign_points(const Network& network, bool quick) {
  const std::set<std::string_view> needed = {micro::kLatency.name, micro::kIssue.name,
                                             micro::kFlood.name, micro::kPack.name};
  std::vector<Point> points = vis_campaign_points(network, quick);
  std::erase_if(points, [&](const Point& point) { return !needed.contains(point.experiment); });
  if (network.same_node != "network")
    std::ranges::move(points_of_mapped_memory(), std::back_inserter(points));
  return points;
}

}  // namespace

Result<std::vector<Cell>> gather_cells(const Options& options) {
  std::vector<Cell> cells;
  for (const Where& where : places(options)) {
    for (const uint32_t ranks : where.ranks) {
      for (const Point& problem : problems(ranks)) {
        Cell cell{where.network, ranks, problem};
        if (cell.key().find(options.cells) != std::string::npos) cells.push_back(std::move(cell));
      }
    }
  }
  if (options.quick && cells.size() > 2) cells.resize(2);
  if (!cells.empty()) return cells;
  Options all = options;
  all.only.clear();
  all.quick = false;
  std::vector<std::string> names;
  for (const Where& where : places(all)) names.push_back(where.network.path());
  return no_such_cell(options, names);
}

Result<RowPoints> gather_rows(const Cell& cell) {
  const experiment::Experiment& declaration = find_benchmark(cell.problem.experiment)->declaration;
  RowPoints rows;
  const auto add = [&](const char* row, const char* variant) {
    Point point = cell.problem;
    point.variant = variant;
    rows.emplace_back(row, std::move(point));
  };
  add(kChosenRow, kVariant);
  for (const char* variant : {"whole", "pack", "bound", "pull"}) add(variant, variant);
  // With two ranks each is the other's only reader.
  if (cell.ranks > 2) add("broadcast", "broadcast");
  if (on_nodes(cell.network)) add("share", "share");
  for (auto& [row, point] : rows) {
    if (const auto refused = experiment::complete_point(declaration, point)) {
      return Error(ErrorCode::internal, cell.key() + ", " + row + ": " + *refused);
    }
  }
  return rows;
}

ChoiceQuestion gather_question() {
  return {.name = "gathers",
          .problems = "product",
          .explained =
              "The sweep: whole parts of all ranks; elements packed, all between the first and the "
              "last, or fetched by the reader; with more than two ranks passed on where all "
              "readers need the same, and on nodes of several ranks shared by them.",
          .mixes = true,
          .campaign = gather_campaign_points,
          .rows = gather_rows};
}

Status print_gather_choices(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells, gather_cells(options));
  return print_choices(gather_question(), options, cells);
}

}  // namespace stripline::suites::results
