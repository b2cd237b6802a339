#include <algorithm>
#include <iostream>
#include <set>

#include "base/exit_codes.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/commands.h"
#include "suites/targets/grid.h"
#include "suites/targets/launcher.h"
#include "suites/targets/session.h"

namespace stripline::suites::tune {
namespace {

using targets::Cell;
using targets::Collective;

// Small, in the middle, and in many segments.
constexpr uint64_t kSizes[] = {48, 3072, 196608};
constexpr double kPointBudgetS = 0.001;

class Trial {
 public:
  Trial(const TryOptions& options, const targets::Target& target, Launcher& launcher)
      : options_(options),
        target_(target),
        launcher_(launcher),
        safety_{.commutative_only = options.commutative_only} {}

  Status run() {
    STRIPLINE_ASSIGN_OR_RETURN(safety_.unsettable, unsettable_variables(launcher_));
    for (const uint32_t ranks : options_.ranks) {
      STRIPLINE_RETURN_IF_ERROR(run(ranks));
      print_progress(std::to_string(ranks) + " ranks: " + std::to_string(right_) +
                     " results so far, " + std::to_string(wrong_.size()) + " wrong");
    }
    return {};
  }

  size_t right() const { return right_; }
  const std::set<std::string>& wrong() const { return wrong_; }
  const std::set<std::string>& unsettable() const { return safety_.unsettable; }

 private:
  // An alternative that a plan's variant selects.
  struct Tried {
    Collective collective;
    targets::Candidate candidate;
  };

  // Launches until nothing is left: one that ends early is made again without what ended it, and
  // without the operations before that; without all of an operation where several may have.
  Status run(uint32_t ranks) {
    std::set<std::string> out;
    size_t first = 0;
    while (true) {
      std::vector<Tried> tried;
      DriverPlan plan{.repetitions = 3, .budget_s = kPointBudgetS};
      for (size_t i = first; i < targets::kCollectives.size(); ++i) {
        add(targets::kCollectives[i], ranks, out, plan, tried);
      }
      if (plan.cells.empty()) return {};
      STRIPLINE_ASSIGN_OR_RETURN(const Launched launched,
                                 launcher_.run(plan, launcher_.adapter().selecting()));
      for (const DriverSeries& series : launched.output.series) {
        if (series.verified) {
          ++right_;
        } else {
          note(plan, series.cell, tried[series.variant].candidate, series.note);
        }
      }
      if (launched.failure.empty()) return {};
      if (!launched.output.unfinished) {
        return Error(ErrorCode::aborted, "the program " + launched.failure + ": " + launched.said);
      }
      const auto [cell, variant] = *launched.output.unfinished;
      const Tried& bad = tried[variant];
      const auto at = std::ranges::find(targets::kCollectives, bad.collective);
      first = static_cast<size_t>(at - targets::kCollectives.begin());
      if (launched.output.in_turns) {
        note(plan, cell, {.name = "one of those that took turns"}, launched.failure);
        ++first;
        continue;
      }
      note(plan, cell, bad.candidate, launched.failure);
      out.insert(key_of(bad.collective, bad.candidate));
    }
  }

  static std::string key_of(Collective collective, const targets::Candidate& candidate) {
    return std::string(to_string(collective)) + " " + candidate.name;
  }

  void add(Collective collective, uint32_t ranks, const std::set<std::string>& out,
           DriverPlan& plan, std::vector<Tried>& tried) const {
    const bool is_barrier = collective == Collective::barrier;
    const auto candidates = target_.candidates(collective);
    for (const uint64_t bytes : kSizes) {
      const Cell cell{collective, ranks, ranks, is_barrier ? 0 : bytes};
      for (const CallKind& kind : call_kinds(collective, options_.commutative_only)) {
        DriverCell asked{.operation = std::string(to_string(collective)),
                         .ranks = ranks,
                         .bytes = cell.bytes,
                         .type = kind.type,
                         .in_place = kind.in_place};
        for (const auto& candidate : candidates) {
          const bool allowed = targets::refusal(candidate, cell, safety_).empty() &&
                               !out.contains(key_of(collective, candidate));
          if (!allowed) continue;
          const size_t variant = plan.variant(candidate.select);
          if (variant == tried.size()) tried.push_back({collective, candidate});
          asked.variants.push_back(variant);
        }
        if (!asked.variants.empty()) plan.cells.push_back(std::move(asked));
      }
      if (is_barrier) break;
    }
  }

  void note(const DriverPlan& plan, size_t cell, const targets::Candidate& candidate,
            const std::string& reason) {
    const DriverCell& asked = plan.cells[cell];
    wrong_.insert(asked.operation + ", " + std::to_string(asked.ranks) + " ranks, " +
                  std::to_string(asked.bytes) + " B, " + asked.type +
                  (asked.in_place ? ", in place" : "") + ": " + candidate.name + ": " + reason);
  }

  const TryOptions& options_;
  const targets::Target& target_;
  Launcher& launcher_;
  targets::Safety safety_;
  size_t right_ = 0;
  std::set<std::string> wrong_;
};

Result<int> try_all(const TryOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto path, path_from_string(options.path));
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(options.target));
  STRIPLINE_RETURN_IF_ERROR(check_has_alternatives(*target));
  STRIPLINE_ASSIGN_OR_RETURN(const Session session, open_session(*target, options.accept_untried));
  Launcher launcher(*session.adapter, session.driver.string(), session.folder, path,
                    options.cancel_fd);
  launcher.set_stall_limit(options.stall_s);
  Trial trial(options, *target, launcher);
  STRIPLINE_RETURN_IF_ERROR(trial.run());
  for (const std::string& one : trial.unsettable()) {
    std::cout << one << " cannot be set in this version: what it selects was not tried, and is "
              << "never exported\n";
  }
  for (const std::string& one : trial.wrong()) std::cout << one << '\n';
  std::cout << target->title << ' ' << to_string(session.installed.version) << ": " << trial.right()
            << " results are right, " << trial.wrong().size() << " are wrong\n";
  return trial.wrong().empty() ? kExitOk : kExitVerification;
}

}  // namespace

int try_command(const TryOptions& options) { return exit_code_of(try_all(options)); }

}  // namespace stripline::suites::tune
