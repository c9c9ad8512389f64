/// When two pipelines on the same frames differ enough for the ring to keep a moment.
package struct DisagreementTrigger: Hashable, Sendable {
  /// A frame disagrees if its measure is at least this. A box that only one pipeline found, and a
  /// changed class, count 1.
  package var least = 1.0
  /// Number of compared frames in a row that have to disagree.
  package var frames = 3
  /// How long the recording continues after the first of these frames.
  package var after = Duration.seconds(5)
  /// Time from the end of a moment to the first frame that can begin another one.
  package var cooldown = Duration.seconds(60)

  package init() {}
}
