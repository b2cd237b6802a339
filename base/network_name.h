// The network that a fabric's name means. A name may carry options of a run besides, such as
// "emulated:opteron-vapi,compute=declared": the network, and so its models, is opteron-vapi's.
#pragma once

#include <string>
#include <string_view>

namespace stripline {

/// The fabric's name without those options that do not change its network: of an emulated fabric
/// compute=, jitter=, lose= and host_delays= (docs/emulated-fabric.md). Others stay, as
/// ranks_per_node= does: ranks that share a NIC have another network. Models, their fingerprints
/// and the folders of pushed models go by it. Names of other fabrics are returned as they are.
std::string network_name(std::string_view fabric);

/// True if every option in the fabric's name but those of its network only says how a campaign is
/// to be measured: what computation takes, and whether times vary. False with compute=record:PATH
/// or replay:PATH, which name files of a host, and with lose= and host_delays=, which disturb.
bool has_options_of_campaigns_only(std::string_view fabric);

}  // namespace stripline
