# shellcheck shell=bash
# From the end of a program that leaks a million objects to the end of the tool, and what "undead leaks FILE" takes of that.
report_section() {
  build_workload "$root/Checks/BenchWorkloads/leaked_objects.swift" release
  echo
  echo "A million leaked objects: from the end of the program to the report (seconds), peak memory of all and of the report (MiB)"
  printf '%10s %10s %8s %14s %10s %10s %10s\n' shape "end" "peak" "+ --save: end" "peak" "report" "peak"
  local shape end program="$work/leaked_objects.release"
  for shape in array list cycle pairs double tree graph; do
    [[ -n $only && $shape != "$only" ]] && continue
    local row=()
    for option in "--output=/dev/null" "--save=$work/leaked.undead"; do
      /usr/bin/time -f '%M' -o "$work/time" "$undead" run "$option" -- "$program" "$shape" 1000000 "$work/ready" >/dev/null 2>&1 || true
      end=$(date +%s.%N)
      row+=("$(awk -v a="$(stat -c %.9Y "$work/ready")" -v b="$end" 'BEGIN { printf "%.2f", b - a }')"
        "$(tail -n 1 "$work/time" | awk '{ printf "%.0f", $1 / 1024 }')")
    done
    /usr/bin/time -f '%e %M' -o "$work/time" "$undead" leaks "$work/leaked.undead" >/dev/null 2>&1 || true
    row+=($(tail -n 1 "$work/time" | awk '{ printf "%.2f %.0f", $1, $2 / 1024 }'))
    printf '%10s %10s %8s %14s %10s %10s %10s\n' "$shape" "${row[@]}"
  done
}
