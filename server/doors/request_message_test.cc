#include "server/doors/request_message.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/fleet.pb.h"
#include "stripline/v1/models.pb.h"

namespace stripline::server {
namespace {

std::vector<std::string> options(const google::protobuf::Descriptor& request) {
  const auto names = options_of(request);
  return {names.begin(), names.end()};
}

Route route_of(const char* path, std::vector<const char*> query) {
  Route route;
  route.path = path;
  route.query = std::move(query);
  return route;
}

http::Request posted(const std::string& body) {
  http::Request request;
  request.post = true;
  request.body = body;
  return request;
}

TEST(RequestMessage, OptionsAreMembersThatThePathDoesNotName) {
  EXPECT_EQ(options(*v1::GetHistoryRequest::descriptor()),
            (std::vector<std::string>{"from", "to"}));
  EXPECT_EQ(options(*v1::ListModelVersionsRequest::descriptor()),
            (std::vector<std::string>{"page_size", "page_token"}));
  EXPECT_TRUE(options(*v1::GetNodeRequest::descriptor()).empty());
}

TEST(RequestMessage, AGetSaysMembersByItsOptions) {
  const Route route = route_of("models/{model}/versions", {"page_size", "page_token"});
  http::Request request;
  request.query = {{"page_size", "7"}, {"page_token", "x y"}, {"parent", "models/b"}};
  v1::ListModelVersionsRequest message;
  ASSERT_FALSE(read_request(request, route, "models/a/versions", message));
  EXPECT_EQ(message.page_size(), 7);
  EXPECT_EQ(message.page_token(), "x y");
  EXPECT_EQ(message.parent(), "models/a") << "the path says it";

  request.query = {{"page_size", "99999999999"}, {"page_token", ""}};
  v1::ListModelVersionsRequest large;
  ASSERT_FALSE(read_request(request, route, "models/a/versions", large));
  EXPECT_EQ(large.page_size(), INT32_MAX) << "which the call refuses";

  for (const char* other : {"x", "-1", "1.5", "7 "}) {
    request.query = {{"page_size", other}};
    v1::ListModelVersionsRequest wrong;
    const auto problem = read_request(request, route, "models/a/versions", wrong);
    ASSERT_TRUE(problem) << other;
    EXPECT_EQ(problem->reason, "INVALID_FIELD");
    EXPECT_EQ(problem->metadata.at("field"), "page_size");
  }
}

TEST(RequestMessage, OptionsAreReadByTheTypesOfMembers) {
  const Route route =
      route_of("campaigns/{campaign}/compare", {"with", "margin", "false_discoveries"});
  http::Request request;
  request.query = {{"with", "campaigns/c2"}, {"margin", "0.1"}, {"candidate", "campaigns/c3"}};
  v1::CompareCampaignsRequest message;
  ASSERT_FALSE(read_request(request, route, "campaigns/c1/compare", message));
  EXPECT_EQ(message.margin(), 0.1);
  EXPECT_EQ(message.candidate(), "") << "no option of the route";
  request.query = {{"margin", "much"}};
  EXPECT_TRUE(read_request(request, route, "campaigns/c1/compare", message));

  const Route events = route_of("campaigns/{campaign}/events", {"cursor"});
  request.query = {{"cursor", "9007199254740993"}};
  v1::WatchCampaignRequest watch;
  ASSERT_FALSE(read_request(request, events, "campaigns/c1/events", watch));
  EXPECT_EQ(watch.cursor(), uint64_t{9007199254740993});
  EXPECT_EQ(watch.name(), "campaigns/c1");
}

TEST(RequestMessage, APostSaysMembersByItsBody) {
  const Route promote = route_of("models/{model}/versions/{version}/promote", {});
  v1::PromoteModelVersionRequest message;
  ASSERT_FALSE(read_request(posted(R"({"label": "stable", "name": "models/b/versions/2"})"),
                            promote, "models/a/versions/1/promote", message));
  EXPECT_EQ(message.label(), "stable");
  EXPECT_EQ(message.name(), "models/a/versions/1") << "the path says it";

  const Route fit = route_of("models/{model}/fit", {});
  v1::FitModelRequest of_model;
  ASSERT_FALSE(read_request(posted(""), fit, "models/a/fit", of_model));
  EXPECT_EQ(of_model.model(), "models/a") << "called as the placeholder is";

  const auto problem = read_request(posted(R"({"labels": 1})"), promote, "models/a", message);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->metadata.at("field"), "body");
}

}  // namespace
}  // namespace stripline::server
