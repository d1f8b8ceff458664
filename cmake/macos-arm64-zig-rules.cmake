# zig links no bundle; CPython loads a dylib just as well.
foreach(language C OBJC)
  set(CMAKE_SHARED_MODULE_CREATE_${language}_FLAGS "-shared")
  set(CMAKE_${language}_LINK_FLAGS "")
endforeach()
