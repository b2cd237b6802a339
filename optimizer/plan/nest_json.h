// A nest as a document, so that a person can describe one, and a run those that it has carried out:
// what plan_nest() is asked, but for the costs, which are of a model.
// docs/schema/nest-v1.schema.json has the members.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "optimizer/plan/nest.h"

namespace stripline::plan {

/// A request and the distributed arrays that its references are in. The links are those of a
/// running job (kLocalLink, link_by()), without costs.
struct DescribedNest {
  NestRequest request;
  std::vector<std::vector<access::Piece>> arrays;

  DescribedNest() = default;
  DescribedNest(DescribedNest&&) = default;
  DescribedNest& operator=(DescribedNest&&) = default;
  DescribedNest(const DescribedNest&) = delete;  // the request points into the arrays
  DescribedNest& operator=(const DescribedNest&) = delete;
  ~DescribedNest() = default;
};

/// Reads a document. `what` names it in messages. Errors: data_loss, with the member that is wrong
/// and what would be right; also for members that are not known.
Result<DescribedNest> parse_nest(std::string_view text, std::string_view what);
Result<DescribedNest> nest_from_json(const Json& json, std::string_view what);

/// The document of a request whose links are those of a running job. Loops begin at 0, in steps
/// of 1, as strides and offsets say the same.
Json to_json(const NestRequest& request);

}  // namespace stripline::plan
