#include "optimizer/targets/oshmem/oshmem.h"

namespace stripline::targets::oshmem {
namespace {

constexpr std::string_view kTried[] = {"4.1.4"};
constexpr const char* kUcx = "ucx_info -c -f, by the prefix of spml/ucx";
constexpr const char* kSandia = "README of Sandia OpenSHMEM";
constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr Knob kKnobs[] = {
    {.name = "UCX_OSHMEM_RNDV_THRESH",
     .kind = KnobKind::bytes,
     .default_value = "auto",
     .least = 0,
     .most = kGiB,
     .values = "8192 65536",
     .meaning = "Open MPI's: from this size on data are sent only when they are asked for",
     .found = kUcx},
    {.name = "UCX_OSHMEM_ZCOPY_THRESH",
     .kind = KnobKind::bytes,
     .default_value = "auto",
     .least = 0,
     .most = kGiB,
     .values = "4096 65536",
     .meaning = "Open MPI's: from this size on puts are sent from where the data are",
     .found = kUcx},
    {.name = "SHMEM_SYMMETRIC_SIZE",
     .kind = KnobKind::bytes,
     .default_value = "",
     .least = 1 << 20,
     .most = uint64_t{1} << 44,
     .values = "",
     .meaning = "the symmetric heap of a PE",
     .found = "OpenSHMEM 1.5"},
    {.name = "SHMEM_BOUNCE_SIZE",
     .kind = KnobKind::bytes,
     .default_value = "2K",
     .least = 0,
     .most = 1 << 20,
     .values = "512 8192",
     .meaning = "Sandia's: the largest put whose source is copied, so that it may change at once",
     .found = kSandia},
    {.name = "SHMEM_MAX_BOUNCE_BUFFERS",
     .kind = KnobKind::count,
     .default_value = "128",
     .least = 1,
     .most = 65536,
     .values = "512",
     .meaning = "Sandia's: how many of them are in flight at a time",
     .found = kSandia},
    {.name = "SHMEM_COLL_CROSSOVER",
     .kind = KnobKind::count,
     .default_value = "4",
     .least = 1,
     .most = 65536,
     .values = "",
     .meaning = "Sandia's: with more PEs collectives follow a tree",
     .found = kSandia},
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
