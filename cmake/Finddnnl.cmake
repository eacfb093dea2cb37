# oneDNN: dnnl_FOUND and DNNL::dnnl. The package's own configuration stops with an error where the
# OpenCL headers are missing, which nothing here needs.
find_library(DNNL_LIBRARY dnnl)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
mark_as_advanced(DNNL_LIBRARY DNNL_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(dnnl DEFAULT_MSG DNNL_LIBRARY DNNL_INCLUDE_DIR)
if(dnnl_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES
    IMPORTED_LOCATION "${DNNL_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}")
endif()
