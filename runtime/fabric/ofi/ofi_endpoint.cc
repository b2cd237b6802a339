#include "runtime/fabric/ofi/ofi_endpoint.h"

#include <algorithm>
#include <array>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "base/host_memory.h"
#include "base/memory_limits.h"
#include "base/quantity.h"
#include "runtime/fabric/ofi/ofi_address.h"
#include "runtime/fabric/ofi/ofi_provider.h"
#include "runtime/fabric/ofi/segment.h"
#include "runtime/fabric/shortcuts.h"

namespace stripline::fabric::ofi {
namespace {

/// Closing returns -FI_EBUSY only if objects above are still open, which the member order excludes.
template <typename T>
void close_object(T* object) {
  fi_close(&object->fid);
}

Limits limits_of(const fi_info& info, const Settings& settings) {
  Limits limits;
  limits.inject_bytes = info.tx_attr->inject_size;
  limits.max_transfer_bytes = std::min(info.ep_attr->max_msg_size, settings.max_transfer_bytes);
  limits.transmit_depth = std::min(info.tx_attr->size, settings.operations);
  limits.receive_depth = std::min(info.rx_attr->size, settings.receive_buffers);
  const int mode = info.domain_attr->mr_mode;
  limits.local_registration = (mode & FI_MR_LOCAL) != 0 || settings.register_local;
  limits.virtual_addresses = (mode & FI_MR_VIRT_ADDR) != 0;
  limits.provider_keys = (mode & FI_MR_PROV_KEY) != 0;
  limits.endpoint_registration = (mode & FI_MR_ENDPOINT) != 0;
  limits.atomics = (info.caps & FI_ATOMIC) != 0;
  limits.automatic_progress = info.domain_attr->data_progress == FI_PROGRESS_AUTO;
  // Pieces of private memory would have to be registered one by one.
  if (!limits.local_registration) {
    limits.iov_limit = std::max<size_t>(
        std::min({info.tx_attr->iov_limit, info.tx_attr->rma_iov_limit, kMaxIov}), 1);
  }
  // Such puts take what they send from any memory.
  limits.notified_puts = !limits.local_registration &&
                         info.domain_attr->cq_data_size >= sizeof(uint32_t) &&
                         (info.mode & FI_RX_CQ_DATA) == 0 && limits.iov_limit >= 2 &&
                         limits.max_transfer_bytes >= Shortcuts::kMostNotified;
  return limits;
}

}  // namespace

void CloseFid::operator()(fid_fabric* object) const { close_object(object); }
void CloseFid::operator()(fid_domain* object) const { close_object(object); }
void CloseFid::operator()(fid_av* object) const { close_object(object); }
void CloseFid::operator()(fid_cq* object) const { close_object(object); }
void CloseFid::operator()(fid_ep* object) const { close_object(object); }
void CloseFid::operator()(fid_mr* object) const { close_object(object); }

Error Endpoint::failure(const char* call, int64_t code) const {
  return Error(ErrorCode::unavailable, "provider " + provider_ + " failed in " + call + ": " +
                                           library_->error_text(code) +
                                           "; 'stripline doctor' checks this host");
}

Result<Endpoint> Endpoint::open(const Library& library, const std::string& fabric, uint32_t ranks,
                                const Settings& settings) {
  Endpoint endpoint;
  endpoint.library_ = &library;
  STRIPLINE_ASSIGN_OR_RETURN(endpoint.info_, choose_provider(library, fabric, settings));
  fi_info* info = endpoint.info_.get();
  endpoint.provider_ = info->fabric_attr->prov_name;
  endpoint.domain_name_ = info->domain_attr->name != nullptr ? info->domain_attr->name : "";
  endpoint.limits_ = limits_of(*info, settings);
  // FI_DELIVERY_COMPLETE was asked for to learn whether it is granted; puts ask for it one by one.
  info->tx_attr->op_flags = 0;
  info->rx_attr->op_flags = 0;

  fid_fabric* fabric_object = nullptr;
  if (const int code = library.open_fabric(info->fabric_attr, &fabric_object); code != 0) {
    return endpoint.failure("fi_fabric", code);
  }
  endpoint.fabric_.reset(fabric_object);

  fid_domain* domain = nullptr;
  if (const int code = fi_domain(fabric_object, info, &domain, nullptr); code != 0) {
    return endpoint.failure("fi_domain", code);
  }
  endpoint.domain_.reset(domain);

  fi_av_attr av_attributes{};
  av_attributes.type =
      info->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_TABLE : info->domain_attr->av_type;
  av_attributes.count = ranks;
  fid_av* av = nullptr;
  if (const int code = fi_av_open(domain, &av_attributes, &av, nullptr); code != 0) {
    return endpoint.failure("fi_av_open", code);
  }
  endpoint.av_.reset(av);

  fi_cq_attr cq_attributes{};
  cq_attributes.size = endpoint.limits_.transmit_depth + endpoint.limits_.receive_depth;
  cq_attributes.format = FI_CQ_FORMAT_DATA;
  cq_attributes.wait_obj = settings.waitable ? FI_WAIT_FD : FI_WAIT_NONE;
  fid_cq* cq = nullptr;
  int cq_code = fi_cq_open(domain, &cq_attributes, &cq, nullptr);
  if (cq_code != 0 && settings.waitable) {  // shm and others have no descriptor to wait for
    cq_attributes.wait_obj = FI_WAIT_NONE;
    cq_code = fi_cq_open(domain, &cq_attributes, &cq, nullptr);
  }
  if (cq_code != 0) return endpoint.failure("fi_cq_open", cq_code);
  endpoint.cq_.reset(cq);
  if (cq_attributes.wait_obj == FI_WAIT_FD &&
      fi_control(&cq->fid, FI_GETWAIT, &endpoint.wait_descriptor_) != 0) {
    endpoint.wait_descriptor_ = -1;
  }

  fid_ep* ep = nullptr;
  if (const int code = fi_endpoint(domain, info, &ep, nullptr); code != 0) {
    return endpoint.failure("fi_endpoint", code);
  }
  endpoint.ep_.reset(ep);
  if (const int code = fi_ep_bind(ep, &av->fid, 0); code != 0) {
    return endpoint.failure("fi_ep_bind (addresses)", code);
  }
  if (const int code = fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV); code != 0) {
    return endpoint.failure("fi_ep_bind (completions)", code);
  }
  if (const int code = fi_enable(ep); code != 0) return endpoint.failure("fi_enable", code);

