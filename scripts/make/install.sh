#!/bin/sh
# Installs Undead, which finds leaks of Swift programs on Linux: the tool, its library, manual pages, completions.
#
#   curl -fsSL "$UNDEAD_URL/install.sh" | sh
#   curl -fsSL "$UNDEAD_URL/install.sh" | sh -s -- --prefix DIR      (default: ~/.local)
#
# UNDEAD_URL is where the files of a release are. Nothing is written outside of the prefix, and nothing of an installation that is there
# changes before the archive is complete and has the checksum that the release states. Files are replaced, not overwritten: programs that
# run with the old library go on. Exit status: 64 for a wrong option, 69 for a system that it does not work on, 70 if it failed.
#
# scripts/make/package puts version and address in. The shell has read all of it before anything is done: if the download of this file is
# interrupted, nothing happens.
set -eu

version=0
url=${UNDEAD_URL:-}

fail() { # status, message
  echo "undead: $2" >&2
  exit "$1"
}

check_platform() {
  system=$(uname -s) machine=$(uname -m)
  [ "$system" = Linux ] && [ "$machine" = x86_64 ] ||
    fail 69 "programs are checked on Linux with x86_64 only, and this is $system with $machine; nothing was installed"
  glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=""
  case $glibc in
  "glibc 2."[0-9]*) ;;
  *) fail 69 "this system does not have glibc, which Swift programs for Linux that can be checked use; nothing was installed" ;;
  esac
  minor=${glibc#glibc 2.}
  [ "${minor%%.*}" -ge 26 ] || fail 69 "this system has $glibc, and 2.26 is needed; nothing was installed"
  for command in tar gzip sha256sum; do
    command -v "$command" >/dev/null || fail 69 "there is no '$command', which is needed; nothing was installed"
  done
}

download() { # name
  if command -v curl >/dev/null; then
    curl -fsSL --retry 2 -o "$stage/$1" "$url/$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$stage/$1" "$url/$1"
  else
    fail 69 "there is neither 'curl' nor 'wget'; nothing was installed"
  fi || fail 70 "'$url/$1' could not be downloaded; nothing was changed"
}

main() {
  prefix=${HOME:+$HOME/.local}
  while [ $# -gt 0 ]; do
    case $1 in
    --prefix=?*) prefix=${1#*=} && shift ;;
    --prefix) [ $# -ge 2 ] && [ -n "$2" ] || fail 64 "--prefix needs a directory"
      prefix=$2 && shift 2 ;;
    *) fail 64 "'$1' is no option; there is --prefix DIR" ;;
    esac
  done
  [ -n "$prefix" ] || fail 64 "there is no home directory: use --prefix DIR"
  [ -n "$url" ] || fail 64 "set UNDEAD_URL to where the files of the release are"
  check_platform

  mkdir -p "$prefix" 2>/dev/null || fail 70 "cannot write to '$prefix'; choose another directory with --prefix"
  prefix=$(cd "$prefix" && pwd)
  # In the prefix: what is complete is moved, not copied.
  stage=$(mktemp -d "$prefix/.undead.XXXXXX") || fail 70 "cannot write to '$prefix'; choose another directory with --prefix"
  trap 'rm -rf "$stage"' EXIT
  trap 'exit 130' INT TERM HUP

  name=undead-$version-x86_64-linux.tar.gz
  download SHA256SUMS
  download "$name"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\$/\1/p" "$stage/SHA256SUMS")
  actual=$(sha256sum "$stage/$name" | cut -d ' ' -f 1)
  [ -n "$expected" ] || fail 70 "'$url/SHA256SUMS' has no checksum of $name; nothing was changed"
  [ "$expected" = "$actual" ] ||
    fail 70 "$name has the checksum $actual, not $expected: it was changed or is not complete; nothing was changed"
  mkdir "$stage/files"
  tar -xzf "$stage/$name" -C "$stage/files" --no-same-owner
  tree=$stage/files/undead-$version
  found=$("$tree/bin/undead" --version) || found="no version"
  [ "$found" = "$version" ] || fail 70 "the tool does not start here, or is of another version ($found); nothing was changed"

  before=$("$prefix/bin/undead" --version 2>/dev/null) || before=""
  # The library before the tool, which needs it.
  for folder in lib share bin; do
    (cd "$tree" && find "$folder" -type f) | while IFS= read -r file; do
      mkdir -p "$prefix/${file%/*}"
      mv -f "$tree/$file" "$prefix/$file"
    done || fail 70 "cannot write to '$prefix'; install again, or elsewhere with --prefix"
  done

  case $before in
  "") echo "undead: installed $version in $prefix" ;;
  "$version") echo "undead: installed $version in $prefix again" ;;
  *) echo "undead: installed $version in $prefix, in place of $before" ;;
  esac
  case :$PATH: in
  *":$prefix/bin:"*) echo "undead: try: undead doctor" ;;
  *) echo "undead: try: $prefix/bin/undead doctor, and add $prefix/bin to PATH" ;;
  esac
}

main "$@"
