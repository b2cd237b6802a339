// What another version of Open MPI reads of what was decided for 4.1. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/openmpi/rules_file.h"
#include "optimizer/targets/target.h"
#include "optimizer/targets/version.h"

namespace stripline::targets::openmpi {

struct OtherVersion {
  std::vector<Setting> settings;  ///< with the names of that version
  std::string rules;              ///< the text of its rules file; empty: it needs none
  std::string han_rules;          ///< likewise, of HAN (han_rules.h)
  std::vector<std::string> comments;
  std::vector<std::string> left_out;  ///< what that version has no word for, a sentence each
};

/// 4.1 and 5.0 read classic rules. In 5.0 they are those of coll/tuned within a node, also below
/// HAN, whose own file keeps them from communicators between nodes; its BTL for shared memory is
/// "sm". 6 reads JSON. `settings` are those of knobs, without
/// what names a rules file; what is left out is added to `comments`. Concluded from sources, not
/// from runs. Errors: unimplemented for a version whose files are not known here;
/// failed_precondition where nothing is left.
Result<OtherVersion> for_version(const std::vector<Setting>& settings, const RulesFile& rules,
                                 const Version& version, std::vector<std::string> comments);

}  // namespace stripline::targets::openmpi
