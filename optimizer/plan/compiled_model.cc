#include "optimizer/plan/compiled_model.h"

#include <algorithm>

namespace stripline::plan {
namespace {

const model::VisModel* vis_of(const model::TunedModel& model, const std::string& path) {
  const auto vis = model.vis.find(path);
  return vis == model.vis.end() ? nullptr : &vis->second;
}

}  // namespace

CompiledPath::CompiledPath(const model::TunedModel& model,
                           const decltype(model::TunedModel::network)::value_type& entry)
    : name(entry.first),
      strip(entry.second, model.compute, model.strip, model::service_on(model, entry.first)),
      vis(entry.second, model.pack, vis_of(model, entry.first)),
      update(model, entry.second),
      bulk(model.bulk ? BulkCosts(*model.bulk) : BulkCosts()) {}

CompiledModel::CompiledModel(const model::TunedModel& model)
    : collectives_(model.collective ? CollectivePlanner(*model.collective) : CollectivePlanner()),
      single_(model.rma ? SingleCosts(*model.rma) : SingleCosts()),
      tuned_(model) {
  for (size_t i = 0; i < model::kPaths; ++i) {
    const auto* const entry = model::find_path(model, static_cast<model::Path>(i));
    if (entry == nullptr) return;
    const auto known = std::ranges::find(paths_, entry->first, &CompiledPath::name);
    entry_of_.at(i) = static_cast<size_t>(known - paths_.begin());
    if (known == paths_.end()) paths_.emplace_back(model, *entry);
  }
}

}  // namespace stripline::plan
