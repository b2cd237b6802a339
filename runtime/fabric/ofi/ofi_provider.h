// Which libfabric provider a fabric name stands for, and whether it has what the runtime needs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/fabric/ofi/ofi_library.h"
#include "runtime/fabric/ofi/ofi_settings.h"

namespace stripline::fabric::ofi {

/// libfabric's name for a fabric name: "tcp" is "tcp;ofi_rxm". Connected and datagram providers
/// need a layer that makes reliable datagram endpoints of them; names that carry a layer, and names
/// of providers that need none, stay as they are.
std::string provider_of(std::string_view fabric);

/// The fabric name for libfabric's provider name: the reverse of provider_of().
std::string fabric_name_of(std::string_view provider);

/// Whether the provider communicates over IP sockets, so that an unset address means loopback.
bool uses_sockets(std::string_view provider);

/// The endpoint description to open for `fabric`: FI_EP_RDM with messages, RMA, atomics, ordered
/// sends and writes that complete when they are visible at the target. Errors: invalid_argument
/// (no such provider; the message lists those there are), unavailable (the provider is there but
/// lacks something, or cannot use the address asked for).
Result<InfoList> choose_provider(const Library& library, const std::string& fabric,
                                 const Settings& settings);

}  // namespace stripline::fabric::ofi
