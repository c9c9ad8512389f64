/// The layers of Sources, and the few rules that Package.swift cannot express. Each module's
/// imports are listed there, and only there.
enum Layers {
  /// The folders of Sources, from the lowest layer to the highest. A module imports modules of its
  /// layer and of lower layers.
  static let order = [
    "Headers", "Engine", "Sessions", "Judge", "Annexes", "EntryPoints", "Lab",
  ]
  /// Declarations for C code. Its modules have no imports.
  static let headers = "Headers"
  /// A package can leave its modules out, so no annex imports another annex.
  static let annexes = "Annexes"
  static let entryPoints = "EntryPoints"

  /// Modules of the toolchain that any file may import.
  static let everywhere = ["Dispatch", "Foundation", "Swift"]
  /// Modules of the toolchain that single modules may import; SwiftPM does not ask for them.
  static let toolchain = [
    "RetakeBuffers": ["Synchronization"], "RetakeClock": ["Synchronization"],
    "RetakeGolden": ["CYaml"], "RetakeProcess": ["Synchronization"],
    "RetakeRuntime": ["Synchronization"], "RetakeTesting": ["Testing"],
    "RetakeXCTest": ["XCTest"],
  ]
  /// The C library: only in small separate files.
  static let cLibraries = ["Android", "Darwin", "Glibc", "Musl"]
  /// The most lines of a file that imports a C library.
  static let platformFileLinesMax = 150
  /// Modules of the toolchain that tests may import, too.
  static let inTests = ["FoundationXML", "Synchronization", "Testing", "XCTest"]

  /// Modules below the entry points that may print and end the process.
  static let printing = ["RetakeSuite"]
  /// The only module that re-exports others.
  static let facade = "Retake"
  /// Modules that users' tests import. With them comes no more than replays and reports need.
  static let testLibraries = ["RetakeTesting", "RetakeXCTest"]
  /// Modules that do more than that.
  static let tools = ["RetakeCommand", "RetakeMetrics", "RetakePreview", "RetakeServe", "retake"]
  /// The products of other packages that may come with `testLibraries`: no server, no command
  /// parser.
  static let productsInTestLibraries = ["DequeModule", "GRDB", "GRDBSQLite", "Yams"]

  /// The layer of a path, with its place in `order`: `Sources/Engine/RetakeCore`.
  static func layer(of path: String?) -> (name: String, place: Int)? {
    let parts = path?.split(separator: "/").map(String.init) ?? []
    guard parts.count > 1, parts[0] == "Sources", let place = order.firstIndex(of: parts[1])
    else { return nil }
    return (parts[1], place)
  }
}
