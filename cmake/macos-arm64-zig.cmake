# Cross-builds for macOS 14 on arm64 with the clang, linker and libc of PyPI's ziglang. It has no
# framework of Apple's: tests/ declares what of them is used, and nothing built can run here.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "the target triple says it")
set(CMAKE_OSX_SYSROOT "" CACHE STRING "there is none")
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/env) # FindPython runs the building machine's

find_program(PYTHON_ZIG python-zig REQUIRED)
get_filename_component(tests ${CMAKE_CURRENT_LIST_DIR}/../tests ABSOLUTE)
foreach(language C OBJC)
  set(CMAKE_${language}_COMPILER ${PYTHON_ZIG} cc -target aarch64-macos.14.0)
  set(CMAKE_${language}_FLAGS_INIT
    "-I${tests}/fake_accelerate -I${tests}/fake_coreml -I${tests}/stub_sdk/include")
endforeach()
foreach(kind MODULE EXE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-F${tests}/stub_sdk -L${tests}/stub_sdk/lib")
endforeach()
set(CMAKE_C_ARCHIVE_CREATE "\"${PYTHON_ZIG}\" ar qc <TARGET> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "\"${PYTHON_ZIG}\" ranlib <TARGET>")
# These have to exist, but are not what runs.
set(CMAKE_AR ${PYTHON_ZIG})
set(CMAKE_INSTALL_NAME_TOOL ${PYTHON_ZIG})
set(CMAKE_USER_MAKE_RULES_OVERRIDE ${CMAKE_CURRENT_LIST_DIR}/macos-arm64-zig-rules.cmake)
