// What a mechanism is, to the frame of decisions, and what it gets for that: the explanation of
// each decision, as text and as JSON; a command of `stripline explain` with its options; the
// command line that asks again what a run has asked.
#pragma once

#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/explanation.h"
#include "optimizer/plan/request_fields.h"

namespace stripline::plan {

/// A planner by its types and functions, all of them static.
///
/// * `Request`, and `Asked`: what the command line says of one; the same type, or what a request is
///   made of. It has kFacts and `surroundings`.
/// * `Plan`: has reason, predicted_s and, if plans are compared with a baseline, baseline_s and
///   gain_low. Its members are const.
/// * `Record` of `Candidate`: of its planner (decision.h).
/// * `Model`: what costs are taken from, CompiledPath or CompiledModel.
/// * `usual()`: the request of a command without options; `fields()`: the members that have
/// options.
/// * `asked_of(request)`: what asks for this request.
/// * `request_of(asked)`: the request, or what is wrong with it; `costs_of(model)`, which may be
///   null; or both at once: `answer(asked, model)` explains.
/// * `plan(request, costs, record)` decides.
/// * `unfold(request, candidate)`: the plan that a candidate is, without its times.
/// * `show(request, plan, row)`: what there is to see of a plan. Equal text means the same plan.
///
/// What it may have as well: `margin(request, costs)`, if there is a baseline;
/// `describe(request, row)` instead of what the fields say; `show_pruned(pruned, row)`;
/// `add_to(alternative, request, costs, candidate)`: interval, and what else is known of one;
/// `brief(plan, why)`: the plan in a column of a table, for which show() says too much;
/// `add_to(explanation, request, costs)`: what no other mechanism has.
template <typename M>
concept Mechanism = requires(const typename M::Request& request, const typename M::Asked& asked,
                             const typename M::Candidate& candidate, const typename M::Plan& plan,
                             const typename M::Costs* costs, typename M::Record& record, Row& row) {
  { M::kWords } -> std::convertible_to<const Words&>;
  { M::usual() } -> std::same_as<typename M::Asked>;
  { M::fields() } -> std::same_as<std::span<const Field<typename M::Asked>>>;
  { M::asked_of(request) } -> std::convertible_to<typename M::Asked>;
  { M::plan(request, costs, record) } -> std::same_as<typename M::Plan>;
  { M::unfold(request, candidate) } -> std::same_as<typename M::Plan>;
  M::show(request, plan, row);
  { plan.reason } -> std::convertible_to<Reason>;
  { plan.predicted_s } -> std::convertible_to<double>;
  requires !std::is_copy_assignable_v<typename M::Plan>;
};

/// Base of mechanisms whose requests are asked as they are.
template <typename RequestOf>
struct AsAsked {
  using Request = RequestOf;
  using Asked = Request;

  static Request usual() { return {}; }
  static Result<Request> request_of(const Request& asked) { return asked; }
  static Request asked_of(const Request& request) { return request; }
};

/// An explanation of a mechanism's decision, with the values that it is made of.
template <typename M>
struct Explained : Explanation {
  const typename M::Plan decision;
  typename M::Record record;
};

/// The plan in a few words, and why it is what it is, which brief() may leave out.
template <Mechanism M>
std::string brief_text(const typename M::Request& request, const typename M::Plan& plan,
                       std::string_view why) {
  if constexpr (requires { M::brief(plan, why); }) {
    return M::brief(plan, why);
  } else {
    Row row;
    M::show(request, plan, row);
    return row.text() + ", " + std::string(why);
  }
}

template <Mechanism M>
Explained<M> explain(const typename M::Request& request, const typename M::Costs* costs) {
  typename M::Record record;
  const typename M::Plan decision = M::plan(request, costs, record);
  Explained<M> e{{}, decision, std::move(record)};
  e.has_times = e.decision.reason != Reason::no_model && e.decision.reason != Reason::own_memory &&
                e.decision.reason != Reason::measured;
  e.verdict.reason = e.decision.reason;
  e.verdict.predicted_s = e.decision.predicted_s;
  if constexpr (requires { e.decision.baseline_s; }) {
    e.verdict.baseline_s = e.decision.baseline_s;
    e.verdict.gain_low = e.decision.gain_low;
  }
  const auto add_field = [&](const auto&... of_field) { e.asked.field(of_field...); };
  if constexpr (requires { M::describe(request, e.asked); }) {
    M::describe(request, e.asked);
  } else if constexpr (std::is_same_v<typename M::Asked, typename M::Request>) {
    for_each_field<M>(request, add_field);
  } else {
    for_each_field<M>(M::asked_of(request), add_field);
  }
  M::show(request, e.decision, e.plan);
  e.brief = brief_text<M>(request, e.decision, short_text(e.decision.reason));
  if (e.has_times) {
    for (const auto& considered : e.record.alternatives) {
      const typename M::Candidate& candidate = considered.candidate;
      Explanation::Alternative& a = e.alternatives.emplace_back();
      a.predicted_s = considered.predicted_s;
      M::show(request, M::unfold(request, candidate), a.plan);
      if constexpr (requires { M::add_to(a, request, *costs, candidate); }) {
        M::add_to(a, request, *costs, candidate);
      }
    }
    if constexpr (requires(Row & row) { M::show_pruned(e.record.pruned.front(), row); }) {
      for (const auto& one : e.record.pruned) {
        Explanation::Pruned& pruned = e.pruned.emplace_back();
        M::show_pruned(one, pruned.what);
        pruned.bound_s = one.bound_s;
      }
    }
    e.sensitivities = e.record.sensitivities;
    if constexpr (requires { M::margin(request, costs); }) {
      e.minimum_gain = M::margin(request, costs);
    }
  }
  e.why =
      reason_text(e, M::kWords, e.record.best ? e.record.best->predicted_s : e.verdict.baseline_s);
  if constexpr (requires { M::add_to(e, request, costs); }) M::add_to(e, request, costs);
  return e;
}

template <Mechanism M>
std::string to_text(const Explained<M>& explained) {
  return to_text(explained, M::kWords);
}
template <Mechanism M>
Json to_json(const Explained<M>& explained) {
  return to_json(explained, M::kWords);
}

/// Explains what a command line asks. Errors: invalid_argument, or data_loss of a document, with
/// the option or the member that is wrong.
template <Mechanism M>
Result<Explanation> answer(const typename M::Asked& asked, const typename M::Model& model) {
  if constexpr (requires { M::answer(asked, model); }) {
    return M::answer(asked, model);
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(const typename M::Request request, M::request_of(asked));
    return Explanation(explain<M>(request, M::costs_of(model)));
  }
}

/// What follows the model on the command line that asks for a request, each option after a space.
template <Mechanism M>
std::string command_of(const typename M::Request& request) {
  return options_text<M>(M::asked_of(request));
}

/// What is wrong with what was asked, by its options.
inline Error refused(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

// What tables of requests have in common.
inline constexpr uint64_t kMostNumber = uint64_t{1} << 53;  // of which a double loses none
inline constexpr uint64_t kAnyBytes = std::numeric_limits<uint64_t>::max();
/// What offsets of global pointers reach: more than any segment has.
inline constexpr uint64_t kMostExtent = uint64_t{1} << 44;

}  // namespace stripline::plan
