# Leaves out the parts of llama.cpp that no Python package loads, two thirds of its compile time. CMake reads it after each
# project() line, by CMAKE_ARGS=-DCMAKE_PROJECT_INCLUDE=tools/lean.cmake (an absolute path): after llama-cpp-python's own,
# which has an option for its multimodal library, and after llama.cpp's, where it overrides what llama-cpp-python forces.
set(LLAVA_BUILD OFF CACHE BOOL "" FORCE)
set(LLAMA_OPENSSL OFF CACHE BOOL "" FORCE)
set(LLAMA_BUILD_COMMON OFF)
