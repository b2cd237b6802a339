#include "optimizer/targets/gasnet/gasnet.h"

namespace stripline::targets::gasnet {
namespace {

constexpr const char* kReadme = "README and *-conduit/README of 2025.8";
constexpr const char* kSource = "gasnet_refvis.c and gasnet_refbarrier.c";
constexpr uint64_t kMiB = uint64_t{1} << 20;

constexpr Knob kKnobs[] = {
    {.name = "GASNET_VIS_AMPIPE",
     .kind = KnobKind::flag,
     .default_value = "1",
     .values = "0 1",
     .meaning = "whether noncontiguous transfers travel packed, in active messages",
     .found = kReadme},
    bytes_knob("GASNET_VIS_MAXCHUNK", "auto", {8, kMiB}, "256 4096",
               "the largest contiguous piece of a noncontiguous transfer that travels packed",
               kSource),
    {.name = "GASNET_VIS_REMOTECONTIG",
     .kind = KnobKind::flag,
     .default_value = "1",
     .values = "0 1",
     .meaning = "whether transfers that are contiguous at the target are one operation",
     .found = kReadme},
    {.name = "GASNET_BARRIER",
     .kind = KnobKind::choice,
     .default_value = "DISSEM",
     .values = "DISSEM AMDISSEM RDMADISSEM",
     .meaning = "the algorithm of barriers",
     .found = kSource},
    {.name = "GASNET_PSHM_BARRIER_HIER",
     .kind = KnobKind::flag,
     .default_value = "1",
     .values = "0 1",
     .meaning = "whether ranks of a node meet in shared memory before barriers between nodes",
     .found = kReadme},
    count_knob("GASNET_PSHM_BARRIER_RADIX", "0", {0, 1024}, "2 4",
               "children of a rank in barriers within a node; 0: all at once", kReadme)
        .on(Path::shared_memory),
    count_knob("GASNET_PSHM_NETWORK_DEPTH", "32", {4, 65536}, "8 128",
               "active messages of a rank to those of its node in flight at a time", kReadme)
        .on(Path::shared_memory),
    bytes_knob("GASNET_COLL_SCRATCH_SIZE", "2M", {65536, 256 * kMiB}, "524288 8388608",
               "memory that collective operations of a team have on each rank", kReadme),
    count_knob("GASNET_NETWORKDEPTH", "128", {2, 1024}, "32 192",
               "active messages to a peer in flight at a time, over UDP", "amudp_internal.h")
        .on(Path::tcp, 65536),
    count_knob("GASNET_REQUESTTIMEOUT_INITIAL", "100000", {100, 30000000}, "10000",
               "microseconds after which a message over UDP is sent again", "amudp_internal.h")
        .on(Path::tcp),
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
  static const Target kTarget{.name = "gasnet",
                              .title = "GASNet-EX",
                              .support = Support::tuned,
                              .version_command = "pkg-config --modversion gasnet-smp-par",
                              .version_marker = "",
                              .knobs = kKnobs,
                              // Rows of strided transfers over a network travel one by one then.
                              .probe_settings = "GASNET_VIS_MAXCHUNK=8",
                              .operations = Operations::remote_memory};
  return kTarget;
}

}  // namespace stripline::targets::gasnet
