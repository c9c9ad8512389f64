import RetakeCore

extension PipelinePool {
  /// The longest wait of a source's frame: an hour. It keeps sums of times within 64 bits.
  private static let waitMax = Duration.seconds(3_600)
  /// More frames than the driver of a camera keeps.
  private static let driverFramesMax = 64

  /// The problem of a wait and its driver frames, without regard to the pool's policy and sources;
  /// `nil` if they are valid.
  package static func waitProblem(
    _ wait: Duration?, driverFrames: Int
  ) -> (key: String, detail: String, advice: String)? {
    guard (0...driverFramesMax).contains(driverFrames) else {
      return (
        "driverFrames", "driverFrames is 0 to \(driverFramesMax)",
        "Write 0 to \(driverFramesMax)"
      )
    }
    guard let wait else {
      guard driverFrames > 0 else { return nil }
      return (
        "driverFrames", "the driver keeps frames only while a frame waits, and there is no wait",
        "Add a wait, for example of 20ms"
      )
    }
    guard wait > .zero, wait <= waitMax else {
      return ("wait", "a wait is longer than 0s and at most an hour", "For example 20ms")
    }
    return nil
  }

  /// Checks how long sources wait for a buffer, because the methods of the DSL accept any.
  ///
  /// - Parameter flat: The pipeline with the nodes of its bodies.
  func checkWait(_ flat: Pipeline, at pointer: String) throws {
    func wrong(_ detail: String, _ advice: String, key: String = "wait") -> PipelineError {
      PipelineError(.wrongValue(detail, advice: advice), at: "\(pointer)/\(key)")
    }
    if let problem = Self.waitProblem(wait, driverFrames: driverFrames) {
      throw wrong("pool '\(id)': \(problem.detail)", problem.advice, key: problem.key)
    }
    guard wait != nil else { return }
    guard policy == .block else {
      throw wrong(
        "a source of the pool '\(id)' cannot wait: its policy is \(policy.rawValue)",
        "Leave out the wait or the policy")
    }
    guard flat.nodes.contains(where: { $0.pool == id && $0.stage.signature.role == .source })
    else {
      throw wrong(
        "no source leases from the pool '\(id)', and stages wait without a limit",
        "Leave out the wait, or name the pool at a source")
    }
  }
}
