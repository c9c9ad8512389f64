import RetakeCore
public import RetakeGraph

/// A sink that shows images at the refresh rate of a screen.
///
/// In virtual time it refreshes `hertz` times a second from time zero on, and shows the newest
/// image that has arrived. It keeps that image's buffer until a newer one is shown. In a live run,
/// the screen is a real one.
enum Screen {
  static let signature = StageSignature(
    kind: AnyStage.screenKind, version: 1, role: .sink, input: nil, output: nil,
    summary: "shows frames at the refresh rate of a screen, and writes no results")

  struct Options: StageOptions {
    @OptionValue("refreshes per second, above 0 and at most 1000") var hertz = 60.0
  }

  static func stage(hertz: Double) throws -> AnyStage {
    guard let clock = ScreenClock(hertz: hertz) else {
      throw OptionProblem(
        pointer: "/hertz", message: "'hertz' must be above 0 and at most 1000, is \(hertz)")
    }
    // The core makes the refreshes (`screen-refresh`), so the body is empty.
    var stage = AnyStage(
      signature: signature, options: .object(["hertz": .number(hertz)]), body: Sinks.silent)
    stage.screen = clock
    return stage
  }

  static func stage(reading options: JSONValue) throws -> AnyStage {
    try stage(hertz: OptionReader.read(Options.self, from: options, kind: "screen").hertz)
  }
}

extension PipelineChain {
  /// Ends the pipeline with a screen that shows the arriving values; above 0 and at most 1,000
  /// hertz.
  public func screen(_ id: String = "screen", hertz: Double = 60) -> Pipeline {
    sink(built { try Screen.stage(hertz: hertz) }, id: id)
  }
}
