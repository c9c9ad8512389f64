import CRetake
import Foundation
import Retake

// SAFETY: a string of the caller is read up to its stated length or its zero, and copied.

/// Runs the body of a function, and stores its error as the thread's last error.
///
/// - Parameter callback: The innermost callback in which the function may be called.
func answer(
  inside callback: ThreadState.Callback = .none, _ body: () throws -> Void
) -> retake_status {
  do {
    guard ThreadState.callback <= callback else { throw Problem.callback }
    try body()
    return RETAKE_OK
  } catch {
    let problem = error as? Problem ?? Problem(error)
    ThreadState.note(problem)
    return problem.status
  }
}

/// A JSON document of the caller.
///
/// - Throws: `Problem`.
func given(_ json: UnsafePointer<CChar>?, _ length: Int) throws -> Data {
  guard let json else { throw Problem.null("json") }
  // Longer documents are refused without being read. A negative length is a size_t that is too
  // large.
  guard (0...PipelineDocument.bytesMax).contains(length) else {
    throw Problem(
      RETAKE_ERROR_DOCUMENT, "length",
      "a document of \(UInt(bitPattern: length)) bytes is too large",
      advice: "Pass the length of the JSON, at most \(PipelineDocument.bytesMax) bytes")
  }
  return Data(bytes: json, count: length)
}

/// The members of a JSON object of the caller.
///
/// - Throws: `Problem`.
func givenObject(
  _ json: UnsafePointer<CChar>?, _ length: Int
) throws -> [String: JSONValue] {
  let data = try given(json, length)
  guard let value = try? JSONValue(parsing: data), case .object(let members) = value else {
    throw Problem.value(
      "the options are not a JSON object", advice: "For example {\"threshold\": 30}")
  }
  return members
}

/// A short string of the caller, which ends with a zero.
///
/// - Throws: `Problem`.
func given(_ text: UnsafePointer<CChar>?, _ name: String) throws -> String {
  guard let text else { throw Problem.null(name) }
  guard let string = String(validatingCString: text) else {
    throw Problem.value("'\(name)' is not UTF-8")
  }
  return string
}

/// Writes a string and its zero. The buffer must be large enough for both.
func write(_ text: String, to buffer: UnsafeMutablePointer<CChar>) {
  let bytes = Array(text.utf8CString)
  buffer.update(from: bytes, count: bytes.count)
}

/// Strings that exist as long as the process does.
enum StaticText {
  nonisolated(unsafe) static let version = make(Tool.version)

  static func name(of status: retake_status) -> UnsafePointer<CChar>? {
    names[status.rawValue] ?? unknown
  }

  private nonisolated(unsafe) static let unknown = make("unknown")

  private nonisolated(unsafe) static let names: [UInt32: UnsafePointer<CChar>] = Dictionary(
    uniqueKeysWithValues: [
      (RETAKE_OK, "RETAKE_OK"), (RETAKE_ERROR_NULL, "RETAKE_ERROR_NULL"),
      (RETAKE_ERROR_HANDLE, "RETAKE_ERROR_HANDLE"), (RETAKE_ERROR_STRUCT, "RETAKE_ERROR_STRUCT"),
      (RETAKE_ERROR_VALUE, "RETAKE_ERROR_VALUE"), (RETAKE_ERROR_TRACK, "RETAKE_ERROR_TRACK"),
      (RETAKE_ERROR_DOCUMENT, "RETAKE_ERROR_DOCUMENT"),
      (RETAKE_ERROR_STOPPED, "RETAKE_ERROR_STOPPED"), (RETAKE_ERROR_FULL, "RETAKE_ERROR_FULL"),
      (RETAKE_ERROR_CALLBACK, "RETAKE_ERROR_CALLBACK"),
      (RETAKE_ERROR_BUFFER, "RETAKE_ERROR_BUFFER"), (RETAKE_ERROR_SESSION, "RETAKE_ERROR_SESSION"),
      (RETAKE_ERROR_RUN, "RETAKE_ERROR_RUN"), (RETAKE_ERROR_SWAP, "RETAKE_ERROR_SWAP"),
      (RETAKE_ERROR_LIMIT, "RETAKE_ERROR_LIMIT"),
      (RETAKE_ERROR_INTERRUPTED, "RETAKE_ERROR_INTERRUPTED"),
      (RETAKE_ERROR_BUSY, "RETAKE_ERROR_BUSY"),
    ].map { ($0.0.rawValue, make($0.1)) })

  private static func make(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let block = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    block.initialize(from: bytes, count: bytes.count)
    return UnsafePointer(block)
  }
}

/// A caller's function for the outcome of a swap.
struct SwapAnswer: @unchecked Sendable {
  // SAFETY: @unchecked because of the caller's context, which is only passed on, once.
  private let done: retake_on_swap?
  private let context: UnsafeMutableRawPointer?

  init(_ done: retake_on_swap?, _ context: UnsafeMutableRawPointer?) {
    self.done = done
    self.context = context
  }

  func give(_ problem: Problem?) {
    guard let done else { return }
    ThreadState.calling(.result) {
      guard let problem else { return done(nil, context) }
      problem.withError { done($0, context) }
    }
  }
}
