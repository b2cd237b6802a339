// Parts of the example for tests of this folder and of those above it.
#pragma once

#include <vector>

#include "optimizer/model/example.h"

namespace stripline::model {

/// Buffers beyond a cache of 1 MiB are dear.
inline std::vector<BufferPoint> example_buffers() {
  return full_example().network["inter-node"].get->buffers;
}

inline PackModel example_pack() { return *full_example().pack; }
inline ServiceModel example_service() { return *full_example().service_levels; }
inline VisModel example_vis() { return full_example().vis["inter-node"]; }

/// The example without the buffers of gets and without what concerns many regions and bulk copies;
/// its switches of protocols are known exactly.
inline TunedModel example_model() {
  TunedModel model = full_example();
  PathModel& path = model.network["inter-node"];
  path.get->buffers.clear();
  for (OperationModel* operation : {&*path.put, &*path.get}) {
    for (Segment& segment : operation->segments) segment.begins.reset();
  }
  model.pack.reset();
  model.vis.clear();
  model.bulk.reset();
  return model;
}

}  // namespace stripline::model
