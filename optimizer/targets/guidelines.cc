#include "optimizer/targets/guidelines.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stripline::targets {
namespace {

using C = Collective;

// The left side takes no longer than all of the right together, at the same size and ranks.
struct Guideline {
  C bounded;
  std::vector<C> by;
};

const std::vector<Guideline>& guidelines() {
  static const std::vector<Guideline> kAll = {
      {C::allreduce, {C::reduce, C::bcast}},
      {C::reduce, {C::allreduce}},
      {C::gather, {C::allgather}},
      {C::scatter, {C::alltoall}},
      {C::allgather, {C::alltoall}},
      {C::allgather, {C::allgatherv}},
      {C::alltoall, {C::alltoallv}},
      {C::reduce_scatter_block, {C::reduce_scatter}},
      {C::exscan, {C::scan}},
  };
  return kAll;
}

struct Question {
  Cell cell;
  std::string guideline;
  std::vector<double> bounded;
  std::vector<double> by;
};

// Runs that have both.
bool has_enough(const Question& question, size_t least) {
  size_t pairs = 0;
  for (size_t run = 0; run < question.bounded.size(); ++run) {
    if (!std::isnan(question.bounded[run]) && !std::isnan(question.by[run])) ++pairs;
  }
  return pairs >= std::max<size_t>(least, 2);
}

std::string text_of(const Guideline& guideline) {
  std::string text(to_string(guideline.bounded));
  for (size_t i = 0; i < guideline.by.size(); ++i) {
    text.append(i == 0 ? " <= " : " + ").append(to_string(guideline.by[i]));
  }
  return text;
}

std::vector<Question> questions_of(std::span<const CellSeries> series) {
  std::map<Cell, const std::vector<double>*> by_cell;
  for (const CellSeries& one : series) by_cell[one.cell] = &one.times_s;
  std::vector<Question> questions;
  for (const auto& [cell, times] : by_cell) {
    for (const Guideline& guideline : guidelines()) {
      if (guideline.bounded != cell.collective) continue;
      std::vector<double> sum(times->size(), 0.0);
      bool complete = true;
      for (const C part : guideline.by) {
        Cell other = cell;
        other.collective = part;
        const auto found = by_cell.find(other);
        complete = complete && found != by_cell.end() && found->second->size() == sum.size();
        if (!complete) break;
        for (size_t run = 0; run < sum.size(); ++run) sum[run] += (*found->second)[run];
      }
      if (complete) questions.push_back({cell, text_of(guideline), *times, std::move(sum)});
    }
  }
  // The next larger size of the same operation: keys are by operation, ranks and bytes.
  for (auto at = by_cell.begin(); at != by_cell.end(); ++at) {
    const auto next = std::next(at);
    if (next == by_cell.end()) break;
    Cell same = next->first;
    same.bytes = at->first.bytes;
    if (same != at->first || next->second->size() != at->second->size()) continue;
    questions.push_back(
        {at->first,
         std::to_string(at->first.bytes) + " B <= " + std::to_string(next->first.bytes) + " B",
         *at->second, *next->second});
  }
  return questions;
}

}  // namespace

Result<std::vector<Violation>> violated_guidelines(std::span<const CellSeries> series,
                                                   const DecisionRule& rule) {
  std::vector<Question> questions = questions_of(series);
  std::erase_if(questions, [&](const Question& one) { return !has_enough(one, rule.least_runs); });
  std::vector<CellTimes> times;
  times.reserve(questions.size());
  for (const Question& one : questions) times.push_back({one.cell, one.by, one.bounded});
  STRIPLINE_ASSIGN_OR_RETURN(const auto verdicts, judge_cells(times, rule));
  std::vector<Violation> violations;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].test.verdict != stats::NonInferiority::inferior) continue;
    violations.push_back({questions[i].cell, questions[i].guideline, verdicts[i].test});
  }
  std::ranges::sort(violations, std::greater<>(),
                    [](const Violation& one) { return one.test.ratio; });
  return violations;
}

}  // namespace stripline::targets
