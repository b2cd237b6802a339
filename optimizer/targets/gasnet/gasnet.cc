#include "optimizer/targets/gasnet/gasnet.h"

namespace stripline::targets::gasnet {
namespace {

constexpr const char* kReadme = "README and *-conduit/README of 2025.8";
constexpr uint64_t kMiB = uint64_t{1} << 20;

constexpr Knob kKnobs[] = {
    {.name = "GASNET_VIS_AMPIPE",
     .kind = KnobKind::flag,
     .default_value = "1",
     .values = "0 1",
     .meaning = "whether noncontiguous transfers travel packed, in active messages",
     .found = kReadme},
    {.name = "GASNET_VIS_REMOTECONTIG",
     .kind = KnobKind::flag,
     .default_value = "1",
     .values = "0 1",
     .meaning = "whether transfers that are contiguous at the target are one operation",
     .found = kReadme},
    {.name = "GASNET_NETWORKDEPTH",
     .kind = KnobKind::count,
     .default_value = "12",
     .least = 1,
     .most = 1024,
     .values = "4 32",
     .meaning = "active messages to a peer in flight at a time",
     .found = kReadme},
    {.name = "GASNET_OFI_MAX_MEDIUM",
     .kind = KnobKind::bytes,
     .default_value = "8192",
     .least = 512,
     .most = kMiB,
     .values = "4096 32768",
     .meaning = "the largest active message with data of its own over libfabric",
     .found = kReadme},
    {.name = "GASNET_OFI_RMA_POLL_FREQ",
     .kind = KnobKind::count,
     .default_value = "32",
     .least = 1,
     .most = 65536,
     .values = "8 128",
     .meaning = "puts and gets that are issued between two looks for completions",
     .found = kReadme},
    {.name = "GASNET_OFI_NUM_BBUFS",
     .kind = KnobKind::count,
     .default_value = "64",
     .least = 1,
     .most = 65536,
     .values = "256",
     .meaning = "bounce buffers for puts whose source may change at once",
     .found = kReadme},
    {.name = "GASNET_OFI_NUM_RECEIVE_BUFFS",
     .kind = KnobKind::count,
     .default_value = "8",
     .least = 2,
     .most = 1024,
     .values = "16",
     .meaning = "buffers that active messages are received into",
     .found = kReadme},
    {.name = "GASNET_OFI_RECEIVE_BUFF_SIZE",
     .kind = KnobKind::bytes,
     .default_value = "1M",
     .least = 65536,
     .most = 256 * kMiB,
     .values = "4194304",
     .meaning = "the size of each of these",
     .found = kReadme},
};

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "gasnet", .title = "GASNet-EX", .knobs = kKnobs};
  return kTarget;
}

}  // namespace stripline::targets::gasnet
