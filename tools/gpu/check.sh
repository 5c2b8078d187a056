#!/usr/bin/env bash
# Run the tests of the code for GPUs on a device in software, llvmpipe, with llama.cpp compiled for Vulkan: on any machine with
# Debian 12 or 13, also without the rights to install packages. What it fetches and compiles goes to build/gpu/, once.
# Run it from the environment that runs the tests: it uses the `python` that is found first. Arguments are pytest's; without
# a path, tests/gpu.
set -euo pipefail
cd "$(dirname "$0")/../.."
home=$PWD/build/gpu
mkdir -p "$home"

# Debian's own packages of the loader, the driver and the compiler of shaders; and headers of Debian 13, as llama.cpp needs newer
# ones than Debian 12 has.
if [ ! -e "$home/system.done" ]; then
    . /etc/os-release
    mkdir -p "$home"/apt/{lists,archives}/partial "$home"/{headers,system}
    for suite in "$VERSION_CODENAME" trixie; do
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
    done | sort -u >"$home/apt/sources.list"
    cat >"$home/apt/apt.conf" <<-END
	APT::Default-Release "$VERSION_CODENAME";
	APT::Install-Recommends "false";
	APT::Sandbox::User "";
	Debug::NoLocking "true";
	Dir::Cache "$home/apt";
	Dir::Etc::SourceList "$home/apt/sources.list";
	Dir::Etc::SourceParts "/dev/null";
	Dir::State::Lists "$home/apt/lists";
	END
    export APT_CONFIG=$home/apt/apt.conf
    apt-get -qq update
    # Those that are installed, too: all files are below one folder then.
    apt-get -qq --yes --download-only --reinstall install glslc libshaderc1 libvulkan-dev libvulkan1 mesa-vulkan-drivers
    (cd "$home/headers" && apt-get -qq download libvulkan-dev/trixie spirv-headers/trixie)
    for package in "$home"/apt/archives/*.deb; do dpkg-deb --extract "$package" "$home/system"; done
    for package in "$home"/headers/*.deb; do dpkg-deb --extract "$package" "$home/headers"; done
    touch "$home/system.done"
    unset APT_CONFIG
fi
libraries=$(dirname "$(find "$home/system" -name libvulkan_lvp.so)")
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# The same version as the binding of the tests, which then loads this library in place of its own.
version=$(python -c 'import importlib.metadata as metadata; print(metadata.version("llama-cpp-python"))')
library=$home/llama-cpp-python-$version
if [ ! -e "$library.done" ]; then
    rm -rf "$library"
    CMAKE_ARGS="-DGGML_VULKAN=on -DCMAKE_PROJECT_INCLUDE=$PWD/tools/lean.cmake
        -DVulkan_INCLUDE_DIR=$home/headers/usr/include -DVulkan_LIBRARY=$libraries/libvulkan.so
        -DVulkan_GLSLC_EXECUTABLE=$home/system/usr/bin/glslc
        -DSPIRV-Headers_DIR=$home/headers/usr/share/cmake/SPIRV-Headers" \
        python -m pip install --quiet --no-deps --no-cache-dir --no-binary llama-cpp-python --target "$library" "llama-cpp-python==$version"
    touch "$library.done"
fi

# The file of the driver names its library by a path of the system.
driver=$home/llvmpipe.json
echo "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"api_version\": \"1.3.0\", \"library_path\": \"$libraries/libvulkan_lvp.so\"}}" >"$driver"
# llama.cpp uses a processor as a Vulkan device only if its number is set.
export LLAMA_CPP_LIB_PATH=$library/llama_cpp/lib VK_DRIVER_FILES=$driver VK_ICD_FILENAMES=$driver GGML_VK_VISIBLE_DEVICES=0
# Mesa's driver (22.3.6) crashed with files of compiled shaders from many runs, and once with several threads; the reason is
# unknown. Without such files and with one thread, all tests passed in one go.
export MESA_SHADER_CACHE_DISABLE=true LP_NUM_THREADS=1 PUMA_GPU=required
for argument in "$@"; do
    if [ -e "${argument%%::*}" ]; then exec python -m pytest "$@"; fi
done
exec python -m pytest tests/gpu "$@"
