// The messages of RPCs (<stripline/rpc.h>), and the calls of this rank that await an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include <stripline/rpc.h>

#include "runtime/am/active_messages.h"
#include "runtime/rma/call.h"
#include "runtime/rma/program_images.h"

namespace stripline::rma {

class Job;

class RpcCalls {
 public:
  RpcCalls(Job& job, am::ActiveMessages& messages);

  /// Names the Context that runs what arrives. Before any rank can send.
  void serve(Context& context);

  /// `answered`: null if no answer is expected.
  void send(const Call& call, rank_t target, const detail::RpcEntry& entry,
            std::span<const std::byte> arguments, std::unique_ptr<detail::RpcCall> answered);
  void answer(rank_t caller, uint64_t id, bool failed, std::span<const std::byte> result);

  /// Calls whose answers are not here.
  size_t open() const { return open_.size(); }
  size_t max_bytes() const;
  /// Ends the job if captures and arguments of `bytes` are too much for one call.
  void check_bytes(const Call& call, rank_t target, size_t bytes) const;

 private:
  struct Request {
    ProgramImages::Place function;
    uint64_t id;  // 0: no answer is expected
  };
  struct Reply {
    uint64_t id;
    uint64_t failed;  // the rest is a text
  };

  void run(Context& context, rank_t source, std::span<const std::byte> message);
  void take_reply(Context& context, rank_t source, std::span<const std::byte> message);
  [[noreturn]] void fail_malformed(rank_t source) const;

  Job& job_;
  am::ActiveMessages& messages_;
  const uint16_t call_;  // handlers
  const uint16_t reply_;
  ProgramImages images_;
  std::unordered_map<uint64_t, std::unique_ptr<detail::RpcCall>> open_;
  uint64_t last_id_ = 0;
};

}  // namespace stripline::rma
