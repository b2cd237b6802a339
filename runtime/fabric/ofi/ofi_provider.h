// The libfabric provider that a fabric name stands for, and whether it has what the runtime needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/fabric/ofi/ofi_library.h"
#include "runtime/fabric/ofi/ofi_settings.h"

namespace stripline::fabric::ofi {

/// libfabric's names for a fabric name, the one to be preferred first: connected and datagram
/// providers need a layer that makes reliable datagram endpoints of them, as "net" is
/// "net;ofi_rxm"; "tcp" has such endpoints itself in newer libfabric, and is "tcp" or
/// "tcp;ofi_rxm". Names that carry a layer, and names of providers that need none, stay as they
/// are.
std::vector<std::string> providers_of(std::string_view fabric);

/// The fabric name for libfabric's provider name: the reverse of providers_of().
std::string fabric_name_of(std::string_view provider);

/// True if the provider lacks atomic operations, which travel as active messages then. They are
/// asked for of every other one.
bool lacks_atomics(std::string_view provider);

/// The endpoint description to open for `fabric`: FI_EP_RDM with messages, RMA, atomics (but for
/// lacks_atomics()), ordered sends and writes that complete when they are visible at the target, of
/// the first of providers_of() that this libfabric offers so. Errors: invalid_argument
/// (no such provider; the message lists those there are), unavailable (the provider is there but
/// lacks something, or cannot use the address asked for).
Result<InfoList> choose_provider(const Library& library, const std::string& fabric,
                                 const Settings& settings);

}  // namespace stripline::fabric::ofi
