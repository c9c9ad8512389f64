import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A small catalog: a source, stages of every type, a throttle, sinks and a conversion.
struct TestCatalog: StageCatalog {
  var knowsConvert = true

  var kinds: [String] {
    ["boxes", "brightness", "convert", "grey", "results", "session", "throttle", "tiles"]
      .filter { knowsConvert || $0 != "convert" }
  }

  func signature(of kind: String) -> StageSignature? {
    switch kind {
    case "session":
      StageSignature(kind: kind, version: 1, role: .source, input: nil, output: .frame)
    case "grey": Grey.signature
    case "boxes": Boxes.signature
    case "brightness": Level.signature
    case "tiles": Tiles.signature
    case "convert" where knowsConvert: Convert.signature
    case "throttle":
      StageSignature(kind: kind, version: 1, role: .throttle, input: nil, output: nil)
    case "results": StageSignature(kind: kind, version: 1, role: .sink, input: nil, output: nil)
    default: nil
    }
  }

  func make(kind: String, options: JSONValue) throws(OptionProblem) -> AnyStage {
    guard let signature = signature(of: kind) else {
      throw OptionProblem(pointer: "", message: "there is no stage '\(kind)'")
    }
    switch kind {
    case "grey": return AnyStage(Grey())
    case "boxes": return AnyStage(Boxes(options: try read(Boxes.Options.self, options, kind)))
    case "brightness": return AnyStage(Level())
    case "tiles": return AnyStage(Tiles())
    case "convert": return AnyStage(Convert(options: try read(Convert.Options.self, options, kind)))
    case "session":
      return AnyStage(
        signature: signature, options: AnyStage.canonical(try read(Track.self, options, kind)),
        body: .source(0))
    case "throttle":
      let rate = try read(Rate.self, options, kind)
      return AnyStage(
        signature: signature, options: AnyStage.canonical(rate),
        body: .throttle(DevicePolicy(fps: rate.fps)))
    default:
      _ = try read(NoOptions.self, options, kind)
      return AnyStage(signature: signature, options: .object([:]), body: .sink { _ in })
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

/// Takes I420 only and gives grey frames.
struct Grey: PureStage {
  static let kind = "grey"
  static let inputFormats: [PixelFormat] = [.i420, .nv12]

  init() {}
  init(options: NoOptions) {}

  func outputFormat(for input: PixelFormat) -> PixelFormat { .grey }
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

enum Documents {
  static let motion = """
    {"v": 1, "name": "motion-boxes",
     "nodes": [
      {"id": "camera", "kind": "session", "options": {"track": 0}},
      {"id": "grey", "kind": "grey"},
      {"id": "slow", "kind": "throttle", "options": {"fps": 10}},
      {"id": "motion", "kind": "boxes", "options": {"threshold": 24, "areaMin": 2},
       "cost": {"fixed": "45ms"}, "executor": "vision"},
      {"id": "level", "kind": "brightness", "cost": {"uniform": ["1ms", "1500us"]},
       "executor": "vision"},
      {"id": "values", "kind": "results", "primary": true,
       "quantum": {"box": 0.1, "score": 0.0001}}],
     "edges": [
      {"from": "camera", "to": "grey"},
      {"from": "grey", "to": "slow", "capacity": 3, "policy": "dropNewest"},
      {"from": "slow", "to": "motion", "policy": "replace"},
      {"from": "motion", "to": "level", "capacity": 5},
      {"from": "level", "to": "values"}],
     "executors": [{"id": "vision", "count": 2}]}
    """
}
