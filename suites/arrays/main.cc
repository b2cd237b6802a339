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
#include <cstdio>
#include <iostream>
#include <string>
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
#include "suites/bench/text_table.h"
#include "suites/join_to_measure.h"
#include "suites/results/markdown.h"

namespace stripline::suites::arrays {
namespace {

using bench::interval_text;
using bench::ratio_text;
using bench::TextTable;
using results::MarkdownTable;
using results::number;

constexpr double kConfidence = 0.95;
// Chen, sections 4.3.3: equal to the manual version; more than 20 % faster than the test.
constexpr double kMostPrivatised = 1.03;
constexpr double kMostRemoved = 0.80;
constexpr double kAlpha = 3;
// Passes are repeated until a sample is so long that reading the clock does not count, and no
// longer: the shorter a round, the better its samples compare.
constexpr double kSample_s = 5e-4;
constexpr int kWarmUpRounds = 3;

struct Order {
  int rounds = 60;
  std::vector<uint64_t> elements = {4096, 1048576};
  bool markdown = false;
};

void print(const Order& order, const std::vector<std::string>& headings,
           const std::vector<std::vector<std::string>>& rows) {
  TextTable text(headings);
  MarkdownTable markdown(headings);
  for (const auto& row : rows) {
    text.add(row);
    markdown.add(row);
  }
  std::cout << (order.markdown ? markdown.text() : text.text()) << '\n' << std::flush;
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
  if (most > 0) cells[1] = "at most " + number(most, 2) + ": " + results::met(ratio <= most);
  return cells;
}

/// What is measured at this turn of a round. Each round begins with another one, and every second
/// goes backwards, so that none always follows the same other one.
size_t turn_of(size_t turn, int round, size_t count) {
  const size_t forward = (turn + static_cast<size_t>(round + kWarmUpRounds)) % count;
  return round % 2 == 0 ? forward : count - 1 - forward;
}

/// Collective. Whether all results were right.
Result<bool> measure_triad(Context& ctx, const Order& order, uint64_t elements) {
  STRIPLINE_ASSIGN_OR_RETURN(TriadArrays arrays, TriadArrays::create(ctx, elements));
  prepare(arrays);
  const auto variants = triad_variants();
  std::vector<uint64_t> passes(variants.size(), 1);
  std::vector<std::vector<double>> times_s(variants.size());
  bool good = true;
  for (int round = -kWarmUpRounds; round < order.rounds; ++round) {
    for (size_t turn = 0; turn < variants.size(); ++turn) {
      const size_t which = turn_of(turn, round, variants.size());
      // What ran before leaves its traces in caches: each has run once when it is timed.
      variants[which].run(ctx, arrays, kAlpha);
      std::ranges::fill(arrays.a.local_span(), -1.0);
      ctx.barrier();
      const double start_s = ctx.now_s();
      for (uint64_t pass = 0; pass < passes[which]; ++pass)
        variants[which].run(ctx, arrays, kAlpha);
      const double own_s = (ctx.now_s() - start_s) / static_cast<double>(passes[which]);
      const double slowest_s = ctx.reduce_all(own_s, Context::ReduceOp::max);
      good = verify(arrays, kAlpha) && good;
      if (round < 0) {
        passes[which] = std::max<uint64_t>(1, static_cast<uint64_t>(kSample_s / slowest_s));
      } else {
        times_s[which].push_back(slowest_s);
      }
    }
  }
  const bool all_good = ctx.reduce_all(uint64_t{good ? 1U : 0U}, Context::ReduceOp::min) == 1;
  arrays.destroy();
  if (ctx.rank_me() != 0) return all_good;

  std::vector<std::vector<std::string>> rows;
  for (size_t which = 0; which < variants.size(); ++which) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto to_manual,
        compared(times_s[which], times_s[kManual], which == kPrivatised ? kMostPrivatised : 0));
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto to_test,
        compared(times_s[which], times_s[kTestInteger], which == kTestRemoved ? kMostRemoved : 0));
    rows.push_back(
        {variants[which].name,
         number(stats::median(times_s[which]) * 1e9 / static_cast<double>(elements), 3) + " ns",
         to_manual[0], to_test[0], to_manual[1] + to_test[1]});
  }
  std::cout << "Triad, " << elements << " elements of each cyclic array per rank, " << ctx.rank_n()
            << " ranks, " << order.rounds << " paired rounds, results "
            << (all_good ? "verified" : "WRONG") << "\n\n";
  print(
      order,
      {"variant", ">per own element", ">to private pointers", ">to the integer test", "criterion"},
      rows);
  return all_good;
}

struct Timed {
  std::vector<double> times_s;
  bool good = true;
};

/// Nanoseconds per operation, in turns.
std::vector<Timed> measure_operations(Context& ctx, const Order& order,
                                      const std::vector<Operation>& operations) {
  std::vector<Timed> timed(operations.size());
  for (int round = -kWarmUpRounds; round < order.rounds; ++round) {
    for (size_t turn = 0; turn < operations.size(); ++turn) {
      const size_t which = turn_of(turn, round, operations.size());
      const double start_s = ctx.now_s();
      const bool good = operations[which].batch();
      const double end_s = ctx.now_s();
      timed[which].good = timed[which].good && good;
      if (round >= 0) timed[which].times_s.push_back((end_s - start_s) / kOperationsPerBatch);
    }
  }
  return timed;
}

std::string nanoseconds(const Timed& timed) {
  return timed.good ? number(stats::median(timed.times_s) * 1e9, 2) : "WRONG";
}

/// On rank 0, while the others wait. Whether all results were right.
Result<bool> measure_pointers(Context& ctx, const Order& order) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Operation> reads, own_element(ctx));
  ctx.barrier();
  bool good = true;
  if (ctx.rank_me() == 0) {
    const std::vector<Operation> steps = arithmetic();
    const std::vector<Timed> step_times = measure_operations(ctx, order, steps);
    std::vector<std::string> headings = {"`p + n`, ns"};
    for (const std::string& column : kArithmeticColumns) headings.push_back(">" + column);
    std::vector<std::vector<std::string>> rows;
    for (size_t k = 0; k < steps.size(); ++k) {
      if (rows.empty() || rows.back()[0] != steps[k].row) {
        rows.emplace_back(headings.size());
        rows.back()[0] = steps[k].row;
      }
      const auto column = std::ranges::find(kArithmeticColumns, steps[k].column);
      rows.back()[1 + static_cast<size_t>(column - kArithmeticColumns.begin())] =
          nanoseconds(step_times[k]);
      good = good && step_times[k].good;
    }
    print(order, headings, rows);

    const std::vector<Timed> read_times = measure_operations(ctx, order, reads);
    rows.clear();
    for (size_t k = 0; k < reads.size(); ++k) {
      rows.push_back({reads[k].row, nanoseconds(read_times[k])});
      good = good && read_times[k].good;
    }
    print(order, {"reading an own double", ">ns"}, rows);
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
