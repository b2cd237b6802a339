// In place of the other postgres_*.cc where libpq was not there when Stripline was built.
#include "server/store/postgres_copy.h"
#include "server/store/postgres_store.h"

namespace stripline::server {

std::string postgres_missing() {
  return "this stripline-server was built without PostgreSQL; install libpq-dev, configure and "
         "build "
         "it again";
}

Status check_postgres_url(const std::string& /*url*/) {
  return Error(ErrorCode::unimplemented, postgres_missing());
}

Result<std::unique_ptr<PostgresTurn>> queue_for_postgres(const PostgresOptions& /*options*/) {
  return Error(ErrorCode::unimplemented, postgres_missing());
}

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& /*url*/) {
  return Error(ErrorCode::unimplemented, postgres_missing());
}

Status add_to_postgres(const std::string& /*url*/, const Changes& /*changes*/) {
  return Error(ErrorCode::unimplemented, postgres_missing());
}

Status back_up_postgres(const std::string& /*url*/, const std::filesystem::path& /*target*/,
                        const std::filesystem::path& /*keys_of*/) {
  return Error(ErrorCode::unimplemented, postgres_missing());
}

Result<bool> restore_into_postgres(const std::filesystem::path& /*file*/,
                                   const std::string& /*url*/,
                                   const std::filesystem::path& /*data_dir*/) {
  return Error(ErrorCode::unimplemented, postgres_missing());
}

}  // namespace stripline::server
