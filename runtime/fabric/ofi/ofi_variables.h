// The variables of libfabric itself (FI_*, listed by `fi_info -e`): which of them are in force, and
// what they exclude. libfabric says nothing of either.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace stripline::fabric {

/// Values by name, in the order of the names.
using LibfabricVariables = std::map<std::string, std::string>;

/// Variables that are set and not empty. Reads the environment: at start-up only.
LibfabricVariables libfabric_variables();

/// "FI_LOG_LEVEL=debug, FI_PROVIDER=tcp"; empty if there are none.
std::string to_text(const LibfabricVariables& variables);

/// Variables that may change how fast the network is: all but those which only choose a provider or
/// an interface, which results name anyhow.
LibfabricVariables that_change_speed(const LibfabricVariables& variables);

/// True if FI_PROVIDER's value `filter` ("tcp,shm", or "^tcp,shm" for all others) leaves no such
/// provider: "tcp;ofi_rxm" needs both of its parts.
bool excludes_provider(std::string_view filter, std::string_view provider);

}  // namespace stripline::fabric
