#include "suites/harness/contenders/bare_rank.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_provider.h"

namespace stripline::suites::harness {
namespace {

constexpr size_t kContexts = 256;                      // more than any window here
constexpr size_t kRegionBytes = 2 * sizeof(uint64_t);  // of an address, before the endpoint's name

/// Ends this process, as the other one would wait for ever: who started both ends that one, too.
[[noreturn]] void stop(const char* what, int64_t code) {
  (void)std::fprintf(stderr, "bare libfabric: %s: %s\n", what,
                     fi_strerror(static_cast<int>(std::abs(code))));
  std::_Exit(1);
}

Status check(int64_t code, const char* call) {
  if (code == 0) return {};
  return Error(ErrorCode::unavailable,
               std::string(call) + " failed: " + fi_strerror(static_cast<int>(std::abs(code))));
}

}  // namespace

Status BareRank::describe(const std::string& provider) {
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_MSG | FI_RMA | (fabric::ofi::lacks_atomics(provider) ? 0 : FI_ATOMIC);
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  const bool sockets = fabric::uses_sockets(provider);
  fi_info* found = nullptr;
  const int code = fi_getinfo(FI_VERSION(1, 17), sockets ? "127.0.0.1" : nullptr, nullptr,
                              sockets ? FI_SOURCE : 0, hints, &found);
  fi_freeinfo(hints);
  STRIPLINE_RETURN_IF_ERROR(check(code, ("fi_getinfo for provider '" + provider + "'").c_str()));
  if (found->fabric_attr->prov_name == provider) {
    info_ = found;
    return {};
  }
  fi_freeinfo(found);
  return Error(ErrorCode::unavailable, "libfabric offers no provider '" + provider + "'");
}

Result<BareRank> BareRank::open(const std::string& fabric, uint32_t rank, size_t bytes) {
  BareRank bare;
  STRIPLINE_ASSIGN_OR_RETURN(bare.memory_, fabric::ofi::Segment::allocate(bytes));
  bare.contexts_.resize(kContexts + 1 + kReceives);
  // That which the runtime takes.
  Status described = Error(ErrorCode::unavailable, "no provider");
  for (const std::string& provider : fabric::ofi::providers_of(fabric)) {
    described = bare.describe(provider);
    if (described.ok()) break;
  }
  if (!described.ok()) return described.error();
  fi_info* info = bare.info_;
  STRIPLINE_RETURN_IF_ERROR(
      check(fi_fabric(info->fabric_attr, &bare.fabric_, nullptr), "fi_fabric"));
  STRIPLINE_RETURN_IF_ERROR(
      check(fi_domain(bare.fabric_, info, &bare.domain_, nullptr), "fi_domain"));
  fi_av_attr av{};
  av.type = FI_AV_TABLE;
  STRIPLINE_RETURN_IF_ERROR(check(fi_av_open(bare.domain_, &av, &bare.av_, nullptr), "fi_av_open"));
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_DATA;
  cq.wait_obj = FI_WAIT_NONE;
  STRIPLINE_RETURN_IF_ERROR(check(fi_cq_open(bare.domain_, &cq, &bare.cq_, nullptr), "fi_cq_open"));
  STRIPLINE_RETURN_IF_ERROR(
      check(fi_endpoint(bare.domain_, info, &bare.ep_, nullptr), "fi_endpoint"));
  STRIPLINE_RETURN_IF_ERROR(check(fi_ep_bind(bare.ep_, &bare.av_->fid, 0), "fi_ep_bind"));
  STRIPLINE_RETURN_IF_ERROR(
      check(fi_ep_bind(bare.ep_, &bare.cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind"));
  STRIPLINE_RETURN_IF_ERROR(check(fi_enable(bare.ep_), "fi_enable"));
  STRIPLINE_RETURN_IF_ERROR(
      check(fi_mr_reg(bare.domain_, bare.memory(), bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                      rank + 1, 0, &bare.mr_, nullptr),
            "fi_mr_reg"));
  std::array<char, 512> name{};
  size_t length = name.size();
  STRIPLINE_RETURN_IF_ERROR(check(fi_getname(&bare.ep_->fid, name.data(), &length), "fi_getname"));
  const std::array<uint64_t, 2> region = {fi_mr_key(bare.mr_),
                                          (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                                              ? reinterpret_cast<uintptr_t>(bare.memory())
                                              : 0};
  bare.address_.assign(reinterpret_cast<const char*>(region.data()), sizeof region);
  bare.address_.append(name.data(), length);
  return bare;
}

BareRank::BareRank(BareRank&& other) noexcept
    : info_(std::exchange(other.info_, nullptr)),
      fabric_(std::exchange(other.fabric_, nullptr)),
      domain_(std::exchange(other.domain_, nullptr)),
      av_(std::exchange(other.av_, nullptr)),
      cq_(std::exchange(other.cq_, nullptr)),
      ep_(std::exchange(other.ep_, nullptr)),
      mr_(std::exchange(other.mr_, nullptr)),
      memory_(std::move(other.memory_)),
      address_(std::move(other.address_)),
      contexts_(std::move(other.contexts_)),
      filled_(std::move(other.filled_)),
      peer_(other.peer_),
      peers_(std::move(other.peers_)),
      peer_key_(other.peer_key_),
      peer_base_(other.peer_base_),
      started_(other.started_),
      completed_(other.completed_),
      received_(other.received_),
      notified_(other.notified_),
      awaited_(other.awaited_) {}

BareRank::~BareRank() {
  const auto close = [](auto* object) {
    if (object != nullptr) fi_close(&object->fid);
  };
  close(ep_);
  close(mr_);
  close(cq_);
  close(av_);
  close(domain_);
  close(fabric_);
  if (info_ != nullptr) fi_freeinfo(info_);
}

Status BareRank::set_peer(const std::string& address) {
  STRIPLINE_ASSIGN_OR_RETURN(const size_t peer, add_peer(address));
  peer_ = peers_[peer - 1];
  std::memcpy(&peer_key_, address.data(), sizeof peer_key_);
  std::memcpy(&peer_base_, address.data() + sizeof peer_key_, sizeof peer_base_);
  return {};
}

Result<size_t> BareRank::add_peer(const std::string& address) {
  if (address.size() <= kRegionBytes) {
    return Error(ErrorCode::unavailable, "the peer could not open its endpoint");
  }
  fi_addr_t peer = 0;
  if (fi_av_insert(av_, address.data() + kRegionBytes, 1, &peer, 0, nullptr) != 1) {
    return Error(ErrorCode::unavailable, "fi_av_insert failed");
  }
  peers_.push_back(peer);
  return peers_.size();
}

void BareRank::poll() {
  std::array<fi_cq_data_entry, 16> entries;
  const ssize_t count = fi_cq_read(cq_, entries.data(), entries.size());
  for (ssize_t i = 0; i < count; ++i) {
    const fi_cq_data_entry& entry = entries[static_cast<size_t>(i)];
    if ((entry.flags & FI_REMOTE_WRITE) != 0) {
      ++notified_;
      continue;
    }
    const auto* context = static_cast<const fi_context2*>(entry.op_context);
    if (context > &contexts_[kContexts]) {
      filled_.push_back(static_cast<size_t>(context - &contexts_[kContexts + 1]));
      continue;
    }
    ++(context == &contexts_[kContexts] ? received_ : completed_);
  }
  if (count >= 0 || count == -FI_EAGAIN) return;
  fi_cq_err_entry failed{};
  if (count == -FI_EAVAIL && fi_cq_readerr(cq_, &failed, 0) == 1) {
    stop("an operation failed", failed.err);
  }
  stop("reading completions failed", count);
}

template <typename Attempt>
void BareRank::post(const Attempt& attempt) {
  fi_context2* context = &contexts_[started_ % kContexts];
  ssize_t code = 0;
  while ((code = attempt(context)) == -FI_EAGAIN) poll();
  if (code != 0) stop("an operation could not be started", code);
  ++started_;
}

void BareRank::get(std::byte* destination, size_t offset, size_t bytes) {
  post([&](fi_context2* context) {
    return fi_read(ep_, destination, bytes, nullptr, peer_, peer_base_ + offset, peer_key_,
                   context);
  });
}

void BareRank::put(const std::byte* source, size_t offset, size_t bytes) {
  write(source, offset, bytes, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

void BareRank::put_and_notify(const std::byte* source, size_t offset, size_t bytes) {
  write(source, offset, bytes, FI_COMPLETION | FI_REMOTE_CQ_DATA);
}

void BareRank::await_put() {
  ++awaited_;
  while (notified_ < awaited_) poll();
}

void BareRank::write(const std::byte* source, size_t offset, size_t bytes, uint64_t flags) {
  // libfabric takes a pointer to non-const memory also for data it only reads.
  const iovec vector{const_cast<std::byte*>(source), bytes};
  const fi_rma_iov remote{peer_base_ + offset, bytes, peer_key_};
  fi_msg_rma message{};
  message.msg_iov = &vector;
  message.iov_count = 1;
  message.addr = peer_;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  post([&](fi_context2* context) {
    message.context = context;
    return fi_writemsg(ep_, &message, flags);
  });
}

void BareRank::fetch_add(uint64_t* operand, uint64_t* previous, size_t offset) {
  post([&](fi_context2* context) {
    return fi_fetch_atomic(ep_, operand, 1, nullptr, previous, nullptr, peer_, peer_base_ + offset,
                           peer_key_, FI_UINT64, FI_SUM, context);
  });
}

void BareRank::send(const std::byte* source, size_t bytes) {
  if (bytes > info_->tx_attr->inject_size) {
    post(
        [&](fi_context2* context) { return fi_send(ep_, source, bytes, nullptr, peer_, context); });
    return wait_until_in_flight(0);
  }
  post([&](fi_context2*) { return fi_inject(ep_, source, bytes, peer_); });
  ++completed_;  // injected messages report nothing
}

void BareRank::start_send(size_t peer, const std::byte* source, size_t bytes) {
  const fi_addr_t there = peers_[peer - 1];
  if (bytes > info_->tx_attr->inject_size) {
    post(
        [&](fi_context2* context) { return fi_send(ep_, source, bytes, nullptr, there, context); });
    return;
  }
  post([&](fi_context2*) { return fi_inject(ep_, source, bytes, there); });
  ++completed_;
}

void BareRank::expect(fi_context2* context, std::byte* destination, size_t bytes) {
  ssize_t code = 0;
  while ((code = fi_recv(ep_, destination, bytes, nullptr, FI_ADDR_UNSPEC, context)) ==
         -FI_EAGAIN) {
    poll();
  }
  if (code != 0) stop("a buffer for a message could not be posted", code);
}

void BareRank::post_receive(size_t buffer, std::byte* destination, size_t bytes) {
  expect(&contexts_[kContexts + 1 + buffer], destination, bytes);
}

void BareRank::receive(std::byte* destination, size_t bytes) {
  const uint64_t before = received_;
  expect(&contexts_[kContexts], destination, bytes);
  while (received_ == before) poll();
}

}  // namespace stripline::suites::harness
