// The section `service_levels` of a model file. For the files of this folder.
#pragma once

#include <optional>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/service_model.h"

namespace stripline::model::detail {

Json service_to_json(const ServiceModel& service);

/// Reads the section of a document if it is there. Errors: data_loss naming the member.
Status read_service(const Json& document, std::optional<ServiceModel>& out);

}  // namespace stripline::model::detail
