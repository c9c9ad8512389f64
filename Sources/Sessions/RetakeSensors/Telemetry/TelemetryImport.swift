import RetakeCore
package import RetakeMedia
package import RetakeStore

/// Reads a camera's own measurements from the data stream of its media file, and writes them as
/// sensors.
///
/// A packet says how many samples of each sensor were measured while it lasted, and not when. They
/// are spread evenly over the time up to the next packet. Only the first packet of a sensor may
/// have begun late: its samples end where the second packet begins, with the distance of the
/// samples there.
package struct TelemetryImport {
  /// The codec tag of a telemetry stream.
  package static let tag = "gpmd"
  /// The most bytes of one packet: a second of it has a few kilobytes.
  private static let packetBytesMax = 16 << 20

  private let path: String
  /// Named by errors instead of `path`.
  private let file: String
  private let source: String
  private let shift: Int64

  /// - Parameters:
  ///   - file: The file that the user named, if `path` is a copy of it.
  ///   - source: The source that the sensors record, such as a file name.
  ///   - shift: Nanoseconds that are subtracted from each time.
  package init(path: String, file: String, source: String, shift: Int64 = 0) {
    (self.path, self.file, self.source, self.shift) = (path, file, source, shift)
  }

  /// The streams of a file that have telemetry.
  package static func streams(of all: [MediaStream]) -> [MediaStream] {
    all.filter { $0.kind == .data && $0.fourCharacters == tag }
  }

  /// - Throws: `SensorError`, with the packet and the byte that cannot be read.
  package func run(
    _ stream: MediaStream, into samples: SampleWriter, continues: () -> Bool = { true }
  ) throws {
    let demuxer: MediaDemuxer
    do {
      demuxer = try MediaDemuxer(path: path)
    } catch let error as MediaError {
      throw SensorError.unreadable(file: file, cause: error.message)
    }
    demuxer.select([stream.index])
    var timing = TelemetryTiming(file: file, source: source, samples: samples)
    while let packet = try next(demuxer) {
      guard packet.stream == stream.index else { continue }
      guard continues() else { throw SensorError.interrupted }
      try take(packet, of: stream, &timing)
    }
    try timing.finish()
  }

  private func next(_ demuxer: MediaDemuxer) throws -> MediaPacket? {
    do {
      return try demuxer.nextPacket()
    } catch let error as MediaError {
      throw SensorError.unreadable(file: file, cause: error.message)
    }
  }

  private func take(
    _ packet: MediaPacket, of stream: MediaStream, _ timing: inout TelemetryTiming
  ) throws {
    func damage(_ byte: Int, _ problem: String) -> SensorError {
      .telemetry(file: file, packet: packet.index, byte: byte, problem: problem)
    }
    guard packet.size <= Self.packetBytesMax else {
      throw damage(0, "it has more than \(Self.packetBytesMax) bytes")
    }
    guard let pts = packet.pts,
      let start = Timestamp(
        pts: pts, timeBase: stream.timeBase, movedBackBy: Int128(shift)),
      let length = Timestamp(pts: packet.duration, timeBase: stream.timeBase),
      abs(start.nanoseconds) < 1 << 61, (0..<1 << 61).contains(length.nanoseconds)
    else { throw damage(0, "it has no time") }
    let walk = TelemetryWalk(bytes: packet.bytes)
    let reading = TelemetryStream(walk: walk)
    var payloads: [TelemetryPayload] = []
    do {
      try walk.eachStream { (device, items) in
        if let payload = try reading.payload(device: device, items) { payloads.append(payload) }
      }
    } catch let error as TelemetryDamage {
      throw damage(error.byte, error.problem)
    }
    try timing.begin(
      packet: packet.index, start: start.nanoseconds, duration: length.nanoseconds, payloads)
  }
}

/// Computes the times of the samples of telemetry packets.
private struct TelemetryTiming {
  let file: String
  let source: String
  let samples: SampleWriter
  private var sensors: [TelemetryPayload.Identity: Sensor] = [:]
  /// In the order in which they were found.
  private var order: [TelemetryPayload.Identity] = []
  /// The last packet: it ends where the next one begins.
  private var open: Packet?

  private struct Packet {
    var number: Int
    var start: Int64
    var duration: Int64
    var payloads: [TelemetryPayload]
  }

  private struct Sensor {
    var number: Int
    var channels: Int
    /// The first samples, whose distance the next packet tells.
    var held: (packet: Packet, end: Int64, samples: [[Double]])?
    var isFirst = true
  }

