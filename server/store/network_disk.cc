#include "server/store/network_disk.h"

#include <algorithm>
#include <array>
#include <string>
#include <sys/vfs.h>
#include <utility>

namespace stripline::server {
namespace {

// Most are in <linux/magic.h>; the others in their own sources.
constexpr std::array<std::pair<uint64_t, std::string_view>, 11> kNetworkFileSystems = {{
    {0x6969, "NFS"},
    {0x517b, "SMB"},
    {0xff534d42, "CIFS"},
    {0xfe534d42, "SMB2"},
    {0x0bd00bd0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},
    {0x00c36400, "Ceph"},
    {0x5346414f, "AFS"},
    {0x01021997, "9P"},
    {0x65735546, "FUSE"},
}};

}  // namespace

std::string_view network_file_system(uint64_t type) {
  const auto* const found = std::ranges::find_if(
      kNetworkFileSystems, [&](const auto& known) { return known.first == type; });
  return found == kNetworkFileSystems.end() ? std::string_view() : found->second;
}

Status check_local_disk(const std::filesystem::path& folder) {
  struct statfs disk {};
  if (statfs(folder.c_str(), &disk) != 0) return {};
  // The field is signed, and of 32 or 64 bits.
  const auto name = network_file_system(static_cast<uint64_t>(disk.f_type) & 0xffffffff);
  if (name.empty()) return {};
  return Error(ErrorCode::failed_precondition,
               "data folder '" + folder.string() + "' is on a network file system (" +
                   std::string(name) +
                   "), where a database may be damaged; choose a --data-dir on a local disk, or "
                   "insist with --allow-network-disk");
}

}  // namespace stripline::server
