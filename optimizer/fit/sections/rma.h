// The members of the section `rma`, from times of single operations carried out by several methods.
// What replaces a default must be surely faster: noise changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/sample_table.h"
#include "optimizer/model/sections/rma.h"

namespace stripline::fit {

/// Method of atomic operations. Messages, if their time relative to the provider's, in the
/// geometric mean over the numbers in flight and paired by run, lies below 1 at `confidence`; else
/// the provider. nullopt where there is nothing to choose between, or fewer than two runs measured
/// both, which `notes` then says.
std::optional<model::AtomicModel> fit_atomic(const SampleTable& table, double confidence,
                                             std::vector<std::string>& notes);

/// The buffered puts to copy: sizes at which that is surely faster than waiting, or, for those that
/// are copied without a model, not surely slower, as for all smaller measured sizes. nullopt where
/// it was not measured, or in fewer than two runs, which `notes` then says.
std::optional<model::BufferedPutModel> fit_buffered_put(const SampleTable& table, double confidence,
                                                        std::vector<std::string>& notes);

/// Sizes with which micro.put_message was measured: a put and the word that goes with it.
inline constexpr uint64_t kMessageEntryBytes = 16;

/// The puts to combine. A size is, if the ratio of its time together to its time alone, paired
/// by run, lies below 1 at `confidence`, or, for sizes that are combined without a model, does not
/// lie above 1; and all smaller measured sizes are. The message is the smallest within 2 % of the
/// fastest in the mean over runs. The time per put falls with the number of puts in a message, n,
/// as c + message_s / n. A put waits for at most kMessagesOfDelay times message_s: a program that
/// makes puts without pause then spends at most 1 / kMessagesOfDelay on messages that leave for
/// their age, and one that makes few gains little by waiting longer. nullopt where either
/// experiment is missing or was made in fewer than two runs, which `notes` then says.
std::optional<model::PutCombiningModel> fit_put_combining(const SampleTable& table,
                                                          double confidence,
                                                          std::vector<std::string>& notes);
inline constexpr double kMessagesOfDelay = 20;

/// What a progress thread adds to a blocking get, and what a request to a computing rank waits in
/// spite of it: what its round trip takes longer than one to a rank that hardly computes.
/// Differences within runs. nullopt where either experiment is missing or was made in fewer than
/// two runs, which `notes` then says.
std::optional<model::ProgressModel> fit_progress(const SampleTable& table, double confidence,
                                                 std::vector<std::string>& notes);

}  // namespace stripline::fit
