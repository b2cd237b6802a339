# Install rules, the exported CMake package (find_package(stripline) gives stripline::runtime) and
# stripline.pc for pkg-config.
# The package needs neither JSON nor libfabric nor gRPC headers; libfabric is loaded at run time.
include(CMakePackageConfigHelpers)

set(exported stripline_options stripline_base stripline_access stripline_json stripline_model stripline_cost
    stripline_plan stripline_runtime stripline_shmem)
set_target_properties(stripline_options PROPERTIES EXPORT_NAME options)

# In this build the JSON library reaches its users through build-only links, which keeps nlohmann out
# of the exported interface; its archive must still be linked.
target_link_libraries(stripline_model INTERFACE $<INSTALL_INTERFACE:stripline::json>)
target_link_libraries(stripline_plan INTERFACE $<INSTALL_INTERFACE:stripline::json>)
target_link_libraries(stripline_runtime INTERFACE $<INSTALL_INTERFACE:stripline::json>)

# Public headers are <stripline/...>; what they include of ours lives below stripline/internal, which
# is on the include path of the exported target.
target_include_directories(stripline_options INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/stripline/internal>)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
install(DIRECTORY runtime/include/stripline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
set(internal ${CMAKE_INSTALL_INCLUDEDIR}/stripline/internal)
install(FILES base/result.h DESTINATION ${internal}/base)
install(FILES optimizer/model/atomic_path.h optimizer/model/collective.h optimizer/model/parameter.h optimizer/model/paths.h optimizer/model/tuned_model.h
        DESTINATION ${internal}/optimizer/model)
install(DIRECTORY optimizer/model/sections DESTINATION ${internal}/optimizer/model FILES_MATCHING PATTERN "*.h")
install(DIRECTORY optimizer/access optimizer/cost optimizer/plan DESTINATION ${internal}/optimizer
        FILES_MATCHING PATTERN "*.h" PATTERN "explanation.h" EXCLUDE PATTERN "*mechanism*.h" EXCLUDE
        PATTERN "kinds.h" EXCLUDE PATTERN "nest_json.h" EXCLUDE PATTERN "row.h" EXCLUDE PATTERN "*_fixture.h" EXCLUDE)

add_dependencies(installed ${exported})
install(TARGETS ${exported} EXPORT striplineTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT striplineTargets NAMESPACE stripline::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stripline)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/striplineConfig.cmake.in
  ${CMAKE_BINARY_DIR}/striplineConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stripline)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/striplineConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/striplineConfig.cmake
              ${CMAKE_BINARY_DIR}/striplineConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stripline)
file(RELATIVE_PATH STRIPLINE_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/stripline.pc.in ${CMAKE_BINARY_DIR}/stripline.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/stripline.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME commands)
# The README and the public headers say where more is to be read.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/stripline)

# Each has a user of its own, as both may be on one host.
function(install_daemon name)
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ${name})
  install(FILES packaging/systemd/stripline-${name}.service DESTINATION lib/systemd/system)
  install(FILES packaging/systemd/stripline-${name}.sysusers DESTINATION lib/sysusers.d RENAME stripline-${name}.conf)
  install(FILES packaging/etc/${name}.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/stripline)
endfunction()
if(STRIPLINE_BUILD_SERVICE)
  install_daemon(server)
  install_daemon(agent)
  install(FILES packaging/monitoring/stripline-alerts.yml packaging/monitoring/stripline-dashboard.json
          DESTINATION ${CMAKE_INSTALL_DATADIR}/stripline/monitoring COMPONENT server)
  install(PROGRAMS packaging/slurm/prolog.sh packaging/slurm/epilog.sh packaging/slurm/agents.sbatch
          DESTINATION ${CMAKE_INSTALL_DATADIR}/stripline/slurm COMPONENT agent)
  # Installed by pip from there (docs/python.md).
  install(DIRECTORY clients/python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stripline/python COMPONENT commands
          FILES_MATCHING PATTERN "pyproject.toml" PATTERN "README.md" PATTERN "stripline_client/*" PATTERN "examples/*.py"
          PATTERN "__pycache__" EXCLUDE PATTERN "tests" EXCLUDE PATTERN "build" EXCLUDE PATTERN "*.egg-info" EXCLUDE)
  install(FILES packaging/systemd/stripline-agent.tmpfiles DESTINATION lib/tmpfiles.d
          RENAME stripline-agent.conf COMPONENT agent)
endif()
