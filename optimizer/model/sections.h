// The sections of the tuned model: reading, writing, checking, showing and the schema walk them.
#pragma once

#include <vector>

#include "optimizer/model/section.h"

namespace stripline::model {

/// All of kSections.
const std::vector<Section>& sections();

}  // namespace stripline::model
