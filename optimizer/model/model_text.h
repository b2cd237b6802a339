// A tuned model as text for people.
#pragma once

#include <string>

#include "optimizer/model/tuned_model.h"

namespace stripline::model {

/// Where it comes from, where it holds, and every parameter with its 95 % interval: one table per
/// operation of each path, one for the compute primitives, one for strips, one for the machine.
std::string model_text(const TunedModel& model);

}  // namespace stripline::model
