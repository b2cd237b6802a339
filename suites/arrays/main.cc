// What shared arrays cost where the data are local: the Stream triad in the variants of Chen,
// Figure 4.8, arithmetic on pointers to shared (Figure 4.3) and access to own elements
// (Figure 4.4).
//
//   stripline-run -n 2 -- stripline-arrays [--rounds 60] [--elements 4096,1048576] [--markdown]
//
// All variants are measured in one process run, in turns, in another order in each round.
// A triad's time is that of the slowest rank. Ratios are medians of those of the rounds. What each
// one computed is checked.
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <stripline/context.h>

#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "suites/arrays/pointer_costs.h"
#include "suites/arrays/triad.h"
#include "suites/harness/alternate.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/join_to_measure.h"

namespace stripline::suites::arrays {
namespace {

using harness::Alternative;

constexpr double kAlpha = 3;
// Passes are repeated until a sample is long enough that reading the clock does not count, and no
// longer: the shorter a round, the better its samples compare.
constexpr double kSample_s = 5e-4;
constexpr int kWarmUpRounds = 3;

struct Order {
  int rounds = 60;
  std::vector<uint64_t> elements = {4096, 1048576};
  bool markdown = false;
};

void print(const Order& order, const Table& table) {
  std::cout << table.text(order.markdown) << '\n' << std::flush;
}

/// "0.500 [0.490, 0.510]", and whether the ratio is at most `most`; 0: no criterion. The median of
/// the rounds' ratios with its interval by order statistics: who else uses the host delays single
/// samples many times over.
Result<std::array<std::string, 2>> compared(const std::vector<double>& times_s,
                                            const std::vector<double>& baseline_s, double most) {
  std::vector<double> ratios;
  for (size_t k = 0; k < times_s.size(); ++k) ratios.push_back(times_s[k] / baseline_s[k]);
  STRIPLINE_ASSIGN_OR_RETURN(const auto interval, stats::median_interval(ratios, kConfidence));
  const double ratio = stats::median(ratios);
  std::array<std::string, 2> cells;
  cells[0] = ratio_text(ratio) + " " + interval_text(interval.low, interval.high, "");
  cells[1] = at_most(most, ratio, 2);
  return cells;
}

/// Collective. Whether all results were right.
Result<bool> measure_triad(Context& ctx, const Order& order, uint64_t elements) {
  STRIPLINE_ASSIGN_OR_RETURN(TriadArrays arrays, TriadArrays::create(ctx, elements));
  prepare(arrays);
  const auto variants = triad_variants();
  std::vector<uint64_t> passes(variants.size(), 1);
  const auto one = [&](size_t which, int round) {
    // What ran before leaves its traces in caches: each has run once when it is timed.
    variants[which].run(ctx, arrays, kAlpha);
    std::ranges::fill(arrays.a.local_span(), -1.0);
    ctx.barrier();
    const double start_s = ctx.now_s();
    for (uint64_t pass = 0; pass < passes[which]; ++pass) variants[which].run(ctx, arrays, kAlpha);
    const double own_s = (ctx.now_s() - start_s) / static_cast<double>(passes[which]);
    const double slowest_s = ctx.reduce_all(own_s, Context::ReduceOp::max);
    if (round < 0) {
      passes[which] = std::max<uint64_t>(1, static_cast<uint64_t>(kSample_s / slowest_s));
    }
    return std::pair(slowest_s, verify(arrays, kAlpha));
  };
  const auto measured = harness::alternate(variants.size(), kWarmUpRounds, order.rounds, one);
  const bool good = std::ranges::all_of(measured, &Alternative::right);
  const bool all_good = ctx.reduce_all(uint64_t{good ? 1U : 0U}, Context::ReduceOp::min) == 1;
  arrays.destroy();
  if (ctx.rank_me() != 0) return all_good;

  Table table(
      {"variant", ">per own element", ">to private pointers", ">to the integer test", "criterion"});
  for (size_t which = 0; which < variants.size(); ++which) {
    const std::vector<double>& times_s = measured[which].seconds;
    STRIPLINE_ASSIGN_OR_RETURN(const auto to_manual,
                               compared(times_s, measured[kManual].seconds,
                                        which == kPrivatised ? asked::arrays::kPrivatised : 0));
    STRIPLINE_ASSIGN_OR_RETURN(const auto to_test,
                               compared(times_s, measured[kTestInteger].seconds,
                                        which == kTestRemoved ? asked::arrays::kTestRemoved : 0));
    table.add({variants[which].name,
               number(stats::median(times_s) * 1e9 / static_cast<double>(elements), 3) + " ns",
               to_manual[0], to_test[0], to_manual[1] + to_test[1]});
  }
  std::cout << "Triad, " << elements << " elements of each cyclic array per rank, " << ctx.rank_n()
            << " ranks, " << order.rounds << " paired rounds, results "
            << (all_good ? "verified" : "WRONG") << "\n\n";
  print(order, table);
  return all_good;
}

/// Seconds per operation.
std::vector<Alternative> measure_operations(Context& ctx, const Order& order,
                                            const std::vector<Operation>& operations) {
  const auto one = [&](size_t which, int /*round*/) {
    const double start_s = ctx.now_s();
    const bool right = operations[which].batch();
    return std::pair((ctx.now_s() - start_s) / kOperationsPerBatch, right);
  };
  return harness::alternate(operations.size(), kWarmUpRounds, order.rounds, one);
}

std::string nanoseconds(const Alternative& timed) {
  return timed.right ? number(stats::median(timed.seconds) * 1e9, 2) : "WRONG";
}

/// On rank 0, while the others wait. Whether all results were right.
Result<bool> measure_pointers(Context& ctx, const Order& order) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Operation> reads, own_element(ctx));
  ctx.barrier();
  bool good = true;
  if (ctx.rank_me() == 0) {
    const std::vector<Operation> steps = arithmetic();
    const std::vector<Alternative> step_times = measure_operations(ctx, order, steps);
    std::vector<std::string> headings = {"`p + n`, ns"};
    for (const std::string& column : kArithmeticColumns) headings.push_back(">" + column);
    Table table(headings);
    std::vector<std::string> cells;
    for (size_t k = 0; k < steps.size(); ++k) {
      if (k == 0 || steps[k].row != steps[k - 1].row) {
        cells.assign(headings.size(), "");
        cells[0] = steps[k].row;
      }
      const auto column = std::ranges::find(kArithmeticColumns, steps[k].column);
      cells[1 + static_cast<size_t>(column - kArithmeticColumns.begin())] =
          nanoseconds(step_times[k]);
      good = good && step_times[k].right;
      if (k + 1 == steps.size() || steps[k + 1].row != steps[k].row) table.add(cells);
    }
    print(order, table);

    const std::vector<Alternative> read_times = measure_operations(ctx, order, reads);
    Table reading({"reading an own double", ">ns"});
    for (size_t k = 0; k < reads.size(); ++k) {
      reading.add({reads[k].row, nanoseconds(read_times[k])});
      good = good && read_times[k].right;
    }
    print(order, reading);
  }
  ctx.barrier();
  return good;
}

