#include "server/core/sessions/declarations.h"

#include "base/json.h"
#include "base/sha256.h"
#include "optimizer/experiment/json.h"
#include "server/core/campaigns/grid.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 20;
constexpr uint64_t kMaxDeclaredPoints = 100'000;
constexpr const char* kField = "hello.experiments_json";

Answer<std::shared_ptr<const Declared>> parse(const std::vector<std::string>& texts) {
  auto declared = std::make_shared<Declared>();
  for (const std::string& text : texts) {
    if (text.size() > kMaxTextBytes) return invalid_field(kField, "a declaration exceeds 1 MiB");
    const Result<Json> json = parse_json(text, "experiment declaration");
    if (!json.ok()) return invalid_field(kField, json.error().message());
    auto experiment = experiment::experiment_from_json(*json);
    if (!experiment.ok()) return invalid_field(kField, experiment.error().message());
    if (count_points(*experiment) > static_cast<double>(kMaxDeclaredPoints)) {
      return invalid_field(kField, "the grids of '" + experiment->name + "' have more than " +
                                       std::to_string(kMaxDeclaredPoints) +
                                       " points; declare fewer levels, or several experiments");
    }
    declared->versions.emplace(experiment->name, experiment->version);
    declared->experiments.push_back(std::move(*experiment));
  }
  return std::shared_ptr<const Declared>(std::move(declared));
}

}  // namespace

Answer<std::shared_ptr<const Declared>> Declarations::read(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + " " + text;
  const std::string hash = sha256_hex(all);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(hash);
    if (found != known_.end()) {
      if (auto declared = found->second.lock()) return declared;
    }
  }
  auto declared = parse(texts);
  if (!declared) return declared;
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  // Another may have been as quick.
  if (auto same = known_[hash].lock()) return same;
  known_[hash] = *declared;
  return declared;
}

}  // namespace stripline::server
