// The fits of those sections of a model that are made of the table of samples alone, each in the
// file of its section in sections/; fit_model() and the sample table walk the list. A new one is
// declared and listed here, and nowhere else.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/sample_rules.h"
#include "optimizer/fit/sample_table.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

// fit_X(): the section, from medians of runs at this confidence. What cannot be fitted is named in
// `notes`. X_samples(): the experiments that no other fit of the list reads before it.

/// The service levels of a network, from streams between many nodes at once (micro.load): times
/// over those of the fewest and nearest nodes of the same size, which have the network to
/// themselves, within each run; per run, then over the runs. Distances are counted in switches
/// where any were measured so, else by the nodes' numbers. nullopt without levels of more than two
/// nodes.
std::optional<model::ServiceModel> fit_service(const SampleTable& table, double confidence,
                                               std::vector<std::string>& notes);
std::vector<SampleRule> service_samples();

/// Single operations carried out by several methods (sections/rma.h); nullopt if there is no
/// choice among them.
std::optional<model::RmaModel> fit_rma(const SampleTable& table, double confidence,
                                       std::vector<std::string>& notes);
std::vector<SampleRule> rma_samples();

/// What updates of other ranks' memory cost (micro.update_item, micro.atomic), by span; atomic
/// operations are those of the longest stream that was measured. nullopt without a span of which
/// all is known.
std::optional<model::UpdateModel> fit_update(const SampleTable& table, double confidence,
                                             std::vector<std::string>& notes);
std::vector<SampleRule> update_samples();

/// What updates of cells that workers share cost (micro.shared_update), by team. nullopt without a
/// team of which all is known.
std::optional<model::SharedUpdateModel> fit_shared_update(const SampleTable& table,
                                                          double confidence,
                                                          std::vector<std::string>& notes);
std::vector<SampleRule> shared_update_samples();

/// What blocking copies that do not wait cost beside their transfers (micro.bulk_window,
/// micro.bulk_check, micro.bulk_copy). The number in flight is the smallest with which a stream
/// takes at most 2 % longer than with the best one, of puts and of gets, the larger of both. Gets
/// are made ahead up to the largest size whose copy surely takes less than waiting for the get.
/// nullopt without a copy that was measured in two runs.
std::optional<model::BulkModel> fit_bulk(const SampleTable& table, double confidence,
                                         std::vector<std::string>& notes);
std::vector<SampleRule> bulk_samples();

struct SectionFit {
  std::vector<SampleRule> (*samples)();
  /// Puts the section into the model.
  void (*fit)(const SampleTable& table, double confidence, model::TunedModel& into,
              std::vector<std::string>& notes);
};

/// A row of the list, of fit_X(), the member of the model and X_samples().
template <auto kFit, auto kMember>
constexpr SectionFit section_fit(std::vector<SampleRule> (*samples)()) {
  return {samples,
          [](const SampleTable& table, double confidence, model::TunedModel& into,
             std::vector<std::string>& notes) { into.*kMember = kFit(table, confidence, notes); }};
}

/// In this order.
inline constexpr std::array kSectionFits = {
    section_fit<fit_service, &model::TunedModel::service_levels>(service_samples),
    section_fit<fit_rma, &model::TunedModel::rma>(rma_samples),
    section_fit<fit_update, &model::TunedModel::update>(update_samples),
    section_fit<fit_shared_update, &model::TunedModel::shared_update>(shared_update_samples),
    section_fit<fit_bulk, &model::TunedModel::bulk>(bulk_samples),
};

}  // namespace stripline::fit
