// What a search knows: cells, their alternatives, and the median times of each in each run. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/decide.h"
#include "optimizer/targets/guidelines.h"
#include "optimizer/targets/rules.h"
#include "optimizer/targets/target.h"

namespace stripline::suites::tune {

/// An alternative in a cell.
struct Runner {
  targets::Candidate candidate;
  std::vector<double> times_s;  ///< of each run of the search; NaN: not measured in it
  std::string failure;          ///< why it cannot be chosen; empty: it can
  bool in_race = true;          ///< measured again in the next run
};

struct SearchCell {
  targets::Cell cell;
  std::vector<Runner> runners;  ///< the default first, which is always in the race
  bool left_out = false;        ///< for lack of time: nothing is decided about it
};

/// What came out of a search.
struct SearchResult {
  /// Where a choice holds for a collective as a whole; the default is left out.
  std::vector<std::pair<targets::Collective, targets::Candidate>> choices;
  std::vector<targets::Choice> by_cell;          ///< the choice of every cell
  std::vector<targets::CellDecision> decisions;  ///< in the order of `by_cell`
};

class SearchTable {
 public:
  SearchTable(const targets::Target& target, targets::Safety safety)
      : target_(target), safety_(safety) {}

  /// A cell with the default and the target's alternatives that may be chosen in it. Where
  /// `among` is not empty, only those of it.
  void add(const targets::Cell& cell, const std::vector<targets::Candidate>& among = {});

  const std::vector<SearchCell>& cells() const { return cells_; }

  /// All that is recorded from here on is of one more run.
  void begin_run();
  size_t runs() const { return runs_; }
  void record(size_t cell, size_t runner, double median_s);
  /// It hung, aborted or gave wrong data: out of the race in every cell of these ranks and this
  /// collective. The default only loses what this cell has of this run.
  void fail(size_t cell, size_t runner, const std::string& reason);

  /// Takes alternatives out of the race: those that a paired test finds slower than the fastest one
  /// of their cell (optimizer/search/race.h); where a choice holds for several cells, those that
  /// take half as long again as the default in one of them.
  Status race();

  /// Adds a cell between neighbouring sizes whose fastest alternatives differ, with the default and
  /// those of both. Returns how many.
  size_t refine();

  /// All cells but the first `keep` are not measured again, and stay at the default. Returns how
  /// many there are.
  size_t leave_out_after(size_t keep);

  /// Whether anything but defaults is in the race.
  bool undecided() const;

  /// Times of the default in every cell.
  std::vector<targets::CellSeries> defaults() const;
  /// Times of what was chosen beside the default's, in the order of `result.by_cell`.
  std::vector<targets::CellTimes> chosen(const SearchResult& result) const;

  /// The cell and the alternative, of whole messages, that took longest beside the default: half as
  /// long again at least, in two runs or more. Cells of up to `ranks` ranks are preferred.
  std::optional<std::pair<targets::Cell, targets::Candidate>> slowest(uint32_t ranks) const;

  Result<SearchResult> decide(const targets::DecisionRule& rule) const;

 private:
  std::vector<std::vector<size_t>> groups() const;
  size_t leader(const SearchCell& cell) const;
  Status decide_cells(const std::vector<size_t>& row, const targets::DecisionRule& rule,
                      SearchResult& result) const;
  Status decide_group(const std::vector<size_t>& group, const targets::DecisionRule& rule,
                      SearchResult& result) const;

  const targets::Target& target_;
  targets::Safety safety_;
  std::vector<SearchCell> cells_;
  size_t runs_ = 0;
};

}  // namespace stripline::suites::tune
