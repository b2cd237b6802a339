#include "optimizer/targets/oshmem/oshmem.h"

namespace stripline::targets::oshmem {
namespace {

constexpr std::string_view kTried[] = {"4.1.4"};
constexpr const char* kUcx = "ucx_info -c -f, by the prefix of spml/ucx";
constexpr const char* kSandia = "README of Sandia OpenSHMEM";
constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr Knob kKnobs[] = {
    bytes_knob("UCX_OSHMEM_RNDV_THRESH", "auto", {0, kGiB}, "8192 65536",
               "Open MPI's: from this size on data are sent only when they are asked for", kUcx),
    bytes_knob("UCX_OSHMEM_ZCOPY_THRESH", "auto", {0, kGiB}, "4096 65536",
               "Open MPI's: from this size on puts are sent from where the data are", kUcx),
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
                              .tried = kTried,
                              .version_command = "oshmem_info --parsable",
                              .version_marker = "oshmem:version:full",
                              .knobs = kKnobs};
  return kTarget;
}

}  // namespace stripline::targets::oshmem
