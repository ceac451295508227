# shellcheck shell=bash
# For checks that read what the tool writes with programs of others. Each has `root` and `work`, a folder of its own, when it calls these.

check=$(basename "$0")

# Installs programs that are missing.
need() { # PROGRAM[=PACKAGE]...
  local missing=() privileged=() wanted
  for wanted in "$@"; do command -v "${wanted%=*}" >/dev/null || missing+=("${wanted#*=}"); done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  [[ $(id -u) -eq 0 ]] || privileged=(sudo)
  echo "$check: installing ${missing[*]}" >&2
  "${privileged[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null || {
    echo "$check: cannot install ${missing[*]}; install them, or what they are called on your system" >&2
    exit 70
  }
}

# Sets `python` to one that has these packages of PyPI, in .build/NAME.
need_python() { # NAME PACKAGE...
  local readers=$root/.build/$1 packages="${*:2}"
  python=$readers/bin/python
  [[ ! -e $readers/complete || $(<"$readers/complete") != "$packages" ]] || return 0
  echo "$check: installing readers into .build/$1" >&2
  { python3 -m venv --clear "$readers" && "$readers/bin/pip" install --quiet "${@:2}"; } >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    echo "$check: the readers cannot be installed (see above); they need python3 with venv, and PyPI" >&2
    exit 69
  }
  echo "$packages" >"$readers/complete"
}

# Has tests of this package write samples into `work`.
write_samples() { # VARIABLE TESTS
  env "$1=$work" swift test --package-path "$root" --filter "$2" >"$work/log" 2>&1 || {
    tail -n 30 "$work/log" >&2
    exit 70
  }
}
