# The command and the files that it ships with; in a wheel, also the Python package's extension.
if(SKBUILD)
  set(TILEWAVE_PREFIX ${SKBUILD_DATA_DIR})
  set(TILEWAVE_BIN ${SKBUILD_SCRIPTS_DIR})
else()
  set(TILEWAVE_PREFIX .)
  set(TILEWAVE_BIN bin)
endif()
set(TILEWAVE_SHARE ${TILEWAVE_PREFIX}/share/tilewave)

install(TARGETS tilewave RUNTIME DESTINATION ${TILEWAVE_BIN} COMPONENT tilewave)
install(DIRECTORY configs DESTINATION ${TILEWAVE_SHARE} COMPONENT tilewave
  FILES_MATCHING PATTERN "*.yaml")
install(FILES models/mnist_cnn.onnx models/mnist_cnn_w4a4.onnx models/fashion_cnn.onnx
  DESTINATION ${TILEWAVE_SHARE}/models COMPONENT tilewave)
install(DIRECTORY models/data DESTINATION ${TILEWAVE_SHARE}/models COMPONENT tilewave
  FILES_MATCHING PATTERN "*-ubyte.gz" PATTERN README.md PATTERN full EXCLUDE)  # with the licences
if(TILEWAVE_PYTHON)
  install(TARGETS _core LIBRARY DESTINATION . COMPONENT tilewave)
endif()
