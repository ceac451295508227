# shellcheck shell=bash
# Short tests with UndeadXCTest: classes of 50 for each kind, whose tests the script writes.
short_tests="JSON 1000
Local 500
Async 200
TearDown 200
Tracked 200
Expectation 100
Assertion 100
Property 200
Cache 200"

write_tests() {
  local kind count first effects
  while read -r kind count; do
    case $kind in JSON) effects="throws { try" ;; Async) effects="async { await" ;; *) effects="{" ;; esac
    for ((first = 1; first <= count; first += 50)); do
      echo "final class $kind$((first / 50))Tests: ${kind}Kind {"
      seq -f "  func test%04g() $effects body() }" "$first" $((first + 49))
      echo "}"
    done
  done <<<"$short_tests"
}

build_tests() { # directory of the package
  mkdir -p "$1/Tests/ShortXCTests" "$1/Tests/ShortTests"
  cp -u "$root/Checks/BenchWorkloads/tests/Kinds.swift" "$1/Tests/ShortXCTests/"
  cp -u "$root/Checks/BenchWorkloads/tests/Traits.swift" "$1/Tests/ShortTests/"
  write_tests >"$1/Generated.swift"
  cmp -s "$1/Generated.swift" "$1/Tests/ShortXCTests/Generated.swift" || cp "$1/Generated.swift" "$1/Tests/ShortXCTests/"
  cat >"$1/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "short", dependencies: [.package(name: "undead", path: "$root")],
  targets: [
    .testTarget(name: "ShortXCTests", dependencies: [.product(name: "UndeadXCTest", package: "undead")]),
    .testTarget(name: "ShortTests", dependencies: [.product(name: "UndeadTesting", package: "undead")]),
  ])
END
  swift build --package-path "$1" --build-tests >&2
}

# Processor seconds of a command.
processor() {
  bash -c 'TIMEFORMAT="%3U %3S"; { time "$@" >"$0" 2>&1; } 2>&1' "$work/out" "$@" | awk '{ print $1 + $2 }'
}

tests_section() {
  local package=$work/tests bundle kind count classes run
  build_tests "$package"
  bundle=$package/.build/debug/shortPackageTests.xctest
  : >"$work/tests-samples"
  for ((round = 0; round < rounds; round++)); do
    while read -r kind count; do
      [[ -n $only && $kind != "$only" ]] && continue
      classes=$(seq -s, -f "ShortXCTests.$kind%gTests" 0 $((count / 50 - 1)))
      for run in UNDEAD=0 UNDEAD=1 UNDEAD_XCTEST=class UNDEAD_XCTEST=test; do
        echo "$kind $count $run $(processor env "$run" "$bundle" "$classes")" >>"$work/tests-samples"
      done
    done <<<"$short_tests"
    for kind in local:500 cached:200; do
      [[ -n $only && $kind != "$only":* ]] && continue
      for run in UNDEAD=0 UNDEAD=1; do
        echo ".noLeaks-${kind/:/ } ${run/UNDEAD=1/trait} $(processor env "$run" "$bundle" \
          --testing-library swift-testing --filter "Traits/${kind%:*}")" >>"$work/tests-samples"
      done
    done
  done
  echo
  echo "Short tests, debug: processor time, best of $rounds rounds (ms; ratio to UNDEAD=0), and what a check adds to each test"
  awk '
    { key = $1; if (!(key in count)) keys[++n] = key; count[key] = $2
      if (!((key, $3) in best) || $4 < best[key, $3]) best[key, $3] = $4 }
    function cell(key, run) { return (key, run) in best ? sprintf("%.0f x%.2f", 1000 * best[key, run], best[key, run] / best[key, "UNDEAD=0"]) : "-" }
    END {
      printf "%-18s %6s %8s %14s %14s %14s %12s\n", "tests", "number", "off", "recording", "class", "test", "ms a test"
      for (i = 1; i <= n; i++) {
        key = keys[i]; trait = (key, "trait") in best
        last = trait ? "trait" : "UNDEAD_XCTEST=test"; base = trait ? "UNDEAD=0" : "UNDEAD=1"
        printf "%-18s %6d %8.0f %14s %14s %14s %12.3f\n", key, count[key], 1000 * best[key, "UNDEAD=0"], cell(key, "UNDEAD=1"),
          cell(key, "UNDEAD_XCTEST=class"), cell(key, last), 1000 * (best[key, last] - best[key, base]) / count[key]
      }
    }' "$work/tests-samples"
}
