// The model that is the example of the file format and the material of tests.
#pragma once

#include "optimizer/model/parameter.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::model {

/// An estimate with an interval of this relative half width around it.
Parameter example_parameter(double value, double relative_half_width = 0.02);

/// Every member of every section present once, and a section that this build does not know.
TunedModel full_example();

}  // namespace stripline::model
