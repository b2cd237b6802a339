// A rank as a process of its own, for ofi_process_test. Speaks JSON lines on descriptor 3:
//   -> {"address":"<hex>"}            after opening
//   <- {"addresses":["<hex>", ...]}   connects
//   -> {"connected":true} or {"error":"..."}
//   <- {"command":"digest"}           -> {"digest":"<sha256 of the segment>","net_bytes":n}
//   <- {"command":"put","target":r,"bytes":n}   -> {"put_bytes":n} once visible there
//   <- {"command":"leave"}            closes and exits with 0
// and makes progress in between. Usage: ofi_test_peer FABRIC RANK RANKS SEGMENT_BYTES
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/hex.h"
#include "base/json_channel.h"
#include "base/sha256.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_test_bytes.h"

namespace stripline::fabric::ofi {
namespace {

/// Progress between two looks at the channel.
constexpr int kPollsPerLook = 200;

[[noreturn]] void die(const Error& error) {
  (void)std::fprintf(stderr, "ofi_test_peer: %s\n", error.message().c_str());
  std::_Exit(1);
}

template <typename T>
T value_or_die(Result<T> result) {
  if (!result.ok()) die(result.error());
  return std::move(result).value();
}

void write_or_die(JsonChannel& channel, const Json& message) {
  if (const Status status = channel.write(message); !status.ok()) die(status.error());
}

std::string digest_of(std::span<const std::byte> bytes) {
  return sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void serve(JsonChannel& channel, Fabric& fabric) {
  while (true) {
    for (int i = 0; i < kPollsPerLook; ++i) fabric.poll();
    const auto message = value_or_die(channel.read(0));
    if (!message) continue;
    const std::string command = message->value("command", "");
    if (command == "leave") return;
    if (command == "digest") {
      write_or_die(channel, {{"digest", digest_of(fabric.segment())}});
    } else if (command == "put") {
      const auto data = pattern(message->at("bytes").get<size_t>(), 1);
      Counter counter;
      fabric.put(message->at("target").get<Rank>(), 0, {data.data(), data.size()}, counter);
      fabric.wait_for(counter);
      write_or_die(channel, {{"put_bytes", fabric.traffic().put_bytes}});
    }
  }
}

int run(std::span<char*> arguments) {
  if (arguments.size() != 5) return 2;
  JsonChannel channel((UniqueFd(3)));
  OpenOptions options;
  options.fabric = arguments[1];
  options.rank = static_cast<Rank>(std::strtoul(arguments[2], nullptr, 10));
  options.ranks = static_cast<Rank>(std::strtoul(arguments[3], nullptr, 10));
  options.segment_bytes = std::strtoull(arguments[4], nullptr, 10);
  options.job_id = "test";
  const auto fabric = value_or_die(open_ofi_fabric(options));
  fabric->set_failure_handler([](const Error& error) { die(error); });
  write_or_die(channel, {{"address", to_hex(fabric->local_address())}});

  const auto message = value_or_die(channel.read(30));
  if (!message) return 1;
  std::vector<std::string> addresses;
  for (const Json& address : message->at("addresses")) {
    addresses.push_back(from_hex(address.get<std::string>()).value_or(""));
  }
  if (const Status status = fabric->connect(addresses, 20); !status.ok()) {
    write_or_die(channel, {{"error", status.error().message()}});
    return 1;
  }
  write_or_die(channel, {{"connected", true}});
  serve(channel, *fabric);
  return 0;
}

}  // namespace
}  // namespace stripline::fabric::ofi

int main(int argc, char** argv) {
  return stripline::fabric::ofi::run({argv, static_cast<size_t>(argc)});
}
