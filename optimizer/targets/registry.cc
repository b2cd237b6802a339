#include "optimizer/targets/registry.h"

#include <string>

#include "base/cut_text.h"
#include "base/suggest.h"
#include "optimizer/targets/chapel/chapel.h"
#include "optimizer/targets/gasnet/gasnet.h"
#include "optimizer/targets/libfabric/libfabric.h"
#include "optimizer/targets/mpich/mpich.h"
#include "optimizer/targets/nccl/nccl.h"
#include "optimizer/targets/openmpi/openmpi.h"
#include "optimizer/targets/oshmem/oshmem.h"
#include "optimizer/targets/ucx/ucx.h"

namespace stripline::targets {

const std::vector<const Target*>& all_targets() {
  static const std::vector<const Target*> kAll = {
      &openmpi::target(), &mpich::target(),     &ucx::target(),    &oshmem::target(),
      &gasnet::target(),  &libfabric::target(), &chapel::target(), &nccl::target()};
  return kAll;
}

Result<const Target*> find_target(std::string_view name) {
  std::vector<std::string> names;
  for (const Target* const target : all_targets()) {
    if (target->name == name) return target;
    names.emplace_back(target->name);
  }
  std::string list;
  for (const std::string& one : names) list.append(list.empty() ? "" : ", ").append(one);
  return Error(ErrorCode::invalid_argument, quoted_text(name) + " is not a target" +
                                                did_you_mean(name, names) + "; there are " + list);
}

}  // namespace stripline::targets
