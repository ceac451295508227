# shellcheck shell=bash
# A program that was not started under the tool: how long it stands still, and what its copy takes. The copy of a
# page is made when the program writes to it, so the peak is that of a program which does not write meanwhile.
attach_section() {
  build_workload "$root/Checks/BenchWorkloads/live_objects.swift" release
  local program=$work/live_objects.release count pid heap=$work/bench.undead round
  echo
  echo "A look at a program that knows nothing of the tool (load of the machine: $(cut -d' ' -f1 /proc/loadavg))"
  printf '%10s %10s %10s %10s %10s %10s\n' objects "RSS MiB" "pause ms" "scan ms" "leaks s" "heap s"
  for count in 100000 1000000 10000000; do
    rm -f "$work/ready" "$heap"
    "$program" "$count" "$work/ready" >/dev/null 2>&1 &
    local deadline=$((SECONDS + 120))
    until [[ -s $work/ready || $SECONDS -gt $deadline ]]; do sleep 0.05; done
    pid=$(cat "$work/ready")
    for ((round = 0; round < rounds; round++)); do
      /usr/bin/time -f '%e' -o "$work/leaks" "$undead" leaks --exit-code 0 --format json --output "$work/leaks.json" "$pid"
      /usr/bin/time -f '%e' -o "$work/taken" "$undead" leaks --exit-code 0 --output /dev/null --heap "$heap" "$pid"
      echo "$(summary_value pauseMilliseconds "$work/leaks.json") $(summary_value scanMilliseconds "$work/leaks.json")" \
        "$(tail -n 1 "$work/leaks") $(tail -n 1 "$work/taken")"
    done >"$work/attach"
    awk -v n="$count" -v rss="$(awk '/VmRSS/ { print $2 / 1024 }' "/proc/$pid/status")" '
      function median(list, size,   i, j, t) {
        for (i = 2; i <= size; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
        return list[int((size + 1) / 2)]
      }
      { pause[NR] = $1 + 0; scan[NR] = $2 + 0; leaks[NR] = $3 + 0; heap[NR] = $4 + 0 }
      END { printf "%10d %10.0f %10.1f %10.0f %10.2f %10.2f\n", n, rss, median(pause, NR), median(scan, NR), median(leaks, NR), median(heap, NR) }
    ' "$work/attach"
    kill "$pid" 2>/dev/null || true
    wait || true
    rm -f "$heap"
  done
}
