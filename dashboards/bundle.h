// The pages of this folder, as they were built into this program.
#pragma once

#include <optional>
#include <string_view>

namespace stripline::dashboards {

struct BundledFile {
  std::string_view type;  ///< "text/html; charset=utf-8"
  std::string_view content;
  std::string_view sha256;  ///< of the content
  /// The content as compressed when the program was built; empty where that saves nothing.
  std::string_view brotli = {};
  std::string_view gzip = {};
};

/// The file at this path of the address: "/" and "/app.js". nullopt when there is none, which is so
/// for all of a program that was built without the dashboard.
std::optional<BundledFile> bundled_file(std::string_view path);

}  // namespace stripline::dashboards
