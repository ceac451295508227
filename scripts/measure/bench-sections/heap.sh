# shellcheck shell=bash
# Runs a command and prints its seconds and peak MiB; "- -" if it cannot be run.
seconds_and_peak() {
  if /usr/bin/time -f '%e %M' -o "$work/time" -- "$@" >"$work/shown" 2>&1; then
    tail -n 1 "$work/time" | awk '{ printf "%.2f %.0f\n", $1, $2 / 1024 }'
  else
    echo "- -"
  fi
}

# What a peer wrote about a whole run of the workload, and how long it takes to show it.
heap_row_of_peer() { # objects peer seconds files -- command that shows it
  local count=$1 peer=$2 took=$3 bytes
  bytes=$(du --bytes --total -- $4 | tail -n 1 | cut -f1)
  shift 5
  awk -v n="$count" -v p="$peer" -v t="$took" -v b="$bytes" -v s="$(seconds_and_peak "$@")" \
    'BEGIN { split(s, shown, " "); printf "%10d %-11s %10s %10s %10.2f %10.2f %10s %10s\n", n, p, "-", t, b / 1048576, b / n, shown[1], shown[2] }'
}

heap_section() {
  build_workload "$root/Checks/BenchWorkloads/live_objects.swift" release
  local program=$work/live_objects.release count pid heap=$work/bench.undead
  echo
  echo "The heap of a running program: how long it stands still, until its file is there, and to show what is in it"
  echo "(heaptrack, jemalloc: the file is that of the whole run, which took so much longer; they know no references)"
  printf '%10s %-11s %10s %10s %10s %10s %10s %10s\n' objects tool "pause ms" "taken s" "file MiB" "bytes each" "shown s" "peak MiB"
  for count in 1000000 10000000; do
    rm -f "$work/ready" "$heap"
    "$undead" run --output /dev/null -- "$program" "$count" "$work/ready" >/dev/null 2>&1 &
    local deadline=$((SECONDS + 120))
    until [[ -s $work/ready || $SECONDS -gt $deadline ]]; do sleep 0.05; done
    pid=$(cat "$work/ready")
    /usr/bin/time -f '%e' -o "$work/taken" "$undead" leaks --exit-code 0 --output /dev/null --heap "$heap" "$pid"
    kill "$pid" 2>/dev/null || true
    wait || true
    "$undead" heap --format json --output "$work/heap.json" "$heap"
    awk -v n="$count" -v p="$(summary_value pauseMilliseconds "$work/heap.json")" -v t="$(tail -n 1 "$work/taken")" \
      -v b="$(stat --format %s "$heap")" -v s="$(seconds_and_peak "$undead" heap "$heap")" \
      'BEGIN { split(s, shown, " "); printf "%10d %-11s %10.1f %10s %10.1f %10.1f %10s %10s\n", n, "undead", p, t, b / 1048576, b / n, shown[1], shown[2] }'
    rm -f "$heap"
    # Peers look at every allocation of the run: with all of ten millions jemalloc is at it for minutes.
    [[ $count -le 1000000 ]] || continue
    /usr/bin/time -f '%e' -o "$work/bare" "$program" "$count" >/dev/null
    if command -v heaptrack >/dev/null; then
      rm -f "$work"/heaptrack.peer*
      /usr/bin/time -f '%e' -o "$work/taken" heaptrack -o "$work/heaptrack.peer" "$program" "$count" >/dev/null 2>&1 || true
      heap_row_of_peer "$count" heaptrack "$(paste "$work/taken" "$work/bare" | awk '{ printf "%.2f", $1 - $2 }')" \
        "$(find "$work" -name 'heaptrack.peer*')" -- heaptrack_print -f "$(find "$work" -name 'heaptrack.peer*' | head -n 1)"
    fi
    if [[ -n $jemalloc ]] && command -v jeprof >/dev/null; then
      rm -f "$work"/jemalloc.peer*
      /usr/bin/time -f '%e' -o "$work/taken" env LD_PRELOAD="$jemalloc" \
        MALLOC_CONF="prof:true,prof_final:true,lg_prof_sample:0,prof_prefix:$work/jemalloc.peer" "$program" "$count" >/dev/null 2>&1 || true
      heap_row_of_peer "$count" jemalloc "$(paste "$work/taken" "$work/bare" | awk '{ printf "%.2f", $1 - $2 }')" \
        "$(find "$work" -name 'jemalloc.peer*')" -- jeprof --text "$program" "$(find "$work" -name 'jemalloc.peer*' | head -n 1)"
    fi
  done
}
