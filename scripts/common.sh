# Sourced by the scripts: where things are, how steps and errors are told, the build.
# shellcheck shell=bash
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=$ROOT/build/venv
BUILD=$ROOT/build/${TEST_BUILD:-release}
TOOL=$BUILD/tools/cli/vramscope

# step TEXT: tells what happens next.
step() { printf '\n== %s\n' "$*"; }

# fail PROBLEM HINT: ends the script.
fail() {
  printf '\n%s: %s\n  hint: %s\n' "${0##*/}" "$1" "$2" >&2
  exit 1
}

# build TARGET [MESON_OPTION...]: brings $BUILD up to date: `tool` is what a user needs, `all` the tests as well.
build() {
  if [ ! -f "$BUILD/build.ninja" ]; then
    step "Configuring the build in ${BUILD#"$ROOT/"}"
    meson setup "$BUILD" "$ROOT" "${@:2}" || fail "meson could not configure the build" \
      "read the message above; after a change of compiler or CUDA remove ${BUILD#"$ROOT/"} and try again"
  fi
  step "Building"
  ninja -C "$BUILD" -j "$(nproc)" "$1" || fail "the build failed" "read the first error above"
}
