#include "runtime/decide/surroundings.h"

namespace stripline::decide {

using plan::Fact;

plan::Surroundings surroundings_of(const fabric::Info& info, Fact facts,
                                   const Operations& operations) {
  plan::Surroundings around;
  if (has(facts, Fact::nic_ranks) && !operations.alone) around.nic_ranks = info.nic_ranks;
  // Between ranks of a node the kernel copies, or loads and stores do, which needs no one; and
  // ranks that do nothing else answer at once.
  around.target_polls_only =
      has(facts, Fact::target_polls_only) && !operations.alone &&
      operations.path == model::Path::network &&
      ((operations.gets && info.gets_need_target) || (operations.puts && info.puts_need_target));
  around.alone = has(facts, Fact::alone) && operations.alone;
  around.flag_with_data =
      has(facts, Fact::flag_with_data) && operations.signals && info.flag_with_data;
  return around;
}

}  // namespace stripline::decide
