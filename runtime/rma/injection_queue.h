// What one thread hands to the network beside the rank's other threads: gets, puts and atomic
// operations that take no lock of the runtime, know nothing of the rank's state but its fabric, and
// are completed together.
//
// Where the network has an endpoint for it (fabric::Fabric::open_injector()), they go through that;
// gets from and puts to ranks that the kernel copies from and to are made at once. Ranks that loads
// and stores reach are the caller's.
//
// One thread at a time. While it waits, and once in a while otherwise, it calls what it was given
// to serve the rank's peers: they may wait for this rank as this thread waits for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/fabric/fabric.h"
#include "runtime/rma/job.h"

namespace stripline::rma {

class InjectionQueue {
 public:
  /// What copies of put_copied() take, from the first one on.
  static constexpr size_t kCopyBytes = size_t{256} << 10;

  /// A queue of a rank of this job, which outlives it. `serve` makes progress for the rank unless
  /// another thread, or this one, is inside of a call. By the thread that uses the fabric, once it
  /// is connected. Errors: those of Fabric::open_injector().
  static Result<std::unique_ptr<InjectionQueue>> open(const Job& job,
                                                      const std::function<void()>& serve);

  /// Gives up what is in flight; the caller's memory is left alone from then on.
  ~InjectionQueue() = default;
  InjectionQueue(const InjectionQueue&) = delete;
  InjectionQueue& operator=(const InjectionQueue&) = delete;

  /// Starts a put; `source` stays until complete(). Like all below, to a rank that loads and stores
  /// do not reach, of at least one byte, within its segment.
  void put(fabric::Rank target, uint64_t offset, const std::byte* source, size_t bytes);
  /// The same of memory that may be changed when it returns. What the network does not copy itself
  /// is copied here, or waited for where it is more than half of kCopyBytes.
  void put_copied(fabric::Rank target, uint64_t offset, const std::byte* source, size_t bytes);
  /// Starts a get; the data are here at complete().
  void get(std::byte* destination, fabric::Rank target, uint64_t offset, size_t bytes);
  /// Returns when the data are here.
  void get_now(std::byte* destination, fabric::Rank target, uint64_t offset, size_t bytes);

  /// True if atomic() serves operations on variables of `target`. What the provider has, it has for
  /// all.
  bool has_atomics_on(fabric::Rank target) const {
    return injector_ != nullptr && target != job_.rank();
  }
  /// Starts an atomic operation of the provider's; `previous`, unless null, is here at complete().
  void atomic(const fabric::AtomicRequest& request, fabric::Rank target, uint64_t offset,
              void* previous);
  /// Returns when it is carried out.
  void atomic_now(const fabric::AtomicRequest& request, fabric::Rank target, uint64_t offset,
                  void* previous);

  /// True if something was started that complete() has to wait for.
  bool is_busy() const {
    return started_.pending != 0 || copied_[0].pending != 0 || copied_[1].pending != 0;
  }
  /// Returns when all is complete: puts are visible, what was fetched is here.
  void complete();

 private:
  static constexpr size_t kHalf = kCopyBytes / 2;

  InjectionQueue(const Job& job, std::function<void()> serve,
                 std::unique_ptr<fabric::Injector> injector)
      : job_(job),
        inject_bytes_(job.fabric().info().inject_bytes),
        serve_(std::move(serve)),
        injector_(std::move(injector)) {}

  // A thread whose operations never have to wait serves peers all the same. No lock finds out for
  // it that it is in a child process.
  void begin() {
    constexpr uint32_t kEvery = 32;
    job_.check_process();
    if (++calls_ % kEvery == 0) serve_();
  }
  // What carries out gets and puts of a rank.
  fabric::Injector& path_to(fabric::Rank target) {
    const bool by_network = job_.path_to(target) == model::Path::network;
    return by_network ? *injector_ : job_.fabric();
  }
  void wait_for(const fabric::Counter& counter) {
    if (counter.pending != 0) injector_->wait_for(counter);
  }
  std::byte* room_for_copy(size_t bytes);

  const Job& job_;
  const size_t inject_bytes_;
  const std::function<void()> serve_;
  uint32_t calls_ = 0;
  fabric::Counter started_;
  // Copies are made into one half after the other; a half is used again when its puts are complete.
  std::array<fabric::Counter, 2> copied_;
  std::vector<std::byte> copies_;
  size_t half_ = 0;
  size_t used_ = 0;                             // of that half
  std::unique_ptr<fabric::Injector> injector_;  // null: no rank is reached by the network
};

}  // namespace stripline::rma
