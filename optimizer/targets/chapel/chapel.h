// Chapel: the descriptor. Its settings are environment variables (environment_file.h). Pure.
#pragma once

#include "optimizer/targets/target.h"

namespace stripline::targets::chapel {

const Target& target();

}  // namespace stripline::targets::chapel
