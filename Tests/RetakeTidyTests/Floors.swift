/// One target of the package: its floor, and exactly what it may import.
struct FloorEntry: Sendable {
  var floor: Int
  var name: String
  var ours: [String] = []
  /// Products of other packages and C modules; declared in the manifest.
  var outside: [String] = []
  /// Modules of the toolchain beyond `Floors.everywhere`; nothing declares them.
  var toolchain: [String] = []
}

/// The floors: which target may import which. Package.swift and every import line are checked
/// against this table.
enum Floors {
  /// Modules of the toolchain that any file may import.
  static let everywhere = ["Dispatch", "Foundation", "Swift"]
  /// The C library: only in small separate files.
  static let cLibraries = ["Android", "Darwin", "Glibc", "Musl"]
  /// The most lines of a file that imports a C library.
  static let platformFileLinesMax = 150
  /// What tests may import in addition to what their target declares.
  static let inTests = ["FoundationXML", "Synchronization", "Testing", "XCTest"]
  /// Targets that are neither modules nor tests, and that only tests use.
  static let forTests = [
    "ImpureRetake", "RetakeTestCatalog", "RetakeTestClips", "RetakeTestProjects",
    "RetakeTestSupport",
  ]
  /// What a user's package may import; the examples are such packages.
  static let doors = [
    "Retake", "RetakeClock", "RetakeCommand", "RetakeMetrics", "RetakePreview", "RetakeTesting",
    "RetakeXCTest",
  ]
  /// What users' tests import. With them comes no more than what replays and reports need.
  static let testLibraries = ["RetakeTesting", "RetakeXCTest"]
  /// Doors that do more than that.
  static let tools = ["RetakeCommand", "RetakeMetrics", "RetakePreview", "RetakeServe", "retake"]
  /// The products of other packages that may come with `testLibraries`: no server, no command
  /// parser.
  static let besideTests = ["DequeModule", "GRDB", "GRDBSQLite", "Mustache", "Yams"]
  /// The modules that Retake re-exports.
  static let reexported = [
    "RetakeAnalysis", "RetakeBags", "RetakeBuffers", "RetakeCache", "RetakeCompare", "RetakeCore",
    "RetakeGolden",
    "RetakeGraph", "RetakeMedia", "RetakeRecord", "RetakeReplay", "RetakeReport", "RetakeRewrite",
    "RetakeRuntime", "RetakeSession", "RetakeStages", "RetakeSuite", "RetakeTimePlane",
    "RetakeVerify",
  ]
  /// The lowest floor that may print, and the only one that may re-export.
  static let suite = 5
  static let facade = 6

