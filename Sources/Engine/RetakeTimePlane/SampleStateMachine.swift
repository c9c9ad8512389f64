/// Passes one frame out of every `every`, the first of them.
package struct SampleStateMachine: Hashable, Sendable {
  private let every: Int
  private var seen = 0

  package init(every: Int) {
    precondition(every > 0, "one frame of at least one passes")
    self.every = every
  }

  package mutating func passes() -> Bool {
    // sample-pass: counts the frames that come, not
    // sequences, so frames that ended before do not matter.
    defer { seen = (seen + 1) % every }
    return seen == 0
  }
}
