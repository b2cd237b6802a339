// Further injectors of a rank: an endpoint of its own in a domain of its own for each, so that
// providers whose domains are for one thread at a time (FI_THREAD_DOMAIN) serve as many threads.
#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {
namespace {

/// Operations in flight of a further injector: as many as keep a network busy with small ones, at
/// a small part of what the rank's own queue takes.
constexpr size_t kInjectorOperations = 512;

/// Providers whose targets take operations of endpoints that they have not heard of before, any
/// number of times. shm and sm2 keep a place for every endpoint that has ever written to one, of
/// which there are a few hundred; rxd answers those that were greeted when the rank connected.
bool serves_further_endpoints(std::string_view provider) {
  return provider != "shm" && provider != "sm2" && !provider.ends_with(";ofi_rxd");
}

}  // namespace

Settings OfiRank::injector_settings() const {
  Settings settings = settings_;
  settings.receive_buffers = 0;
  settings.operations = std::min(settings.operations, kInjectorOperations);
  settings.waitable = false;
  return settings;
}

size_t OfiRank::injector_bytes() const {
  if (!serves_further_endpoints(endpoint_.provider()) || settings_.injectors == 0) return 0;
  const Limits& limits = endpoint_.limits();
  const size_t operations = std::min(limits.transmit_depth, injector_settings().operations);
  const size_t buffers = limits.local_registration ? send_buffers_.total_bytes() : 0;
  return operations * sizeof(Operation) + ranks_ * sizeof(Peer) + buffers;
}

Result<std::unique_ptr<Injector>> OfiRank::open_injector(std::function<void()> meanwhile) {
  if (!serves_further_endpoints(endpoint_.provider())) {
    return Error(ErrorCode::unimplemented,
                 "provider " + endpoint_.provider() + " has one queue for each rank");
  }
  if (static_cast<size_t>(injectors_.use_count()) > settings_.injectors) {
    return Error(ErrorCode::resource_exhausted,
                 "rank " + std::to_string(rank_) + " has " + std::to_string(settings_.injectors) +
                     " endpoints beside its own, and no more are permitted; raise "
                     "STRIPLINE_INJECTION_QUEUES");
  }
  const Settings settings = injector_settings();
  STRIPLINE_ASSIGN_OR_RETURN(
      Endpoint endpoint,
      Endpoint::open(endpoint_.library(), endpoint_.provider(), ranks_, settings));
  OpenOptions options;
  options.rank = rank_;
  options.ranks = ranks_;
  options.computes = computes_;
  std::unique_ptr<OfiRank> injector(new OfiRank(options, settings, std::move(endpoint)));
  STRIPLINE_RETURN_IF_ERROR(injector->inject_for(*this));
  injector->meanwhile_ = std::move(meanwhile);
  return std::unique_ptr<Injector>(std::move(injector));
}

/// Reaches what `owner` reaches, but no messages: without addresses, its end is not announced.
Status OfiRank::inject_for(const OfiRank& owner) {
  peers_ = owner.peers_;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_) continue;
    auto handle = endpoint_.insert_address(owner.addresses_[rank].endpoint);
    if (!handle.ok()) return handle.error().with_context(owner.describe_peer(rank));
    peers_[rank].handle = *handle;
  }
  if (endpoint_.limits().local_registration) {
    registered_ = owner.registered_;
    if (!registered_.empty()) {
      STRIPLINE_ASSIGN_OR_RETURN(segment_registration_,
                                 endpoint_.register_memory(registered_, false));
    }
    STRIPLINE_ASSIGN_OR_RETURN(
        send_buffers_,
        BufferPool::create(endpoint_, kSendBuffers, owner.send_buffers_.buffer_bytes()));
  }
  find_atomics();
  failure_handler_ = owner.failure_handler_;
  spin_limit_ = owner.spin_limit_;
  shares_cores_ = owner.shares_cores_;
  start_s_ = owner.start_s_;
  injectors_ = owner.injectors_;
  return {};
}

}  // namespace stripline::fabric::ofi
