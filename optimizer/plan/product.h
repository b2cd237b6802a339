// How a rank multiplies its rows of a sparse matrix with vectors that are spread over the ranks
// (<stripline/sparse_matrix.h>): it has some of the elements itself, and is sent the others
// (gather.h). With R rows that have entries, own elements n of w bytes in R0 rows of E0 entries,
// and m elements of q owners in E entries, of D different rows, which are V rows if those of each
// owner are counted by themselves,
//
//   by_owner   own entries while the others are in flight, then those of each owner as they arrive:
//              max(sums(R0, E0) + sums(V, E), A + sums(V, E) / q)
//   together   own entries meanwhile, all others when the last ones are here:
//              max(sums(R0, E0), A) + sums(D, E)
//   whole      a row in one pass, all elements having been copied side by side:
//              max(copy(n w), A) + copy(m w) + sums(R, E0 + E)
//
// A is when the last owner's elements are here: one message of each, after one another; 0 where all
// owners are reached by loads and stores, whose elements are there at once. sums(r, e) is what r
// rows of e entries take: to begin a row costs what a region does that is packed, an entry what the
// compute estimate says of two references and an operation.
#pragma once

#include <cstdint>

#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/methods.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// The rows of one rank.
struct ProductRequest {
  uint64_t rows = 1;           ///< R, that have entries
  uint64_t own_rows = 0;       ///< R0, with entries of this rank's elements
  uint64_t own_entries = 0;    ///< E0
  uint64_t own_elements = 0;   ///< n
  uint64_t other_rows = 0;     ///< D, with entries of elements that are received
  uint64_t visits = 0;         ///< V
  uint64_t other_entries = 0;  ///< E
  uint64_t elements = 0;       ///< m, those that are received and not read included
  uint32_t owners = 0;         ///< q
  uint64_t element_bytes = 8;  ///< w
  uint64_t vectors = 1;        ///< that it is multiplied with at a time
  bool reachable = false;      ///< all owners are reached by loads and stores
  bool ordered = false;        ///< sums are to be added up in the order in which owners are asked
  static constexpr Fact kFacts = Fact::nic_ranks;
  Surroundings surroundings;
  bool operator==(const ProductRequest&) const = default;
};

/// A decision. Seconds are from the beginning of a product until all sums are there.
struct ProductPlan {
  const ProductMethod method = ProductMethod::by_owner;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< of what is done without a model; 0 without one
  const double gain_low = 0;     ///< as StripPlan's
  bool operator==(const ProductPlan&) const = default;
};

using ProductRecord = Record<ProductMethod, ProductMethod>;

/// The plan of products. Without a model of puts (`path` null, or without them): whole rows where
/// all owners are reachable and most rows have entries of this rank and of others; else together
/// where such rows have two owners or more on average, which would begin each of them as often;
/// else by owner. With one, another method if it is surely faster by more than the margin. Pure,
/// allocates nothing.
ProductPlan plan_product(const ProductRequest& request, const CompiledPath* path) noexcept;
/// The same, with a record of what was considered.
ProductPlan plan_product(const ProductRequest& request, const CompiledPath* path,
                         ProductRecord& record);

/// The plan of a method that was not decided on: forced, or compared with others.
ProductPlan force_product(const ProductRequest& request, const CompiledPath* path,
                          ProductMethod method, Reason reason) noexcept;

/// False for a method that does not do what is asked.
bool allows(const ProductRequest& request, ProductMethod method) noexcept;

/// What is done without a model.
ProductMethod usual_product(const ProductRequest& request) noexcept;

/// What a method is predicted to take, in seconds, at ends of the parameters' intervals.
double predict_product(const ProductRequest& request, const CompiledPath& path,
                       ProductMethod method, const Ends& ends = {}) noexcept;

}  // namespace stripline::plan
