#include "proto/grpc_log.h"

#include <cstdlib>
#include <grpc/support/log.h>

#include <google/protobuf/stubs/logging.h>

namespace stripline {

void silence_grpc() {
  // Before any thread is started. NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args* /*line*/) {});
  google::protobuf::SetLogHandler(nullptr);
}

}  // namespace stripline
