# shellcheck shell=bash
# Where recording could fall off: odd frames on the stack, threads that live for a moment, blocks that are filled at once (C
# programs, linked by swiftc so that there is a runtime to be recorded), and recursions with another stack for each block.
build_cliff() { # NAME.c or NAME.swift -> $work/cliff.NAME
  local source=$root/Checks/BenchWorkloads/cliffs/$1 program=$work/cliff.${1%.*}
  [[ -x $program && $program -nt $source ]] && return
  if [[ $source == *.swift ]]; then
    swiftc -O -g "$source" -o "$program"
  else
    clang -O2 -g -fno-builtin-malloc -pthread -c "$source" -o "$program.o"
    swiftc "$program.o" -o "$program"
  fi
}

measure_cliff() { # label program arguments...
  local label=$1 program=$work/cliff.$2 round
  shift 2
  echo "measuring $label" >&2
  for ((round = 0; round < rounds; round++)); do
    sample "$label" cliff native "$program" "$@"
    sample "$label" cliff undead "$undead" run --output /dev/null -- "$program" "$@"
    sample "$label" cliff undead-no-stacks "$undead" run --no-stacks --output /dev/null -- "$program" "$@"
    if [[ -n $gcc_lsan ]]; then sample "$label" cliff gcc-lsan env LD_PRELOAD="$gcc_lsan" "$program" "$@"; fi
  done
}

cliffs_section() {
  local name
  for name in frames.c threads.c fill.c parser.swift visitor.swift; do build_cliff $name; done
  for name in plain realigned leaf signal foreign alternate context register; do
    measure_cliff "frame-$name" frames $name $([[ $name == register ]] && echo 40000 || echo 200000)
  done
  measure_cliff short-threads threads 40000 20
  for name in 2048 16384 65536; do measure_cliff "filled-$name" fill $name $((8192000000 / name)); done
  measure_cliff parser parser 60
  measure_cliff parser-again parser 60 1
  measure_cliff visitor visitor 120
  echo
  echo "Cliffs: processor time as a ratio to the bare program, the best of $rounds rounds"
  awk '$2 == "cliff" { key = $1 " " $3; if (!($1 in seen)) { seen[$1] = 1; keys[++count] = $1 }
      if (!(key in best) || $5 < best[key]) best[key] = $5 }
    END {
      printf "%-20s %8s %8s %14s %9s\n", "", "bare s", "undead", "without stacks", "gcc-lsan"
      for (k = 1; k <= count; k++) {
        n = keys[k]; base = best[n " native"]; if (base <= 0) base = 0.01
        peer = "-"
        if (best[n " gcc-lsan"] >= base) peer = sprintf("x%.2f", best[n " gcc-lsan"] / base)
        printf "%-20s %8.2f %8s %14s %9s\n", n, base, sprintf("x%.2f", best[n " undead"] / base),
          sprintf("x%.2f", best[n " undead-no-stacks"] / base), peer
      }
    }' "$samples"
}
