// swift-tools-version: 6.2
import PackageDescription

/// The folders of Sources, from the lowest layer to the highest.
enum Layer: String {
  case headers = "Headers"
  case engine = "Engine"
  case sessions = "Sessions"
  case judge = "Judge"
  case annexes = "Annexes"
  case entryPoints = "EntryPoints"
  case lab = "Lab"
}

/// What a package that depends on Retake can leave out: `.package(…, traits: [])` compiles none of
/// the annexes. A trait is also a condition of the compiler (`#if Bags`).
let traits: [Trait] = [
  Trait(name: "Bags", description: "Bags of ROS, MCAP files and folders of images"),
  Trait(name: "Models", description: "Models in ONNX files, as stages"),
  Trait(name: "Programs", description: "Programs in any language, as stages and pipelines"),
  Trait(name: "Pulse", description: "Stages that measure a pulse"),
  Trait(name: "Serve", description: "Reports and sessions as pages on this machine"),
  Trait(name: "Window", description: "The window of recordings and of the player"),
]

/// One module. Its import lines may name only `imports` and `outside`, and `imports` only modules of
/// its own layer and of lower ones; the tidy tests compare. Names are written without "Retake".
struct Module {
  var layer: Layer
  var name: String
  /// Of an annex: without this trait nothing imports it.
  var trait: String?
  var imports: [String]
  var outside: [Target.Dependency]
  /// Modules that only its tests use.
  var inTests: [String]

  init(
    _ layer: Layer, _ name: String, trait: String? = nil, imports: String = "",
    outside: [Target.Dependency] = [], inTests: String = ""
  ) {
    self.layer = layer
    self.name = fullName(name)
    self.trait = trait
    self.imports = modulesNamed(imports)
    self.outside = outside
    self.inTests = modulesNamed(inTests)
  }

  var path: String { "Sources/\(layer.rawValue)/\(name)" }

  func uses(_ module: String) -> Bool { name == module || imports.contains(module) }
}

/// `Core` is RetakeCore; `Retake` is itself.
func fullName(_ short: String) -> String { short == "Retake" ? short : "Retake\(short)" }

