# Packages, made in the build folder once the target `installed` is built, of Debian by `cpack -G DEB`, rpm by
# `cpack -G RPM` (StriplineRpm.cmake): the library with its headers, the commands, the server and the agent.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stripline)
set(CPACK_PACKAGE_VENDOR "The Stripline developers")
set(CPACK_PACKAGE_CONTACT "The Stripline developers <stripline@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library commands)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)

set(version_needed "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME stripline-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS libssl-dev)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "PGAS runtime for tuned communication, for building programs\n The libraries and headers of Stripline, for CMake and pkg-config.")

# libfabric is loaded when a program runs, so that nothing is linked with it.
set(CPACK_DEBIAN_COMMANDS_PACKAGE_NAME stripline)
set(CPACK_DEBIAN_COMMANDS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMANDS_PACKAGE_DEPENDS libfabric1)
set(CPACK_COMPONENT_COMMANDS_DESCRIPTION
    "measures how a cluster communicates, and tunes programs by it\n The command stripline, what it starts, and the documentation.")

if(STRIPLINE_BUILD_SERVICE)
  list(APPEND CPACK_COMPONENTS_ALL server agent)
  foreach(daemon server agent)
    string(TOUPPER ${daemon} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME stripline-${daemon})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
    set(scripts ${CMAKE_BINARY_DIR}/packaging/${daemon})
    configure_file(packaging/debian/postinst ${scripts}/postinst @ONLY)
    configure_file(packaging/debian/prerm ${scripts}/prerm @ONLY)
    configure_file(packaging/debian/postrm ${scripts}/postrm @ONLY)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${scripts}/postinst ${scripts}/prerm ${scripts}/postrm)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
  endforeach()
  set(CPACK_DEBIAN_AGENT_PACKAGE_DEPENDS "stripline ${version_needed}")
  set(CPACK_COMPONENT_SERVER_DESCRIPTION
      "tuning server of Stripline\n Plans measurements, keeps their samples, fits and publishes models.")
  set(CPACK_COMPONENT_AGENT_DESCRIPTION
      "agent of Stripline\n Measures the node it runs on, as its server asks it to.")
endif()
include(StriplineRpm)
include(CPack)
