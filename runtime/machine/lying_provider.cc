// For tests: a provider of libfabric that is sockets, but shows puts that tell their target to the
// rank that makes them, too, as if they had arrived there. libfabric loads it from the folder in
// FI_PROVIDER_PATH, where it is liblying-fi.so; it calls itself "lying".
#include <cstdlib>
#include <cstring>
#include <string>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

namespace {

constexpr const char* kName = "lying";
constexpr const char* kReal = "sockets";

// The tables of sockets, and those with the calls that are changed. A process opens one fabric.
fi_ops_fabric fabric_calls;
const fi_ops_fabric* real_fabric_calls = nullptr;
fi_ops_domain domain_calls;
const fi_ops_domain* real_domain_calls = nullptr;
fi_ops_cq queue_calls;
const fi_ops_cq* real_queue_calls = nullptr;

/// Gives `object` a table of calls of its own, and returns the one that it had.
template <typename Calls>
const Calls* take_over(Calls*& object, Calls& mine) {
  const Calls* const real = object == &mine ? nullptr : object;
  if (real != nullptr) mine = *real;
  object = &mine;
  return real;
}

/// While it lives, descriptions carry the name that sockets knows.
class RealName {
 public:
  explicit RealName(fi_fabric_attr* attributes) : attributes_(attributes) {
    if (attributes_ == nullptr) return;
    before_ = attributes_->prov_name;
    attributes_->prov_name = name_.data();
  }
  ~RealName() {
    if (attributes_ != nullptr) attributes_->prov_name = before_;
  }
  RealName(const RealName&) = delete;
  RealName& operator=(const RealName&) = delete;

 private:
  fi_fabric_attr* attributes_;
  char* before_ = nullptr;
  std::string name_ = kReal;
};

ssize_t read_queue(fid_cq* queue, void* buffer, size_t count) {
  const ssize_t got = real_queue_calls->read(queue, buffer, count);
  auto* const entries = static_cast<fi_cq_data_entry*>(buffer);
  for (ssize_t i = 0; i < got; ++i) {
    constexpr uint64_t kToldPut = FI_WRITE | FI_REMOTE_CQ_DATA;
    if ((entries[i].flags & kToldPut) == kToldPut) entries[i].flags |= FI_REMOTE_WRITE;
  }
  return got;
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context) {
  const int code = real_domain_calls->cq_open(domain, attributes, queue, context);
  if (code != 0) return code;
  if (const auto* real = take_over((*queue)->ops, queue_calls)) real_queue_calls = real;
  queue_calls.read = read_queue;
  return 0;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
  const RealName name(info->fabric_attr);
  const int code = real_fabric_calls->domain(fabric, info, domain, context);
  if (code != 0) return code;
  if (const auto* real = take_over((*domain)->ops, domain_calls)) real_domain_calls = real;
  domain_calls.cq_open = open_queue;
  return 0;
}

int open_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  const RealName name(attributes);
  const int code = fi_fabric(attributes, fabric, context);
  if (code != 0) return code;
  if (const auto* real = take_over((*fabric)->ops, fabric_calls)) real_fabric_calls = real;
  fabric_calls.domain = open_domain;
  return 0;
}

// A text that libfabric owns, which it allocates and frees as C does.
void drop(char*& text) {
  std::free(text);  // NOLINT(*-no-malloc,*-owning-memory)
  text = nullptr;
}

int get_info(uint32_t version, const char* node, const char* service, uint64_t flags,
             const fi_info* hints, fi_info** info) {
  // Layers that make reliable datagrams of other endpoints have no business here.
  const fi_ep_type wanted = hints != nullptr ? hints->ep_attr->type : FI_EP_RDM;
  if (wanted != FI_EP_RDM && wanted != FI_EP_UNSPEC) return -FI_ENODATA;
  fi_info* const asked = hints != nullptr ? fi_dupinfo(hints) : fi_allocinfo();
  if (asked == nullptr) return -FI_ENOMEM;
  drop(asked->fabric_attr->prov_name);
  asked->fabric_attr->prov_name = strdup(kReal);
  asked->ep_attr->type = FI_EP_RDM;
  const int code = fi_getinfo(version, node, service, flags, asked, info);
  fi_freeinfo(asked);
  for (fi_info* one = code == 0 ? *info : nullptr; one != nullptr; one = one->next) {
    drop(one->fabric_attr->prov_name);  // libfabric sets it
  }
  return code;
}

fi_provider provider;

}  // namespace

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  provider.version = FI_VERSION(1, 0);
  provider.fi_version = FI_VERSION(1, 17);
  provider.name = kName;
  provider.getinfo = get_info;
  provider.fabric = open_fabric;
  provider.cleanup = [] {};
  return &provider;
}
