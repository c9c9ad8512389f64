import CRetake

/// A problem as a caller reads it: a struct of C, and the strings that it refers to.
final class ErrorText {
  // SAFETY: the strings are in one block, which is written here and freed with the object. `error`
  // is only used while the object exists.
  let error: retake_error
  private let block: UnsafeMutablePointer<CChar>

  /// - Parameter problem: `nil` = there was no error.
  init(_ problem: Problem?) {
    let strings = [
      problem?.code, problem?.message, problem?.cause, problem?.pointer, problem?.advice,
      problem?.text,
    ].map { Array(($0 ?? "").utf8CString) }
    block = .allocate(capacity: strings.reduce(0) { $0 + $1.count })
    var places: [UnsafePointer<CChar>] = []
    var offset = 0
    for string in strings {
      (block + offset).initialize(from: string, count: string.count)
      places.append(UnsafePointer(block + offset))
      offset += string.count
    }
    error = retake_error(
      status: problem?.status ?? RETAKE_OK, code: places[0], message: places[1], cause: places[2],
      pointer: places[3], advice: places[4], text: places[5])
  }

  deinit { block.deallocate() }
}

extension Problem {
  /// Calls `body` with the problem as a caller reads it.
  func withError(_ body: (UnsafePointer<retake_error>) -> Void) {
    let text = ErrorText(self)
    withUnsafePointer(to: text.error) { body($0) }
    withExtendedLifetime(text) {}
  }
}
