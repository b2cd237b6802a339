// What a server, or whoever answers in its place, sends over HTTP/2.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "agent/grpc_call.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  stripline::agent::GrpcCall call("head:7411", "/stripline.v1.Agents/Session");
  call.send("a message");
  // The first byte says in pieces of what size the rest arrives.
  const size_t piece = 1 + data[0];
  std::span<const uint8_t> rest(data + 1, size - 1);
  while (!rest.empty()) {
    const size_t bytes = std::min(piece, rest.size());
    call.receive(rest.first(bytes));
    rest = rest.subspan(bytes);
    (void)call.take_messages();
    call.consume_output(call.output().size());
  }
  call.connection_lost("the end");
  if (!call.status()) std::abort();  // a call that never ends
  return 0;
}
