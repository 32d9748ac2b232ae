# Shared by quickstart and check: progress, Debian packages, the Python environment, configure and build.
# Written outside build/: packages, ccache's folder and ~/.cache/optc (the ONNX sources). Sourced with $root set to the repository.

start=$SECONDS
cd "$root" || exit 4

# An interrupted run takes its background step along.
trap 'kill $(jobs -p) 2>/dev/null' EXIT
trap 'exit 130' INT TERM

say() { printf '[%4d s] %s\n' $((SECONDS - start)) "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 4; }

# run_step LABEL COMMAND...: output goes to build/logs/; a line of progress now and then; the end of the log on failure.
run_step() {
  local label=$1 log pid shown=$SECONDS rc
  shift
  mkdir -p build/logs
  log=build/logs/${label//[^A-Za-z0-9]/-}.log
  say "$label"
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - shown >= 15)); then
      shown=$SECONDS
      say "$label: $(tail -n 1 "$log" | cut -c1-100)"
    fi
  done
  wait $pid
  rc=$?
  if ((rc)); then
    tail -n 30 "$log"
    printf '%s: "%s" failed with exit code %d (log: %s)\n' "${0##*/}" "$label" $rc "$log" >&2
  fi
  return $rc
}

# need_packages NAME...: installs the Debian packages that are missing; apt is not called when none is.
need_packages() {
  local missing=() sudo=() p
  command -v dpkg-query >/dev/null || die "this is not a Debian system: please install the equivalents of: $*"
  for p in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
  done
  ((${#missing[@]})) || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "packages are missing and there is neither root nor sudo: ${missing[*]}"
    sudo=(sudo)
  fi
  run_step "apt-get update" "${sudo[@]}" apt-get update || die "apt-get update failed, needed for: ${missing[*]}"
  for p in "${missing[@]}"; do
    apt-cache policy "$p" | grep -q 'Candidate: [0-9]' ||
      die "apt has no package $p: add a source of LLVM 22 for Debian 12 (for instance https://apt.llvm.org) and try again"
  done
  run_step "apt-get install ${missing[*]}" \
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install: ${missing[*]}"
}

build_packages=(clang-22 lld-22 liblld-22-dev llvm-22-dev libmlir-22-dev mlir-22-tools libprotobuf-dev protobuf-compiler
  zlib1g-dev libzstd-dev cmake ninja-build ccache python3 python3-venv ca-certificates)
test_packages=(git llvm-22-tools clang-format-22 libgtest-dev)

# python_env: build/venv, Debian's python with pip, nothing else in it.
python_env() {
  python=$root/build/venv/bin/python
  [ -x "$python" ] && "$python" -c 'import pip' 2>/dev/null && return 0
  rm -rf build/venv
  run_step "python environment" /usr/bin/python3 -m venv build/venv || die "python3 -m venv failed: is python3-venv whole?"
}

# python_packages: the pinned packages of the tests, once per list. Fails when the package index cannot be reached.
python_packages() {
  python_env
  cmp -s test/requirements.txt build/venv/requirements.txt && return 0
  run_step "python packages" "$python" -m pip install --disable-pip-version-check -r test/requirements.txt &&
    cp test/requirements.txt build/venv/requirements.txt
}

# configure [CMAKE-ARGUMENT...]
configure() {
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  # A build folder that was moved along with its checkout is configured anew; what is in it is kept.
  if [ -f build/CMakeCache.txt ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" build/CMakeCache.txt; then
    rm -rf build/CMakeCache.txt build/CMakeFiles
  fi
  local flags=(-DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    "-DCMAKE_CXX_FLAGS=-Xclang -fno-pch-timestamp" "$@")
  run_step "configure" cmake -G Ninja -S . -B build "${flags[@]}" || die "CMake could not configure the build"
}

# build_targets [TARGET...]
build_targets() {
  NINJA_STATUS="[%f/%t %es] " run_step "build ${*:-all}" ninja -C build "$@"
}
