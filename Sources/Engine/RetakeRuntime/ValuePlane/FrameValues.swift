import RetakeTimePlane

/// The values of one frame in flight.
struct FrameValues<Handle> {
  /// By node.
  var outputs: [Handle?] = []
  /// By node of a forEach or of its body, then by item.
  var items: [Int: [Handle?]] = [:]
  /// The codes of failed items, by forEach, then by item.
  var failedItems: [Int: [Int: String]] = [:]

  init() {}

  init(nodes: Int) {
    outputs = Array(repeating: nil, count: nodes)
  }

  subscript(node: Int, work: Work) -> Handle? {
    get {
      guard work.isItem else { return outputs[node] }
      let items = items[node] ?? []
      return items.indices.contains(Int(work.item)) ? items[Int(work.item)] : nil
    }
    set {
      guard work.isItem else {
        outputs[node] = newValue
        return
      }
      items[node, default: []].put(newValue, at: Int(work.item))
    }
  }
}

extension Array {
  fileprivate mutating func put<Value>(_ value: Value?, at index: Int) where Element == Value? {
    while count <= index { append(nil) }
    self[index] = value
  }
}
