import Synchronization

/// The body of a stage that does not return. This is an engine fault, never a decision.
package struct HungBody: Error, Hashable {
  package var body: WatchedBody
}
