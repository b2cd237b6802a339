#include "runtime/gather/choices.h"

#include <algorithm>

#include "optimizer/plan/gather_mechanism.h"
#include "runtime/decide/surroundings.h"
#include "runtime/gather/gather_state.h"
#include "runtime/rma/context_state.h"

namespace stripline::gathers {
namespace {

constexpr std::string_view kKind = plan::GatherMechanism::kWords.command;

}  // namespace

Choices::Choices(Context& context, const detail::GatherRequest& request,
                 const GatherOptions& options, CallSite site)
    : context_(context),
      request_(request),
      options_(options),
      uses_(options.uses != 0 ? options.uses : GatherState::of(context).uses_at(site)) {}

plan::GatherRequest Choices::request_of(rank_t peer, uint64_t elements, uint64_t runs,
                                        uint64_t span) const {
  const rma::Job& job = context_.state().job;
  plan::GatherRequest request;
  request.elements = elements;
  request.element_bytes = request_.element_bytes;
  request.vectors = options_.vectors;
  request.runs = runs;
  request.span_bytes = span * request_.element_bytes;
  request.by_stores = context_.is_local(peer);
  request.uses = uses_;
  request.surroundings =
      decide::surroundings_of(job.fabric().info(), plan::GatherRequest::kFacts,
                              {.path = job.path_to(peer), .puts = true, .signals = true});
  return request;
}

const plan::CompiledPath* Choices::model_to(rank_t peer) const {
  const rma::Job& job = context_.state().job;
  return options_.use_model ? job.compiled().path(job.path_to(peer)) : nullptr;
}

plan::GatherDecision Choices::decide_on(const plan::GatherRequest& request, rank_t peer) const {
  const auto named = [](std::string_view name) {
    return plan::method_named<GatherMethod>(name, plan::kGatherMethodNames);
  };
  const std::string_view forced = this->forced().forced(
      kKind, request.bytes(), {},
      [&](std::string_view name) { return plan::allows(request, *named(name)); });
  if (forced.empty()) return plan::plan_gather(request, model_to(peer));
  return plan::force_gather(request, model_to(peer),
                            named(forced).value_or(plan::GatherMechanism::baseline(request)));
}

const plan::ScoreMap& Choices::forced() const { return context_.state().job.tuning().forced; }

bool Choices::by_model() const {
  const plan::CompiledModel& compiled = context_.state().job.compiled();
  const bool knows = compiled.path(model::Path::network) != nullptr ||
                     compiled.path(model::Path::mapped) != nullptr;
  return best() && ((options_.use_model && knows) || !forced().empty());
}

bool Choices::compares() const {
  return by_model() && context_.state().mechanisms.run_guard() != nullptr;
}

// A model without a mapped path decides about mapped memory by another path: what counts is whether
// there is any.
bool Choices::counts_readers() const { return by_model() && context_.state().memory.any_shared(); }

// The reader knows all that decides. The bounds of scattered elements are not compared with packed
// ones: their elements have other places where they are received, and those who multiply by what
// numbers() says would have to number them twice.
Choices::Chosen Choices::method(const OwnerReads& reads, uint32_t readers, bool copied_on) {
  plan::GatherRequest request =
      request_of(reads.owner, reads.places.size(), reads.runs, reads.span());
  request.readers = std::max(readers, 1U);
  request.copied_on = copied_on;
  const plan::GatherDecision decision = best()
                                            ? decide_on(request, reads.owner)
                                            : plan::force_gather(request, nullptr, options_.method);
  if (decision.predicted_s > 0) {
    one_by_one_s_ += plan::one_by_one_s(request, *model_to(reads.owner), reads.end - reads.begin);
    slowest_s_ = std::max(slowest_s_, decision.predicted_s);
  }
  OwnerChoice choice{reads.owner, request, decision, context_.state().job.path_to(reads.owner),
                     decision.reason != plan::Reason::forced};
  const bool compared = decision.reason == plan::Reason::tuned &&
                        decision.method != plan::GatherMethod::bound && compares();
  if (compared) {
    choice.baseline.emplace(plan::baseline_of<plan::GatherMechanism>(
        request, plan::GatherMechanism::known(request, model_to(reads.owner))));
    compared_bytes_ += request.bytes();
  }
  const auto keep = [&](std::optional<OwnerChoice>& largest) {
    if (!largest || largest->request.bytes() < request.bytes()) largest.emplace(choice);
  };
  keep(largest_);
  if (compared) keep(largest_compared_);
  return {decision.method, compared};
}

std::optional<GroupChoice> Choices::if_chosen(const plan::GatherRequest& request, rank_t peer,
                                              GatherMethod method) const {
  const plan::GatherDecision decision =
      best() ? decide_on(request, peer)
             : plan::GatherDecision{options_.method, plan::Reason::forced};
  if (decision.method != method) return std::nullopt;
  return GroupChoice{request, decision};
}

std::optional<GroupChoice> Choices::shares(const OwnerReads& together, uint32_t ranks,
                                           uint64_t elements) const {
  plan::GatherRequest request =
      request_of(together.owner, together.places.size(), together.runs, together.span());
  request.node_ranks = ranks;
  request.node_elements = elements;
  return if_chosen(request, together.owner, GatherMethod::share);
}

plan::GatherRequest Choices::request_of_alike(const Selection& needed, rank_t reader,
                                              uint32_t readers, uint64_t receives) const {
  const uint64_t span =
      needed.places.empty() ? needed.elements : needed.places.back() - needed.first + 1;
  plan::GatherRequest request = request_of(reader, needed.elements, needed.runs, span);
  request.readers = readers;
  request.alike = true;
  request.owners = static_cast<uint32_t>(
      std::clamp<uint64_t>(receives / std::max<uint64_t>(needed.elements, 1), 1, readers));
  return request;
}

bool Choices::may_be_passed_on(const OwnerReads& reads, uint64_t receives) const {
  if (!best()) return options_.method == GatherMethod::broadcast;
  const Selection needed{.places = reads.places,
                         .first = reads.first(),
                         .elements = reads.places.size(),
                         .runs = reads.runs};
  const plan::GatherRequest request =
      request_of_alike(needed, reads.owner, context_.rank_n() - 1, receives);
  return decide_on(request, reads.owner).method == plan::GatherMethod::broadcast;
}

std::optional<GroupChoice> Choices::broadcasts(const Selection& needed, rank_t reader,
                                               uint32_t readers, uint64_t receives,
                                               uint64_t besides) const {
  plan::GatherRequest request = request_of_alike(needed, reader, readers, receives);
  request.besides = besides;
  return if_chosen(request, reader, GatherMethod::broadcast);
}

// Without a prediction by what the owner does not copy.
double Choices::saved_by(const GroupChoice& broadcast) const {
  const plan::GatherRequest& request = broadcast.request;
  if (!best()) return static_cast<double>(request.elements * (request.readers - 1));
  return broadcast.decision.baseline_s - broadcast.decision.predicted_s;
}

OwnerChoice Choices::of_group(rank_t owner, const GroupChoice& choice) const {
  return {owner, choice.request, choice.decision, context_.state().job.path_to(owner),
          choice.decision.reason != plan::Reason::forced};
}

}  // namespace stripline::gathers
