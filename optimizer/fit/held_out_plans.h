// What a model says of the problems that validation is measured by
// (optimizer/experiment/held_out.h): what single operations and bursts take, and which of the
// measured alternatives of a decision it chooses, by the planners that programs decide by. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/experiment/held_out.h"
#include "optimizer/fit/sentinels.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/gather.h"
#include "optimizer/plan/update.h"

namespace stripline::fit {

/// The time of a size or a burst; nullopt where the model has no such operation between nodes.
std::optional<ExpectedTime> expected_of(const plan::CompiledModel& model,
                                        const experiment::HeldOutProblem& problem);

/// What an alternative of a loop or a nest is predicted to take whose baseline was measured to take
/// `uncut_s`: the rest of that beside its transfers counts as computation, as a site of a program
/// would measure it. Nullopt of other kinds, and without gets between nodes.
std::optional<double> predicted_cut(const plan::CompiledModel& model,
                                    const experiment::HeldOutProblem& problem, size_t alternative,
                                    double uncut_s);

/// The decision among these of a problem's alternatives, given by their indices: where the planner
/// leaves the method that is taken without a model, the alternative that it predicts to be the
/// fastest. Strips are of any size where programs run, here of those that were measured. Nullopt
/// where the one that it wants is not among them, or the model says nothing of such problems.
std::optional<size_t> chosen_alternative(const plan::CompiledModel& model,
                                         const experiment::HeldOutProblem& problem,
                                         std::span<const size_t> measured, uint32_t ranks);

/// What the planner is asked about the updates of a problem, and about what a rank of it needs of
/// another one: as programs ask that carry it out, with expected numbers for those that they see.
/// `measured`: alternatives by their indices; `fingerprint`: of the model.
plan::UpdateRequest update_request(const experiment::HeldOutProblem& problem,
                                   std::span<const size_t> measured, uint32_t ranks);
plan::GatherRequest gather_request(const experiment::HeldOutProblem& problem,
                                   const model::Fingerprint& fingerprint, uint32_t ranks);

/// The alternative that is taken without a model; nullopt where it is not among these.
std::optional<size_t> untuned_alternative(const experiment::HeldOutProblem& problem,
                                          std::span<const size_t> measured);

}  // namespace stripline::fit
