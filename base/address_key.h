// What counts as one address where callers are known by theirs.
#pragma once

#include <string>

namespace stripline {

/// An IPv4 address is its own key. That of an IPv6 address is its network (64 bits), all of whose
/// addresses one caller may have. Another text is its own key, too.
std::string address_key(const std::string& address);

}  // namespace stripline
