find_package(verilator 5 QUIET HINTS $ENV{VERILATOR_ROOT} /usr/share/verilator)

# tilewave_rtl_array(ROWS COLS): library rtl_array_RxC with Verilator's class RtlArrayRxC. Only if
# verilator_FOUND.
set(TILEWAVE_RTL_DIR ${CMAKE_CURRENT_LIST_DIR})
function(tilewave_rtl_array rows cols)
  set(target rtl_array_${rows}x${cols})
  if(TARGET ${target})
    return()
  endif()
  add_library(${target} STATIC)
  verilate(${target}
    SOURCES ${TILEWAVE_RTL_DIR}/systolic_array.sv ${TILEWAVE_RTL_DIR}/pe.sv
            ${TILEWAVE_RTL_DIR}/delay.sv
    TOP_MODULE systolic_array
    PREFIX RtlArray${rows}x${cols}
    VERILATOR_ARGS -Wall -O3 -GROWS=${rows} -GCOLS=${cols})
  # Generated code: no warnings of ours in it, nor in what includes it.
  get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${target} PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${directories}")
endfunction()
