import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A small catalog: a source, stages of every type, every kind of node that the engine implements,
/// sinks and a conversion.
package struct TestCatalog: StageCatalog {
  private let knowsConvert: Bool

  package init(knowsConvert: Bool = true) { self.knowsConvert = knowsConvert }

  package var kinds: [String] {
    [
      "boxes", "brightness", "convert", "crop", "fusion", "grey", "join", "labels", "latest",
      "results", "sample", "session", "split", "throttle", "tiles", "view",
    ].filter { knowsConvert || $0 != "convert" }
  }

  package func signature(of kind: String) -> StageSignature? {
    switch kind {
    case "session":
      StageSignature(kind: kind, version: 1, role: .source, input: nil, output: .frame)
    case "grey": Gray.signature
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

  package func make(kind: String, options: JSONValue) throws -> AnyStage {
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
  ) throws -> AnyStage? {
    switch kind {
    case "grey": AnyStage(Gray())
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

  private func makeJoin(_ kind: String, _ options: JSONValue) throws -> AnyStage? {
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
  ) throws -> Options {
    try OptionReader.read(type, from: given, kind: kind)
  }
}

extension AnyStage {
  /// A stage of the test catalog with its default options.
  package static func test(_ kind: String) -> AnyStage {
    do {
      return try TestCatalog().make(kind: kind, options: .object([:]))
    } catch {
      preconditionFailure("\(kind): \(error)")
    }
  }
}

package struct Track: StageOptions {
  package var track = 0

  package init() {}
}

package struct Rate: StageOptions {
  package var fps = 15.0

  package init() {}
}

package struct Every: StageOptions {
  package var every = 2

  package init() {}
}

package struct Ports: StageOptions {
  package var ports: [String] = ["left", "right"]

  package init() {}
}

package struct JoinPorts: StageOptions {
  package var mode = "all"
  package var ports: [String] = ["left", "right"]

  package init() {}
}

/// Accepts I420 only and produces gray frames.
package struct Gray: PureStage {
  package static let kind = "grey"
  package static let inputFormats: [PixelFormat] = [.i420, .nv12]

  package init() {}
  package init(options: NoOptions) {}

  package func outputFormat(for input: PixelFormat) -> PixelFormat { .gray }
  package func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}

/// Keeps using the memory of its input.
package struct View: PureStage {
  package static let kind = "view"
  package static let keepsInput = true

  package init() {}
  package init(options: NoOptions) {}

  package func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}

package struct Convert: PureStage {
  package static let kind = "convert"
  package struct Options: StageOptions {
    package var format = "I420"

    package init() {}
  }
  package let options: Options

  package init(options: Options) { self.options = options }

  package func outputFormat(for input: PixelFormat) -> PixelFormat {
    PixelFormat(rawValue: options.format) ?? input
  }
  package func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}

package struct Boxes: PureStage {
  package static let kind = "boxes"
  package struct Options: StageOptions {
    package var threshold = 24
    package var areaMin = 0.5
    package var classes = ["motion"]
    package var isStrict = false
    package var name = "motion"

    package init() {}
  }
  package let options: Options

  package init(options: Options) { self.options = options }

  package func process(_ frame: Frame, _ context: StageContext) -> Detections {
    Detections([], classNames: options.classes)
  }
}

package struct Level: StatefulStage {
  package static let kind = "brightness"

  package init() {}
  package init(options: NoOptions) {}

  package mutating func process(_ input: Detections, _ context: StageContext) -> Scalars {
    Scalars([])
  }
  package mutating func reset() {}
}

/// The first stage in the body of a forEach; accepts RGB24 only.
package struct RegionPixels: PureStage {
  package static let kind = "crop"
  package static let inputFormats: [PixelFormat] = [.rgb]

  package init() {}
  package init(options: NoOptions) {}

  package func process(_ region: Region, _ context: StageContext) -> Frame { region.frame }
}

/// Accepts BGRA only.
package struct Labels: PureStage {
  package static let kind = "labels"
  package static let inputFormats: [PixelFormat] = [.bgra]

  package init() {}
  package init(options: NoOptions) {}

  package func process(_ frame: Frame, _ context: StageContext) -> Classes { Classes([]) }
}

/// Any output of a join, as numbers.
package struct Fusion: PureStage {
  package static let kind = "fusion"

  package init() {}
  package init(options: NoOptions) {}

  package func process(_ joined: Joined, _ context: StageContext) -> Scalars { Scalars([]) }
}

/// A user's own value.
package struct TileMap: StageValue, Hashable {
  package static let typeName = "tile-map"
  package static let typeVersion = 2
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
  package init(decoding bytes: [UInt8]) throws { self.bytes = bytes }
  package func encoded() -> [UInt8] { bytes }
}

package struct Tiles: PureStage {
  package static let kind = "tiles"

  package init() {}
  package init(options: NoOptions) {}

  package func process(_ frame: Frame, _ context: StageContext) -> TileMap { TileMap(bytes: []) }
}
