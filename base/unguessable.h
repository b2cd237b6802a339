// What strangers cannot guess, for names in folders that all users of a host share.
#pragma once

#include <string>

namespace stripline {

/// 16 hexadecimal digits from the kernel's random numbers, other ones each time.
std::string unguessable_text();

}  // namespace stripline
