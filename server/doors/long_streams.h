// Streams by which callers fetch what is stored: samples, plans, models. What such a stream sends
// next is in memory until its caller has read it, and is worked out in the pool for long reads, not
// on the threads on which agents are served: so each caller has a few, and all together some.
// Include from .cc files of the services.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/support/server_callback.h>

#include "server/doors/places.h"
#include "server/doors/reactor_step.h"
#include "server/doors/reading_pool.h"
#include "server/doors/rpc_status.h"
#include "server/problem.h"
#include "server/security/call_limits.h"

namespace stripline::server {

/// The size of a message of such a stream.
inline constexpr size_t kStreamChunkBytes = size_t{256} << 10;

/// Thread-safe. Outlives its streams; limits and pool outlive it.
class LongStreams {
 public:
  static constexpr size_t kOfPayer = 4;
  static constexpr size_t kOfAll = 32;

  /// A stream that has been let in, until it is destroyed.
  struct Admitted {
    std::string payer;
    std::shared_ptr<void> of_payer;
    std::shared_ptr<void> of_all;
  };

  LongStreams(CallLimits& limits, ReadingPool& reading) : limits_(limits), reading_(reading) {}

  /// Problems: TOO_MANY_CALLS, TOO_MANY_STREAMS, BUSY.
  Answer<Admitted> admit(const std::string& payer);

  /// Has the next part of the stream worked out in the pool, at its caller's expense. False: the
  /// pool is stopping, and the job is not called.
  bool work(const Admitted& stream, const ReadingPool::Job& job);

 private:
  CallLimits& limits_;
  ReadingPool& reading_;
  Places of_payer_{kOfPayer};
  Places of_all_{kOfAll};
};

/// A reactor of this class that ends at once. Deleting itself is how a reactor ends.
template <typename Reactor>
class RejectReactor final : public Reactor {
 public:
  explicit RejectReactor(const Problem& problem) {
    const ReactorStep step(this);
    this->Finish(rpc_status(problem));
  }
  void OnDone() override {
    { const ReactorStep last(this); }
    delete this;  // NOLINT(cppcoreguidelines-owning-memory)
  }
};

/// Writes a text in chunks, once it has been worked out.
template <typename Chunk>
class TextReactor final : public grpc::ServerWriteReactor<Chunk> {
 public:
  struct Content {
    Chunk first;  ///< with what the first message has beside data
    std::string text;
  };
  /// Called in the pool. What it refers to must outlive the stream.
  using Make = std::function<Answer<Content>()>;

  TextReactor(LongStreams& streams, LongStreams::Admitted admitted, Make make)
      : admitted_(std::move(admitted)), make_(std::move(make)) {
    ReactorStep step(this);
    step.hand_over();
    if (!streams.work(admitted_, [this](bool stopping) { begin(stopping); })) {
      this->Finish(rpc_status(stopping_problem()));
    }
  }

  void OnWriteDone(bool ok) override {
    ReactorStep step(this);
    if (!ok || sent_ >= text_.size()) return this->Finish(grpc::Status::OK);
    chunk_.Clear();
    write_next(step);
  }

  void OnCancel() override { gone_ = true; }

  void OnDone() override {
    { const ReactorStep last(this); }
    delete this;  // NOLINT(cppcoreguidelines-owning-memory)
  }

 private:
  void begin(bool stopping) {
    ReactorStep step(this);
    if (stopping) return this->Finish(rpc_status(stopping_problem()));
    if (gone_) return this->Finish(grpc::Status::CANCELLED);
    auto made = make_();
    if (!made) return this->Finish(rpc_status(made.problem()));
    text_ = std::move(made->text);
    chunk_ = std::move(made->first);
    write_next(step);
  }

  void write_next(ReactorStep& step) {
    chunk_.set_data(text_.substr(sent_, kStreamChunkBytes));
    sent_ += chunk_.data().size();
    step.hand_over();
    this->StartWrite(&chunk_);
  }

  const LongStreams::Admitted admitted_;
  const Make make_;
  std::atomic<bool> gone_ = false;
  std::string text_;
  size_t sent_ = 0;
  Chunk chunk_;
};

}  // namespace stripline::server
