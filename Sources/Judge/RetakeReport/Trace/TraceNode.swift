/// A node of a run, as a trace shows it.
package struct TraceNode: Hashable, Sendable {
  package enum Role: Hashable, Sendable {
    case source
    /// Servers process its frames.
    case stage
    /// Needs no server: a throttle, a sample, a route, a forEach.
    case passing
    /// Waits for parts or items that belong together.
    case gathering
    /// Reads the latest value of its other ports.
    case latest
    case sink
  }

  package struct Executor: Hashable, Sendable {
    package var id: String
    package var servers: Int

    package init(id: String, servers: Int) {
      self.id = id
      self.servers = servers
    }
  }

  package var id: String
  package var role: Role
  /// Ids of the nodes that it reads from, in the order of its ports.
  package var inputs: [String]
  package var executor: Executor?
  /// The track that a source reads.
  package var track: Int?

  package init(
    id: String, role: Role, inputs: [String] = [], executor: Executor? = nil, track: Int? = nil
  ) {
    self.id = id
    self.role = role
    self.inputs = inputs
    self.executor = executor
    self.track = track
  }
}
