// A path of a model with all that planners ask about one, for tests.
#pragma once

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/compiled_model.h"

namespace stripline::plan {

inline CompiledPath example_path() {
  model::TunedModel model = model::example_model();
  model.pack = model::example_pack();
  return {model, *model.network.find("inter-node")};
}

}  // namespace stripline::plan