  std::array<char, 512> name{};
  size_t length = name.size();
  if (const int code = fi_getname(&ep->fid, name.data(), &length); code != 0) {
    return endpoint.failure("fi_getname", code);
  }
  endpoint.name_.assign(name.data(), length);
  return endpoint;
}

bool Endpoint::may_wait() const {
  if (wait_descriptor_ < 0) return true;
  std::array<fid*, 1> queues = {&cq_->fid};
  return fi_trywait(fabric_.get(), queues.data(), static_cast<int>(queues.size())) == 0;
}

Result<Registration> Endpoint::register_memory(std::span<std::byte> memory, bool remote) {
  uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
  if (remote) access |= FI_REMOTE_READ | FI_REMOTE_WRITE;
  const uint64_t requested_key = limits_.provider_keys ? 0 : next_key_++;
  fid_mr* region = nullptr;
  int code = fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, requested_key, 0,
                       &region, nullptr);
  if (code == -FI_ENOMEM || code == -FI_EPERM || code == -FI_EAGAIN) {
    const auto lockable = MemoryLimits::read().lockable_bytes;
    return Error(ErrorCode::resource_exhausted,
                 "provider " + provider_ + " cannot register " + bytes_text(memory.size()) + ": " +
                     library_->error_text(code) + "; the limit of locked memory " +
                     "(RLIMIT_MEMLOCK) is " +
                     (lockable ? bytes_text(*lockable) : std::string("unlimited")) +
                     "; raise it with " + std::string(kRaiseLockedMemory) +
                     ", or use a smaller segment (STRIPLINE_SEGMENT_BYTES)");
  }
  if (code != 0) return failure("fi_mr_reg", code);
  Registration registration;
  registration.region.reset(region);
  if (limits_.endpoint_registration) {
    code = fi_mr_bind(region, &ep_->fid, 0);
    if (code == 0) code = fi_mr_enable(region);
    if (code != 0) return failure("binding memory to the endpoint", code);
  }
  registration.descriptor = fi_mr_desc(region);
  registration.key = fi_mr_key(region);
  return registration;
}

Result<uint64_t> Endpoint::insert_address(const std::string& endpoint_address) {
  // libfabric gets no length: it reads as many bytes as its own addresses have, or a string.
  const bool fits = info_->addr_format == FI_ADDR_STR ? endpoint_address.ends_with('\0')
                                                      : endpoint_address.size() == name_.size();
  if (!fits) {
    return Error(ErrorCode::unavailable,
                 "its address is of another format than this rank's; give all ranks addresses of "
                 "one kind, IPv4 or IPv6, with STRIPLINE_ADDRESS or STRIPLINE_IFACE");
  }
  std::string reachable = endpoint_address;
  adopt_scope(reachable, name_);
  fi_addr_t handle = FI_ADDR_NOTAVAIL;
  const int inserted = fi_av_insert(av_.get(), reachable.data(), 1, &handle, 0, nullptr);
  if (inserted != 1) return failure("fi_av_insert", inserted < 0 ? inserted : -FI_EADDRNOTAVAIL);
  return handle;
}

}  // namespace stripline::fabric::ofi
