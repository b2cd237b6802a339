// What gRPC and protobuf themselves have to say.
#pragma once

namespace stripline {

/// Drops gRPC's own lines about what it tries, and protobuf's about messages that it refuses,
/// unless GRPC_VERBOSITY asks for them: errors are reported by those who called them, the lines are
/// not of the log's form, and a hostile peer could make as many as it likes. Before the first use
/// of gRPC.
void silence_grpc();

}  // namespace stripline
