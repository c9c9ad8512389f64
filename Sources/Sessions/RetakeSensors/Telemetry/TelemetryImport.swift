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

  private let source: String

  /// - Parameter source: The source that the sensors record, such as a file name.
  package init(source: String) { self.source = source }

  /// The streams of a file that have telemetry.
  package static func streams(of all: [MediaStream]) -> [MediaStream] {
    all.filter { $0.kind == .data && $0.fourCharacters == tag }
  }

  /// - Parameter parts: The stream in each file of the recording, in their order.
  /// - Throws: `SensorError`, with the packet and the byte that cannot be read.
  package func run(
    _ parts: [SensorPart], into samples: SampleWriter, continues: () -> Bool = { true }
  ) throws {
    guard let first = parts.first else { return }
    var timing = TelemetryTiming(file: first.file, source: source, samples: samples)
    for part in parts {
      try timing.continue(in: part)
      let demuxer: MediaDemuxer
      do {
        demuxer = try MediaDemuxer(path: part.path)
      } catch let error as MediaError {
        throw SensorError.unreadable(file: part.file, cause: error.message)
      }
      demuxer.select([part.stream.index])
      while let packet = try next(demuxer, of: part.file) {
        guard packet.stream == part.stream.index else { continue }
        guard continues() else { throw SensorError.interrupted }
        try take(packet, of: part, &timing)
      }
    }
    try timing.finish()
  }

  private func next(_ demuxer: MediaDemuxer, of file: String) throws -> MediaPacket? {
    do {
      return try demuxer.nextPacket()
    } catch let error as MediaError {
      throw SensorError.unreadable(file: file, cause: error.message)
    }
  }

  private func take(
    _ packet: MediaPacket, of part: SensorPart, _ timing: inout TelemetryTiming
  ) throws {
    let (file, stream) = (part.file, part.stream)
    func damage(_ byte: Int, _ problem: String) -> SensorError {
      .telemetry(file: file, packet: packet.index, byte: byte, problem: problem)
    }
    guard packet.size <= Self.packetBytesMax else {
      throw damage(0, "it has more than \(Self.packetBytesMax) bytes")
    }
    guard let pts = packet.pts,
      let start = Timestamp(
        pts: pts, timeBase: stream.timeBase, movedBackBy: Int128(part.shift)),
      let length = Timestamp(pts: packet.duration, timeBase: stream.timeBase),
      abs(start.nanoseconds) < 1 << 61, (0..<1 << 61).contains(length.nanoseconds)
    else { throw damage(0, "it has no time") }
    let payloads: [TelemetryPayload]
    do {
      payloads = try TelemetryPayload.all(in: packet)
    } catch let error as TelemetryDamage {
      throw damage(error.byte, error.problem)
    }
    try timing.begin(
      packet: packet.index, start: start.nanoseconds, duration: length.nanoseconds, payloads)
  }
}

/// Computes the times of the samples of telemetry packets.
private struct TelemetryTiming {
  private var file: String
  let source: String
  let samples: SampleWriter
  /// Earlier samples of the present file repeat the file before.
  private var start = Int64.min
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

  /// The time of the last sample of each sensor in the files before, by its number.
  private var latest: [Int: Int64] = [:]
  /// The same, up to now.
  private var written: [Int: Int64] = [:]
  /// Whether no packet of the present file has come yet.
  private var isNewFile = true
  /// The time between the last two packets of one file.
  private var distance: Int64 = 0

  init(file: String, source: String, samples: SampleWriter) {
    (self.file, self.source, self.samples) = (file, source, samples)
  }

  /// Begins the next file of the recording. A packet at the end of a file lasts until the first
  /// packet of a file that continues it. Samples that would come twice are left out.
  mutating func `continue`(in part: SensorPart) throws {
    if !part.continues, let open {
      try close(open, end: open.start + open.duration)
      self.open = nil
    }
    (file, start, isNewFile) = (part.file, part.start ?? .min, true)
  }

  mutating func begin(
    packet number: Int, start: Int64, duration: Int64, _ payloads: [TelemetryPayload]
  ) throws {
    if let open {
      let length = start - open.start
      let usual = max(open.duration, distance)
      // A packet that comes early or late in the next file does not continue this one.
      let isApart = isNewFile && (length < 0 || length > usual + usual / 2)
      try close(open, end: isApart ? open.start + open.duration : start)
      if !isNewFile { distance = length }
    }
    if isNewFile { latest = written }
    isNewFile = false
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

  private mutating func write(
    _ rows: [[Double]], of sensor: Sensor, from start: Int64, to end: Int64, count: Int,
    packet: Int
  ) throws {
    for (number, row) in rows.enumerated() {
      let part = divideToNearest(
        Int128(number) * Int128(end - start), by: Int128(max(1, count)))
      let time = start + Int64(part)
      guard time >= max(self.start, latest[sensor.number] ?? .min) else { continue }
      do {
        try samples.append(sensor.number, time: time, row)
        written[sensor.number] = time
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
