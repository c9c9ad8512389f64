/// The time that the programs of documents have for an answer.
package enum ProgramLimits: Hashable, Sendable {
  /// What the node says.
  case declared
  /// A day, so that someone can look at a program in a debugger.
  case lifted
}
