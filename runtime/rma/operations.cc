#include "runtime/rma/operations.h"

#include <atomic>
#include <cstring>

namespace stripline::rma {

Operations::Operations(Job& job, Memory& memory, const am::Config& am_config)
    : job_(job),
      memory_(memory),
      implicit_(job.ranks()),
      bounces_(Tuning{}.buffered_budget_bytes),
      messages_(job.fabric(), job.ranks(), am_config, job.failure()),
      service_delays_(messages_, job.ranks()),
      owner_(messages_, memory.segment(), job.failure()),
      bulk_(messages_, job.fabric(), memory.bulk(), job.rank(), job.ranks(), vis::Transfers::kBulk,
            job.failure()),
      vis_(messages_, bulk_, job.fabric(), memory.segment(), job.ranks(), job.failure()),
      combiner_(messages_, bulk_, job.fabric(), memory.segment(), job.ranks(), job.failure()),
      get_combiner_(vis_, job.fabric(), job.ranks()),
      continuations_(*this, job.exclusion()),
      rpc_calls_(job, messages_) {
  job.fabric().set_message_sink(&messages_);
  messages_.add_background(continuations_);
  for (size_t i = 0; i < users_.size(); ++i) {
    users_[i].channel = bulk_.open(kMessageUsers[i].parcels, am::Purpose::work);
    messages_.add_background(users_[i].work);
    for (const char* const handler : kMessageUsers[i].handlers) messages_.id(handler);
  }
}

void Operations::use(const Tuning& tuning) {
  combiner_.start(tuning.combining);
  bounces_ = BounceRing(tuning.buffered_budget_bytes);
}

void Operations::use_notified_puts(bool use) {
  bulk_.use_notified_puts(use);
  combiner_.start(combiner_.rule());  // by larger messages
}

void Operations::start_get_implicit(std::byte* destination, rank_t target, uint64_t offset,
                                    size_t bytes, ImplicitOperations& counted) {
  fabric::Counter& counter = counted.counter(target);
  if (bytes > GetCombiner::kMaxGetBytes || !get_combiner_.takes(target)) {
    start_get(destination, target, offset, bytes, counter);
    return;
  }
  job_.activity().start("rget", target, bytes);
  get_combiner_.get(target, offset, destination, bytes, counter);
}

void Operations::start_put_implicit(rank_t target, uint64_t offset, const std::byte* source,
                                    size_t bytes, ImplicitOperations& counted) {
  fabric::Counter& counter = counted.counter(target);  // a fence waits for combined ones, too
  if (!combiner_.takes(bytes)) {
    start_put(target, offset, source, bytes, counter);
    return;
  }
  memory_.keepers().stored(target, offset, bytes);
  job_.activity().start("rput", target, bytes);
  combiner_.put(target, offset, source, bytes);
}

void Operations::start_atomic_implicit(const fabric::AtomicRequest& request, rank_t target,
                                       uint64_t offset, ImplicitOperations& counted) {
  counted.counter(target);  // a fence asks the combiner about it
  memory_.keepers().stored(target, offset, fabric::bytes_of(request.type));
  job_.activity().start("atomic operation", target, fabric::bytes_of(request.type));
  combiner_.atomic(target, offset, request);
}

const std::byte* Operations::copy_to_bounce(const std::byte* source, size_t bytes, uint32_t slot) {
  const auto undisturbed = continuations_.forbid();
  const SlotUse use = use_of(slot);
  std::byte* copy = nullptr;
  while (true) {
    // Copies that are complete go first: the ring stays small, and warm.
    while (!bounces_.empty() && is_over(bounces_.oldest())) bounces_.release_oldest();
    copy = bounces_.acquire(bytes, use);
    if (copy != nullptr) break;
    wait_for(slots_.counter(bounces_.oldest().slot));
  }
  std::memcpy(copy, source, bytes);
  return copy;
}

void Operations::start_put_signal(rank_t target, uint64_t offset, const std::byte* source,
                                  size_t bytes, const fabric::Signal& signal, bool by_message,
                                  fabric::Counter& counter, bool& source_free) {
  memory_.keepers().stored(target, offset, bytes);
  memory_.keepers().stored(target, signal.offset, sizeof(uint64_t));
  if (!by_message) {
    job_.fabric().put_signal(target, offset, {source, bytes}, signal, counter);
  } else if (bytes <= owner_.largest_signalled_put()) {
    owner_.put_signal(target, offset, source, bytes, signal, counter);
    source_free = true;
  } else {
    vis_.put_signalled_chunk(target, {offset, const_cast<std::byte*>(source), bytes}, signal,
                             counter, source_free);
  }
}

bool Operations::is_complete(const SlotUse& use) {
  if (!slots_.released(use.slot, use.generation)) {
    if (const fabric::Counter& counter = slots_.counter(use.slot); counter.pending != 0) {
      messages_.ask(counter);
      return false;
    }
    found_complete(slots_.kind(use.slot));
    slots_.release(use.slot);
  }
  job_.observers().tell(&Observer::completed, use);
  return true;
}

// To be called before anything is read after it.
void Operations::found_complete(Kind kind) {
  switch (kind) {
    case Kind::collective:
      acquire();
      break;
    case Kind::put:
    case Kind::message:
      memory_.keepers().stores_complete();
      break;
    case Kind::get:
      break;
  }
}

void Operations::wait(const SlotUse& use, CallSite site) {
  if (!slots_.released(use.slot, use.generation)) {
    const fabric::Counter& counter = slots_.counter(use.slot);
    const bool watched = job_.observers().any() && counter.pending != 0;
    const double begun_s = watched ? job_.fabric().now_s() : 0;
    const auto may_run = continuations_.allow();
    const Kind kind = slots_.kind(use.slot);
    kind == Kind::message || kind == Kind::collective ? wait_for_messages(counter, site)
                                                      : wait_for(counter, site);
    if (watched) [[unlikely]]
      job_.observers().tell(&Observer::waited, use, job_.fabric().now_s() - begun_s);
    found_complete(kind);
    slots_.release(use.slot);
  }
  job_.observers().tell(&Observer::completed, use);
}

void Operations::wait_source(const SlotUse& use, CallSite site) {
  if (slots_.released(use.slot, use.generation)) return wait(use, site);
  if (!slots_.source_free(use.slot)) {
    if (slots_.kind(use.slot) != Kind::message) return wait(use, site);
    begin("wait");
    job_.activity().at("wait", site);
    messages_.wait([this, &use] {
      return slots_.source_free(use.slot) || slots_.counter(use.slot).pending == 0;
    });
    if (!slots_.source_free(use.slot)) return wait(use, site);
  }
  job_.observers().tell(&Observer::source_free, use);
}

void Operations::reclaim_slots() {
  const auto undisturbed = continuations_.forbid();
  messages_.ask();
  bool collective = false;
  if (!slots_.sweep(collective)) {
    messages_.wait([this, &collective] { return slots_.sweep(collective); });
  }
  // A future that is asked later says that its operation was complete by now.
  found_complete(Kind::put);
  if (collective) found_complete(Kind::collective);
  job_.observers().tell(&Observer::drained);
}

uint64_t Operations::wait_for_flag(Call call, uint64_t& flag, uint64_t value) {
  enter(call.name);
  job_.activity().at(call.name, call.site());
  const std::atomic_ref<uint64_t> word(flag);
  uint64_t seen = 0;
  messages_.wait([&] {
    seen = word.load(std::memory_order_acquire);
    return seen >= value;
  });
  job_.observers().tell(&Observer::learnt);
  return seen;
}

void Operations::complete(rank_t target, const fabric::Counter& counter) {
  wait_for(counter);
  if (combiner_.unanswered(target) == 0) return;
  job_.activity() = "fence";
  messages_.wait([this, target] { return combiner_.unanswered(target) == 0; });
}

void Operations::fence(rank_t target) {
  const auto undisturbed = continuations_.forbid();
  combiner_.flush(target);
  get_combiner_.flush(target);
  complete(target, implicit_.counter(target));
  memory_.keepers().stores_complete();
  job_.observers().tell(&Observer::fenced, target);
}

void Operations::fence() {
  const auto undisturbed = continuations_.forbid();
  combiner_.flush();
  get_combiner_.flush();
  implicit_.complete_each(
      [this](rank_t target, const fabric::Counter& counter) { complete(target, counter); });
  memory_.keepers().stores_complete();
  job_.observers().tell(&Observer::fenced, std::nullopt);
}

void Operations::fence(ImplicitOperations& counted) {
  const auto undisturbed = continuations_.forbid();
  if (try_fence(counted)) return;
  check_may_wait("fence");
  messages_.wait([this, &counted] { return try_fence(counted); });
}

void Operations::fence(ImplicitOperations& counted, rank_t target) {
  const auto undisturbed = continuations_.forbid();
  combiner_.flush(target);
  get_combiner_.flush(target);
  const fabric::Counter& counter = counted.counter(target);
  const auto is_complete = [this, &counter, target, sent = combiner_.generation(target)] {
    return counter.pending == 0 && combiner_.is_answered(target, sent);
  };
  if (!is_complete()) {
    check_may_wait("fence");
    messages_.wait(is_complete);
  }
  memory_.keepers().stores_complete();
}

// The condition of a wait, too: with nothing new to send it reads and writes this rank's memory.
bool Operations::try_fence(ImplicitOperations& counted) {
  if (counted.take_news()) {
    const auto undisturbed = continuations_.forbid();
    combiner_.flush();
    get_combiner_.flush();
    counted.for_each([this](rank_t target, const fabric::Counter&, uint32_t& generation) {
      generation = combiner_.generation(target);
    });
  }
  const bool complete =
      counted.settle([this](rank_t target, const fabric::Counter& counter, uint32_t generation) {
        return counter.pending == 0 && combiner_.is_answered(target, generation);
      });
  if (complete) memory_.keepers().stores_complete();
  return complete;
}

void Operations::complete_all(Kind kind) {
  const auto undisturbed = continuations_.forbid();
  const bool by_message = kind == Kind::message;
  if (by_message) messages_.ask();
  slots_.for_each_pending(kind, [&](const fabric::Counter& counter) {
    by_message ? wait_for_messages(counter) : wait_for(counter);
  });
  job_.observers().tell(&Observer::drained);
}

void Operations::complete_puts() {
  fence();
  complete_all(Kind::put);
  complete_all(Kind::message);
  memory_.keepers().no_stores_pending();
}

void Operations::complete_everything() {
  complete_puts();
  complete_all(Kind::get);
}

void Operations::fail_in_handler(const char* name, CallSite site) const {
  job_.fail(Error(
      ErrorCode::invalid_argument,
      text(Call(name, site)) +
          (messages_.in_handler()
               ? " inside an active message handler; handlers may only record and reply"
               : " inside of what follows a future; that may start operations, but not wait")));
}

}  // namespace stripline::rma
