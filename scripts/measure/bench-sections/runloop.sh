# shellcheck shell=bash
runloop_section() {
  local package=$root/Benchmarks/RunLoop
  swift build --package-path "$package" -c release >/dev/null
  echo
  echo "Run loop beside its peers (load of the machine: $(cut -d' ' -f1 /proc/loadavg))"
  "$(swift build --package-path "$package" -c release --show-bin-path)/runloop-bench"
}
