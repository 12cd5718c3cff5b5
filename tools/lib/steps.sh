# shellcheck shell=bash
# Steps that the scripts in tools/ share. To be sourced by bash, in the root of
# the repository, under set -euo pipefail.

# All that the build needs, as packages of Debian 12. The only list of them.
debian_packages=(
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto
  g++ pkg-config
  clang clang-format libclang-rt-14-dev
  libabsl-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libcurl4-openssl-dev
  libgtest-dev libgmock-dev
  libbenchmark-dev
)

# A bare root may set neither.
export LC_ALL="${LC_ALL:-C.UTF-8}"
if [[ -z "${HOME:-}" ]]; then
  HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"
  export HOME="${HOME:-/tmp}"
fi

say() { printf '== %s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

missing_packages() {
  local package status
  for package in "${debian_packages[@]}"; do
    status="$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null ||
      true)"
    [[ "$status" == installed ]] || printf '%s\n' "$package"
  done
}

# ensure_packages yes|no: installs what is missing, or refuses if it may not.
# Touches no network when nothing is missing.
ensure_packages() {
  local may_install="$1" as_root=()
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: taking bazel and the compilers as they are"
    command -v bazel >/dev/null || die "bazel (7 or newer) is not installed"
    return 0
  fi
  local missing=()
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  if [[ "$may_install" == no ]]; then
    die "missing Debian packages (--no-install given): ${missing[*]}"
  fi
  if (($(id -u) != 0)); then
    command -v sudo >/dev/null ||
      die "neither root nor sudo; ask an administrator for: ${missing[*]}"
    as_root=(sudo)
    [[ -t 0 ]] || as_root=(sudo -n)
    "${as_root[@]}" true ||
      die "sudo refuses; ask an administrator for: ${missing[*]}"
  fi
  say "installing Debian packages with apt-get: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq update </dev/null >/dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends \
    "${missing[@]}" </dev/null >/dev/null
}

# The disk cache's keys do not see an upgrade of a compiler or of a library, nor
# how an action was sandboxed: the folder's name does. $1: the config or "".
disk_cache() {
  local base="${REDIAL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/redial}"
  local key
  key="$({
    printf '%s\n' "$1"
    if command -v dpkg-query >/dev/null; then
      dpkg-query -W -f '${Package} ${Architecture} ${Version}\n'
    else
      bazel --version
      cc --version
    fi
  } | sha256sum)"
  printf '%s/bazel-%.16s\n' "$base" "$key"
}

# A tree that was copied or renamed brings Bazel's link of its old name with it,
# and //... would walk into that.
drop_stale_links() {
  find . -maxdepth 1 -type l -name 'bazel-*' ! -name bazel-bin \
    ! -name bazel-out ! -name bazel-testlogs ! -name "bazel-${PWD##*/}" -delete
}

# run_bazel config|"" command [arguments...]: one bazel command of this project.
run_bazel() {
  local config="$1" command="$2" options=()
  shift 2
  options+=("--disk_cache=$(disk_cache "$config")")
  [[ -z "$config" ]] || options+=("--config=$config")
  [[ -z "${CI:-}" ]] || options+=(--noshow_progress --color=no --curses=no)
  bazel --max_idle_secs=300 "$command" "${options[@]}" "$@" </dev/null
}
