// The build ID of a file that this process has loaded: what the linker has made of its contents, so
// that files with the same one are the same.
#pragma once

#include <cstddef>
#include <link.h>
#include <span>

namespace stripline {

/// In memory of the file, for as long as it is loaded. Empty: it has none.
std::span<const std::byte> build_id_of(const dl_phdr_info& file);

}  // namespace stripline
