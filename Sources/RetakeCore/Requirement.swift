/// Ends the process if a caller broke a rule: a mistake in a program, not in its data. Unlike
/// `precondition`, it prints the rule in release builds too.
///
/// - Parameter rule: What holds in a right program, such as "a pipeline begins with a source".
@inlinable
package func requirement(
  _ isMet: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !isMet { fatalError(rule(), file: file, line: line) }
}
