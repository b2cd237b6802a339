// What a launch of the MPI driver (drivers/main.c) is asked, and what it prints, as values. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/candidate.h"

namespace stripline::suites::tune {

/// Control variables that choose an alternative; none: whatever the launch has been given.
using Selection = std::vector<std::pair<std::string, int64_t>>;

struct DriverCell {
  std::string operation;  ///< a collective, or one of drivers/messages.c and programs.c
  uint32_t ranks = 2;
  uint64_t bytes = 8;
  std::string type = "double";  ///< "double", "byte", "triple", "matrix"
  bool in_place = false;
  std::vector<size_t> variants;  ///< into DriverPlan::variants
};

struct DriverPlan {
  uint32_t run = 0;
  uint64_t seed = 1;
  uint32_t repetitions = 20;  ///< of each cell and variant, at most
  double budget_s = 0.01;     ///< of each cell and variant
  std::vector<Selection> variants;
  std::vector<DriverCell> cells;

  /// The index of a selection in `variants`, where it is added if it is not there.
  size_t variant(const Selection& selection);
};

/// The plan as the driver reads it. Cells are put in the order that it asks for, by ranks and then
/// by operation; `plan` is changed likewise. Only the text has the numbers of `renumbering`.
std::string plan_text(DriverPlan& plan, const targets::Renumbering& renumbering = {});

struct DriverSeries {
  size_t cell = 0;     ///< into DriverPlan::cells
  size_t variant = 0;  ///< into DriverPlan::variants
  std::vector<double> values_s;
  bool verified = false;
  std::string note;  ///< why it is not verified
};

struct DriverOutput {
  /// Control variables that do not let themselves be set as a variant asks: it cannot be measured.
  std::set<std::string> unsettable;
  /// Numbers of the ranks' processes, of a driver that says them.
  std::vector<int64_t> processes;
  std::vector<DriverSeries> series;
  /// The cell and the variant that were tried last without coming to their end.
  std::optional<std::pair<size_t, size_t>> unfinished;
  /// All variants of that cell were taking turns: any of them may be the one.
  bool in_turns = false;
  bool done = false;
};

/// Reads what a launch has printed. Lines that are not JSON objects are MPI's, and skipped; so is a
/// last line without an end. Errors: data_loss for an object that the plan does not ask for.
Result<DriverOutput> read_driver_output(const DriverPlan& plan, std::string_view text);

}  // namespace stripline::suites::tune
