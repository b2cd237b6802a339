// What is to follow futures (<stripline/future.h>): functions of the program that run inside of its
// own calls, where these wait for other ranks. Not where a call only waits for room, in the middle
// of its work, which a function that calls back in would disturb: who waits says that they may run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/rma/completion_slots.h"

namespace stripline::rma {

class Exclusion;
class Operations;

class Continuations final : public am::Background {
 public:
  Continuations(Operations& operations, const Exclusion& exclusion)
      : operations_(operations), exclusion_(exclusion) {}

  /// While it lives, waits run continuations, or do not.
  class [[nodiscard]] Permission {
   public:
    Permission(Continuations& owner, bool allowed)
        : owner_(owner), before_(std::exchange(owner.allowed_, allowed)) {}
    ~Permission() { owner_.allowed_ = before_; }
    Permission(const Permission&) = delete;
    Permission& operator=(const Permission&) = delete;

   private:
    Continuations& owner_;
    bool before_;
  };
  Permission allow() { return {*this, true}; }
  Permission forbid() { return {*this, false}; }

  /// To be run once the operation of this slot is complete. A look that finds none that is
  /// costs a load for each of them.
  void when_complete(const SlotUse& operation, std::function<void()> run);
  /// To be run at the next opportunity, in this order. Also from handlers.
  void run_soon(std::function<void()> run);

  /// True if one is running: it must not wait.
  bool running() const { return running_; }
  bool idle() const { return !running_ && due_.empty() && watched_.empty(); }

  bool ready() const override;
  /// Runs what is due, but not what becomes due by that.
  void advance() override;

 private:
  struct Watched {
    SlotUse operation;
    std::function<void()> run;
  };
  bool may_run() const;
  bool is_over(const Watched& watched) const;
  bool find() const;
  void take_over();

  Operations& operations_;
  const Exclusion& exclusion_;
  bool allowed_ = false;
  bool running_ = false;
  std::deque<std::function<void()>> due_;
  std::vector<Watched> watched_;
  mutable size_t next_ = 0;  // where the next look begins; after find(): what it has found
};

}  // namespace stripline::rma
