# shellcheck shell=bash
program_starts() {
  build_workload "$root/Checks/BenchWorkloads/hello.swift" release
  local round
  : >"$work/start"
  for ((round = 0; round < 4 * rounds; round++)); do
    for peer in bare undead; do
      local before after
      before=$(date +%s%N)
      if [[ $peer == bare ]]; then "$work/hello.release" >/dev/null
      else "$undead" run -- "$work/hello.release" >/dev/null 2>&1; fi
      after=$(date +%s%N)
      echo "$peer $((after - before))" >>"$work/start"
    done
  done
  echo
  echo "Hello world (milliseconds, median of $((4 * rounds)))"
  for peer in bare undead; do
    awk -v p="$peer" '$1 == p { print $2 / 1e6 }' "$work/start" | sort -n |
      awk -v p="$peer" '{ v[NR] = $1 } END { printf "%12s %10.1f\n", p, v[int((NR + 1) / 2)] }'
  done
}

# What `undead test` adds to `swift test` where the tests themselves take no time.
test_starts() {
  local package=$work/empty round peer
  mkdir -p "$package/Sources/Empty" "$package/Tests/EmptyTests"
  echo 'public let nothing = 0' >"$package/Sources/Empty/Empty.swift"
  printf '%s\n' 'import Empty' 'import Testing' '@Test func nothingHappens() { #expect(nothing == 0) }' \
    >"$package/Tests/EmptyTests/EmptyTests.swift"
  printf '%s\n' '// swift-tools-version: 6.0' 'import PackageDescription' 'let package = Package(name: "empty", targets: [' \
    '  .target(name: "Empty"), .testTarget(name: "EmptyTests", dependencies: ["Empty"]),' '])' >"$package/Package.swift"
  swift build --package-path "$package" --build-tests >/dev/null
  for ((round = 0; round < rounds; round++)); do
    sample empty test native swift test --skip-build --package-path "$package"
    sample empty test undead "$undead" test -- --skip-build --package-path "$package"
  done
  echo
  echo "The tests of an empty package (medians of $rounds: seconds, processor time, ratio of that)"
  for peer in native undead; do
    awk -v p="$peer" '$1 == "empty" && $3 == p { print $4, $5 }' "$samples" | sort -n -k 2 |
      awk -v p="$peer" '{ wall[NR] = $1; cpu[NR] = $2 } END { m = int((NR + 1) / 2); print p, wall[m], cpu[m] }'
  done | awk '{ if (NR == 1) base = $3; printf "%12s %8.2f %8.2f  x%.2f\n", $1, $2, $3, $3 / base }'
}

start_section() {
  program_starts
  test_starts
}