  init(file: String, source: String, samples: SampleWriter) {
    (self.file, self.source, self.samples) = (file, source, samples)
  }

  mutating func begin(
    packet number: Int, start: Int64, duration: Int64, _ payloads: [TelemetryPayload]
  ) throws {
    if let open { try close(open, end: start) }
    open = Packet(number: number, start: start, duration: duration, payloads: payloads)
  }

  mutating func finish() throws {
    if let open { try close(open, end: open.start + open.duration) }
    open = nil
    for identity in order {
      guard let sensor = sensors[identity], let held = sensor.held else { continue }
      try write(
        held.samples, of: sensor, from: held.packet.start, to: held.end, count: held.samples.count,
        packet: held.packet.number)
    }
    do { try samples.finish() } catch let error as SampleError { throw refused(error, packet: 0) }
  }

  private mutating func close(_ packet: Packet, end: Int64) throws {
    guard end >= packet.start else {
      throw SensorError.telemetry(
        file: file, packet: packet.number + 1, byte: 0,
        problem: "it begins \(Duration.nanoseconds(packet.start - end).roundedText) earlier than "
          + "the "
          + "previous packet")
    }
    var seen: Set<TelemetryPayload.Identity> = []
    for payload in packet.payloads where !payload.samples.isEmpty {
      guard seen.insert(payload.identity).inserted else {
        throw SensorError.telemetry(
          file: file, packet: packet.number, byte: 0,
          problem: "a device has two streams of \(payload.identity.key)")
      }
      try take(payload, of: packet, end: end)
    }
  }

  private mutating func take(
    _ payload: TelemetryPayload, of packet: Packet, end: Int64
  ) throws {
    var sensor: Sensor
    if let known = sensors[payload.identity] {
      sensor = known
    } else {
      sensor = try add(payload, packet: packet.number)
    }
    guard payload.channels.count == sensor.channels else {
      throw SensorError.telemetry(
        file: file, packet: packet.number, byte: 0,
        problem: "\(payload.identity.key) has \(counted(payload.channels.count, "value")), and "
          + "\(sensor.channels) before")
    }
    let rows = payload.samples
    if sensor.isFirst {
      sensor.isFirst = false
      sensor.held = (packet, end, rows)
    } else {
      if let held = sensor.held {
        sensor.held = nil
        let length = held.end - held.packet.start
        // The duration of the samples at the distance of these samples, if it is less than their
        // packet's duration.
        let (needed, isTooLong) = spread(held.samples.count, over: end - packet.start, rows.count)
        let start = isTooLong || needed > length ? held.packet.start : held.end - needed
        try write(
          held.samples, of: sensor, from: start, to: held.end, count: held.samples.count,
          packet: held.packet.number)
      }
      try write(
        rows, of: sensor, from: packet.start, to: end, count: rows.count, packet: packet.number)
    }
    sensors[payload.identity] = sensor
  }

  private func spread(_ count: Int, over length: Int64, _ others: Int) -> (Int64, Bool) {
    let needed = divideToNearest(Int128(count) * Int128(length), by: Int128(max(1, others)))
    return (Int64(clamping: needed), needed > Int128(Int64.max))
  }

  private func write(
    _ rows: [[Double]], of sensor: Sensor, from start: Int64, to end: Int64, count: Int,
    packet: Int
  ) throws {
    for (number, row) in rows.enumerated() {
      let part = divideToNearest(
        Int128(number) * Int128(end - start), by: Int128(max(1, count)))
      do {
        try samples.append(sensor.number, time: start + Int64(part), row)
      } catch let error as SampleError {
        throw refused(error, packet: packet)
      }
    }
  }

  private mutating func add(
    _ payload: TelemetryPayload, packet: Int
  ) throws -> Sensor {
    let kind = TelemetryNames.kind(of: payload.identity.key)
    do {
      let number = try samples.add(
        name: samples.freeName(kind), kind: kind, unit: payload.unit, channels: payload.channels,
        source: source)
      order.append(payload.identity)
      return Sensor(number: number, channels: payload.channels.count)
    } catch let error as SampleError {
      throw refused(error, packet: packet)
    }
  }

  private func refused(_ error: SampleError, packet: Int) -> SensorError {
    .sample(file: file, place: "packet \(packet) of the telemetry", error.facts)
  }
}
