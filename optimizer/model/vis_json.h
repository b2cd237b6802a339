// The sections `pack` and `vis` of a model file. For the files of this folder.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/vis_model.h"

namespace stripline::model::detail {

Json pack_to_json(const PackModel& pack);
Json vis_to_json(const std::map<std::string, VisModel>& vis);

/// Read the section of a document if it is there. Errors: data_loss naming the member.
Status read_pack(const Json& document, std::optional<PackModel>& out);
Status read_vis(const Json& document, std::map<std::string, VisModel>& out);

}  // namespace stripline::model::detail
