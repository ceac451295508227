import Foundation

/// The C sources of the instrument, for tests that compile them, or programs that include its headers.
package enum InstrumentSources {
  /// The layers, each a folder of `Sources`, from the bottom up; first what others know of them.
  package enum Layer: String, CaseIterable, Sendable {
    case shared = "CUndeadInterface"
    case platform = "CUndeadPlatform"
    case record = "CUndeadRecord"
    case world = "CUndeadWorld"
    case runtime = "CUndeadRuntime"
    case scan = "CUndeadScan"
    case zombies = "CUndeadZombies"
    case session = "CUndead"

    package var folder: URL {
      URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources").appending(path: rawValue)
    }

    /// Paths of the C files of this layer.
    package var files: [String] {
      let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
      return paths.filter { $0.hasSuffix(".c") && !$0.hasPrefix("units/") }.sorted().map {
        folder.appending(path: $0).path
      }
    }

    /// Paths of the files that include all of these, folder by folder: they are compiled in less time.
    package var units: [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "units").path)) ?? []
      return names.sorted().map { folder.appending(path: "units").appending(path: $0).path }
    }

    /// Paths of the objects of this layer that were built with the test bundle, of each folder one.
    package var objects: [String] {
      (self == .shared ? files : units).map {
        BuildProducts.directory.path + "/\(rawValue).build\($0.dropFirst(folder.path.count)).o"
      }
    }

    /// Paths of the C files of these names, without their ending.
    package func files(_ names: [String]) -> [String] {
      files.filter { names.contains(URL(filePath: $0).deletingPathExtension().lastPathComponent) }
    }
  }

  /// The folder of the headers that Swift code and programs may use; they include others, of the layers.
  package static var interface: String { Layer.session.folder.appending(path: "include").path }

  /// Options that let a program find them, and the entries for tests (`CUndeadTestEntry`).
  package static var interfaceOptions: [String] {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return (Layer.allCases.map(\.folder) + [tests.appending(path: "CUndeadTestEntry")]).flatMap {
      ["-I", $0.appending(path: "include").path]
    }
  }

  /// Options that let a C file of any layer, or a test of one, find its headers, and what they have of the C library.
  package static var includeOptions: [String] {
    ["-D_GNU_SOURCE="]
      + Layer.allCases.flatMap { ["-I", $0.folder.path, "-I", $0.folder.appending(path: "include").path] }
  }
}
