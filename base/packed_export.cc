#include "base/packed_export.h"

#include "base/json.h"

namespace stripline {

bool is_packed_export(std::string_view text) {
  const auto json = parse_json(text, "packed export");
  if (!json.ok() || !json->is_object()) return false;
  const auto format = json->find("format");
  return format != json->end() && *format == Json(kPackedExportFormat);
}

}  // namespace stripline
