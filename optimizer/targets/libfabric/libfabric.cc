#include "optimizer/targets/libfabric/libfabric.h"

namespace stripline::targets::libfabric {
namespace {

constexpr std::string_view kTried[] = {"1.17.0"};
constexpr const char* kListed = "fi_info -e";
constexpr uint64_t kMiB = uint64_t{1} << 20;

constexpr Knob kKnobs[] = {
    {.name = "FI_OFI_RXM_BUFFER_SIZE",
     .kind = KnobKind::bytes,
     .default_value = "16320",
     .least = 256,
     .most = kMiB,
     .values = "4096 65536",
     .memory_per_peer = 128,
     .meaning = "the largest message that is sent before it is asked for",
     .found = kListed},
    {.name = "FI_OFI_RXM_SAR_LIMIT",
     .kind = KnobKind::bytes,
     .default_value = "131072",
     .least = 0,
     .most = 64 * kMiB,
     .values = "32768 524288",
     .meaning = "the largest message that is sent in pieces before it is asked for",
     .found = kListed},
    {.name = "FI_OFI_RXM_TX_SIZE",
     .kind = KnobKind::count,
     .default_value = "1024",
     .least = 16,
     .most = 65536,
     .values = "4096",
     .meaning = "operations of an endpoint in flight at a time",
     .found = kListed},
    {.name = "FI_OFI_RXM_RX_SIZE",
     .kind = KnobKind::count,
     .default_value = "1024",
     .least = 16,
     .most = 65536,
     .values = "4096",
     .meaning = "receives of an endpoint that wait at a time",
     .found = kListed},
    {.name = "FI_OFI_RXM_MSG_TX_SIZE",
     .kind = KnobKind::count,
     .default_value = "128",
     .least = 16,
     .most = 65536,
     .values = "512",
     .meaning = "operations of a connection in flight at a time",
     .found = kListed},
    {.name = "FI_UNIVERSE_SIZE",
     .kind = KnobKind::count,
     .default_value = "256",
     .least = 1,
     .most = 1 << 24,
     .values = "",
     .meaning = "the number of peers that tables are made for",
     .found = kListed},
    {.name = "FI_SHM_SAR_THRESHOLD",
     .kind = KnobKind::bytes,
     .default_value = "",
     .least = 0,
     .most = 1024 * kMiB,
     .values = "65536",
     .path = Path::shared_memory,
     .meaning = "from this size on data are copied in pieces, where the kernel cannot copy",
     .found = kListed},
};

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "libfabric",
                              .title = "libfabric",
                              .tried = kTried,
                              .version_command = "fi_info --version",
                              .version_marker = "libfabric:",
                              .knobs = kKnobs};
  return kTarget;
}

}  // namespace stripline::targets::libfabric
