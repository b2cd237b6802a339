// The methods of stripline.v1, each known by the type of its request: no two take the same.
//
// Thread-safe.
#pragma once

#include <string>

namespace google::protobuf {
class Descriptor;
class MethodDescriptor;
}  // namespace google::protobuf

namespace stripline {

/// The method that takes messages of this type, whose service is in the same .proto file. A type
/// that no method takes is a programming error and terminates.
const google::protobuf::MethodDescriptor& method_taking(
    const google::protobuf::Descriptor& request);

/// The method as gRPC calls it: "/stripline.v1.Fleet/GetNode".
std::string path_of(const google::protobuf::MethodDescriptor& method);

}  // namespace stripline
