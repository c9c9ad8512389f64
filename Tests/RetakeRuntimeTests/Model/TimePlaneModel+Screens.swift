// MARK: - Screens

extension TimePlaneModel {
  /// An image waits for the first refresh that is not before it, and replaces an image that waits;
  /// the buffers of the replaced image are free in the completion phase of this instant.
  func receiveImages(_ node: Int, _ millihertz: Int64) {
    for edge in nodes[node].ins {
      while !edges[edge].waiting.isEmpty {
        let image = removeWaiting(edge)
        if let replaced = nodes[node].coming {
          nodes[node].unseen += 1
          nodes[node].holds.append(replaced)
          now(.completion, node, replaced, .holdEnds(replaced))
        } else {
          planRefresh(node, millihertz)
        }
        nodes[node].coming = image
      }
    }
  }

  private func planRefresh(_ node: Int, _ millihertz: Int64) {
    // From a second before on, so there are few steps.
    var number = (current.time / 1_000_000_000 - 2) * millihertz / 1_000 - 1
    while Self.time(ofRefresh: number, millihertz) < current.time { number += 1 }
    plan(
      Key(
        time: Self.time(ofRefresh: number, millihertz), band: 4, phase: .control, node: node,
        ordinal: Int(number)), .refresh)
  }

  /// `number` × 10¹² / `millihertz`, to the nearest nanosecond.
  static func time(ofRefresh number: Int64, _ millihertz: Int64) -> Int64 {
    let (quotient, rest) = (2 * number * 1_000_000_000_000 + millihertz)
      .quotientAndRemainder(dividingBy: 2 * millihertz)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// Shows the image that waits; the buffers of the previous image are free a nanosecond later.
  func refresh(_ node: Int) {
    guard let image = nodes[node].coming else { return }
    let number = Int64(current.ordinal)
    let latency = current.time - image.arrival
    // Before the first image there is no image to repeat.
    let repeats = nodes[node].visible == nil ? 0 : number - nodes[node].lastRefresh - 1
    say(node, image, "vsync latency=\(latency) repeats=\(repeats) unseen=\(nodes[node].unseen)")
    if let before = nodes[node].visible {
      nodes[node].holds.append(before)
      later(1, .completion, node, before, .holdEnds(before))
    }
    nodes[node].visible = image
    nodes[node].coming = nil
    nodes[node].lastRefresh = number
    nodes[node].unseen = 0
  }
}
