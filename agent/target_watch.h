// Looks from time to time at the other runtimes of this node that a server may have tuned here: a
// package may be updated, or a site's file changed, while the agent runs. Beside the caller's loop,
// as that takes seconds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/side_task.h"
#include "agent/targets.h"

namespace stripline::agent {

/// All calls come from one thread. The destructor waits for a look.
class TargetWatch {
 public:
  using Facts = std::map<std::string, std::string>;

  /// `known`: facts of this node as the server has them. `wake` has the loop call follow(), and is
  /// called by another thread. Without targets it never looks.
  TargetWatch(TargetOptions targets, Facts known, double pause_s, double now_s,
              std::function<void()> wake);

  /// Begins to look where that is due, and `may_begin`. Returns whether a look has found other
  /// facts since the last call.
  bool follow(double now_s, bool may_begin);

  bool looking() const { return beside_.runs(); }
  /// When a look is due; nullopt: never, or it is looking.
  std::optional<double> next_event_s() const;

  /// The facts that differ from those at the start.
  const Facts& changed() const { return changed_; }

 private:
  void take(const Result<Facts>& found);

  const TargetOptions targets_;
  Facts known_;
  Facts changed_;
  const double pause_s_;
  std::optional<double> next_s_;
  bool has_news_ = false;
  SideTask beside_;  // ends before what it reads
};

}  // namespace stripline::agent
