// What it takes to fetch elements of several ranks by transfers of many regions, one for each rank,
// as planners of irregular reads predict it. For the files of this folder.
#pragma once

#include <cstdint>

#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/surroundings.h"
#include "optimizer/plan/vis.h"

namespace stripline::plan::detail {

/// Elements that are fetched together.
struct ListGet {
  double elements = 1;         ///< of each owner; at least 1
  uint64_t element_bytes = 0;  ///< of each
  uint64_t span_bytes = 0;     ///< from the first to the last one of an owner, where it is known
  double owners = 1;           ///< ranks that they are of; at least 1
  bool tuned = true;           ///< by the method that the model chooses; else as without a model
};

/// How the transfer from one of the owners is carried out, and what it takes.
VisPlan list_plan(const ListGet& list, const CompiledPath& path,
                  const Surroundings& surroundings) noexcept;

/// Seconds until all of them have come. `path` knows gets.
double list_get_s(const ListGet& list, const CompiledPath& path, const Surroundings& surroundings,
                  const Ends& ends) noexcept;

}  // namespace stripline::plan::detail
