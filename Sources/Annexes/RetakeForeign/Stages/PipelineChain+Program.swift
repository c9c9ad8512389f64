public import RetakeBuffers
public import RetakeCore
public import RetakeGraph

/// The values that a program returns, for `PipelineChain.process`.
public struct ProgramOutput<Value: PipelineValue>: Hashable, Sendable {
  let name: String
}

extension ProgramOutput where Value == Detections {
  /// Boxes in pixels of the frame that the program was given.
  public static var detections: ProgramOutput<Detections> {
    ProgramOutput(name: ForeignOutput.detections.rawValue)
  }
}

extension ProgramOutput where Value == Classes {
  /// Labels for a frame, best first.
  public static var classes: ProgramOutput<Classes> {
    ProgramOutput(name: ForeignOutput.classes.rawValue)
  }
}

extension ProgramOutput where Value == Scalars {
  /// Named numbers.
  public static var scalars: ProgramOutput<Scalars> {
    ProgramOutput(name: ForeignOutput.scalars.rawValue)
  }
}

extension ProgramOutput where Value == Observations {
  /// Masks, key points, lines, images, embeddings and JSON.
  public static var observations: ProgramOutput<Observations> {
    ProgramOutput(name: ForeignOutput.observations.rawValue)
  }
}

extension PipelineChain where Output == Frame {
  /// Computes values with a program in another process, in any language.
  ///
  /// The program speaks the protocol of docs/formats/stage-protocol.md. It is started when the
  /// method is called, and ends with the last pipeline that uses it. If it crashes, hangs or breaks
  /// the protocol, the run ends with an error that names the frame.
  ///
  /// ```swift
  /// let boxes = try frames.process(["python3", "faces.py"], output: .detections)
  /// ```
  ///
  /// - Parameters:
  ///   - command: The program, then its arguments. A name without a slash is searched for in PATH.
  ///   - output: The values that the program returns.
  ///   - options: Given to the program when it starts.
  ///   - instances: How many copies of a pure program compute at once, 1 to 64.
  ///   - timeoutSeconds: The longest real time for a frame, 0.1 to 3,600. The start has the same
  ///     limit, but at least 30 s.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  /// - Throws: `OptionError` for an argument out of its range, and an error with the code
  ///   `process.notFound`, `process.notStarted` or `process.notReady`.
  public func process<Value: PipelineValue>(
    _ command: [String], output: ProgramOutput<Value>, options: JSONValue = .object([:]),
    instances: Int = 1, timeoutSeconds: Double = 30, id: String? = nil
  ) throws -> PipelineChain<Value> {
    var complete = ProcessOptions()
    (complete.command, complete.output, complete.options) = (command, output.name, options)
    (complete.instances, complete.timeoutSeconds) = (instances, timeoutSeconds)
    return appending(try complete.stage(.all), id: id)
  }
}
