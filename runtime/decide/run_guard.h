// Tells whether all that the model decides together keeps what it promises, by the time of the
// program's iterations. The guards of loops and nests (optimizer/plan/guard.h) each judge the time
// of their own site, which is not all: a loop that is quicker on one rank may make the iteration
// longer on all of them, and the time of a strided call ends somewhere behind it.
//
// An iteration is the shortest sequence of calls of sites that the program repeats (call_rhythm.h).
// Sites that plan by the model report their executions, and are informed how to carry them out: as
// their own guards have found, or, in a check, all of them as the baseline. Iterations are
// executions of a guard as that of a site is one, with its budget: a check is two iterations, of
// which the second counts. What its first check is expected to take is what sites expect of the
// baseline, rounded to powers of four, so that most ranks agree. Which iterations are checks
// depends on their number, so that ranks that make the same calls check together: each of them sees
// what the iteration of all takes when all sites use the tuned plans, or all of them the baseline.
//
// If the baseline is found to be faster, the sites of that iteration are demoted, for good.
//
// Not judged are the first iterations, in which plans are made and refined, and what does not
// repeat within CallRhythm::kLongest calls. When the iteration is not seen any more, the next one
// is looked for; what was found out about the last few is kept, because programs come back to their
// phases. Until an iteration has been judged, what was in use last stays in use.
//
// No allocation while the same iteration goes on. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "optimizer/plan/guard.h"
#include "runtime/decide/call_rhythm.h"
#include "runtime/decide/savings.h"

namespace stripline::decide {

class RunGuard {
 public:
  using Method = plan::Guard::Method;

  /// Iterations of a new kind that are not judged.
  static constexpr uint32_t kFirstIterations = 6;
  /// How often an iteration must have been made after the first time.
  static constexpr uint32_t kRepeats = 3;
  /// Calls after which it does not count any more where they go, if that does not repeat, and how
  /// often what the calls do must then repeat, which is less to tell calls apart.
  static constexpr uint64_t kPatience = uint64_t{4} * CallRhythm::kLongest;
  static constexpr uint32_t kRepeatsAnywhere = 16;
  /// Calls without an iteration, after which the next one is looked for; doubled each time.
  static constexpr uint64_t kPause = uint64_t{1} << 14;

  /// A call of a site.
  struct Call {
    uint64_t what = 0;  ///< a number for the site and what is done there (hash_of())
    uint64_t rank = 0;  ///< whose memory is concerned
    /// Where in that: one that belongs to the program, as the place of a ghost layer, or one that
    /// may follow its data, and differ from iteration to iteration, and from rank to rank.
    uint64_t offset = 0;
    uint64_t loose_offset = 0;
  };

  /// How a call is to be carried out.
  struct Turn {
    Method method = Method::tuned;
    /// False: with Method::tuned a site does what its own guard has in use, which may check.
    bool check = false;
    /// The baseline is carried out, for good.
    bool demoted = false;
  };

  /// `now_s` reads the time of this rank.
  explicit RunGuard(std::function<double()> now_s) : now_s_(std::move(now_s)) {}

  /// A site that plans by the model is about to be carried out.
  Turn report(const Call& call) {
    ++calls_;
    if (regards_.id(call) == anchor_.id || calls_ >= most_calls_) [[unlikely]]
      note(call);
    return turn_;
  }
  /// In this iteration there is something that the tuned method and the baseline do not do alike.
  /// Where no one says so, nothing is timed. `excess_s`: what the baseline is expected to take
  /// longer; nothing if it is not known. `used_s`: what the tuned method takes, as far as is known.
  void differs(std::optional<double> excess_s, double used_s) {
    differs_ = true;
    expected_s_ += used_s;
    excess_s_ += excess_s.value_or(used_s);
  }

  /// The savings of all iterations that were compared.
  Savings savings() const;

 private:
  // What tells calls apart, as masks.
  struct Regards {
    uint64_t place = 0;
    uint64_t loose = 0;
    uint64_t id(const Call& call) const {
      const uint64_t where = call.rank * kGoldenRatio + (call.offset + 1) * 0xc2b2ae3d27d4eb4f;
      return call.what + (where & place) + (call.loose_offset & loose) * 0x165667b19e3779f9;
    }
    bool operator==(const Regards&) const = default;
  };
  static constexpr Regards kClosely{~uint64_t{0}, ~uint64_t{0}};
  static constexpr Regards kByPlace{~uint64_t{0}, 0};
  static constexpr Regards kAnywhere{0, 0};

  // An iteration of the program that was found.
  struct Phase {
    CallRhythm::Anchor anchor;
    Regards regards;
    plan::Guard guard;
    plan::Guard::Turn turn;  // of the iteration that is in progress
    uint64_t iterations = 0;
  };
  static constexpr size_t kPhases = 4;

  void note(const Call& call);
  void look(const Call& call);
  void enter(const CallRhythm& rhythm, const Regards& regards);
  void leave();
  void pause();
  static void add(const plan::Guard& guard, Savings& savings);
  void end_iteration();
  void time_iteration(Phase& phase, bool whole);

  std::function<double()> now_s_;
  std::vector<Phase> phases_;  // the latest one last
  Savings former_;             // of those that were forgotten
  Turn turn_;
  // What sites have said in this iteration.
  bool differs_ = false;
  double excess_s_ = 0;
  double expected_s_ = 0;

  // While there is an iteration: its anchor, calls since it began, and those at which it is lost.
  // Else calls, and how many of them until one is looked for.
  bool in_phase_ = false;
  Regards regards_;
  CallRhythm::Anchor anchor_;
  uint64_t calls_ = 0;
  uint64_t most_calls_ = 0;
  uint32_t times_ = 0;  // that the anchor was made in this iteration

  bool timed_ = false;  // the iteration that is in progress
  double begun_s_ = 0;

  // While one is looked for.
  struct Search {
    CallRhythm closely{1};
    CallRhythm by_place{kRepeats};
    CallRhythm anywhere{kRepeatsAnywhere};
  };
  std::unique_ptr<Search> search_;
  uint64_t pause_ = kPause;
};

}  // namespace stripline::decide
