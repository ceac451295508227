# shellcheck shell=bash
record_section() {
  local source name configuration program
  for source in "$root"/Checks/BenchWorkloads/*.swift; do
    name=$(basename "$source" .swift)
    is_recorded "$name" || continue
    [[ -n $only && $name != "$only" ]] && continue
    for configuration in "${configurations[@]}"; do
      build_workload "$source" "$configuration"
      program=$work/$name.$configuration
      echo "measuring $name ($configuration)" >&2
      for ((round = 0; round < rounds; round++)); do
        sample "$name" "$configuration" native "$program"
        sample "$name" "$configuration" undead "$undead" run -- "$program"
        sample "$name" "$configuration" undead-no-stacks "$undead" run --no-stacks -- "$program"
        sample "$name" "$configuration" undead-sampled "$undead" run --sample 512KiB -- "$program"
        sample "$name" "$configuration" zombies-sampled "$undead" run --zombie-mode sampled -- "$program"
        [[ -n $gcc_lsan ]] && sample "$name" "$configuration" gcc-lsan env LD_PRELOAD="$gcc_lsan" "$program"
        [[ -x $program.lsan ]] && sample "$name" "$configuration" swift-lsan "$program.lsan"
        [[ -n $jemalloc ]] && sample "$name" "$configuration" jemalloc-prof env LD_PRELOAD="$jemalloc" \
          MALLOC_CONF="prof:true,prof_final:true,prof_prefix:$work/jemalloc.record" "$program"
        command -v heaptrack >/dev/null && sample "$name" "$configuration" heaptrack \
          heaptrack -o "$work/heaptrack" "$program"
        rm -f "$work"/jemalloc.record* "$work"/heaptrack.*
      done
    done
  done
  echo
  echo "Recording: ratio to the bare program, wall / CPU / peak memory; times are the best of $rounds rounds, memory is the median"
  awk '
    function median(list, n,   i, j, t, a) {
      split(list, a, " "); n = length(a)
      for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
      return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
    }
    # The processor has speeds that last for a run and are none of the program.
    function least(list,   i, n, a, low) {
      n = split(list, a, " "); low = a[1]
      for (i = 2; i <= n; i++) if (a[i] + 0 < low + 0) low = a[i]
      return low
    }
    { key = $1 " " $2; if (!(key in seen)) { seen[key] = 1; keys[++count] = key }
      wall[key, $3] = wall[key, $3] " " $4; cpu[key, $3] = cpu[key, $3] " " $5; peak[key, $3] = peak[key, $3] " " $6 }
    END {
      n = split("undead undead-no-stacks undead-sampled zombies-sampled gcc-lsan swift-lsan jemalloc-prof heaptrack", peers, " ")
      printf "%-26s %9s", "workload", "bare s"
      for (p = 1; p <= n; p++) printf " %20s", peers[p]
      print ""
      for (k = 1; k <= count; k++) {
        key = keys[k]; base = least(wall[key, "native"]); printf "%-26s %9.2f", key, base
        for (p = 1; p <= n; p++) {
          if (!((key, peers[p]) in wall)) { printf " %20s", "-"; continue }
          w = least(wall[key, peers[p]]) / base
          c = least(cpu[key, peers[p]]) / least(cpu[key, "native"])
          m = median(peak[key, peers[p]]) / median(peak[key, "native"])
          printf " %20s", sprintf("%.2f / %.2f / %.2f", w, c, m)
          logs[p] += log(w); logc[p] += log(c); logm[p] += log(m); seen_of[p]++
        }
        print ""
      }
      printf "%-26s %9s", "geometric mean", ""
      for (p = 1; p <= n; p++)
        if (seen_of[p]) printf " %20s", sprintf("%.2f / %.2f / %.2f", exp(logs[p] / seen_of[p]), exp(logc[p] / seen_of[p]), exp(logm[p] / seen_of[p]))
        else printf " %20s", "-"
      print ""
    }' "$samples"
}
