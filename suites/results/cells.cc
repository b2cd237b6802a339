#include "suites/results/cells.h"

#include <string_view>

#include "suites/kernels/decomposition.h"
#include "suites/kernels/strided_variants.h"
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
          {ranks, kernels::kMatvec.name, {{"rows", r}, {"passes", p}, {"active", active}}});
    }
  }
  return problems;
}

std::vector<Problem> transpose(uint32_t ranks, const std::vector<int64_t>& sizes,
                               const std::vector<int64_t>& passes) {
  std::vector<Problem> problems;
  for (const int64_t n : sizes) {
    for (const int64_t p : passes) {
      problems.push_back({ranks, kernels::kTranspose.name, {{"n", n}, {"passes", p}}});
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
  return {{ranks, kernels::kNasBt.name, {{"class", small}}},
          {ranks, kernels::kNasSp.name, {{"class", small}}}};
}

// Kernels that users run, at sizes where a run takes milliseconds. Ranks are a power of two.
std::vector<Problem> small_kernels(uint32_t ranks) {
  const std::string small = "S";
  std::vector<Problem> problems;
  for (const char* kernel :
       {kernels::kNasCg.name, kernels::kNasFt.name, kernels::kNasIs.name, kernels::kNasMg.name}) {
    // Its sums are 1400 bytes by then, which nothing divides, and take minutes to search.
    if (ranks == 64 && kernel == std::string_view(kernels::kNasCg.name)) continue;
    problems.push_back({ranks, kernel, {{"class", small}}});
  }
  for (const char* kernel : {kernels::kPrkStencil.name, kernels::kPrkTranspose.name,
                             kernels::kPrkSparse.name, kernels::kTriad.name}) {
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

// Problems of two ranks as well: their times do not depend on the host, unlike those of
// emulated_problems() with computation that is measured.
std::vector<Problem> problems_of_many() {
  std::vector<Problem> problems = emulated_problems();
  append(problems, matvec(4, {128}, {4}, "all"));
  append(problems, matvec(8, {64}, {4}, "all"));
  append(problems, transpose(4, {512}, {1, 4}));
  append(problems, transpose(8, {512}, {4}));
  for (const uint32_t ranks : {4, 16, 64}) append(problems, small_kernels(ranks));
  for (const uint32_t ranks : {4, 9}) append(problems, sweeps(ranks));
  return problems;
}

// Sizes from 1 KiB to 1 MiB; with one pass an element takes a multiplication and an addition, with
// eight much more than what it takes to come from memory.
std::vector<Problem> sweep_problems(bool quick) {
  constexpr int64_t kColumns = 128;  // 1 KiB
  constexpr int64_t kMostRows = 1024;
  std::vector<Problem> problems;
  for (const int64_t passes : {1, 8}) {
    for (int64_t rows = quick ? kMostRows / 32 : 1; rows <= kMostRows; rows *= quick ? 32 : 2) {
      problems.push_back({2,
                          kernels::kMatvec.name,
                          {{"rows", rows},
                           {"cols", kColumns},
                           {"passes", passes},
                           {"active", std::string("one")}}});
    }
  }
  return problems;
}

std::vector<Problem> application_problems() {
  std::vector<Problem> problems;
  for (const char* kernel : {kernels::kNasFt.name, kernels::kNasIs.name}) {
    for (const uint32_t ranks : {2, 4, 8, 16, 32}) {
      problems.push_back({ranks, kernel, {{"class", std::string("W")}}});
    }
  }
  return problems;
}

bool is_of_thesis(const Network& network) {
  for (const char* profile : {"itanium-gm", "opteron-vapi", "power5-lapi"}) {
    if (network.fabric.find(profile) != std::string::npos) return true;
  }
  return false;
}

Result<std::vector<Network>> declared_networks(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<Network> all, networks(options, true, {"shm"}));
  std::erase_if(all, [](const Network& network) { return !network.emulated(); });
  for (Network& network : all) network = declared(network);
  return all;
}

Status append_cells(const Network& network, const std::vector<Problem>& problems,
                    std::vector<Cell>& cells) {
  for (const Problem& problem : problems) {
    Cell cell{network, problem.ranks, {problem.kernel, "blocking", problem.params}};
    const Benchmark* benchmark = find_benchmark(problem.kernel);
    if (benchmark == nullptr) {
      return Error(ErrorCode::internal, "no experiment " + std::string(problem.kernel));
    }
    if (auto refused = experiment::complete_point(benchmark->declaration, cell.problem)) {
      return Error(ErrorCode::internal, *refused);
    }
    cells.push_back(std::move(cell));
  }
  return {};
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
  return network.path() + ", " + std::to_string(ranks) + " ranks, " + problem_text();
}

bool is_cut(const Cell& cell) { return !cell.problem.params.contains(kMethodFactor); }

Result<std::vector<Cell>> quality_cells(const Options& options, CellKind kind) {
  std::vector<Cell> cells;
  const bool many = kind == CellKind::many_ranks;
  std::vector<Network> judged;
  if (many) {
    STRIPLINE_ASSIGN_OR_RETURN(judged, declared_networks(options));
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(judged, networks(options, true, {"shm"}));
  }
  for (const Network& network : judged) {
    std::vector<Problem> problems = many                 ? problems_of_many()
                                    : network.emulated() ? emulated_problems()
                                                         : real_problems();
    if (options.quick) problems = matvec(many ? 4 : 2, {16}, {1}, many ? "all" : "one");
    STRIPLINE_RETURN_IF_ERROR(append_cells(network, problems, cells));
  }
  return cells;
}

Result<std::vector<Cell>> strip_sweep(const Network& network, const Options& options) {
  std::vector<Cell> cells;
  STRIPLINE_RETURN_IF_ERROR(append_cells(network, sweep_problems(options.quick), cells));
  return cells;
}

Result<StripCells> strip_cells(const Options& options) {
  StripCells cells;
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> judged, declared_networks(options));
  for (const Network& network : judged) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> sweep, strip_sweep(network, options));
    cells.sweep.insert(cells.sweep.end(), sweep.begin(), sweep.end());
    if (options.quick || !is_of_thesis(network)) continue;
    STRIPLINE_RETURN_IF_ERROR(append_cells(network, application_problems(), cells.applications));
  }
  return cells;
}

}  // namespace stripline::suites::results
