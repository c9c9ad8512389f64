/// The counters of a trace. For each instant, only the last value is written, and only if it has
/// changed.
struct TraceCounters: Sendable {
  private struct Counter: Sendable {
    var name: String
    var unit: String
    var value = 0
    var written: Int?
  }

  /// The first counter is frames in flight, then come pools, then the frames that wait at nodes.
  private var counters: [Counter]
  private var ofNode: [Int?]
  /// The index of the first size of an adaptive pool, after the leases of all pools.
  private let sizes: Int
  /// The index of the first count of stalls, after the sizes.
  private let stalls: Int
  private var changed: Set<Int> = []

  /// - Parameter adaptive: The pools whose size changes.
  init(_ nodes: [TraceNode], pools: [String], adaptive: [String]) {
    var counters = [Counter(name: "in flight", unit: "frames")]
    counters += pools.map { Counter(name: "pool \($0)", unit: "leases") }
    sizes = counters.count
    counters += adaptive.map { Counter(name: "size of pool \($0)", unit: "buffers") }
    stalls = counters.count
    counters += adaptive.map { Counter(name: "stalls of pool \($0)", unit: "requests") }
    ofNode = nodes.map { node in
      guard let unit = TraceQueues.unit(of: node.role) else { return nil }
      let name = node.role == .gathering ? "waiting at \(node.id)" : "queue of \(node.id)"
      counters.append(Counter(name: name, unit: unit))
      return counters.count - 1
    }
    self.counters = counters
  }

  /// Begins the first instant: all counters will be written with their zero.
  mutating func begin() {
    // The first counter is written at the end of the first instant, so until then it still is that
    // one.
    guard counters[0].written == nil else { return }
    changed = Set(counters.indices)
  }

  mutating func setInFlight(_ value: Int) { set(counter: 0, value) }

  mutating func setLeases(_ value: Int, ofPool pool: Int) { set(counter: 1 + pool, value) }

  mutating func setSize(_ value: Int, ofAdaptive pool: Int) { set(counter: sizes + pool, value) }

  mutating func setStalls(_ value: Int, ofAdaptive pool: Int) { set(counter: stalls + pool, value) }

  mutating func set(_ node: Int, _ value: Int) {
    if let counter = ofNode[node] { set(counter: counter, value) }
  }

  private mutating func set(counter: Int, _ value: Int) {
    guard counters[counter].value != value else { return }
    counters[counter].value = value
    changed.insert(counter)
  }

  /// Writes the values at the end of an instant.
  mutating func flush(at time: Int64, _ text: inout TraceText) {
    // Sorted, because the order of a Set would make another trace in each process. A value that
    // changed and changed back within the instant is not written.
    for index in changed.sorted() where counters[index].written != counters[index].value {
      counters[index].written = counters[index].value
      text.counter(
        counters[index].name, unit: counters[index].unit, value: counters[index].value, at: time,
        TraceLayout.queues)
    }
    changed.removeAll(keepingCapacity: true)
  }
}
