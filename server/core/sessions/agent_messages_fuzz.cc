// What agents send: as it comes over the wire, their declarations, their samples, and settings of
// other runtimes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include <google/protobuf/stubs/logging.h>

#include "proto/agent_protocol/wire.h"
#include "server/core/models/settings_version.h"
#include "server/core/sessions/declarations.h"
#include "server/store/point_records.h"
#include "stripline/v1/agents.pb.h"

// What protobuf has to say of each input takes longer than reading it.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stripline::server;  // NOLINT(google-build-using-namespace)
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  static Declarations declarations;
  stripline::v1::AgentMessage wire;
  if (wire.ParseFromString(bytes)) {
    const auto message = stripline::from_wire(std::move(wire));
    if (message && std::holds_alternative<stripline::Hello>(*message)) {
      (void)declarations.read(std::get<stripline::Hello>(*message).experiments_json);
    } else if (message && std::holds_alternative<stripline::SampleBatch>(*message)) {
      (void)series_of_batch(*std::get<stripline::SampleBatch>(*message).data);
    }
  }
  (void)declarations.read({bytes});
  (void)series_of_batch(bytes);
  (void)settings_version(bytes, "it");
  return 0;
}
