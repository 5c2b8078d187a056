# Read by CMake right after llama.cpp's own project() line: leaves out `common`, which no Python package loads.
set(LLAMA_BUILD_COMMON OFF)
