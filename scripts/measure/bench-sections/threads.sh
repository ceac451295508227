# shellcheck shell=bash
# Many threads that allocate: what all of them write to would show here first.
threads_section() {
  local count round
  build_workload "$root/Checks/BenchWorkloads/threads/many_threads.swift" release
  for count in 2 16 64; do
    for ((round = 0; round < rounds; round++)); do
      sample "many_threads $count" release native "$work/many_threads.release" $count
      sample "many_threads $count" release undead "$undead" run -- "$work/many_threads.release" $count
      sample "many_threads $count" release undead-no-stacks "$undead" run --no-stacks -- "$work/many_threads.release" $count
    done
  done
  echo
  echo "Threads: processor time as a ratio to the bare program, the best of $rounds rounds"
  awk '$1 == "many_threads" { key = $2 " " $4; if (!(key in best) || $6 < best[key]) best[key] = $6 }
    END {
      for (i = split("2 16 64", counts, " "), k = 1; k <= i; k++) {
        n = counts[k]
        printf "%2d threads: bare %.2f s, undead x%.2f, without stacks x%.2f\n", n, best[n " native"], best[n " undead"] / best[n " native"],
          best[n " undead-no-stacks"] / best[n " native"]
      }
    }' "$samples"
}
