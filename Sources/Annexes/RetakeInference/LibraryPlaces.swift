import Foundation

/// The places where Retake looks for ONNX Runtime. It uses the first library that loads, in this
/// order:
///
/// 1. the path in the environment variable `RETAKE_ONNXRUNTIME`. If it is set, no other place is
///    searched;
/// 2. the active virtual environment: `VIRTUAL_ENV`, then `CONDA_PREFIX`;
/// 3. the system's loader: `libonnxruntime.so`, `libonnxruntime.so.1`;
/// 4. the Python installations whose `python3` is in `PATH`, in its order;
/// 5. `~/.local`, where `pip install --user` installs;
/// 6. the versions of pyenv, the newest first.
///
/// In a Python installation the library is in the folder of the package `onnxruntime`, as its wheel
/// from PyPI installs it.
package struct LibraryPlaces: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// A file that exists.
    case file(String)
    /// A path that the user named; it may not exist.
    case named(String)
    /// A name for the system's loader.
    case loader(String)
  }

  package static let variable = "RETAKE_ONNXRUNTIME"
  /// The most folders of one kind that are looked into: entries of PATH, Python versions, files.
  static let foldersMax = 64

  package let list: [Place]

  package init(_ list: [Place]) { self.list = list }

  package init(environment: [String: String]) {
    if let path = environment[Self.variable], !path.isEmpty {
      list = [.named(path)]
      return
    }
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].compactMap { environment[$0] }
    let paths = (environment["PATH"] ?? "").split(separator: ":").prefix(Self.foldersMax)
    let installed = paths.map(String.init).filter {
      FileManager.default.isExecutableFile(atPath: "\($0)/python3")
    }.map { ($0 as NSString).deletingLastPathComponent }
    let home = environment["HOME"].map { ["\($0)/.local"] } ?? []
    let pyenv = environment["PYENV_ROOT"] ?? environment["HOME"].map { "\($0)/.pyenv" }
    let versions = pyenv.map { root in
      Self.names(in: "\(root)/versions") { $0.first?.isNumber == true }.map {
        "\(root)/versions/\($0)"
      }
    }
    let found =
      active.flatMap(Self.libraries)
      + Self.loaderNames.map { .loader($0) }
      + (installed + home + (versions ?? [])).flatMap(Self.libraries)
    // A virtual environment is also in PATH.
    var seen: Set<Place> = []
    list = found.filter { seen.insert($0).inserted }
  }

  #if canImport(Darwin)
    private static let loaderNames = ["libonnxruntime.dylib", "libonnxruntime.1.dylib"]
    private static func isLibrary(_ name: String) -> Bool {
      name.hasPrefix("libonnxruntime.") && name.hasSuffix(".dylib")
    }
  #else
    private static let loaderNames = ["libonnxruntime.so", "libonnxruntime.so.1"]
    private static func isLibrary(_ name: String) -> Bool { name.hasPrefix("libonnxruntime.so") }
  #endif

  /// The libraries in a Python installation, of the newest version of Python first.
  private static func libraries(in prefix: String) -> [Place] {
    guard !prefix.isEmpty else { return [] }
    return ["lib", "lib64"].flatMap { lib in
      // Debian's packages are in a folder `python3` without a version.
      names(in: "\(prefix)/\(lib)") { $0.hasPrefix("python3") }.flatMap { python in
        ["site-packages", "dist-packages"].flatMap { packages in
          let folder = "\(prefix)/\(lib)/\(python)/\(packages)/onnxruntime/capi"
          return names(in: folder, where: isLibrary).map { Place.file("\(folder)/\($0)") }
        }
      }
    }
  }

  /// The wanted entries of a folder, the highest version first; empty if it does not exist.
  private static func names(in folder: String, where isWanted: (String) -> Bool) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let sorted = names.filter(isWanted).sorted { first, second in
      let (older, newer) = (version(second), version(first))
      // The names settle equal versions, because the system lists folders in any order.
      return older == newer
        ? first.utf8.lexicographicallyPrecedes(second.utf8)
        : older.lexicographicallyPrecedes(newer)
    }
    return Array(sorted.prefix(foldersMax))
  }

  /// The numbers in a name: `python3.12` is after `python3.9`.
  private static func version(_ name: String) -> [Int] {
    name.split { !("0"..."9").contains($0) }.map { Int($0) ?? .max }
  }
}
