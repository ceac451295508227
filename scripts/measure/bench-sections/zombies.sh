# shellcheck shell=bash
# Nanoseconds for each round of a mode of the churn workload, as the program itself measures them; "-" if it cannot run.
churn() { # program arguments...
  local answer
  answer=$(ASAN_OPTIONS=detect_leaks=0 "$@" 2>/dev/null) || answer=-
  echo "${answer:--}"
}

# One timed run of the churn workload: appends "configuration mode peer nanoseconds peakKiB".
churn_sample() { # configuration mode peer program arguments...
  local configuration=$1 mode=$2 peer=$3
  shift 3
  echo "$configuration $mode $peer $(churn /usr/bin/time -f '%M' -o "$work/time" "$@") $(tail -n 1 "$work/time")" \
    >>"$work/zombies"
}

# How many instructions a malloc and a free take, bare and while one block in many is watched: "bytes bare sampled".
instructions() {
  local steps=$work/steps libraries bytes
  libraries=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath" *: *"\(.*\)".*/\1/p')/linux
  clang -O1 "$root/Checks/BenchWorkloads/zombies/steps.c" -o "$steps" -Wl,--no-as-needed,-rpath,"$libraries" -L"$libraries" -lswiftCore
  for bytes in 16 48 400 1000 2000 100000; do
    echo "$bytes $("$steps" "$bytes") $("$undead" run --zombie-mode sampled --output /dev/null -- "$steps" "$bytes")"
  done
}

zombies_section() {
  local source=$root/Checks/BenchWorkloads/zombies/churn.swift configuration program flags mode count
  : >"$work/zombies"
  for configuration in "${configurations[@]}"; do
    if [[ $configuration == release ]]; then flags=-O; else flags=-Onone; fi
    program=$work/churn.$configuration
    if [[ ! -x $program || $source -nt $program ]]; then
      swiftc "$flags" -g "$source" -o "$program"
      swiftc "$flags" -g -sanitize=address "$source" -o "$program.asan" 2>/dev/null || rm -f "$program.asan"
    fi
    for ((round = 0; round < rounds; round++)); do
      for mode in churn threads pairs; do
        if [[ $mode == pairs ]]; then count=30000000; else count=3000000; fi
        churn_sample "$configuration" "$mode" native "$program" "$mode" "$count"
        churn_sample "$configuration" "$mode" undead "$undead" run -- "$program" "$mode" "$count"
        churn_sample "$configuration" "$mode" zombies "$undead" run --zombies -- "$program" "$mode" "$count"
        [[ -x $program.asan ]] && churn_sample "$configuration" "$mode" asan "$program.asan" "$mode" "$count"
      done
      churn_sample "$configuration" churn guard "$undead" run --zombie-mode=guard -- "$program" churn 100000
    done
  done
  echo
  echo "Instructions of a malloc and a free of a block that is not watched: bytes, bare, with sampled zombies"
  instructions
  echo
  echo "Zombies: churn is the making, use and death of 1.25 objects, threads the same on four, pairs a retain and a release (ns; peak MiB; ratio)"
  awk '
    function median(list,   n, i, j, t, a) {
      n = split(list, a, " ")
      for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
      return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
    }
    $4 != "-" { key = $1 " " $2; if (!(key in seen)) { seen[key] = 1; keys[++count] = key }
      time[key, $3] = time[key, $3] " " $4; peak[key, $3] = peak[key, $3] " " $5 }
    END {
      split("native undead zombies asan guard", peers, " ")
      printf "%-16s", "workload"; for (p = 1; p <= 6; p++) printf " %26s", peers[p]; print ""
      for (k = 1; k <= count; k++) {
        key = keys[k]; base = median(time[key, "native"]); printf "%-16s", key
        for (p = 1; p <= 6; p++) {
          if (!((key, peers[p]) in time)) { printf " %26s", "-"; continue }
          t = median(time[key, peers[p]])
          printf " %26s", sprintf("%.1f ns %.0f MiB x%.2f", t, median(peak[key, peers[p]]) / 1024, t / base)
        }
        print ""
      }
    }' "$work/zombies"
}
