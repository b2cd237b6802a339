#include "runtime/fabric/ofi/ofi_rank.h"

#include <algorithm>
#include <utility>

#include "runtime/fabric/ofi/monotonic_clock.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_provider.h"
#include "runtime/fabric/ofi/ofi_variables.h"

namespace stripline::fabric::ofi {
namespace {

/// Transfers that are split at the same time; a further one waits.
constexpr size_t kGroups = 16;

/// FNV-1a, to tell the messages of one job from those of another.
uint32_t job_tag(std::string_view job_id) {
  uint32_t hash = 2166136261U;
  for (const char c : job_id) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace

OfiRank::OfiRank(const OpenOptions& options, const Settings& settings, Endpoint endpoint)
    : peers_(options.ranks),
      rank_(options.rank),
      job_(job_tag(options.job_id)),
      settings_(settings),
      ranks_(options.ranks),
      computes_(options.computes),
      watches_for_stopped_(options.watch_for_stopped),
      wanted_same_node_(options.same_node),
      node_ranks_(options.node_ranks),
      same_node_(options.rank, options.ranks),
      endpoint_(std::move(endpoint)),
      operations_(endpoint_.limits().transmit_depth),
      receives_(endpoint_.limits().receive_depth),
      groups_(kGroups) {
  ep_ = endpoint_.ep();
  cq_ = endpoint_.cq();
  inject_bytes_ = endpoint_.limits().inject_bytes;
  max_transfer_bytes_ = endpoint_.limits().max_transfer_bytes;
}

Result<std::unique_ptr<Fabric>> OfiRank::open(const OpenOptions& options,
                                              const Settings& settings) {
  if (options.rank >= options.ranks) {
    return Error(ErrorCode::invalid_argument, "rank " + std::to_string(options.rank) +
                                                  " is not below the number of ranks, " +
                                                  std::to_string(options.ranks));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Library* library, Library::load());
  STRIPLINE_ASSIGN_OR_RETURN(Endpoint endpoint,
                             Endpoint::open(*library, options.fabric, options.ranks, settings));
  std::unique_ptr<OfiRank> rank(new OfiRank(options, settings, std::move(endpoint)));
  STRIPLINE_RETURN_IF_ERROR(rank->allocate(options));
  rank->find_atomics();
  rank->describe(options.fabric);
  STRIPLINE_ASSIGN_OR_RETURN(rank->address_.switches, switches_of_environment());
  return std::unique_ptr<Fabric>(std::move(rank));
}

Status OfiRank::allocate(const OpenOptions& options) {
  const Limits& limits = endpoint_.limits();
  const bool maps = options.same_node == SameNode::mapped;
  STRIPLINE_ASSIGN_OR_RETURN(
      segment_, Segment::allocate(options.segment_bytes,
                                  maps ? Segment::Kind::shared : Segment::Kind::exclusive,
                                  options.populate ? Pages::now : Pages::when_touched));
  // Rings carry all messages to a rank or none: they arrive in the order sent.
  if (maps && settings_.message_bytes <= RingMemory::kLargest) {
    // Without one, messages go through the provider.
    if (auto mailbox = Mailbox::create(ranks_); mailbox.ok()) mailbox_ = std::move(*mailbox);
  }
  if (options.segment_bytes > 0) {
    registered_ = segment_.bytes();
    STRIPLINE_ASSIGN_OR_RETURN(segment_registration_, endpoint_.register_memory(registered_, true));
  }
  const size_t buffer_bytes = sizeof(MessageHeader) + settings_.message_bytes;
  STRIPLINE_ASSIGN_OR_RETURN(receive_buffers_,
                             BufferPool::create(endpoint_, limits.receive_depth, buffer_bytes));
  STRIPLINE_ASSIGN_OR_RETURN(send_buffers_,
                             BufferPool::create(endpoint_, kSendBuffers, buffer_bytes));
  inject_space_.resize(std::min(inject_bytes_, buffer_bytes));
  out_of_order_.reserve(limits.receive_depth);
  unposted_receives_.reserve(limits.receive_depth);
  while (Operation* operation = receives_.acquire()) {
    operation->kind = OperationKind::receive;
    operation->buffer = receive_buffers_.acquire();
    post_receive(operation);
  }
  return {};
}

void OfiRank::describe(const std::string& fabric) {
  const Limits& limits = endpoint_.limits();
  address_.provider = endpoint_.provider();
  address_.endpoint = endpoint_.name();
  if (uses_sockets(endpoint_.provider())) {
    address_.endpoint_text = describe_socket_address(endpoint_.name(), address_.loopback);
  } else {
    address_.endpoint_text = "device " + endpoint_.domain_name();
  }
  address_.segment_key = segment_registration_.key;
  address_.segment_base =
      limits.virtual_addresses ? reinterpret_cast<uintptr_t>(segment_.bytes().data()) : 0;
  address_.segment_bytes = segment_.bytes().size();
  address_.segment_address = reinterpret_cast<uintptr_t>(segment_.bytes().data());
  address_.segment_file = SharedFile::of(segment_.file());
  address_.mailbox_file = SharedFile::of(mailbox_.file());
  address_.mailbox_address = reinterpret_cast<uintptr_t>(mailbox_.rings());
  address_.host = Host::here();

  info_.name = fabric;
  info_.provider = endpoint_.provider();
  info_.clock = "real";
  info_.max_message_bytes = settings_.message_bytes;
  info_.inject_bytes = limits.inject_bytes;
  info_.queue_depth = limits.transmit_depth;
  info_.goes_on_without_calls = limits.automatic_progress;
  // shm reads by the kernel.
  info_.gets_need_target = !limits.automatic_progress && uses_sockets(endpoint_.provider());
  info_.puts_need_target = info_.gets_need_target;
  info_.buffer_bytes = receive_buffers_.total_bytes() + send_buffers_.total_bytes();
  info_.peer_bytes = sizeof(Peer) + (mailbox_.file() >= 0 ? sizeof(RingMemory) : 0);
  info_.injector_bytes = injector_bytes();
  info_.iov_limit = static_cast<uint32_t>(limits.iov_limit);
  const size_t colon = address_.endpoint_text.rfind(':');
  std::string ip = address_.endpoint_text.substr(0, colon);
  if (ip.starts_with('[')) ip = ip.substr(1, ip.size() - 2);  // IPv6
  info_.attributes = {
      {"fabric.provider", endpoint_.provider()},
      {"libfabric.version", endpoint_.library().version_text()},
      {"fabric.progress", limits.automatic_progress ? "auto" : "manual"},
      {"fabric.interface",
       uses_sockets(endpoint_.provider()) ? interface_of_address(ip) : endpoint_.domain_name()},
      {"fabric.inject_bytes", std::to_string(limits.inject_bytes)},
      {"fabric.queue_depth", std::to_string(limits.transmit_depth)},
  };
  // Also that there are none, in which another run may differ.
  const std::string variables = to_text(that_change_speed(libfabric_variables()));
  info_.attributes["libfabric.variables"] = variables.empty() ? "none" : variables;
}

OfiRank::~OfiRank() {
  closing_ = true;
  if (!failed_ && !connecting_) say_goodbye();
  if (endpoint_.limits().endpoint_registration) {
    segment_registration_.region.reset();
    receive_buffers_.give_up_registration();
    send_buffers_.give_up_registration();
  }
  endpoint_.close_transfers();
}

}  // namespace stripline::fabric::ofi

namespace stripline::fabric {

Result<std::unique_ptr<Fabric>> open_ofi_fabric(const OpenOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(ofi::Settings settings, ofi::Settings::from_environment());
  settings.automatic_progress = options.progress == Progress::by_provider;
  settings.waitable = options.progress == Progress::by_thread;
  return ofi::OfiRank::open(options, settings);
}

}  // namespace stripline::fabric
