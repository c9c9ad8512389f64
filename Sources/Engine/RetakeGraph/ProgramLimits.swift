/// The time that the programs of documents have for an answer.
package enum ProgramLimits: Hashable, Sendable {
  /// The timeout of the node.
  case declared
  /// A day, so that someone can look at a program in a debugger.
  case lifted
}
