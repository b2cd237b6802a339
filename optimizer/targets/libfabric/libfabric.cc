#include "optimizer/targets/libfabric/libfabric.h"

namespace stripline::targets::libfabric {
namespace {

constexpr std::string_view kTried[] = {"1.17.0"};
constexpr const char* kListed = "fi_info -e";
constexpr uint64_t kMiB = uint64_t{1} << 20;

constexpr Knob kKnobs[] = {
    bytes_knob("FI_OFI_RXM_BUFFER_SIZE", "16384", {256, kMiB}, "4096 65536",
               "the largest message that is sent before it is asked for", kListed)
        .on(Path::any, 128),
    bytes_knob("FI_OFI_RXM_SAR_LIMIT", "131072", {0, 64 * kMiB}, "32768 524288",
               "the largest message that is sent in pieces before it is asked for", kListed),
    count_knob("FI_OFI_RXM_TX_SIZE", "2048", {16, 65536}, "512 4096",
               "operations of an endpoint in flight at a time", kListed),
    count_knob("FI_OFI_RXM_RX_SIZE", "2048", {16, 65536}, "512 4096",
               "receives of an endpoint that wait at a time", kListed),
    count_knob("FI_OFI_RXM_MSG_TX_SIZE", "128", {16, 65536}, "512",
               "operations of a connection in flight at a time", kListed),
    count_knob("FI_OFI_RXM_COMP_PER_PROGRESS", "1", {1, 65536}, "16",
               "completions of connections that are taken at a time", kListed),
    count_knob("FI_UNIVERSE_SIZE", "256", {1, 1 << 24}, "",
               "the number of peers that tables are made for", kListed),
    bytes_knob("FI_SHM_SAR_THRESHOLD", "18446744073709551615", {0, 1024 * kMiB}, "65536",
               "from this size on data are copied in pieces, where the kernel cannot copy", kListed)
        .on(Path::shared_memory),
    count_knob("FI_SHM_TX_SIZE", "1024", {16, 65536}, "4096",
               "operations of an endpoint within a node in flight at a time", kListed)
        .on(Path::shared_memory),
    {.name = "FI_SHM_DISABLE_CMA",
     .kind = KnobKind::flag,
     .default_value = "false",
     .values = "false true",
     .path = Path::shared_memory,
     .meaning = "whether the kernel copies no large messages within a node",
     .found = kListed},
};

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "libfabric",
                              .title = "libfabric",
                              .support = Support::tuned,
                              .tried = kTried,
                              .version_command = "fi_info --version",
                              .version_marker = "libfabric:",
                              .knobs = kKnobs,
                              // Most messages over tcp are asked for first then.
                              .probe_settings = "FI_OFI_RXM_BUFFER_SIZE=256",
                              .operations = Operations::fabric};
  return kTarget;
}

}  // namespace stripline::targets::libfabric
