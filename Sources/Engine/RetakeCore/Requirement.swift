import Foundation

/// Ends the process if a caller broke a rule: a mistake in a program, not in its data. Unlike
/// `precondition`, it prints the rule in release builds too.
///
/// - Parameter rule: A sentence that is true in a correct program, such as "a pipeline begins with
///   a source".
package func requirement(
  _ isMet: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !isMet { requirementFailure(rule(), file: file, line: line) }
}

/// Prints the rule that a caller broke, and ends the process.
package func requirementFailure(
  _ rule: String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  // The standard library prints the message of a precondition only in debug builds.
  try? FileHandle.standardError.write(contentsOf: Data("\(file):\(line): error: \(rule)\n".utf8))
  preconditionFailure(rule, file: file, line: line)
}
