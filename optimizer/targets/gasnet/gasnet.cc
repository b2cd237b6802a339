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
    count_knob("GASNET_NETWORKDEPTH", "12", {1, 1024}, "4 32",
               "active messages to a peer in flight at a time", kReadme),
    bytes_knob("GASNET_OFI_MAX_MEDIUM", "8192", {512, kMiB}, "4096 32768",
               "the largest active message with data of its own over libfabric", kReadme),
    count_knob("GASNET_OFI_RMA_POLL_FREQ", "32", {1, 65536}, "8 128",
               "puts and gets that are issued between two looks for completions", kReadme),
    count_knob("GASNET_OFI_NUM_BBUFS", "64", {1, 65536}, "256",
               "bounce buffers for puts whose source may change at once", kReadme),
    count_knob("GASNET_OFI_NUM_RECEIVE_BUFFS", "8", {2, 1024}, "16",
               "buffers that active messages are received into", kReadme),
    bytes_knob("GASNET_OFI_RECEIVE_BUFF_SIZE", "1M", {65536, 256 * kMiB}, "4194304",
               "the size of each of these", kReadme),
};

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "gasnet", .title = "GASNet-EX", .knobs = kKnobs};
  return kTarget;
}

}  // namespace stripline::targets::gasnet
