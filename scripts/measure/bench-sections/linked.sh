# shellcheck shell=bash
build_linked() { # directory of the package
  local source name kind targets=""
  for source in "$root"/Checks/BenchWorkloads/*.swift; do
    name=$(basename "$source" .swift)
    is_recorded "$name" || continue
    [[ -n $only && $name != "$only" ]] && continue
    for kind in bare linked; do
      mkdir -p "$1/Sources/$name-$kind"
      { [[ $kind == bare ]] || echo "import Undead"; cat "$source"; } >"$1/Sources/$name-$kind/main.swift"
    done
    targets+=".executableTarget(name: \"$name-bare\"),
      .executableTarget(name: \"$name-linked\", dependencies: [.product(name: \"Undead\", package: \"undead\")]),"
  done
  cat >"$1/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "linked", dependencies: [.package(name: "undead", path: "$root")], targets: [$targets],
  swiftLanguageModes: [.v5])
END
  swift build --package-path "$1" -c release >/dev/null
}

# Two programs of each workload: as it is, and linked with Undead, which it never asks for anything.
linked_section() {
  local package=$work/linked source name kind
  rm -rf "$package/Sources"
  build_linked "$package"
  : >"$work/linked-samples"
  for ((round = 0; round < rounds; round++)); do
    for source in "$package"/Sources/*-bare; do
      name=$(basename "$source" -bare)
      for kind in bare linked; do
        /usr/bin/time -f '%U %S' -o "$work/time" "$package/.build/release/$name-$kind" >/dev/null
        awk -v n="$name" -v k="$kind" '{ print n, k, $1 + $2 }' "$work/time" >>"$work/linked-samples"
      done
    done
  done
  echo
  echo "Linked with Undead, which is off: processor time, best of $rounds rounds"
  awk '{ key = $1 " " $2; if (!(key in best) || $3 < best[key]) best[key] = $3; names[$1] = 1 }
    END { for (n in names) printf "%-20s %8.2f s %8.2f s  x%.2f\n", n, best[n " bare"], best[n " linked"], best[n " linked"] / best[n " bare"] }' \
    "$work/linked-samples" | sort
}
