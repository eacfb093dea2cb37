# SystemC: SystemC_FOUND and SystemC::systemc. Many distributions ship the library without a CMake
# package.
find_library(SYSTEMC_LIBRARY systemc HINTS ENV SYSTEMC_HOME PATH_SUFFIXES lib-linux64)
find_path(SYSTEMC_INCLUDE_DIR systemc HINTS ENV SYSTEMC_HOME PATH_SUFFIXES include)
mark_as_advanced(SYSTEMC_LIBRARY SYSTEMC_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC DEFAULT_MSG SYSTEMC_LIBRARY SYSTEMC_INCLUDE_DIR)
if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  add_library(SystemC::systemc UNKNOWN IMPORTED)
  set_target_properties(SystemC::systemc PROPERTIES
    IMPORTED_LOCATION "${SYSTEMC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${SYSTEMC_INCLUDE_DIR}"
    # The standard that libraries are built with; a simulation checks at its start that its own
    # files agree.
    INTERFACE_COMPILE_DEFINITIONS "SC_CPLUSPLUS=201703L")
endif()
