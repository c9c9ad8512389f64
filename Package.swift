// swift-tools-version: 6.2
import PackageDescription

/// One source target of the house. `ours` and `outside` are exactly what it may import;
/// the tidy tests compare them with the floors table and with the import lines.
struct Room {
  var name: String
  var ours: [String] = []
  var outside: [Target.Dependency] = []
  /// What its tests use in addition.
  var inTests: [String] = []

  func uses(_ room: String) -> Bool { name == room || ours.contains(room) }
}

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let flyingFox = Target.Dependency.product(name: "FlyingFox", package: "FlyingFox")
let flyingSocks = Target.Dependency.product(name: "FlyingSocks", package: "FlyingFox")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metricsAPI = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let core = "RetakeCore"
let buffers = "RetakeBuffers"
let graph = "RetakeGraph"
let store = "RetakeStore"
let process = "RetakeProcess"
let media = "RetakeMedia"
let timePlane = "RetakeTimePlane"
let runtime = "RetakeRuntime"
let compare = "RetakeCompare"
let analysis = "RetakeAnalysis"
let inference = "RetakeInference"
let foreign = "RetakeForeign"
let signal = "RetakeSignal"
let sensors = "RetakeSensors"
let clock = "RetakeClock"
let stages = "RetakeStages"
let session = "RetakeSession"
let golden = "RetakeGolden"
let cache = "RetakeCache"
let bags = "RetakeBags"
let rewrite = "RetakeRewrite"
let record = "RetakeRecord"
let replay = "RetakeReplay"
let report = "RetakeReport"
let preview = "RetakePreview"
let bench = "RetakeBench"
let suite = "RetakeSuite"
let verify = "RetakeVerify"
let serve = "RetakeServe"
let metrics = "RetakeMetrics"
let library = "RetakeC"
let testing = "RetakeTesting"
let xcTest = "RetakeXCTest"

let support = "RetakeTestSupport"
/// Sessions of clips that tests make.
let clips = "RetakeTestClips"
/// A catalog of small stages.
let catalog = "RetakeTestCatalog"
/// A project that tests make.
let projects = "RetakeTestProjects"

/// What Retake re-exports.
let facade = [
  core, buffers, graph, media, timePlane, runtime, compare, analysis, stages, session, golden,
  cache, bags, rewrite, record, replay, report, suite, verify,
]

let rooms: [Room] = [
  Room(name: core, outside: ["CProcessor", "CXXHash"]),
  Room(name: buffers, ours: [core]),
  Room(name: graph, ours: [core, buffers], inTests: [catalog]),
  Room(name: store, ours: [core], outside: [grdb, grdbSQLite]),
  Room(name: process, outside: ["CSpawn"]),
  Room(name: signal, ours: [core]),
  Room(name: clock, inTests: [core, buffers, graph, runtime, stages]),
  Room(name: media, ours: [core, buffers], outside: ["CFFmpeg"]),
  Room(name: sensors, ours: [core, buffers, media, signal, store]),
  Room(name: timePlane, ours: [core, buffers, graph], outside: [deque]),
  Room(name: runtime, ours: [core, buffers, graph, timePlane], outside: [deque]),
  Room(name: compare, ours: [core, graph]),
  Room(name: analysis, ours: [core, graph], inTests: [buffers, catalog]),
  Room(name: inference, ours: [core, buffers, media]),
  Room(
    name: foreign, ours: [core, buffers, graph, process, media, runtime], inTests: [stages]),
  Room(
    name: stages, ours: [core, buffers, graph, signal, inference, foreign, media, runtime],
    inTests: [analysis, timePlane]),
  Room(
    name: session, ours: [core, buffers, media, sensors, store, timePlane, runtime],
    inTests: [clips]),
  Room(name: golden, ours: [core, graph, compare], outside: [yams]),
  Room(
    name: cache, ours: [core, buffers, media, runtime, session],
    inTests: [graph, store, stages, rewrite, record, replay]),
  Room(
    name: bags, ours: [core, buffers, media, store, session],
    outside: [grdb, grdbSQLite, "CLz4", "CZstd"]),
  Room(
    name: rewrite, ours: [core, buffers, media, sensors, store, runtime, session],
    inTests: [clips]),
  Room(
    name: record, ours: [core, buffers, graph, media, store, timePlane, runtime, session],
    inTests: [rewrite]),
  Room(name: replay, ours: [core, buffers, graph, timePlane, runtime, session, cache]),
  Room(name: report, ours: [core, graph, compare], outside: [mustache]),
  Room(name: preview, ours: [core, buffers, graph, media, timePlane, runtime, stages]),
  Room(name: bench, ours: [core, buffers, graph, timePlane, runtime, stages]),
  Room(
    name: suite,
    ours: [
      core, buffers, graph, process, media, timePlane, runtime, compare, analysis, stages, session,
      golden, cache, record, replay, report,
    ], inTests: [inference, store, projects]),
  Room(
    name: verify,
    ours: [core, graph, media, runtime, compare, session, golden, replay, suite],
    inTests: [buffers, stages, projects]),
  Room(name: "Retake", ours: facade),
  // The doors import Retake alone. SwiftPM sees a change behind a re-export only in targets that
  // name its room, so they name them all.
  Room(name: serve, ours: ["Retake"] + facade, outside: [flyingFox, flyingSocks]),
  Room(name: metrics, ours: ["Retake"] + facade, outside: [logging, metricsAPI]),
  Room(name: library, ours: ["Retake"] + facade, outside: ["CRetake"]),
  Room(name: testing, ours: ["Retake", clock] + facade, inTests: [projects]),
  Room(name: xcTest, ours: ["Retake"] + facade, inTests: [projects]),
  Room(
    name: "RetakeCommand", ours: ["Retake", serve, preview, bench, process] + facade,
    outside: [argumentParser]),
]