int run(const Order& order) {
  auto context = suites::join_to_measure();
  if (!context.ok()) return report(context.error());
  Context& ctx = **context;
  bool good = true;
  for (const uint64_t elements : order.elements) {
    const auto triad = measure_triad(ctx, order, elements);
    if (!triad.ok()) return report(triad.error());
    good = good && *triad;
  }
  const auto pointers = measure_pointers(ctx, order);
  if (!pointers.ok()) return report(pointers.error());
  return good && *pointers ? kExitOk : kExitVerification;
}

}  // namespace
}  // namespace stripline::suites::arrays

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  CLI::App app("Measures what shared arrays cost where the data are local.", "stripline-arrays");
  stripline::suites::arrays::Order order;
  app.add_option("--rounds", order.rounds, "paired batches of each variant")
      ->transform(stripline::whole_number(6, 100000))
      ->capture_default_str();
  app.add_option("--elements", order.elements, "of each array per rank, separated by commas")
      ->delimiter(',')
      ->transform(stripline::whole_number(1, uint64_t{1} << 32))
      ->capture_default_str();
  app.add_flag("--markdown", order.markdown, "print the tables as Markdown");
  if (const auto end = stripline::read_command_line(app, argc, argv)) return *end;
  return stripline::suites::arrays::run(order);
}