  static let table: [FloorEntry] = [
    FloorEntry(floor: 0, name: "CFFmpeg"),
    FloorEntry(floor: 0, name: "CLz4"),
    FloorEntry(floor: 0, name: "CProcessor"),
    FloorEntry(floor: 0, name: "CRetake"),
    FloorEntry(floor: 0, name: "CSpawn"),
    FloorEntry(floor: 0, name: "CXXHash"),
    FloorEntry(floor: 0, name: "CZstd"),
    FloorEntry(floor: 0, name: "RetakeClock", toolchain: ["Synchronization"]),
    FloorEntry(floor: 0, name: "RetakeCore", outside: ["CProcessor", "CXXHash"]),

    FloorEntry(
      floor: 1, name: "RetakeBuffers", ours: ["RetakeCore"], toolchain: ["Synchronization"]),
    FloorEntry(floor: 1, name: "RetakeGraph", ours: ["RetakeBuffers", "RetakeCore"]),
    FloorEntry(
      floor: 1, name: "RetakeStore", ours: ["RetakeCore"], outside: ["GRDB", "GRDBSQLite"]),
    FloorEntry(
      floor: 1, name: "RetakeProcess", outside: ["CSpawn"], toolchain: ["Synchronization"]),
    FloorEntry(floor: 1, name: "RetakeSignal", ours: ["RetakeCore"]),

    FloorEntry(
      floor: 2, name: "RetakeMedia", ours: ["RetakeBuffers", "RetakeCore"], outside: ["CFFmpeg"]),
    FloorEntry(
      floor: 2, name: "RetakeSensors",
      ours: ["RetakeBuffers", "RetakeCore", "RetakeMedia", "RetakeSignal", "RetakeStore"]),
    FloorEntry(
      floor: 2, name: "RetakeTimePlane", ours: ["RetakeBuffers", "RetakeCore", "RetakeGraph"],
      outside: ["DequeModule"]),
    FloorEntry(
      floor: 2, name: "RetakeRuntime",
      ours: ["RetakeBuffers", "RetakeCore", "RetakeGraph", "RetakeTimePlane"],
      outside: ["DequeModule"], toolchain: ["Synchronization"]),
    FloorEntry(
      floor: 2, name: "RetakeCompare", ours: ["RetakeCore", "RetakeGraph"]),
    FloorEntry(floor: 2, name: "RetakeAnalysis", ours: ["RetakeCore", "RetakeGraph"]),
    FloorEntry(
      floor: 2, name: "RetakeInference", ours: ["RetakeBuffers", "RetakeCore", "RetakeMedia"]),
    FloorEntry(
      floor: 2, name: "RetakeForeign",
      ours: [
        "RetakeBuffers", "RetakeCore", "RetakeGraph", "RetakeMedia", "RetakeProcess",
        "RetakeRuntime",
      ]),

    FloorEntry(
      floor: 3, name: "RetakeStages",
      ours: [
        "RetakeBuffers", "RetakeCore", "RetakeForeign", "RetakeGraph", "RetakeInference",
        "RetakeMedia", "RetakeRuntime", "RetakeSignal",
      ]),
    FloorEntry(
      floor: 3, name: "RetakeSession",
      ours: [
        "RetakeBuffers", "RetakeCore", "RetakeMedia", "RetakeRuntime", "RetakeSensors",
        "RetakeStore", "RetakeTimePlane",
      ]),
    FloorEntry(
      floor: 3, name: "RetakeGolden", ours: ["RetakeCompare", "RetakeCore", "RetakeGraph"],
      outside: ["Yams"], toolchain: ["CYaml"]),
    FloorEntry(
      floor: 3, name: "RetakeCache",
      ours: ["RetakeBuffers", "RetakeCore", "RetakeMedia", "RetakeRuntime", "RetakeSession"]),

    FloorEntry(
      floor: 4, name: "RetakeBags",
      ours: ["RetakeBuffers", "RetakeCore", "RetakeMedia", "RetakeSession", "RetakeStore"],
      outside: ["CLz4", "CZstd", "GRDB", "GRDBSQLite"]),
    FloorEntry(
      floor: 4, name: "RetakeRewrite",
      ours: [
        "RetakeBuffers", "RetakeCore", "RetakeMedia", "RetakeRuntime", "RetakeSensors",
        "RetakeSession", "RetakeStore",
      ]),
    FloorEntry(
      floor: 4, name: "RetakeRecord",
      ours: [
        "RetakeBuffers", "RetakeCore", "RetakeGraph", "RetakeMedia", "RetakeRuntime",
        "RetakeSession", "RetakeStore", "RetakeTimePlane",
      ]),
    FloorEntry(
      floor: 4, name: "RetakeReplay",
      ours: [
        "RetakeBuffers", "RetakeCache", "RetakeCore", "RetakeGraph", "RetakeRuntime",
        "RetakeSession", "RetakeTimePlane",
      ]),
    FloorEntry(
      floor: 4, name: "RetakeReport",
      ours: ["RetakeCompare", "RetakeCore", "RetakeGraph"],
      outside: ["Mustache"]),
    FloorEntry(
      floor: 4, name: "RetakePreview",
      ours: [
        "RetakeBuffers", "RetakeCore", "RetakeGraph", "RetakeMedia", "RetakeRuntime",
        "RetakeStages", "RetakeTimePlane",
      ]),
    FloorEntry(
      floor: 4, name: "RetakeBench",
      ours: [
        "RetakeBuffers", "RetakeCore", "RetakeGraph", "RetakeRuntime", "RetakeStages",
        "RetakeTimePlane",
      ]),

    FloorEntry(
      floor: 5, name: "RetakeSuite",
      ours: [
        "RetakeAnalysis", "RetakeBuffers", "RetakeCache", "RetakeCompare", "RetakeCore",
        "RetakeGolden", "RetakeGraph", "RetakeMedia", "RetakeProcess", "RetakeRecord",
        "RetakeReplay", "RetakeReport", "RetakeRuntime", "RetakeSession", "RetakeStages",
        "RetakeTimePlane",
      ]),
    FloorEntry(
      floor: 5, name: "RetakeVerify",
      ours: [
        "RetakeCompare", "RetakeCore", "RetakeGolden", "RetakeGraph", "RetakeMedia", "RetakeReplay",
        "RetakeRuntime", "RetakeSession", "RetakeSuite",
      ]),

    FloorEntry(floor: 6, name: "Retake", ours: reexported),

    // They name what Retake re-exports, so that SwiftPM rebuilds them with it; they import Retake.
    FloorEntry(
      floor: 7, name: "RetakeServe", ours: reexported + ["Retake"],
      outside: ["FlyingFox", "FlyingSocks"]),
    FloorEntry(
      floor: 7, name: "RetakeMetrics", ours: reexported + ["Retake"],
      outside: ["Logging", "Metrics"]),
    FloorEntry(
      floor: 7, name: "RetakeC", ours: reexported + ["Retake"], outside: ["CRetake"]),
    FloorEntry(
      floor: 7, name: "RetakeTesting", ours: reexported + ["Retake", "RetakeClock"],
      toolchain: ["Testing"]),
    FloorEntry(
      floor: 7, name: "RetakeXCTest", ours: reexported + ["Retake"], toolchain: ["XCTest"]),
    FloorEntry(
      floor: 7, name: "RetakeCommand",
      ours: reexported + [
        "Retake", "RetakeBench", "RetakePreview", "RetakeProcess", "RetakeServe",
      ],
      outside: ["ArgumentParser"]),
    FloorEntry(floor: 7, name: "retake", ours: ["RetakeCommand"]),
    FloorEntry(
      floor: 7, name: "retake-benchmarks",
      ours: [
        "RetakeBuffers", "RetakeCompare", "RetakeCore", "RetakeGraph", "RetakeInference",
        "RetakeProcess", "RetakeReport", "RetakeRuntime", "RetakeStages", "RetakeTimePlane",
      ], outside: ["RetakeTestSupport"]),
  ]

  static func entry(_ name: String, in table: [FloorEntry] = table) -> FloorEntry? {
    table.first { $0.name == name }
  }
}
