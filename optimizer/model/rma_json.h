// The section `rma` of a model file. For the files of this folder.
#pragma once

#include <optional>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/rma_model.h"

namespace stripline::model::detail {

Json rma_to_json(const RmaModel& rma);

/// Reads the section of a document if it is there. Errors: data_loss naming the member.
Status read_rma(const Json& document, std::optional<RmaModel>& out);

}  // namespace stripline::model::detail
