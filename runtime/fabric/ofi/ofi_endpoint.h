// The libfabric objects of one rank, opened and closed in the order libfabric wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/fabric/ofi/ofi_library.h"
#include "runtime/fabric/ofi/ofi_settings.h"

extern "C" {
struct fid_av;
struct fid_cq;
struct fid_domain;
struct fid_ep;
struct fid_fabric;
struct fid_mr;
}

namespace stripline::fabric::ofi {

/// Closes a libfabric object.
struct CloseFid {
  void operator()(fid_fabric* object) const;
  void operator()(fid_domain* object) const;
  void operator()(fid_av* object) const;
  void operator()(fid_cq* object) const;
  void operator()(fid_ep* object) const;
  void operator()(fid_mr* object) const;
};
template <typename T>
using FidPtr = std::unique_ptr<T, CloseFid>;

/// A registration of memory with the provider.
struct Registration {
  FidPtr<fid_mr> region;
  void* descriptor = nullptr;  ///< for local use
  uint64_t key = 0;            ///< for remote use
};

/// Pieces of an operation that the runtime makes use of.
inline constexpr size_t kMaxIov = 16;

/// What the provider states and the runtime has to honour.
struct Limits {
  size_t inject_bytes = 0;        ///< largest operation whose source is reusable at once
  size_t max_transfer_bytes = 0;  ///< largest single operation
  size_t transmit_depth = 0;      ///< operations it queues
  size_t receive_depth = 0;
  size_t iov_limit = 1;                ///< pieces of an operation, on either side
  bool local_registration = false;     ///< FI_MR_LOCAL
  bool virtual_addresses = false;      ///< FI_MR_VIRT_ADDR
  bool provider_keys = false;          ///< FI_MR_PROV_KEY
  bool endpoint_registration = false;  ///< FI_MR_ENDPOINT: bind a region before it is enabled
  bool automatic_progress = false;
  bool atomics = false;        ///< FI_ATOMIC
  bool notified_puts = false;  ///< of two pieces, with 32 bits for the target (FI_REMOTE_CQ_DATA)
};

class Endpoint {
 public:
  /// Opens what `fabric` names. The completion queue holds `operations` transmits and
  /// `settings.receive_buffers` receives, as far as the provider goes. Errors: as
  /// choose_provider(); unavailable for a call that fails.
  static Result<Endpoint> open(const Library& library, const std::string& fabric, uint32_t ranks,
                               const Settings& settings);

  /// Registers memory for local use, and for remote access if `remote`. Errors: resource_exhausted
  /// naming RLIMIT_MEMLOCK when the provider refuses to lock it.
  Result<Registration> register_memory(std::span<std::byte> memory, bool remote);

  /// Makes a peer's address usable; returns libfabric's handle for it. Errors: unavailable, also
  /// for an address of another format than this endpoint's.
  Result<uint64_t> insert_address(const std::string& endpoint_address);

  /// Readable when there may be something to do; -1 unless settings.waitable and the provider has
  /// one.
  int wait_descriptor() const { return wait_descriptor_; }
  /// True if the descriptor will tell of whatever comes from now on; false if something is here.
  bool may_wait() const;

  /// Closes the endpoint alone: after it, the provider uses no memory of operations and buffers.
  void close_transfers() { ep_.reset(); }

  /// fi_getname()'s bytes.
  const std::string& name() const { return name_; }
  const std::string& provider() const { return provider_; }
  /// The domain's name: an interface or a device.
  const std::string& domain_name() const { return domain_name_; }
  const Limits& limits() const { return limits_; }
  const Library& library() const { return *library_; }
  fid_ep* ep() const { return ep_.get(); }
  fid_cq* cq() const { return cq_.get(); }

 private:
  Endpoint() = default;
  Error failure(const char* call, int64_t code) const;

  const Library* library_ = nullptr;
  std::string provider_;
  std::string domain_name_;
  std::string name_;
  Limits limits_;
  int wait_descriptor_ = -1;
  uint64_t next_key_ = 1;  // for providers that do not choose keys themselves
  // Closed from the last to the first.
  InfoList info_;
  FidPtr<fid_fabric> fabric_;
  FidPtr<fid_domain> domain_;
  FidPtr<fid_av> av_;
  FidPtr<fid_cq> cq_;
  FidPtr<fid_ep> ep_;
};

}  // namespace stripline::fabric::ofi
