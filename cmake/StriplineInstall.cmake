# Install rules and the exported CMake package: find_package(stripline) gives stripline::runtime.
