import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A small catalog: a source, stages of every type, every kind of node that the engine implements,
/// sinks and a conversion.
struct TestCatalog: StageCatalog {
  var knowsConvert = true

  var kinds: [String] {
    [
      "boxes", "brightness", "convert", "crop", "fusion", "grey", "join", "labels", "latest",
      "results", "sample", "session", "split", "throttle", "tiles", "view",
    ].filter { knowsConvert || $0 != "convert" }
  }

  func signature(of kind: String) -> StageSignature? {
    switch kind {
    case "session":
      StageSignature(kind: kind, version: 1, role: .source, input: nil, output: .frame)
    case "grey": Grey.signature
    case "boxes": Boxes.signature
    case "brightness": Level.signature
    case "tiles": Tiles.signature
    case "crop": RegionPixels.signature
    case "labels": Labels.signature
    case "view": View.signature
    case "fusion": Fusion.signature
    case "convert" where knowsConvert: Convert.signature
    case "join": AnyStage.joinSignature
    case "latest": AnyStage.latestSignature
    case "throttle":
      StageSignature(kind: kind, version: 1, role: .throttle, input: nil, output: nil)
    case "sample": StageSignature(kind: kind, version: 1, role: .sample, input: nil, output: nil)
    case "split": StageSignature(kind: kind, version: 1, role: .route, input: nil, output: nil)
    case "results": StageSignature(kind: kind, version: 1, role: .sink, input: nil, output: nil)
    default: nil
    }
  }

  func make(kind: String, options: JSONValue) throws(OptionProblem) -> AnyStage {
    guard let signature = signature(of: kind) else {
      throw OptionProblem(pointer: "", message: "there is no stage '\(kind)'")
    }
    if let stage = try makeStage(kind, options) { return stage }
    if let join = try makeJoin(kind, options) { return join }
    switch kind {
    case "session":
      return AnyStage(
        signature: signature, options: AnyStage.canonical(try read(Track.self, options, kind)),
        body: .source(0))
    case "throttle":
      let rate = try read(Rate.self, options, kind)
      return AnyStage(
        signature: signature, options: AnyStage.canonical(rate),
        body: .throttle(DevicePolicy(fps: rate.fps)))
    case "sample":
      let sample = try read(Every.self, options, kind)
      return AnyStage(
        signature: signature, options: AnyStage.canonical(sample), body: .sample(sample.every))
    case "split":
      let ports = try read(Ports.self, options, kind)
      return .route(signature, options: AnyStage.canonical(ports), ports: ports.ports) { _ in 0 }
    default:
      _ = try read(NoOptions.self, options, kind)
      return AnyStage(signature: signature, options: .object([:]), body: .sink { _ in })
    }
  }

  private func makeStage(
    _ kind: String, _ options: JSONValue
  ) throws(OptionProblem) -> AnyStage? {
    switch kind {
    case "grey": AnyStage(Grey())
    case "boxes": AnyStage(Boxes(options: try read(Boxes.Options.self, options, kind)))
    case "brightness": AnyStage(Level())
    case "tiles": AnyStage(Tiles())
    case "crop": AnyStage(RegionPixels())
    case "labels": AnyStage(Labels())
    case "view": AnyStage(View())
    case "fusion": AnyStage(Fusion())
    case "convert": AnyStage(Convert(options: try read(Convert.Options.self, options, kind)))
    default: nil
    }
  }

  private func makeJoin(_ kind: String, _ options: JSONValue) throws(OptionProblem) -> AnyStage? {
    switch kind {
    case "join":
      let join = try read(JoinPorts.self, options, kind)
      guard let mode = JoinMode(rawValue: join.mode) else {
        throw OptionProblem(pointer: "/mode", message: "'\(join.mode)' is not a mode")
      }
      return .join(join.ports, mode: mode)
    case "latest": return .latest(try read(Ports.self, options, kind).ports)
    default: return nil
    }
  }

  private func read<Options: StageOptions>(
    _ type: Options.Type, _ given: JSONValue, _ kind: String
  ) throws(OptionProblem) -> Options {
    try OptionReader.read(type, from: given, kind: kind)
  }
}

struct Track: StageOptions {
  var track = 0
}

struct Rate: StageOptions {
  var fps = 15.0
}

struct Every: StageOptions {
  var every = 2
}

struct Ports: StageOptions {
  var ports: [String] = ["left", "right"]
}

struct JoinPorts: StageOptions {
  var mode = "all"
  var ports: [String] = ["left", "right"]
}

/// Accepts I420 only and produces grey frames.
struct Grey: PureStage {
  static let kind = "grey"
  static let inputFormats: [PixelFormat] = [.i420, .nv12]

  init() {}
  init(options: NoOptions) {}

  func outputFormat(for input: PixelFormat) -> PixelFormat { .grey }
  func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}

/// Keeps using the memory of its input.
struct View: PureStage {
  static let kind = "view"
  static let keepsInput = true

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}

struct Convert: PureStage {
  static let kind = "convert"
  struct Options: StageOptions {
    var format = "I420"
  }
  let options: Options

  func outputFormat(for input: PixelFormat) -> PixelFormat {
    PixelFormat(rawValue: options.format) ?? input
  }
  func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}

struct Boxes: PureStage {
  static let kind = "boxes"
  struct Options: StageOptions {
    var threshold = 24
    var areaMin = 0.5
    var classes = ["motion"]
    var isStrict = false
    var name = "motion"
  }
  let options: Options

  init(options: Options) { self.options = options }

  func process(_ frame: Frame, _ context: StageContext) -> Detections {
    Detections([], classNames: options.classes)
  }
}

struct Level: StatefulStage {
  static let kind = "brightness"

  init() {}
  init(options: NoOptions) {}

  mutating func process(_ input: Detections, _ context: StageContext) -> Scalars { Scalars([]) }
  mutating func reset() {}
}

/// The first stage in the body of a forEach; accepts RGB24 only.
struct RegionPixels: PureStage {
  static let kind = "crop"
  static let inputFormats: [PixelFormat] = [.rgb]

  init() {}
  init(options: NoOptions) {}

  func process(_ region: Region, _ context: StageContext) -> Frame { region.frame }
}

/// Accepts BGRA only.
struct Labels: PureStage {
  static let kind = "labels"
  static let inputFormats: [PixelFormat] = [.bgra]

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Classes { Classes([]) }
}

/// Any output of a join, as numbers.
struct Fusion: PureStage {
  static let kind = "fusion"

  init() {}
  init(options: NoOptions) {}

  func process(_ joined: Joined, _ context: StageContext) -> Scalars { Scalars([]) }
}

/// A user's own value.
struct TileMap: StageValue, Hashable {
  static let typeName = "tile-map"
  static let typeVersion = 2
  var bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }
  init(decoding bytes: [UInt8]) throws { self.bytes = bytes }
  func encoded() -> [UInt8] { bytes }
}

struct Tiles: PureStage {
  static let kind = "tiles"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> TileMap { TileMap(bytes: []) }
}
