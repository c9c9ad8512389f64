import CRetake
import Retake

/// Why a function of the library does not return `RETAKE_OK`.
struct Problem: Error, Sendable {
  var status: retake_status
  var code: String
  var message: String
  var cause = ""
  /// A JSON pointer into the document.
  var pointer = ""
  var advice = ""
  /// All of it on one line.
  var text: String

  /// A mistake of the caller.
  init(_ status: retake_status, _ code: String, _ message: String, advice: String = "") {
    self.status = status
    self.code = "c.\(code)"
    self.message = message
    self.advice = advice
    text = advice.isEmpty ? message : "\(message). \(advice)"
  }

  /// An error of the engine, with the status that belongs to it.
  init(_ error: any Error) {
    guard let error = error as? any CodedError else {
      self.init(RETAKE_ERROR_RUN, "unknown", "\(error)")
      return
    }
    self.init(Self.status(of: error), error)
  }

  init(_ status: retake_status, _ error: any CodedError) {
    self.status = status
    code = error.code
    message = error.message
    cause = error.cause ?? ""
    pointer = error.place?.pointer ?? ""
    advice = error.advice ?? ""
    text = error.description
  }

  /// A stage has halted the run.
  init(haltedBy failure: StageFailure) {
    status = RETAKE_ERROR_RUN
    code = failure.code
    message = "'\(failure.node)' halted the run at frame \(failure.frame): \(failure.message)"
    text = "\(message) [\(failure.code)]"
  }

  private static func status(of error: any CodedError) -> retake_status {
    switch error {
    case is PipelineError, is ReplayError: RETAKE_ERROR_DOCUMENT
    case is DeviceEventError: RETAKE_ERROR_VALUE
    case _ where error.isAboutSession: RETAKE_ERROR_SESSION
    case let error as RuntimeError: status(of: error)
    case let error as any RetakeError where error.isAboutMemory: RETAKE_ERROR_LIMIT
    default: RETAKE_ERROR_RUN
    }
  }

  private static func status(of error: RuntimeError) -> retake_status {
    switch error {
    case .unboundSource, .noSuchTrack, .sameTrack, .notLive: RETAKE_ERROR_DOCUMENT
    case .badOption: RETAKE_ERROR_VALUE
    case .unknownSwapNode, .swapRefused: RETAKE_ERROR_SWAP
    case .noThread: RETAKE_ERROR_LIMIT
    case .interrupted: RETAKE_ERROR_INTERRUPTED
    case .frameUnreadable, .timeOutOfRange, .eventTimeOutOfRange: RETAKE_ERROR_SESSION
    case .endlessInstant, .stuck, .costMissing, .badExternalEvent, .strayExternalEvent, .hung:
      RETAKE_ERROR_RUN
    }
  }
}

extension Problem {
  static func null(_ name: String) -> Problem {
    Problem(RETAKE_ERROR_NULL, "null", "'\(name)' is NULL")
  }

  static func value(_ message: String, advice: String = "") -> Problem {
    Problem(RETAKE_ERROR_VALUE, "value", message, advice: advice)
  }

  static func size(of name: String, _ size: Int, expected: Int) -> Problem {
    Problem(
      RETAKE_ERROR_STRUCT, "struct", "the size of a \(name) is \(expected) here, not \(size)",
      advice: "Set the struct to zero and its size to sizeof(\(name)), and compile with the "
        + "retake.h of this library")
  }

  static let callback = Problem(
    RETAKE_ERROR_CALLBACK, "callback", "this function may not be called in a callback",
    advice: "Call it on another thread, or when the callback has returned")

  static let stopped = Problem(
    RETAKE_ERROR_STOPPED, "stopped", "the pipeline was stopped",
    advice: "Create another one for more frames")
}
