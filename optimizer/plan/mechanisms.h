// All mechanisms whose decisions are explained: the commands of `stripline explain`, in this order.
// A new one is added here and nowhere else.
#pragma once

#include "optimizer/plan/bulk_mechanism.h"
#include "optimizer/plan/collective_mechanism.h"
#include "optimizer/plan/encoding_mechanism.h"
#include "optimizer/plan/fine_mechanism.h"
#include "optimizer/plan/gather_mechanism.h"
#include "optimizer/plan/indirect_mechanism.h"
#include "optimizer/plan/nest_mechanism.h"
#include "optimizer/plan/product_mechanism.h"
#include "optimizer/plan/shared_mechanism.h"
#include "optimizer/plan/single_mechanisms.h"
#include "optimizer/plan/strip_mechanism.h"
#include "optimizer/plan/update_mechanism.h"
#include "optimizer/plan/vis_mechanism.h"
#include "optimizer/plan/wavefront_mechanism.h"

namespace stripline::plan {

/// List<Of<M>...> for every mechanism M, as std::variant<Explain<StripMechanism>, ...>.
template <template <typename...> typename List, template <typename> typename Of>
using OfEachMechanism =
    List<Of<StripMechanism>, Of<NestMechanism>, Of<VisMechanism>, Of<WavefrontMechanism>,
         Of<GatherMechanism>, Of<IndirectMechanism>, Of<ProductMechanism>, Of<UpdateMechanism>,
         Of<EncodingMechanism>, Of<SharedMechanism>, Of<CollectiveMechanism>, Of<AtomicMechanism>,
         Of<PutMechanism>, Of<ProgressMechanism>, Of<BulkMechanism>, Of<FineMechanism>>;

template <typename... Each>
struct AllAreMechanisms {
  static_assert((Mechanism<Each> && ...));
};
template <typename Each>
using Itself = Each;
static_assert(sizeof(OfEachMechanism<AllAreMechanisms, Itself>) > 0);

}  // namespace stripline::plan
