#include "optimizer/targets/oshmem/oshmem.h"

namespace stripline::targets::oshmem {
namespace {

constexpr std::string_view kTried[] = {"4.1.4"};
constexpr const char* kUcx = "ucx_info -c -f, by the prefix of spml/ucx";
constexpr const char* kSandia = "README of Sandia OpenSHMEM";
constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr Knob kKnobs[] = {
    bytes_knob("UCX_OSHMEM_RNDV_THRESH", "auto", {0, kGiB}, "8192 65536",
               "Open MPI's: from this size on data are sent only when they are asked for", kUcx)
        .on(Path::any, 1),
    bytes_knob("UCX_OSHMEM_ZCOPY_THRESH", "auto", {0, kGiB}, "4096 65536",
               "Open MPI's: from this size on puts are sent from where the data are", kUcx),
    bytes_knob("UCX_OSHMEM_BCOPY_THRESH", "auto", {0, kGiB}, "256 2048",
               "Open MPI's: from this size on puts are sent from a buffer of UCX", kUcx),
    bytes_knob("UCX_OSHMEM_TCP_TX_SEG_SIZE", "8K", {1024, 1 << 20}, "32768 131072",
               "Open MPI's: the buffer that data are put into for a socket", kUcx)
        .on(Path::tcp, 1),
    bytes_knob("UCX_OSHMEM_TCP_RX_SEG_SIZE", "64K", {1024, 1 << 22}, "262144",
               "Open MPI's: the buffer that a socket is read into", kUcx)
        .on(Path::tcp, 1),
    count_knob("UCX_OSHMEM_TCP_MAX_POLL", "16", {1, 1 << 16}, "64",
               "Open MPI's: events of sockets that are taken at a time", kUcx)
        .on(Path::tcp),
    {.name = "SHMEM_SYMMETRIC_SIZE",
     .kind = KnobKind::bytes,
     .default_value = "",
     .least = 1 << 20,
     .most = uint64_t{1} << 44,
     .values = "",
     .meaning = "the symmetric heap of a PE",
     .found = "OpenSHMEM 1.5"},
    bytes_knob("SHMEM_BOUNCE_SIZE", "2K", {0, 1 << 20}, "512 8192",
               "Sandia's: the largest put whose source is copied, so that it may change at once",
               kSandia),
    count_knob("SHMEM_MAX_BOUNCE_BUFFERS", "128", {1, 65536}, "512",
               "Sandia's: how many of them are in flight at a time", kSandia),
    count_knob("SHMEM_COLL_CROSSOVER", "4", {1, 65536}, "",
               "Sandia's: with more PEs collectives follow a tree", kSandia),
};

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "oshmem",
                              .title = "OpenSHMEM",
                              .support = Support::tuned,
                              .tried = kTried,
                              .version_command = "oshmem_info --parsable",
                              .version_marker = "oshmem:version:full",
                              .knobs = kKnobs,
                              // Over TCP, large puts then take several times as long.
                              .probe_settings = "UCX_OSHMEM_ZCOPY_THRESH=0",
                              .operations = Operations::symmetric};
  return kTarget;
}

}  // namespace stripline::targets::oshmem