func modulesNamed(_ list: String) -> [String] {
  list.split(whereSeparator: \.isWhitespace).map { fullName(String($0)) }
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
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

/// The modules that Retake re-exports. SwiftPM sees a change behind a re-export only in targets that
/// name its module, so the entry points name them all, though they import Retake alone.
let reexported = """
  Core Buffers Graph Media TimePlane Runtime Stages Session Rewrite Record Replay
  Compare Golden Report Suite Bags Inference Foreign Pulse
  """

let modules = [
  Module(.engine, "Core", outside: ["CProcessor", "CXXHash"]),
  Module(.engine, "Buffers", imports: "Core"),
  Module(.engine, "Graph", imports: "Core Buffers", inTests: "TestCatalog"),
  Module(.engine, "Process", outside: ["CSandbox", "CSpawn"]),
  Module(.engine, "Media", imports: "Core Buffers", outside: ["CFFmpeg"]),
  Module(.engine, "TimePlane", imports: "Core Buffers Graph", outside: [deque]),
  Module(.engine, "Runtime", imports: "Core Buffers Graph TimePlane", outside: [deque]),
  Module(
    .engine, "Stages", imports: "Core Buffers Graph Media Runtime",
    inTests: "TimePlane TestFrames Retake"),

  Module(.sessions, "Store", imports: "Core", outside: [grdb, grdbSQLite]),
  Module(.sessions, "Sensors", imports: "Core Buffers Media Store"),
  Module(
    .sessions, "Session", imports: "Core Buffers Media Sensors Store TimePlane Runtime",
    inTests: "TestClips"),
  Module(
    .sessions, "Rewrite", imports: "Core Buffers Media Sensors Store Runtime Session",
    outside: ["CZstd"], inTests: "TestClips"),
  Module(
    .sessions, "Record", imports: "Core Buffers Graph Media Store TimePlane Runtime Session",
    inTests: "Rewrite TestFrames"),
  Module(
    .sessions, "Replay", imports: "Core Buffers Graph Media TimePlane Runtime Session",
    inTests: "Store Stages Rewrite Record Retake"),

  Module(.judge, "Compare", imports: "Core Graph"),
  Module(.judge, "Golden", imports: "Core Graph Stages Compare", outside: [yams]),
  Module(.judge, "Report", imports: "Core Graph Compare"),
  Module(
    .judge, "Suite",
    imports: """
      Core Buffers Graph Process Media TimePlane Runtime Compare Stages Store Session Golden Rewrite
      Record Replay Report
      """, outside: [grdb], inTests: "Retake Inference TestProjects"),

  Module(
    .annexes, "Bags", trait: "Bags", imports: "Core Buffers Media Sensors Store Session",
    outside: [grdb, grdbSQLite, "CBzip2", "CLz4", "CZstd"]),
  Module(
    .annexes, "Inference", trait: "Models", imports: "Core Buffers Graph Media Runtime Stages",
    inTests: "TestFrames Retake"),
  Module(
    .annexes, "Foreign", trait: "Programs",
    imports: "Core Buffers Graph Process Media Runtime Stages", inTests: "Retake"),
  Module(
    .annexes, "Pulse", trait: "Pulse", imports: "Core Buffers Graph Stages",
    inTests: "Runtime TestFrames Retake"),
  Module(
    .annexes, "Preview", trait: "Window",
    imports: "Core Buffers Graph Media TimePlane Runtime Stages"),
  Module(.annexes, "Bench", imports: "Core Buffers Graph TimePlane Runtime Stages"),
  Module(
    .annexes, "Serve", trait: "Serve",
    imports: "Core Buffers Runtime Session Compare Golden Report Suite",
    outside: [flyingFox, flyingSocks], inTests: "Retake \(reexported)"),

  Module(.entryPoints, "Retake", imports: reexported),
  Module(.entryPoints, "Clock", inTests: "Core Buffers Graph Runtime Stages Retake"),
  Module(
    .entryPoints, "Metrics", imports: "Retake \(reexported)", outside: [logging, metricsAPI]),
  Module(.entryPoints, "C", imports: "Retake \(reexported)", outside: ["CRetake"]),
  Module(
    .entryPoints, "Testing", imports: "Retake Clock \(reexported)", inTests: "TestProjects"),
  Module(.entryPoints, "XCTest", imports: "Retake \(reexported)", inTests: "TestProjects"),
  Module(
    .entryPoints, "Command", imports: "Retake Serve Preview Bench Process \(reexported)",
    outside: [argumentParser]),
]

/// Warnings are errors where CI says so, and only in this package's own targets.
let strict: [SwiftSetting] =
  Context.environment["CI"] == "true" ? [.treatAllWarnings(as: .error)] : []
let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")] + strict
/// In a module an import says whether others see it; nobody imports a test.
let moduleSettings = settings + [.enableUpcomingFeature("InternalImportsByDefault")]

/// A module with a trait is used only where the trait is enabled.
func named(_ names: [String]) -> [Target.Dependency] {
  names.map { name in
    let trait = modules.first { $0.name == name }?.trait
    return .target(name: name, condition: trait.flatMap { .when(traits: [$0]) })
  }
}

/// The same for products of other packages: they are fetched only with the trait.
func fetched(_ outside: [Target.Dependency], with trait: String?) -> [Target.Dependency] {
  outside.map { dependency in
    guard let trait, case .productItem(let name, let package, let aliases, _) = dependency else {
      return dependency
    }
    return .productItem(
      name: name, package: package, moduleAliases: aliases, condition: .when(traits: [trait]))
  }
}

func modulesToUse(_ list: String) -> [Target.Dependency] { named(modulesNamed(list)) }

/// Scripts/embed-resources puts them into the sources.
let withResources: Set = ["RetakeBench", "RetakeReport", "RetakeServe"]

/// Answers published figures of mobile pipelines. No product contains it.
let lab = "retake-lab"
let labTargets: [Target] = [
  .executableTarget(
    name: lab,
    dependencies: modulesToUse("Core Buffers Graph TimePlane Runtime Stages Bench")
      + [argumentParser],
    path: "Sources/\(Layer.lab.rawValue)/\(lab)", exclude: ["Resources"], swiftSettings: settings),
  .testTarget(
    name: "RetakeLabTests",
    dependencies: [.init(stringLiteral: lab)]
      + modulesToUse("Core Buffers Graph Bench TestSupport"),
    swiftSettings: settings),
]

let sourceTargets: [Target] = modules.map { module in
  .target(
    name: module.name,
    dependencies: named(module.imports) + fetched(module.outside, with: module.trait),
    path: module.path,
    exclude: withResources.contains(module.name) ? ["Resources"] : [],
    swiftSettings: moduleSettings)
}

/// Modules that any test may use.
let testTools = modulesNamed("Process TestSupport")
/// Tests that compute little themselves. Without optimization they compile in less than half the
/// time, and their loops over pixels take fifty times as long: TestFrames has these. Who depends on
/// the package builds no tests, so SwiftPM accepts the flag there, too.
let plainTests = Set(modulesNamed("Command Session Golden Record Replay Suite Serve"))

func testSettings(of module: String) -> [SwiftSetting] {
  settings + (plainTests.contains(module) ? [.unsafeFlags(["-Onone"])] : [])
}

/// Their tests belong to no single module.
let testedTogether: Set = ["Retake", "RetakeCommand"]
/// Tests of metrics bring a back end of their own, tests of the C library call it as C does, and
/// tests of bags write bags.
let testsWithOutside = Set(modulesNamed("Metrics C Bags"))
let moduleTests: [Target] = modules.filter { !testedTogether.contains($0.name) }.map { module in
  let inTests = (module.inTests + testTools).filter { !module.uses($0) }
  return .testTarget(
    name: "\(module.name)Tests",
    dependencies: named([module.name] + module.imports + inTests)
      + (testsWithOutside.contains(module.name) ? module.outside : []),
    exclude: module.name == "RetakeBags" ? ["Fixtures"] : [],
    swiftSettings: testSettings(of: module.name))
}

/// What tests share: helpers, sessions of clips, a catalog of small stages, frames, a project; and a user's own
/// `retake`, with stages that are not as they must be.
let sharedByTests: [Target] = [
  ("RetakeTestSupport", "Process"),
  ("RetakeTestClips", "Core Session TestSupport"),
  ("RetakeTestCatalog", "Core Buffers Graph"),
  ("RetakeTestFrames", "Core Buffers Graph"),
  ("RetakeTestProjects", "Core Runtime Stages Golden Record Suite TestSupport"),
  ("RetakeFuzz", "Core Graph Media Stages Store Sensors Session Golden Suite Bags Foreign"),
].map { name, imports in
  .target(
    name: name,
    dependencies: modulesToUse(imports) + (name == "RetakeTestSupport" ? [grdbSQLite] : []),
    path: "Tests/\(name)", swiftSettings: settings)
}
let impure = Target.executableTarget(
  name: "ImpureRetake", dependencies: modulesToUse("Retake Command"), path: "Tests/ImpureRetake",
  swiftSettings: settings)

/// The parsers of RetakeFuzz as a program of libFuzzer, whose library comes with its sanitizer: only
/// `make fuzz` can link it.
let fuzzer: [Target] =
  Context.environment["RETAKE_FUZZ"] == nil
  ? []
  : [
    .executableTarget(
      name: "Fuzz", dependencies: modulesToUse("Fuzz TestSupport"), path: "Tests/Fuzz",
      exclude: ["corpus"],
      swiftSettings: settings,
      // gold cannot print the places of this program's debug information.
      linkerSettings: [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))])
  ]

