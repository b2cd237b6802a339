// All mechanisms whose decisions are explained: the commands of `stripline explain`, in this order.
// A new one is added here and nowhere else.
#pragma once

#include "optimizer/plan/gather_mechanism.h"
#include "optimizer/plan/indirect_mechanism.h"
#include "optimizer/plan/nest_mechanism.h"
#include "optimizer/plan/strip_mechanism.h"
#include "optimizer/plan/update_mechanism.h"
#include "optimizer/plan/vis_mechanism.h"
#include "optimizer/plan/wavefront_mechanism.h"

namespace stripline::plan {

/// List<Of<M>...> for every mechanism M, as std::variant<Explain<StripMechanism>, ...>.
template <template <typename...> typename List, template <typename> typename Of>
using OfEachMechanism =
    List<Of<StripMechanism>, Of<NestMechanism>, Of<VisMechanism>, Of<WavefrontMechanism>,
         Of<GatherMechanism>, Of<IndirectMechanism>, Of<UpdateMechanism>>;

static_assert(Mechanism<StripMechanism> && Mechanism<NestMechanism> && Mechanism<VisMechanism> &&
              Mechanism<WavefrontMechanism> && Mechanism<GatherMechanism> &&
              Mechanism<IndirectMechanism> && Mechanism<UpdateMechanism>);

}  // namespace stripline::plan
