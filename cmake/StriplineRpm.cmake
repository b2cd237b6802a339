# Rpm packages, made by `cpack -G RPM` in the build folder once the target `installed` is built, on the
# distribution where they are to be installed: what they need is found by the libraries that they load.
# The same components as the Debian packages', whose maintainer scripts they use.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP "Development/Libraries")
set(CPACK_RPM_PACKAGE_AUTOREQ ON)
# Of two builds of one library both would have the same link.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none")
# The system's own folders.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib/systemd /usr/lib/systemd/system /usr/lib/sysusers.d /usr/lib/tmpfiles.d /usr/share/man /usr/share/man/man1
    /usr/share/man/man8 /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/doc
    /usr/${CMAKE_INSTALL_LIBDIR}/cmake /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_RPM_LIBRARY_PACKAGE_NAME stripline-devel)
set(CPACK_RPM_LIBRARY_PACKAGE_SUMMARY "PGAS runtime for tuned communication, for building programs")
set(CPACK_RPM_LIBRARY_PACKAGE_REQUIRES openssl-devel)
set(CPACK_RPM_COMMANDS_PACKAGE_NAME stripline)
set(CPACK_RPM_COMMANDS_PACKAGE_SUMMARY "Measures how a cluster communicates, and tunes programs by it")
set(CPACK_RPM_COMMANDS_PACKAGE_REQUIRES libfabric)

# What a maintainer script does, as a scriptlet.
function(rpm_scriptlet daemon scriptlet maintainer_script)
  file(READ ${CMAKE_BINARY_DIR}/packaging/${daemon}/${maintainer_script} script)
  string(REGEX REPLACE "^#!/bin/sh\n" "" script "${script}")
  string(FIND "${script}" "%" percent)
  if(NOT percent EQUAL -1)
    message(FATAL_ERROR "packaging/debian/${maintainer_script} has a percent sign, which rpm would take for a macro")
  endif()
  configure_file(${CMAKE_SOURCE_DIR}/packaging/rpm/${scriptlet}.in ${CMAKE_BINARY_DIR}/packaging/${daemon}/${scriptlet}
                 @ONLY)
endfunction()

if(STRIPLINE_BUILD_SERVICE)
  foreach(daemon server agent)
    string(TOUPPER ${daemon} upper)
    rpm_scriptlet(${daemon} post postinst)
    rpm_scriptlet(${daemon} preun prerm)
    rpm_scriptlet(${daemon} postun postrm)
    set(CPACK_RPM_${upper}_PACKAGE_NAME stripline-${daemon})
    set(CPACK_RPM_${upper}_POST_INSTALL_SCRIPT_FILE ${CMAKE_BINARY_DIR}/packaging/${daemon}/post)
    set(CPACK_RPM_${upper}_PRE_UNINSTALL_SCRIPT_FILE ${CMAKE_BINARY_DIR}/packaging/${daemon}/preun)
    set(CPACK_RPM_${upper}_POST_UNINSTALL_SCRIPT_FILE ${CMAKE_BINARY_DIR}/packaging/${daemon}/postun)
  endforeach()
  set(CPACK_RPM_SERVER_PACKAGE_SUMMARY "Tuning server of Stripline")
  set(CPACK_RPM_AGENT_PACKAGE_SUMMARY "Agent of Stripline")
  set(CPACK_RPM_AGENT_PACKAGE_REQUIRES "stripline = ${PROJECT_VERSION}")
endif()
