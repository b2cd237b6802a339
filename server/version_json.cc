#include "server/version_json.h"

#include <string>
#include <utility>

namespace stripline::server {

Json to_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"kind", finding.kind},
                    {"subject", finding.subject},
                    {"value", finding.value},
                    {"message", finding.message}});
  }
  return list;
}

Result<std::vector<Finding>> findings_from_json(const Json& json) {
  std::vector<Finding> findings;
  try {
    for (const Json& one : json) {
      findings.push_back({one.at("kind").get<std::string>(), one.at("subject").get<std::string>(),
                          one.at("value").get<double>(), one.at("message").get<std::string>()});
    }
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored findings: ") + error.what());
  }
  return findings;
}

Json to_json(const ValidationRecord& validation) {
  const fit::Judgement& judgement = validation.judgement;
  return {{"time", validation.time_unix_s},
          {"campaigns", validation.campaigns},
          {"points", judgement.points},
          {"mean_error", judgement.mean_error},
          {"largest_error", judgement.largest_error},
          {"choices", judgement.choices},
          {"mean_regret", judgement.mean_regret},
          {"worst_regret", judgement.worst_regret}};
}

Result<ValidationRecord> validation_from_json(const Json& json) {
  ValidationRecord validation;
  try {
    validation.time_unix_s = json.at("time").get<double>();
    validation.campaigns = json.at("campaigns").get<std::vector<std::string>>();
    validation.judgement = {
        json.at("points").get<size_t>(),        json.at("mean_error").get<double>(),
        json.at("largest_error").get<double>(), json.at("choices").get<size_t>(),
        json.at("mean_regret").get<double>(),   json.at("worst_regret").get<double>()};
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored validation: ") + error.what());
  }
  return validation;
}

Json to_json(const fit::SentinelReading& reading) {
  return {{"points", reading.points}, {"outside", reading.outside}, {"ratio", reading.ratio}};
}

Result<fit::SentinelReading> reading_from_json(const Json& json) {
  try {
    return fit::SentinelReading{json.at("points").get<size_t>(), json.at("outside").get<size_t>(),
                                json.at("ratio").get<double>()};
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored check: ") + error.what());
  }
}

}  // namespace stripline::server
