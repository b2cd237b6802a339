#include "suites/results/cells.h"

#include <string_view>

#include "suites/kernels/decomposition.h"
#include "suites/kernels/nas_variants.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

using experiment::Params;

struct Problem {
  uint32_t ranks;
  const char* kernel;
  Params params;
};

std::vector<Problem> matvec(uint32_t ranks, const std::vector<int64_t>& rows,
                            const std::vector<int64_t>& passes, const std::string& active) {
  std::vector<Problem> problems;
  for (const int64_t r : rows) {
    for (const int64_t p : passes) {
      problems.push_back(
          {ranks, "kernel.matvec", {{"rows", r}, {"passes", p}, {"active", active}}});
    }
  }
  return problems;
}

std::vector<Problem> transpose(uint32_t ranks, const std::vector<int64_t>& sizes,
                               const std::vector<int64_t>& passes) {
  std::vector<Problem> problems;
  for (const int64_t n : sizes) {
    for (const int64_t p : passes) {
      problems.push_back({ranks, "kernel.transpose", {{"n", n}, {"passes", p}}});
    }
  }
  return problems;
}

void append(std::vector<Problem>& all, const std::vector<Problem>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// BT and SP: ranks are a square, and the twelve points along each axis make three cells at most.
std::vector<Problem> sweeps(uint32_t ranks) {
  const std::string small = "S";
  return {{ranks, "kernel.nas_bt", {{"class", small}}},
          {ranks, "kernel.nas_sp", {{"class", small}}}};
}

// Kernels that users run, at sizes where a run takes milliseconds. Ranks are a power of two.
std::vector<Problem> small_kernels(uint32_t ranks) {
  const std::string small = "S";
  std::vector<Problem> problems;
  for (const char* kernel : {"kernel.nas_cg", "kernel.nas_ft", "kernel.nas_is", "kernel.nas_mg"}) {
    // Its sums are 1400 bytes by then, which nothing divides, and take minutes to search.
    if (ranks == 64 && kernel == std::string_view("kernel.nas_cg")) continue;
    problems.push_back({ranks, kernel, {{"class", small}}});
  }
  for (const char* kernel :
       {"kernel.prk_stencil", "kernel.prk_transpose", "kernel.prk_sparse", "kernel.triad"}) {
    problems.push_back({ranks, kernel, {}});
  }
  return problems;
}

// Two cores: two ranks. Transfers from 128 KiB to 8 MiB, computation from less to much more than
// the transfer.
std::vector<Problem> real_problems() {
  std::vector<Problem> problems = matvec(2, {16, 128, 1024}, {1, 4, 16}, "one");
  append(problems, matvec(2, {128}, {4}, "all"));
  append(problems, transpose(2, {256, 1024}, {1, 4}));
  append(problems, small_kernels(2));
  return problems;
}

std::vector<Problem> emulated_problems() {
  std::vector<Problem> problems = matvec(2, {16, 128, 512}, {1, 8}, "one");
  append(problems, transpose(2, {512}, {1}));
  append(problems, small_kernels(2));
  return problems;
}

std::vector<Problem> problems_of_many() {
  std::vector<Problem> problems = matvec(4, {128}, {4}, "all");
  append(problems, matvec(8, {64}, {4}, "all"));
  append(problems, transpose(4, {512}, {1, 4}));
  append(problems, transpose(8, {512}, {4}));
  for (const uint32_t ranks : {4, 16, 64}) append(problems, small_kernels(ranks));
  for (const uint32_t ranks : {4, 9}) append(problems, sweeps(ranks));
  return problems;
}

}  // namespace

std::string Cell::problem_text() const {
  std::string text = problem.experiment + ":";
  for (const auto& [name, value] : problem.params) {
    if (is_decomposition_factor(name) || name == kMethodFactor || name == kPiecesFactor) continue;
    text += " " + name + "=";
    if (const auto* word = std::get_if<std::string>(&value)) text += *word;
    if (const auto* integer = std::get_if<int64_t>(&value)) text += std::to_string(*integer);
  }
  return text;
}

std::string Cell::key() const {
  return network.fabric + ", " + std::to_string(ranks) + " ranks, " + problem_text();
}

Result<std::vector<Cell>> quality_cells(const Options& options, CellKind kind) {
  std::vector<Cell> cells;
  const bool many = kind == CellKind::many_ranks;
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<Network> judged, networks(options, true, {"shm"}));
  if (many) {
    std::erase_if(judged, [](const Network& network) { return !network.emulated(); });
    for (Network& network : judged) network = declared(network);
  }
  for (const Network& network : judged) {
    std::vector<Problem> problems = many                 ? problems_of_many()
                                    : network.emulated() ? emulated_problems()
                                                         : real_problems();
    if (options.quick) problems = matvec(many ? 4 : 2, {16}, {1}, many ? "all" : "one");
    for (Problem& problem : problems) {
      Cell cell{network, problem.ranks, {problem.kernel, "blocking", std::move(problem.params)}};
      const Benchmark* benchmark = find_benchmark(problem.kernel);
      if (benchmark == nullptr) {
        return Error(ErrorCode::internal, "no experiment " + std::string(problem.kernel));
      }
      if (auto refused = experiment::complete_point(benchmark->declaration, cell.problem)) {
        return Error(ErrorCode::internal, *refused);
      }
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace stripline::suites::results
