#include "server/store/sql.h"

namespace stripline::server {

Result<std::string> SqlDatabase::query_text(std::string_view sql) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto statement, prepare(sql));
  std::string value;
  if (statement->step()) value = statement->text(0);
  STRIPLINE_RETURN_IF_ERROR(statement->status());
  return value;
}

}  // namespace stripline::server
