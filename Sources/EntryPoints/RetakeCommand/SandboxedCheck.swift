import Foundation
import Retake
import RetakeProcess

/// A check of a session in a restricted process. If a frame ends the process, a new process checks
/// the session without the frame's group of pictures.
struct SandboxedCheck {
  /// Groups that may end their process. Each costs another check, so a session with more of them is
  /// an error.
  static let lossesMax = 16

  let path: String
  let decodes: Bool

  /// The request of one check.
  private struct Request: Codable {
    var path: String
    var decodes: Bool
    var losses: [DecodingPlace.Loss]
  }

  /// The outcome of one process.
  private enum Outcome {
    case diagnosis(SessionDiagnosis)
    /// The process has printed its error.
    case failed(ExitStatus)
    case noMemory
    /// At a frame, if it was decoding.
    case ended(ChildProcess.End, at: DecodingPlace?)
  }

  /// - Throws: `CommandEnd` if the check printed its error; an error if it ends without a diagnosis.
  func run() throws -> SessionDiagnosis {
    Interruption.listen()
    var losses: [DecodingPlace.Loss] = []
    while true {
      let outcome = try outcome(losses)
      if Interruption.isRequested, case .ended = outcome { throw CommandEnd(status: .interrupted) }
      switch outcome {
      case .diagnosis(let diagnosis): return diagnosis
      case .failed(let status): throw CommandEnd(status: status)
      case .noMemory: throw outOfMemory
      // A process that cannot begin has printed its error.
      case .ended(.exited(let status), nil) where status != 0:
        throw CommandEnd(status: ExitStatus(rawValue: status) ?? .error)
      case .ended(let end, let place):
        guard let place, losses.count < Self.lossesMax else { throw crashed(end, losses.count) }
        losses.append(DecodingPlace.Loss(place: place, cause: end.helperCause))
      }
    }
  }

  private func outcome(_ losses: [DecodingPlace.Loss]) throws -> Outcome {
    let helper = try SandboxedHelper(session: path)
    let request = Request(path: path, decodes: decodes, losses: losses)
    let isAsked = helper.ask(
      String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
    var (place, diagnosis) = (DecodingPlace?.none, SessionDiagnosis?.none)
    var last: String?
    while isAsked, last == nil, let line = helper.line() {
      if let next = DecodingPlace(line: line) {
        place = next
      } else if let found = try? JSONDecoder().decode(
        SessionDiagnosis.self, from: Data(line.utf8))
      {
        diagnosis = found
      } else {
        last = line
      }
    }
    let end = helper.end()
    if let diagnosis { return .diagnosis(diagnosis) }
    if last == Sandbox.memoryLine { return .noMemory }
    let status = last.flatMap { Int32($0) }.flatMap { ExitStatus(rawValue: $0) }
    guard let status, status != .passed else { return .ended(end, at: place) }
    return .failed(status)
  }

  /// Does the checks that `run` asks for, in the restricted process.
  static func serve(
    _ check: (String, [DecodingPlace.Loss], @escaping @Sendable (DecodingPlace) throws -> Void)
      throws -> SessionDiagnosis
  ) throws {
    try SandboxedProcess.serve { text in
      let request = try JSONDecoder().decode(Request.self, from: Data(text.utf8))
      let diagnosis = try check(request.path, request.losses) {
        try SandboxedProcess.answer($0.line)
      }
      try SandboxedProcess.answer(
        String(decoding: try JSONEncoder().encode(diagnosis), as: UTF8.self))
    }
  }

  private var outOfMemory: ErrorFacts {
    .overMemoryLimit(
      "session.check.memory", SandboxedHelper.bytesMax(ofSession: path), at: path,
      advice: "If you trust the session",
      retry: "retake session check \(path.shellWord)\(decodes ? " --deep" : "")")
  }

  private func crashed(_ end: ChildProcess.End, _ losses: Int) -> ErrorFacts {
    ErrorFacts(
      "session.check.crashed",
      "the process that checks the session was ended by \(end.helperCause)",
      cause: losses > 0 ? "\(losses) groups of pictures ended theirs before" : nil, at: path,
      advice: "Do not replay it. Import its media again, and report the session to us if you can")
  }
}

extension DecodingPlace {
  /// The place as an answer of the process: track, sequence and entry.
  fileprivate var line: String { "\(frame.track) \(frame.sequence) \(entry)" }

  fileprivate init?(line: String) {
    let numbers = line.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    self.init(frame: FrameID(track: numbers[0], sequence: numbers[1]), entry: numbers[2])
  }
}
