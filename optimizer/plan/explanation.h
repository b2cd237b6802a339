// A decision with its reasons: what was asked, the plan, every alternative that the planner
// considered with its predicted time, the margin, what the parameters' errors may cost, and the
// entries of the model it used. As a value, as text and as JSON. mechanism.h makes them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/row.h"

namespace stripline::plan {

/// An option of a command and values of it, as options take them.
struct AskedValues {
  std::string_view option;  ///< without dashes: "region-bytes"
  std::string_view values;  ///< separated by commas
};

/// Decisions that a model is usually looked at by: two options that vary, and some that choose.
struct UsualDecisions {
  AskedValues x;
  AskedValues y;
  std::array<AskedValues, 2> choices{};
};

/// What people read of a mechanism, and type to ask about it.
struct Words {
  const char* command;     ///< of `stripline explain`: "sweep"
  const char* help;        ///< what the command is about
  const char* example;     ///< what follows the model on a command line
  const char* notes = "";  ///< lines of the help, each with its end
  /// What plans are compared with: "one piece"; null: with each other.
  const char* baseline = nullptr;
  const char* no_model;     ///< what is done without a model, and why
  const char* legend = "";  ///< behind "alternatives, the fastest first"
  // What lists of all kinds (kinds.h) say besides.
  Scope scope{};
  /// What counts as its size: "bytes that are moved"; null: it is not forced by score maps.
  const char* sized_by = nullptr;
  /// What may be forced (score_map.h) besides "baseline": methods by name, and a number of what.
  std::span<const std::string_view> methods{};
  const char* number = nullptr;
  std::span<const std::string_view> variants{};  ///< that are forced by themselves: operations
  const char* settings = nullptr;                ///< by what it is set where not by score maps
  /// What pages, reports and comparisons of models ask (optimizer/report/decision_tables.h);
  /// without an option for x: nothing.
  UsualDecisions table{};
};

struct Explanation {
  /// A time over the parameters' intervals, in seconds.
  struct Interval {
    double low_s = 0;
    double high_s = 0;
  };
  struct Alternative {
    Row plan;
    double predicted_s = 0;
    std::optional<Interval> interval;  ///< nullopt: not known
    Row more;                          ///< what else is known of it
  };
  struct Pruned {
    Row what;
    double bound_s = 0;
  };

  Row asked;  ///< the request, and what follows from it
  Row plan;
  std::string brief;    ///< the plan as traces show it
  std::string details;  ///< lines about the plan, each with its end
  Verdict verdict;
  double minimum_gain = 0;  ///< that is required; only where there is a baseline
  bool has_times = false;   ///< the model says what the alternatives take
  std::string why;
  Row remarks;                            ///< lines about what is not possible, and the like
  std::vector<Alternative> alternatives;  ///< as considered
  std::vector<Pruned> pruned;
  std::vector<Sensitivity> sensitivities;  ///< of the best alternative's gain
  std::vector<Row> entries;                ///< of the model
  Row model;                               ///< what else it says, on a line of its own
};

/// For people: several lines, times in readable units.
std::string to_text(const Explanation& explanation, const Words& words);

/// For programs: SI units. What was asked, `plan`, `why`; and with a model the rest. `text` in a
/// plan or an alternative is what people read of it, `brief` what a trace shows of a plan.
Json to_json(const Explanation& explanation, const Words& words);

/// Why a plan is what it is, in two or three words: "tuned", "below margin".
std::string_view short_text(Reason reason);

/// The same in a sentence. `best_s`: what the best alternative takes.
std::string reason_text(const Explanation& explanation, const Words& words, double best_s);

}  // namespace stripline::plan
