// In the place of the generated file, where the dashboard is left out (STRIPLINE_DASHBOARD).
#include "dashboards/bundle.h"

namespace stripline::dashboards {

std::optional<BundledFile> bundled_file(std::string_view path) {
  if (path != "/") return std::nullopt;
  return BundledFile{"text/plain; charset=utf-8",
                     "This server was built without its dashboard, which needs nodejs and npm "
                     "(docs/install.md). /api/v1 is answered (docs/http.md).\n",
                     "none"};
}

}  // namespace stripline::dashboards