/// Warnings are errors where CI says so, and only in this package's own targets.
let strict: [SwiftSetting] =
  Context.environment["CI"] == "true" ? [.treatAllWarnings(as: .error)] : []
let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")] + strict
/// In a room an import says whether others see it; tests are seen by none.
let roomSettings = settings + [.enableUpcomingFeature("InternalImportsByDefault")]

func named(_ names: [String]) -> [Target.Dependency] {
  names.map { .init(stringLiteral: $0) }
}

let sourceTargets: [Target] = rooms.map { room in
  .target(
    name: room.name, dependencies: named(room.ours) + room.outside,
    // Scripts/embed-resources puts them into the sources.
    exclude: [bench, report, serve].contains(room.name) ? ["Resources"] : [],
    swiftSettings: roomSettings)
}

/// What any test may use.
let testTools = [process, support]
/// Tests that compute little themselves. Without optimization they compile in less than half the
/// time. Who depends on the package builds no tests, so SwiftPM accepts the flag there, too.
let plainTests: Set = ["RetakeCommand", session, golden, record, replay, suite, verify, serve]

func testSettings(of room: String) -> [SwiftSetting] {
  settings + (plainTests.contains(room) ? [.unsafeFlags(["-Onone"])] : [])
}

/// A user's own `retake`, with stages that are not as they must be.
let impure = "ImpureRetake"
let untested = ["Retake", "RetakeCommand"]
let roomTests: [Target] = rooms.filter { !untested.contains($0.name) }.map { room in
  .testTarget(
    name: "\(room.name)Tests",
    dependencies: named(
      [room.name] + room.ours + (room.inTests + testTools).filter { !room.uses($0) })
      // Tests of metrics bring a back end of their own, tests of the C library call it as C does, and
      // tests of bags write bags.
      + ([metrics, library, bags].contains(room.name) ? room.outside : []),
    exclude: room.name == bags ? ["Fixtures"] : [],
    swiftSettings: testSettings(of: room.name))
}

/// Measures the engine against itself and against others: `make bench`.
let benchmarks = "retake-benchmarks"
let benchmarkTarget = Target.executableTarget(
  name: benchmarks,
  dependencies: named([
    core, buffers, graph, timePlane, process, runtime, inference, stages, compare, report, support,
  ]),
  path: "Tests/Benchmarks", exclude: ["thresholds.json"], swiftSettings: settings)

/// Tests of the whole house, which belong to no single room.
let houseTests: [Target] = [
  .testTarget(
    name: "RetakeCommandTests",
    dependencies: named(["Retake", "RetakeCommand", "retake", inference, impure] + testTools),
    swiftSettings: testSettings(of: "RetakeCommand")),
  .testTarget(
    name: "RetakeDocsTests",
    dependencies: named([
      "Retake", "RetakeCommand", clock, metrics, inference, preview, support,
    ]) + [
      logging
    ],
    swiftSettings: settings),
  .testTarget(name: "RetakeTidyTests", dependencies: named([support]), swiftSettings: settings),
  .testTarget(
    name: "BenchmarksTests", dependencies: named([benchmarks, support]), swiftSettings: settings),
]

let package = Package(
  name: "retake",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "retake", targets: ["retake"]),
    .library(name: "Retake", targets: ["Retake"]),
    .library(name: "RetakeCommand", targets: ["RetakeCommand"]),
    .library(name: clock, targets: [clock]),
    .library(name: metrics, targets: [metrics]),
    .library(name: preview, targets: [preview]),
    .library(name: testing, targets: [testing]),
    .library(name: xcTest, targets: [xcTest]),
    // Scripts/libretake links it as libretake.so, with the names of retake.h alone.
    .library(name: "retake-c", type: .static, targets: [library]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CFFmpeg", path: "Sources/CFFmpeg",
      pkgConfig: "libavformat libavcodec libswscale libavutil",
      providers: [
        .apt(["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libavutil-dev"])
      ]),
    .systemLibrary(
      name: "CLz4", path: "Sources/CLz4", pkgConfig: "liblz4",
      providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CProcessor", path: "Sources/CProcessor"),
    .systemLibrary(name: "CRetake", path: "Sources/CRetake"),
    .systemLibrary(
      name: "CXXHash", path: "Sources/CXXHash", pkgConfig: "libxxhash",
      providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(name: "CSpawn", path: "Sources/CSpawn"),
    .systemLibrary(
      name: "CZstd", path: "Sources/CZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"])]),
    .executableTarget(
      name: "retake", dependencies: ["RetakeCommand"], swiftSettings: settings),
    .target(
      name: support, dependencies: named([process]), path: "Tests/\(support)",
      swiftSettings: settings),
    .target(
      name: clips, dependencies: named([core, session, support]), path: "Tests/\(clips)",
      swiftSettings: settings),
    .target(
      name: catalog, dependencies: named([core, buffers, graph]), path: "Tests/\(catalog)",
      swiftSettings: settings),
    .target(
      name: projects,
      dependencies: named([core, runtime, stages, golden, record, suite, support]),
      path: "Tests/\(projects)", swiftSettings: settings),
    .executableTarget(
      name: impure, dependencies: named(["Retake", "RetakeCommand"]), path: "Tests/\(impure)",
      swiftSettings: settings),
    benchmarkTarget,
  ] + sourceTargets + roomTests + houseTests,
  swiftLanguageModes: [.v6]
)
