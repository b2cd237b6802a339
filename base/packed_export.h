// Settings of another runtime as one document, `{"format", "record", "files"}`: what `stripline
// export pack` writes (suites/targets/bundle.h), campaigns publish and agents install.
#pragma once

#include <string_view>

namespace stripline {

/// Its member "format".
inline constexpr std::string_view kPackedExportFormat = "stripline export 1";

/// True if the text is such a document, whatever is in it; its SHA-256 is that of its bytes.
bool is_packed_export(std::string_view text);

}  // namespace stripline
