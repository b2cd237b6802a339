// The sections of the tuned model: reading, writing, checking, showing and the schema walk them.
#pragma once

#include <vector>

#include "optimizer/model/section.h"

namespace stripline::model {

/// All of them, in the order in which people read about them.
const std::vector<Section>& sections();

}  // namespace stripline::model