/// Measures the engine against itself and against others: `make bench`.
let benchmarks = Target.executableTarget(
  name: "retake-benchmarks",
  dependencies: modulesToUse(
    "Retake Core Buffers Graph TimePlane Process Runtime Inference Stages Compare Report TestSupport"
  ),
  path: "Tests/Benchmarks", exclude: ["thresholds.json"], swiftSettings: settings)

/// Tests of all modules together.
let wholeTests: [Target] = [
  .testTarget(
    name: "RetakeCommandTests",
    dependencies: modulesToUse("Retake Command Inference Store")
      + ["retake", .init(stringLiteral: impure.name)] + named(testTools),
    swiftSettings: testSettings(of: "RetakeCommand")),
  .testTarget(
    name: "RetakeDocsTests",
    dependencies: modulesToUse("Retake Command Clock Metrics Inference Preview TestSupport")
      + [logging],
    swiftSettings: settings),
  .testTarget(
    name: "RetakeFuzzTests", dependencies: modulesToUse("Fuzz TestSupport"),
    swiftSettings: settings),
  .testTarget(
    name: "RetakeTidyTests", dependencies: modulesToUse("TestSupport"), swiftSettings: settings),
  .testTarget(
    name: "BenchmarksTests",
    dependencies: modulesToUse("TestSupport") + [.init(stringLiteral: benchmarks.name)],
    swiftSettings: settings),
]

/// A C library's headers.
func headers(_ name: String, pkgConfig: String? = nil, apt: [String] = []) -> Target {
  .systemLibrary(
    name: name, path: "Sources/\(Layer.headers.rawValue)/\(name)", pkgConfig: pkgConfig,
    providers: apt.isEmpty ? nil : [.apt(apt)])
}

func library(_ short: String) -> Product {
  .library(name: fullName(short), targets: [fullName(short)])
}

let package = Package(
  name: "retake",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "retake", targets: ["retake"]),
    library("Retake"),
    library("Command"),
    library("Clock"),
    library("Metrics"),
    library("Preview"),
    library("Testing"),
    library("XCTest"),
    // Scripts/libretake links it as libretake.so, with the names of retake.h alone.
    .library(name: "retake-c", type: .static, targets: ["RetakeC"]),
  ],
  traits: Set(traits + [.default(enabledTraits: Set(traits.map(\.name)))]),
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    headers("CBzip2", apt: ["libbz2-dev"]),
    headers(
      "CFFmpeg", pkgConfig: "libavformat libavcodec libswscale libavutil",
      apt: ["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libavutil-dev"]),
    headers("CLz4", pkgConfig: "liblz4", apt: ["liblz4-dev"]),
    headers("CProcessor"),
    headers("CRetake"),
    headers("CXXHash", pkgConfig: "libxxhash", apt: ["libxxhash-dev"]),
    headers("CSandbox"),
    headers("CSpawn"),
    headers("CZstd", pkgConfig: "libzstd", apt: ["libzstd-dev"]),
    .executableTarget(
      name: "retake", dependencies: modulesToUse("Command"), path: "Sources/EntryPoints/retake",
      swiftSettings: settings),
    impure, benchmarks,
  ] + sourceTargets + labTargets + sharedByTests + moduleTests + wholeTests + fuzzer,
  swiftLanguageModes: [.v6]
)
