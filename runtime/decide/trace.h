// What was chosen at each place of the program, and what came of it: Options::trace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <stripline/call_site.h>

#include "optimizer/plan/decision.h"
#include "runtime/decide/savings.h"

namespace stripline::model {
struct FeedbackPlace;
}

namespace stripline::decide {

/// A decision as a table shows it; choice.h makes them.
struct Choice {
  std::string text{};  ///< "B, 16 steps, 2 ahead"; "4 pieces, tuned"; "packed, 8 KiB, window 4"
  plan::Reason reason = plan::Reason::no_model;
  double predicted_s = 0;  ///< 0: not known
  bool unplanned = false;  ///< one of the first, which are timed to plan the others
  std::string obstacle{};  ///< why a nest goes access by access; empty: it does not
  /// What a table shows behind `what` that holds for this rank alone: reports of all ranks, which
  /// bring together what is the same, leave it out. May be empty.
  std::string detail{};
  bool operator==(const Choice&) const = default;
};

/// What loops and nests have gained, each by its own guard: "tuned saved 11.2 % +- 1.4 over the
/// baseline, by 24 checks, at 12 sites ..."; where it lost, how many times as long it took. All
/// executions count, each with the time that compared ones of its mode took.
std::string savings_text(const Savings& savings);

/// What iterations of the program have gained, with all loops, nests and strided calls in them
/// (runtime/decide/run_guard.h): "iterations of the program: tuned saved 4.1 % +- 0.3 ..."; empty
/// if none was compared.
std::string iterations_text(const Savings& savings);

/// True if the one says that tuned plans saved time, and the other that they lost it.
bool contradict(const Savings& one, const Savings& other);

/// What guards have taken, those of sites and of iterations. What iterations take contains their
/// sites.
struct GuardTime {
  double checks = 0;
  double excess_s = 0;  ///< what checks took longer than the method in use would have
  double taken_s = 0;   ///< what all that is guarded took
  double share() const { return taken_s > 0 ? excess_s / taken_s : 0; }
};
GuardTime guard_time(const Savings& sites, const Savings& iterations);

/// "checks of decisions took 1.2 ms longer than ..., 0.31 % of ..."
std::string guard_text(const GuardTime& time);

/// Executions by place and shape.
class Trace {
 public:
  /// Sums over executions.
  struct Times {
    uint64_t count = 0;
    double predicted_s = 0;
    uint64_t measured = 0;  ///< executions of which the time is known
    double measured_s = 0;
    void add(double predicted, std::optional<double> seconds);
    /// Time of one execution; 0: not known.
    double mean_predicted_s() const;
    double mean_s() const;
    /// Time of all executions: as long as those of which it is known, or else as predicted.
    double took_s() const {
      return measured == 0
                 ? predicted_s
                 : measured_s * static_cast<double>(count) / static_cast<double>(measured);
    }
  };
  struct Row {
    std::string what;         ///< "get 1 MiB"
    Choice choice;            ///< the latest, other than by the guard
    std::string simple_text;  ///< the baseline, by the guard
    uint64_t executions = 0;
    Times simple;         ///< of these, those carried out as the baseline by the guard
    uint64_t former = 0;  ///< of the others, those by an earlier choice, or one that was tried
    Times times;          ///< of the rest
    std::string command;  ///< that explains the choice; empty: there is none
    /// The command that explains what a table shows as chosen: none of what was given up.
    std::string_view shown_command() const {
      return is_demoted() ? std::string_view() : std::string_view(command);
    }
    double took_s() const { return simple.took_s() + times.took_s(); }
    bool demoted = false;  ///< says the guard of the site
    /// The guard says so, or by far most executions were carried out as the baseline. A tie, which
    /// begins so, is not given up.
    bool is_demoted() const {
      return demoted || (choice.reason == plan::Reason::tuned && simple.count > 2 * times.count);
    }
  };

  /// An execution, with its time if that is known. `shape` tells apart what happens at one place.
  /// `command` is asked when the choice is another one than before.
  void note(CallSite call, uint64_t shape, const Choice& choice, std::optional<double> seconds,
            std::string_view what, const std::function<std::string()>& command);
  /// False: note() does nothing until this is true again.
  void set_noting(bool noting) { noting_ = noting; }
  /// The site of the execution that was noted last has been demoted.
  void demote() {
    if (latest_ != nullptr) latest_->demoted = true;
  }
  /// A table, the places that took the longest first, and what the guard took; where predictions
  /// missed; which nests go access by access, and why; and the commands that explain the choices.
  std::string text(const GuardTime& guard = {}) const;
  /// The same for a report of the run, of this rank: at most `most` places.
  std::vector<model::FeedbackPlace> places(size_t most) const;
  bool empty() const { return rows_.empty(); }
  /// Calls visit(row) for each, by place.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, row] : rows_) visit(row);
  }

 private:
  using Rows = std::map<std::tuple<std::string_view, int, uint64_t>, Row>;
  std::vector<const Rows::value_type*> longest_first() const;

  Rows rows_;
  Row* latest_ = nullptr;
  bool noting_ = true;
};

}  // namespace stripline::decide
