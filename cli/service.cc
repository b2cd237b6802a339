#include "cli/service.h"

#include <exception>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/impl/client_unary_call.h>

#include "base/pki/dev_token.h"
#include "cli/service_impl.h"
#include "proto/methods.h"

namespace stripline::cli {
namespace {

// A --dev server of the user's own comes first: its file exists while it runs.
Result<std::optional<Context>> login_for(const std::string& server) {
  if (const auto address = parse_host_and_port(server); address.ok()) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string secret, pki::dev_secret(*address));
    if (!secret.empty()) return std::optional<Context>();
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Contexts contexts, read_contexts());
  const auto found = contexts.servers.find(server);
  return found == contexts.servers.end() ? std::nullopt : std::optional(found->second);
}

// The member of this name, which is a text; empty if messages of this type do not have it.
std::string text_member(const google::protobuf::Message& message, const std::string& name) {
  const auto* const member = message.GetDescriptor()->FindFieldByName(name);
  return member == nullptr ? std::string() : message.GetReflection()->GetString(message, member);
}

}  // namespace

std::string json_line(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  // Fails only for google.protobuf.Any of an unknown type, which no message of ours holds.
  return google::protobuf::util::MessageToJsonString(message, &text, options).ok() ? text + '\n'
                                                                                   : "{}\n";
}

Service::Service(const Global& global) : impl_(std::make_unique<Impl>(global, login_for)) {}
Service::Service(const Global& global, const Context& context)
    : impl_(std::make_unique<Impl>(global, [&](const std::string& /*server*/) {
        return Result<std::optional<Context>>(context);
      })) {}
Service::~Service() = default;
const std::string& Service::server() const { return impl_->server; }

Status Service::call(const google::protobuf::Message& request,
                     google::protobuf::Message& response) {
  using google::protobuf::Message;
  using google::protobuf::MessageLite;
  const google::protobuf::MethodDescriptor& method = method_taking(*request.GetDescriptor());
  if (method.output_type() != response.GetDescriptor()) std::terminate();
  const std::string path = path_of(method);
  const grpc::internal::RpcMethod rpc(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  const auto once = [&] {
    return impl_->at_some_server([&]() -> Status {
      grpc::ClientContext context;
      context.set_deadline(deadline_after(impl_->timeout_s));
      STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
      // What gRPC's generated stubs do, whose types are of one call each.
      const grpc::Status status =
          grpc::internal::BlockingUnaryCall<Message, Message, MessageLite, MessageLite>(
              impl_->door().channel.get(), rpc, &context, request, &response);
      if (!status.ok()) return impl_->error_of(status);
      return {};
    });
  };
  Status done = once();
  // The request id makes a second attempt safe when the first answer was lost.
  if (!done.ok() && may_be_repeated(done.error()) && !text_member(request, "request_id").empty()) {
    done = once();
  }
  if (!done.ok()) return done;
  // A server whose list leads back to the same page would be asked for ever.
  const std::string page_token = text_member(request, "page_token");
  if (!page_token.empty() && text_member(response, "next_page_token") == page_token) {
    return Error(ErrorCode::data_loss,
                 "what the server lists does not end: it answers with the page token that it was "
                 "asked with");
  }
  return {};
}

}  // namespace stripline::cli
