// What gRPC itself has to say.
#pragma once

namespace stripline {

/// Drops gRPC's own lines about what it tries, unless GRPC_VERBOSITY asks for them: errors are told
/// by those who called it, and its lines are not of the log's form. Before the first use of gRPC.
void silence_grpc();

}  // namespace stripline
