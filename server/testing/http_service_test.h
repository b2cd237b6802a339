// A server with its door of HTTP, and a caller who goes through it by real connections.
#pragma once

#include <httplib.h>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"
#include "server/testing/http_client.h"
#include "server/testing/service_test.h"

namespace stripline::server {

class HttpServiceTest : public ServiceTest {
 protected:
  void SetUp() override {
    options_.http = ListenAddress{"127.0.0.1", 0};
    ServiceTest::SetUp();
  }

  // By plain text, or by TLS with the authority's certificate.
  httplib::Client client() {
    httplib::Client client =
        http_client(server_->http_url()->substr(0, server_->http_url()->size() - 1));
    if (options_.protection == Protection::certificates) {
      client.set_ca_cert_path((folder_ / "tls" / "authority.pem").string());
    }
    return client;
  }

  httplib::Result get(const std::string& path, const std::string& bearer = "",
                      httplib::Headers headers = {}) {
    if (!bearer.empty()) headers.emplace("Authorization", "Bearer " + bearer);
    return client().Get(path, headers);
  }

  httplib::Result post(const std::string& path, const std::string& body = "{}",
                       const std::string& bearer = "", const char* type = "application/json") {
    httplib::Headers headers;
    if (!bearer.empty()) headers.emplace("Authorization", "Bearer " + bearer);
    return client().Post("/api/v1/" + path, headers, body, type);
  }

  Json json(const std::string& path, const std::string& bearer = "") {
    const auto answer = get("/api/v1/" + path, bearer);
    EXPECT_TRUE(answer) << path << ": " << httplib::to_string(answer.error());
    if (!answer) return {};
    EXPECT_EQ(answer->status, 200) << path << ": " << answer->body;
    return Json::parse(answer->body);
  }

  int status(const std::string& path, const std::string& bearer = "") {
    const auto answer = get("/api/v1/" + path, bearer);
    return answer ? answer->status : -1;
  }
};

}  // namespace stripline::server
