// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// One source target of the house. `ours` and `outside` are exactly what it may import;
/// the tidy tests compare them with the floors table and with the import lines.
struct Room {
  var name: String
  var ours: [String] = []
  var outside: [Target.Dependency] = []
}

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")
let collections = Target.Dependency.product(name: "Collections", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let rainbow = Target.Dependency.product(name: "Rainbow", package: "Rainbow")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let core = "RetakeCore"
let buffers = "RetakeBuffers"
let graph = "RetakeGraph"
let store = "RetakeStore"
let media = "RetakeMedia"
let runtime = "RetakeRuntime"
let compare = "RetakeCompare"
let stages = "RetakeStages"
let session = "RetakeSession"
let golden = "RetakeGolden"
let record = "RetakeRecord"
let replay = "RetakeReplay"
let report = "RetakeReport"
let suite = "RetakeSuite"

let rooms: [Room] = [
  Room(name: core, outside: ["CXXHash"]),
  Room(name: buffers, ours: [core]),
  Room(name: graph, ours: [core, buffers]),
  Room(name: store, ours: [core], outside: [grdb]),
  Room(name: media, ours: [core, buffers], outside: ["CFFmpeg"]),
  Room(name: runtime, ours: [core, buffers, graph], outside: [collections]),
  Room(name: compare, ours: [core, buffers]),
  Room(name: stages, ours: [core, buffers, graph, media, runtime]),
  Room(name: session, ours: [core, buffers, graph, media, store, runtime]),
  Room(name: golden, ours: [core, compare], outside: [yams]),
  Room(name: record, ours: [core, buffers, graph, media, store, runtime, session]),
  Room(name: replay, ours: [core, buffers, graph, media, runtime, session]),
  Room(name: report, ours: [core, graph, compare, golden], outside: [mustache, rainbow]),
  Room(
    name: suite,
    ours: [
      core, buffers, graph, store, media, runtime, compare, stages, session, golden, record, replay,
      report,
    ], outside: [yams]),
  Room(
    name: "Retake",
    ours: [
      core, buffers, graph, media, runtime, compare, stages, session, golden, record, replay,
      report, suite,
    ]),
  Room(name: "RetakeCommand", ours: ["Retake"], outside: [argumentParser]),
]

let root = Context.packageDirectory
func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(root)/\(path)") }

/// The dependencies on those of our own targets that are there.
func present(_ names: [String]) -> [Target.Dependency] {
  names.filter { exists("Sources/\($0)") }.map { .init(stringLiteral: $0) }
}

/// Warnings are errors where CI says so, and only in this package's own targets.
let strict: [SwiftSetting] =
  Context.environment["CI"] == "true" ? [.treatAllWarnings(as: .error)] : []
let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")] + strict

let sourceTargets: [Target] = rooms.filter { exists("Sources/\($0.name)") }.map { room in
  .target(
    name: room.name, dependencies: present(room.ours) + room.outside,
    resources: exists("Sources/\(room.name)/Resources") ? [.embedInCode("Resources")] : [],
    swiftSettings: settings)
}
let executables: [Target] = ["retake"].filter { exists("Sources/\($0)") }.map { name in
  .executableTarget(name: name, dependencies: ["RetakeCommand"], swiftSettings: settings)
}
let support = "RetakeTestSupport"
let supportTargets: [Target] = [support].filter { exists("Tests/\($0)") }.map { name in
  .target(name: name, path: "Tests/\(name)", swiftSettings: settings)
}
let roomTests: [Target] = rooms.filter {
  $0.name != "RetakeCommand" && exists("Tests/\($0.name)Tests")
}.map { room in
  .testTarget(
    name: "\(room.name)Tests",
    dependencies: [.init(stringLiteral: room.name)] + present(room.ours)
      + (exists("Tests/\(support)") ? [.init(stringLiteral: support)] : []),
    path: "Tests/\(room.name)Tests", swiftSettings: settings)
}

/// Tests of the whole house, which belong to no single room.
let houseTests: [Target] = [
  Room(name: "RetakeCommandTests", ours: ["Retake", "RetakeCommand", "retake"]),
  Room(name: "RetakeDeterminismTests", ours: rooms.map(\.name).filter { $0 != "Retake" }),
  Room(name: "RetakeTidyTests"),
].filter { exists("Tests/\($0.name)") }.map { room in
  .testTarget(
    name: room.name,
    dependencies: (room.ours.filter { exists("Sources/\($0)") } + [support]).map {
      .init(stringLiteral: $0)
    }, path: "Tests/\(room.name)", swiftSettings: settings)
}

let package = Package(
  name: "retake",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "retake", targets: ["retake"]),
    .library(name: "Retake", targets: ["Retake"]),
    .library(name: "RetakeCommand", targets: ["RetakeCommand"]),
  ].filter { product in exists("Sources/\(product.name)") },
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/onevcat/Rainbow", from: "4.2.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CFFmpeg", path: "Sources/CFFmpeg",
      pkgConfig: "libavformat libavcodec libswscale libavutil",
      providers: [
        .apt(["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libavutil-dev"])
      ]),
    .systemLibrary(
      name: "CXXHash", path: "Sources/CXXHash", pkgConfig: "libxxhash",
      providers: [.apt(["libxxhash-dev"])]),
  ] + sourceTargets + executables + supportTargets + roomTests + houseTests,
  swiftLanguageModes: [.v6]
)
