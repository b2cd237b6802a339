// Tells whether all that the model decides together keeps what it promises, by the time of the
// program's iterations. The guards of loops and nests (optimizer/plan/guard.h) each judge the time
// of their own site, which is not all: a loop that is quicker on one rank may make the iteration
// longer on all of them, and the time of a strided call ends somewhere behind it.
//
// Sites that plan by the model report their executions, and are told how to carry them out. What
// they repeat (call_rhythm.h) is the program's iteration. Three iterations are a turn; in most
// turns everything is carried out in the way that is in use, in some the one way or the other is
// timed: the first iteration of such a turn takes up what is left of the way before, the faster one
// of the other two counts. Which turns are timed, and which way comes first, depends on the number
// of turns, so that ranks that make the same calls check together: each of them sees what the
// iteration of all takes when all of them go the one way, or the other. Sites with guards of their
// own ask these in the first turns, and in a few of the later ones; where a site is all that
// differs, the iteration decides.
//
// Not judged are the first turns of an iteration, in which plans are made and refined, and what
// does not repeat within CallRhythm::kLongest calls. When the iteration is not seen any more, the
// next one is looked for; what was found out about the last few is kept, because programs come
// back to their phases. Until an iteration has been judged, what was in use last stays in use.
//
// No allocation while the same iteration goes on. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.h"
#include "optimizer/plan/guard.h"
#include "runtime/decide/call_rhythm.h"
#include "runtime/decide/savings.h"

namespace stripline::decide {

class RunGuard {
 public:
  using Way = plan::Guard::Way;

  /// Iterations of a turn; the first one of a turn that is timed does not count.
  static constexpr uint32_t kIterations = 3;
  /// Turns of a new iteration that are not judged.
  static constexpr uint32_t kFirstTurns = 2;
  /// Turns in which sites may check by themselves: so many in the beginning, later two of so many.
  /// Sites that ranks do not carry out equally often check apart, and an iteration in which some go
  /// one way and some the other may be longer than with either.
  static constexpr uint32_t kSitesTurns = 16;
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
    Way way = Way::tuned;
    /// A site with a guard of its own asks that one, which may check. Otherwise, with Way::tuned,
    /// it does what its guard has in use.
    bool sites_decide = true;
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
  /// In this iteration there is something that the tuned and the simple way do not do alike, at
  /// `site`, a number other than 0. Where nobody says so, nothing is timed.
  void differs(uint64_t site) {
    differs_ = true;
    several_ = several_ || (site_ != 0 && site_ != site);
    site_ = site;
  }
  /// Sites are carried out within themselves: what looks like an iteration may be a part of one.
  void leave_to_sites() { several_ = true; }
  /// True if it is the iteration that shows what the tuned way of `site` is worth, because nothing
  /// else in it differs. The site's own time is not all of it: where ranks share a network
  /// interface, one of them may be quicker the simple way while the others wait for it.
  bool judges(uint64_t site) const {
    return in_phase_ && !several_ && (site_ == 0 || site_ == site);
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
    uint64_t turns = 0;
  };
  static constexpr size_t kPhases = 4;

  void note(const Call& call);
  void look(const Call& call);
  void enter(const CallRhythm& rhythm, const Regards& regards);
  void leave();
  void pause();
  void end_iteration();
  void begin_turn();

  std::function<double()> now_s_;
  std::vector<Phase> phases_;  // the latest one last
  Savings former_;             // of those that were forgotten
  Turn turn_;
  bool differs_ = false;
  uint64_t site_ = 0;     // that said so last, since the iteration was found
  bool several_ = false;  // not that one only, or the iteration does not judge sites

  // While there is an iteration: its anchor, calls since it began, and those at which it is lost.
  // Else calls, and how many of them until one is looked for.
  bool in_phase_ = false;
  Regards regards_;
  CallRhythm::Anchor anchor_;
  uint64_t calls_ = 0;
  uint64_t most_calls_ = 0;
  uint32_t times_ = 0;  // that the anchor was made in this iteration

  // Iterations of the turn.
  uint32_t iterations_ = 0;
  bool timed_ = false;
  double begun_s_ = 0;
  double fastest_s_ = std::numeric_limits<double>::infinity();

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
