// What gathers keep for the life of a Context: how many plans were made, and what gather() keeps
// for each place in the program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <stripline/gather.h>

#include "optimizer/plan/gather.h"
#include "runtime/decide/site.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/mechanisms.h"

namespace stripline::gathers {

/// What is known of the methods of plans that are made at a place of the program.
struct GatherSite : decide::Site<plan::GatherDecision> {
  std::optional<plan::GatherRequest> request;  ///< what it was decided on for
  bool taken = false;                          ///< by a plan that is there

  /// True if it was decided on for this request, however many gathers its plan is made for: that
  /// does not change what one of them takes.
  bool is_for(plan::GatherRequest asked) const {
    if (!request) return false;
    asked.uses = request->uses;
    return *request == asked;
  }
};

class GatherState final : public rma::Mechanism {
 public:
  static constexpr const char kName[] = "gathers";
  explicit GatherState(detail::ContextState&) {}
  static GatherState& of(Context& context) {
    return context.state().mechanisms.of<GatherState>(context.state());
  }

  /// The number of a plan, which is the same on all ranks.
  uint64_t next_plan() { return ++plans_; }

  /// The gathers that the plan before was used for at a place; 0: there was none.
  uint64_t uses_at(CallSite site) const;
  void note_uses(CallSite site, uint64_t gathers);

  /// What plans of a place have found out, which outlives them; null: none has compared anything.
  const GatherSite* find_site(CallSite site) const;
  std::shared_ptr<GatherSite> site_at(CallSite site);

  /// A plan that is there. One that outlives the Context ends with it.
  class Plan {
   public:
    virtual void end() = 0;

   protected:
    ~Plan() = default;
  };
  void made(Plan& plan) { there_.push_back(&plan); }
  void gone(Plan& plan) { std::erase(there_, &plan); }

  /// What is kept for a place and a type of elements; null at first.
  std::unique_ptr<detail::KeptGather>& kept(CallSite site, const char* type);

  void add_to(rma::MechanismReport& report) const override;
  void leaves() override;

 private:
  struct Kept {
    CallSite site;
    const char* type = nullptr;
    // Where it is stays, whatever is added.
    std::unique_ptr<std::unique_ptr<detail::KeptGather>> gather;
  };

  // What is known of plans of a place.
  struct Place {
    CallSite call;
    uint64_t gathers = 0;  // that the plan before was used for
    std::shared_ptr<GatherSite> site;
  };
  Place& place_at(CallSite site);
  const Place* find_place(CallSite site) const;

  uint64_t plans_ = 0;
  std::vector<Place> places_;
  std::vector<Plan*> there_;  // in the order in which they were made
  std::vector<Kept> kept_;    // as many as places in the program that gather
};

}  // namespace stripline::gathers
