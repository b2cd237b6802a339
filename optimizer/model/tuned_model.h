// The tuned model: what a campaign learned of a machine, as values. Each section has a file in
// sections/; the file form is in model_json.h, the reference in docs/model-file.md.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "optimizer/model/sections/bulk.h"
#include "optimizer/model/sections/collective.h"
#include "optimizer/model/sections/compute.h"
#include "optimizer/model/sections/network.h"
#include "optimizer/model/sections/origin.h"
#include "optimizer/model/sections/pack.h"
#include "optimizer/model/sections/rma.h"
#include "optimizer/model/sections/service_levels.h"
#include "optimizer/model/sections/shared_update.h"
#include "optimizer/model/sections/strip.h"
#include "optimizer/model/sections/update.h"
#include "optimizer/model/sections/vis.h"

namespace stripline::model {

/// The version of the file format this build writes and reads.
inline constexpr int kSchemaVersion = 1;

struct TunedModel {
  std::string name;
  Provenance provenance;
  Fingerprint fingerprint;
  Domain domain;
  std::map<std::string, PathModel> network;  ///< by path name
  std::optional<ComputeModel> compute;
  std::optional<StripModel> strip;
  std::optional<PackModel> pack;
  std::map<std::string, VisModel> vis;  ///< by path name
  std::optional<UpdateModel> update;
  std::optional<SharedUpdateModel> shared_update;
  std::optional<BulkModel> bulk;
  std::optional<CollectiveModel> collective;
  std::optional<RmaModel> rma;
  std::optional<ServiceModel> service_levels;
  /// Top-level sections this build does not know, as canonical JSON text: kept on rewriting.
  std::map<std::string, std::string> unknown_sections;
};

/// What is known of each member (section.h), in the order in which people read about them. A new
/// section has a member above and an entry here; its source is any in sections/.
inline constexpr std::array kSections = {
    name_section,           provenance_section, domain_section,
    network_section,        compute_section,    strip_section,
    service_levels_section, collective_section, rma_section,
    pack_section,           vis_section,        update_section,
    shared_update_section,  bulk_section,       fingerprint_section,
};

}  // namespace stripline::model
