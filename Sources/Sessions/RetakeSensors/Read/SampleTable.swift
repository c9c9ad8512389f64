import Foundation
import RetakeBuffers
package import RetakeCore
package import RetakeStore

/// Reads a session's samples by their time. Only pages that are in use are in memory, so that a
/// session may have any number of samples.
package final class SampleTable: SensorReader, @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  package let sensors: [SensorTrack]
  private let store: StoreReader
  /// Called before the first sample is given out.
  private let check: @Sendable () throws -> Void
  private let lock = NSLock()
  private var pages: [PageKey: [SampleRecord]] = [:]
  /// The pages in memory, the least recently used first.
  private var order: [PageKey] = []
  /// The first sample of each page that was looked at.
  private var firsts: [PageKey: SampleRecord] = [:]

  private struct PageKey: Hashable {
    var sensor: Int
    var number: Int
  }

  package static let pageRows = 1_024
  private static let pagesMax = 64
  /// The most samples of one window: more would be a mistake in its length.
  package static let windowMax = 1 << 20

  /// - Parameter check: Checks all rows together; called once per sample, so it remembers.
  package init(
    _ store: StoreReader, check: @escaping @Sendable () throws -> Void = {}
  ) throws {
    self.store = store
    self.check = check
    var sensors: [SensorTrack] = []
    for record in try store.sensors() {
      sensors.append(record.track(samples: try store.sampleEnd(sensor: record.sensor)))
    }
    self.sensors = sensors
  }

  package func latest(
    of sensor: Int, at time: Timestamp, arrivedBy arrival: Timestamp
  ) throws -> SensorSample? {
    try check()
    let count = try seen(sensor, time, arrival)
    return count == 0 ? nil : try row(sensor, count - 1)?.sample
  }

  package func samples(
    of sensor: Int, after start: Timestamp, upTo end: Timestamp, arrivedBy arrival: Timestamp
  ) throws -> [SensorSample] {
    try check()
    let first = try count(sensor) { $0.timeNanoseconds <= start.nanoseconds }
    let last = try seen(sensor, end, arrival)
    guard first < last else { return [] }
    guard last - first <= Self.windowMax else {
      throw ErrorFacts(
        "sensor.window.long",
        "a window has \(last - first) samples, and may have \(Self.windowMax)",
        advice: "Read a shorter window")
    }
    return try (first..<last).compactMap { try row(sensor, $0)?.sample }
  }

  package func digest() throws -> Digest128 { try store.lastCommit().digest }

  /// The number of samples that were measured and had arrived: a sample of an instant is there
  /// before a frame of the same instant.
  private func seen(_ sensor: Int, _ time: Timestamp, _ arrival: Timestamp) throws -> Int {
    min(
      try count(sensor) { $0.timeNanoseconds <= time.nanoseconds },
      try count(sensor) { $0.arrivalNanoseconds <= arrival.nanoseconds })
  }

  /// The number of samples before the first that does not fulfil a condition. Neither times nor
  /// arrivals ever decrease, so the samples that fulfil it come first.
  private func count(_ sensor: Int, while fulfils: (SampleRecord) -> Bool) throws -> Int {
    let total = sensors.first { $0.number == sensor }?.sampleCount ?? 0
    var (low, high) = (0, (total + Self.pageRows - 1) / Self.pageRows)
    while low < high {
      let middle = (low + high) / 2
      if let row = try first(sensor, middle), fulfils(row) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low > 0 else { return 0 }
    let page = try page(sensor, low - 1)
    return (low - 1) * Self.pageRows + page.partitionPoint(where: fulfils)
  }

  private func row(_ sensor: Int, _ index: Int) throws -> SampleRecord? {
    let page = try page(sensor, index / Self.pageRows)
    let place = index % Self.pageRows
    return page.indices.contains(place) ? page[place] : nil
  }

  private func first(_ sensor: Int, _ number: Int) throws -> SampleRecord? {
    let key = PageKey(sensor: sensor, number: number)
    if let known = lock.withLock({ firsts[key] }) { return known }
    let row = try store.samples(sensor: sensor, from: number * Self.pageRows, count: 1).first
    lock.withLock { firsts[key] = row }
    return row
  }

  private func page(_ sensor: Int, _ number: Int) throws -> [SampleRecord] {
    let key = PageKey(sensor: sensor, number: number)
    if let known = lock.withLock({ use(key) }) { return known }
    // Not locked while the rows are read: two threads may read one page, and read the same.
    let rows = try store.samples(
      sensor: sensor, from: number * Self.pageRows, count: Self.pageRows)
    lock.withLock {
      if pages.updateValue(rows, forKey: key) == nil { order.append(key) }
      if order.count > Self.pagesMax { pages[order.removeFirst()] = nil }
    }
    return rows
  }

  private func use(_ key: PageKey) -> [SampleRecord]? {
    guard let rows = pages[key] else { return nil }
    if order.last != key, let place = order.firstIndex(of: key) {
      order.append(order.remove(at: place))
    }
    return rows
  }
}

extension Array {
  /// The number of elements before the first that does not fulfil a condition, if the elements that
  /// fulfil it come first.
  fileprivate func partitionPoint(where fulfils: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if fulfils(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
