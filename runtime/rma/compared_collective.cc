#include "runtime/rma/compared_collective.h"

#include <algorithm>

namespace stripline::rma {
namespace {

// Operations and sizes of a team; more of them are carried out by their rules.
constexpr uint32_t kMostCompared = 64;
// Calls of a turn, in the longest blocks.
constexpr uint32_t kMostCallsLog2 = 3;

}  // namespace

ComparedCollective::ComparedCollective(const plan::AskedCollective& request,
                                       const plan::CollectivePlan& planned)
    : planned_(planned),
      baseline_{model::default_collective(request.request()), plan::Reason::guarded} {
  site_.decide(decide::Arm{1}, planned_, kArms, decide::Race::Of::turns);
  // A rule predicts nothing of either algorithm here.
  site_.race().check_at_once();
}

uint64_t ComparedCollective::next(const decide::Instruments& instruments, const Times& longest) {
  for (uint32_t turn = 0; turn < block_.turns; ++turn) executions_.ended(longest[turn]);
  decide::finish(executions_, block_);
  executions_.begin(instruments, site_);
  const auto joins = [](const plan::CollectivePlan&) { return true; };
  while (executions_.is_open() && executions_.add(*this, joins)) {
  }
  executions_.restart_clock();
  return decide::block_of(executions_, std::min(blocks_++, kMostCallsLog2), site_.race().in_use())
      .word();
}

void ComparedCollective::begin(uint64_t block) {
  block_ = decide::TurnBlock::of(block);
  calls_ = 0;
  times_ = {};
}

const plan::CollectivePlan& ComparedCollective::plan() const {
  return block_.arm_of(calls_) == decide::kBaseline ? baseline_ : planned_;
}

void ComparedCollective::ended(double seconds) { times_[block_.turn_of(calls_++)] += seconds; }

ComparedCollective* ComparedCollectives::of(uint32_t team, std::string_view call,
                                            const plan::AskedCollective& request,
                                            const plan::CollectivePlan& planned) {
  const Key key{team, call, request.operation, request.bytes};
  const auto known = made_.find(key);
  if (known != made_.end()) return &known->second;
  uint32_t& count = of_team_[team];
  if (count == kMostCompared) return nullptr;
  ++count;
  return &made_.try_emplace(key, request, planned).first->second;
}

void ComparedCollectives::forget(uint32_t team) {
  of_team_.erase(team);
  for (auto one = made_.begin(); one != made_.end();) {
    if (std::get<uint32_t>(one->first) != team) {
      ++one;
      continue;
    }
    one->second.race().add_to(of_former_teams_);
    one = made_.erase(one);
  }
}

void ComparedCollectives::add_to(MechanismReport& report) const {
  report.savings.add(of_former_teams_);
  for (const auto& [key, one] : made_) one.race().add_to(report.savings);
}

}  // namespace stripline::rma
