# shellcheck shell=bash
scan_section() {
  build_workload "$root/Checks/BenchWorkloads/live_objects.swift" release
  echo
  echo "Scan at exit, in place; then of a copy of the running program (milliseconds)"
  printf '%12s %12s %12s %14s %14s %16s  %s\n' objects "scan" "ns/object" "copy: pause" "copy: scan" \
    "peak KiB over bare" "censuses"
  local count bare peak pid
  for count in 10000 100000 1000000 4000000 10000000; do
    "$undead" run --format json --output "$work/report.json" -- "$work/live_objects.release" "$count" >/dev/null
    /usr/bin/time -f '%M' -o "$work/bare" "$work/live_objects.release" "$count" >/dev/null
    /usr/bin/time -f '%M' -o "$work/peak" "$undead" run -- "$work/live_objects.release" "$count" >/dev/null 2>&1
    bare=$(tail -n 1 "$work/bare"); peak=$(tail -n 1 "$work/peak")
    rm -f "$work/ready"
    "$undead" run --output /dev/null -- "$work/live_objects.release" "$count" "$work/ready" >/dev/null 2>&1 &
    local deadline=$((SECONDS + 60))
    until [[ -s $work/ready || $SECONDS -gt $deadline ]]; do sleep 0.05; done
    pid=$(cat "$work/ready")
    "$undead" watch --every 200ms --for 3s "$pid" 2>/dev/null | head -n 1 >"$work/census"
    "$undead" leaks --format json --output "$work/copy.json" "$pid" >/dev/null 2>&1 || true
    kill "$pid" 2>/dev/null || true
    wait || true
    awk -v n="$count" -v s="$(summary_value scanMilliseconds "$work/report.json")" \
      -v p="$(summary_value pauseMilliseconds "$work/copy.json")" \
      -v c="$(summary_value scanMilliseconds "$work/copy.json")" -v b="$bare" -v k="$peak" \
      -v w="$(sed 's/.* of at most/at most/; s/;.*//' "$work/census")" \
      'BEGIN { printf "%12d %12.1f %12.1f %14s %14s %16d  %s\n", n, s, s * 1e6 / n, p, c, k - b, w }'
  done
  build_workload "$root/Checks/BenchWorkloads/live_shapes.swift" release
  echo
  echo "Scan at exit of a million objects in other shapes (milliseconds, the best of five)"
  local shape
  for shape in array list random tree cycles held leaked-array leaked-list leaked-cycles; do
    for _ in 1 2 3 4 5; do
      "$undead" run --exit-code 0 --format json --output "$work/report.json" -- "$work/live_shapes.release" "$shape" >/dev/null
      summary_value scanMilliseconds "$work/report.json"
    done | sort -n | awk -v s="$shape" 'NR == 1 { printf "%14s %12.1f\n", s, $1 }'
  done
}
