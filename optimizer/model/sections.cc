#include "optimizer/model/sections.h"

namespace stripline::model {

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      name_section(),           provenance_section(), domain_section(),
      network_section(),        compute_section(),    strip_section(),
      service_levels_section(), collective_section(), rma_section(),
      pack_section(),           vis_section(),        update_section(),
      shared_update_section(),  bulk_section(),       fingerprint_section(),
  };
  return all;
}

}  // namespace stripline::model
