import Foundation
import RetakeCore
package import RetakeSession
import RetakeStore

/// Makes a session from a bag of ROS 2 (SQLite or MCAP), another MCAP file, or a bag of ROS 1.
///
/// Each topic with images becomes a track: raw images as raw video, JPEG, PNG, H.264 and H.265 as
/// the packets that they are. Each topic with a bounded number of numbers becomes a sensor or
/// several. The time of a frame or a sample is the stamp of the message's header, its arrival the
/// time at which the bag recorded it. The bag is read once, message by message.
///
/// ```swift
/// let result = try BagImporter(BagImportOptions(path: "run.mcap", name: "yard")).run()
/// for track in result.tracks { print(track.topic, track.frames) }  // /camera/image_raw 900
/// for topic in result.leftOut { print(topic.topic, topic.reason) }
/// ```
package struct BagImporter: Sendable {
  private let options: BagImportOptions
  private let report: @Sendable (ImportProgress) -> Bool

  /// - Parameter report: Called with the progress, from any thread, one at a time; returning false
  ///   stops the import.
  package init(
    _ options: BagImportOptions,
    report: @escaping @Sendable (ImportProgress) -> Bool = { _ in true }
  ) {
    (self.options, self.report) = (options, report)
  }

  /// Imports the readable parts of a damaged bag, and reports the other parts in `losses`.
  ///
  /// - Throws: `BagError` for a bag without anything to import, and for a topic that was selected
  ///   and cannot be used; `SessionError`. After an error no files of the session remain.
  package func run() throws -> BagImportResult {
    let files = try BagFiles(options.path, rate: options.rate)
    let target = try SessionFolder(
      new: options.name, or: Self.name(files), in: options.into)
    return try SessionBuilder.build(target) { site in
      try BagBuild(
        files: files, options: options, site: site, target: target, report: report
      ).run()
    }
  }

  /// Without `.db3`, `.bag` or `.mcap.zstd`; a folder has no such ending.
  private static func name(_ files: BagFiles) -> String {
    let endings: Set<Substring> = ["db3", "mcap", "bag", "zstd"]
    var parts = files.name.split(separator: ".", omittingEmptySubsequences: false)
    while parts.count > 1, let last = parts.last, endings.contains(last) { parts.removeLast() }
    return parts.joined(separator: ".")
  }
}

/// One import, in its hidden folder.
private final class BagBuild {
  private let files: BagFiles
  private let options: BagImportOptions
  private let site: SessionBuilder
  private let target: SessionFolder
  private let report: @Sendable (ImportProgress) -> Bool
  private var losses = LossList()
  private var notes: [String] = []
  private var leftOut: [BagImportResult.LeftOut] = []
  private var sensorTopics: [BagImportResult.Sensors] = []

  init(
    files: BagFiles, options: BagImportOptions, site: SessionBuilder, target: SessionFolder,
    report: @escaping @Sendable (ImportProgress) -> Bool
  ) {
    (self.files, self.options, self.site) = (files, options, site)
    (self.target, self.report) = (target, report)
  }

  private func tell(_ phase: ImportProgress.Phase, _ done: Int64, _ total: Int64?) throws {
    guard report(ImportProgress(phase: phase, done: Int(done), total: total.map { Int($0) })) else {
      throw SessionError.interrupted
    }
  }

  func run() throws -> BagImportResult {
    let scratch = site.folder.path + "/expanded"
    try makeFolder(scratch)
    let bag = try Bag(files, scratch: scratch) { try tell(.copying, $0, nil) }
    for loss in bag.losses { losses.add(loss) }
    notes += files.notes
    let first = try firstMessages(of: bag)
    let selection = try BagSelection(
      bag.topics, wanted: options.topics, first: first, path: options.path,
      cut: bag.cut)
    leftOut = selection.leftOut
    let clock = BagClock(selection.tracks, first)
    if let note = clock.note { notes.append(note) }
    let origin = BagOrigin(clock.start)
    let writer = try StoreWriter(building: site.folder.database)
    var tracks = selection.tracks.enumerated().map { number, track in
      BagTrack(
        number: number, topic: bag.topics[track.topic], type: track.type, site: site.folder,
        origin: origin)
    }
    let samples = SampleWriter(writer)
    let sensors = selection.sensors.map { BagSensor(topic: bag.topics[$0.topic], plans: $0.plans) }
    let tracksByTopic = Dictionary(
      uniqueKeysWithValues: zip(selection.tracks.map(\.topic), tracks))
    let sensorsByTopic = Dictionary(
      uniqueKeysWithValues: zip(selection.sensors.map(\.topic), sensors))
    try read(bag) { message in
      if let track = tracksByTopic[message.topic] {
        try track.take(message)
      } else if let sensor = sensorsByTopic[message.topic] {
        try sensor.take(message, clock: clock, origin: origin, into: samples)
      }
    }
    try samples.finish()
    try FileManager.default.removeItem(atPath: scratch)
    tracks = try withImages(tracks)
    sensorTopics = try withSamples(sensors)
    let rows = try rows(of: tracks)
    guard !rows.isEmpty else {
      throw BagError.noImages(
        path: options.path,
        topics: leftOut.map { "\($0.topic): \($0.reason)" }
          + sensorTopics.map { BagSelection.numbersOnly($0.topic, $0.type) },
        cut: bag.cut)
    }
    return try write(rows, BagRows(rows: rows, clock: clock, origin: origin), to: writer)
  }

  private func makeFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw SessionError.write(path, error)
    }
  }

  // MARK: Reading

  private struct Found: Error {}
  /// The first messages of all topics come early, unless a topic is silent for long.
  private static let probeMessagesMax = 1 << 20
  /// A bag of large images has few messages.
  private static let probeBytesMax = 64 << 20

  private func firstMessages(of bag: Bag) throws -> [Int: BagMessage] {
    let wanted = Set(
      bag.topics.indices.filter { ImageType.hasImages(bag.topics[$0]) && bag.topics[$0].count != 0 }
    )
    var (first, count, bytes) = ([Int: BagMessage](), 0, 0)
    do {
      try bag.read(report: { _ in }) { item in
        count += 1
        guard case .message(let message) = item else { return }
        if wanted.contains(message.topic), first[message.topic] == nil {
          first[message.topic] = message
        }
        bytes += message.bytes.count
        if first.count == wanted.count || count >= Self.probeMessagesMax
          || bytes >= Self.probeBytesMax
        {
          throw Found()
        }
      }
    } catch is Found {}
    return first
  }

  private func read(_ bag: Bag, _ body: (BagMessage) throws -> Void) throws {
    let total = bag.bytes
    var reported: Int64 = -1
    try bag.read(report: { done in
      // A megabyte at a time: a bag has millions of small messages.
      guard done >> 20 != reported else { return }
      reported = done >> 20
      try tell(.copying, done, total)
    }) { item in
      switch item {
      case .loss(let error): losses.add(error)
      // The bag's own reader converts errors of other modules, such as those of its media.
      case .message(let message): try body(message)
      }
    }
  }

  /// Leaves out topics without an image, with the error of their first message.
  private func withImages(_ tracks: [BagTrack]) throws -> [BagTrack] {
    try tracks.filter { track in
      guard !track.isEmpty else {
        try leaveEmpty(track.topic, track.firstBad)
        return false
      }
      if track.badCount > 0, let first = track.firstBad {
        losses.add(
          "\(track.topic.name): "
            + (track.badCount == 1
              ? "one message has no image" : "\(track.badCount) messages have no image")
            + "; \(first.lossText)")
      }
      noteLate(track.lateCount, of: track.topic)
      return true
    }
  }

  /// Leaves out topics without a sample, with the error of their first message.
  private func withSamples(_ sensors: [BagSensor]) throws -> [BagImportResult.Sensors] {
    var kept: [BagImportResult.Sensors] = []
    for sensor in sensors {
      let name = sensor.topic.name
      guard sensor.sampleCount > 0 else {
        try leaveEmpty(sensor.topic, sensor.firstBad)
        continue
      }
      if sensor.badCount > 0, let first = sensor.firstBad {
        losses.add(
          "\(name): "
            + "\(counted(sensor.badCount, "message is not a sample", "messages are not samples")); \(first.lossText)"
        )
      }
      note(sensor)
      kept.append(
        BagImportResult.Sensors(
          sensors: sensor.names, topic: name, type: sensor.topic.type,
          samples: sensor.sampleCount, damaged: sensor.badCount))
    }
    return kept.sorted { $0.topic < $1.topic }
  }

  private func note(_ sensor: BagSensor) {
    let name = sensor.topic.name
    noteLate(sensor.lateCount, of: sensor.topic)
    if sensor.roundedCount > 0 {
      notes.append(
        "\(name): "
          + counted(sensor.roundedCount, "integer of 64 bits is", "integers of 64 bits are")
          + " rounded to 53 bits, as samples have them")
    }
    if let leftOut = sensor.plan?.leftOut, leftOut > 0 {
      notes.append(
        "\(name): \(counted(leftOut, "variance is", "variances are")) left out; a sensor has at "
          + "most "
          + "\(SensorRecord.channelsMax) channels")
    }
  }

  private func noteLate(_ count: Int, of topic: BagTopic) {
    guard count > 0 else { return }
    notes.append(
      "\(topic.name): "
        + counted(
          count, "message has an earlier time than its predecessor; it arrives",
          "messages have an earlier time than their predecessor; they arrive")
        + " with the predecessor")
  }

  /// Leaves out a topic without imported messages. If the user selected the topic, that is an
  /// error.
  ///
  /// - Parameter first: The error of its first message; nil if it has no message.
  private func leaveEmpty(_ topic: BagTopic, _ first: BagError?) throws {
    let reason = "it has no messages"
    guard options.topics.isEmpty else {
      throw first ?? BagError.unusableTopic(path: options.path, topic: topic.name, reason: reason)
    }
    leave(topic, first?.lossText ?? reason)
  }

  private func leave(_ topic: BagTopic, _ reason: String) {
    leftOut.append(
      BagImportResult.LeftOut(topic: topic.name, type: topic.type, reason: reason))
  }

  private func rows(of tracks: [BagTrack]) throws -> [(BagTrack, TrackRows)] {
    var rows: [(BagTrack, TrackRows)] = []
    for track in tracks {
      do {
        // A topic that was left out before has no number.
        try track.renumber(rows.count)
        rows.append((track, try track.finish(report: report)))
      } catch let error as any RetakeError {
        if case SessionError.interrupted = error { throw error }
        // No decoder accepts the packets of this topic, such as PNG of 16 bits.
        guard options.topics.isEmpty, tracks.count > 1, !error.isAboutMemory else { throw error }
        let cause = error.cause.map { " (\($0))" } ?? ""
        leave(track.topic, "no image can be decoded: \(error.message)\(cause)")
        try discardMedia(of: track)
      }
    }
    return rows
  }

  private func discardMedia(of track: BagTrack) throws {
    for file in track.files {
      try FileManager.default.removeItem(atPath: site.folder.path + "/" + file.name)
    }
  }

  // MARK: Writing

  private func write(
    _ rows: [(BagTrack, TrackRows)], _ bagRows: BagRows, to writer: StoreWriter
  ) throws -> BagImportResult {
    let damaged = rows.reduce(0) { $0 + $1.1.damaged }
    let standing = SessionStanding(damagedFrames: damaged, losses: losses.texts)
    let tracks = rows.map { track, rows in
      BagImportResult.Track(
        track: track.number, topic: track.topic.name, type: track.topic.type,
        encoding: track.encoding, frames: rows.frameCount, damaged: rows.damaged)
    }
    let footage =
      rows.compactMap(\.0.colorNote)
      + rows.compactMap { track, rows in
        rows.displayTurn.map {
          "track \(track.number): its images say that viewers \($0.text) (EXIF orientation); they are "
            + "kept as they are stored"
        }
      }
    for (track, rows) in rows {
      guard let file = track.files.first, file.form.pixelFormat == nil else { continue }
      notes += TrackNotes(file.stream, rows, file: options.path, hasTimes: true).undecoded
    }
    let result = BagImportResult(
      folder: target, tracks: tracks, sensors: sensorTopics,
      leftOut: leftOut.sorted { $0.topic < $1.topic },
      status: standing.status, losses: losses.texts, notes: notes)
    let places = TimePlaces(rows.flatMap(\.1.timeline.places))
    let facts = BagFacts(
      result: result, standing: standing, source: files.name, origin: bagRows.origin,
      places: places, footage: footage)
    try bagRows.write(to: writer, facts: facts.rows)
    try site.write(facts.notesText, to: site.folder.notes)
    try check(rows)
    return result
  }

  /// Reads the session as any reader does, with the first good frame of each media file.
  private func check(_ rows: [(BagTrack, TrackRows)]) throws {
    let reader = try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil))
    for (track, rows) in rows {
      var starts = track.files.map(\.firstPacket)[...]
      for place in 0..<rows.frameCount {
        guard let start = starts.first else { break }
        let frame = rows.frame(place)
        guard frame.cause == nil, let packet = frame.packet, packet >= start else { continue }
        _ = try reader.frame(FrameID(track: track.number, sequence: frame.sequence))
        while let start = starts.first, start <= packet { starts.removeFirst() }
      }
    }
  }
}

/// Missing or damaged parts, in words. A bag may have any number of damaged places; the list
/// contains only the first places.
struct LossList {
  private(set) var count = 0
  private var first: [String] = []

  private static let textsMax = 20

  var isEmpty: Bool { count == 0 }

  mutating func add(_ text: String) {
    count += 1
    guard first.count < Self.textsMax else { return }
    // Names in a damaged bag have any bytes, and a NUL would end the text in the database.
    first.append(visible(text))
  }

  mutating func add(_ error: BagError) { add(error.lossText) }

  var texts: [String] {
    count > first.count ? first + ["\(count - first.count) more places are damaged"] : first
  }
}

/// How the bag's clock relates to the stamps of its messages.
struct BagClock: Hashable {
  /// The earliest stamp of a track's first image, or the time at which the bag recorded it.
  private(set) var start: Int64?
  /// Subtracted from each arrival.
  private(set) var shift: Int64 = 0
  private(set) var note: String?

  /// More than a message may be on its way.
  private static let delayMax: Int64 = 600_000_000_000

  /// - Parameter first: The first message of topics, by the topic's number.
  init(_ tracks: [BagSelection.Track], _ first: [Int: BagMessage]) {
    var delays: [Int64] = []
    for track in tracks {
      guard let message = first[track.topic],
        let image = try? ImageMessage(message, type: track.type)
      else { continue }
      let time = image.stampNanoseconds ?? message.logNanoseconds
      start = min(start ?? time, time)
      let (delay, overflow) = message.logNanoseconds.subtractingReportingOverflow(time)
      if !overflow { delays.append(delay) }
    }
    settle(delays)
  }

  /// The time at which the bag recorded a message, on the clock of the stamps.
  func shifted(_ logTime: Int64) -> Int64 {
    let (shifted, overflow) = logTime.subtractingReportingOverflow(shift)
    return overflow ? logTime : shifted
  }

  private mutating func settle(_ delays: [Int64]) {
    // If both clocks are the same, the fastest message arrives almost at once.
    guard let delay = delays.min(), delay.magnitude > Self.delayMax.magnitude else { return }
    shift = delay
    let apart = Duration.nanoseconds(delay == .min ? .max : abs(delay)).roundedText
    note =
      "the stamps are by another clock than the bag, \(apart) \(delay > 0 ? "behind" : "ahead"): "
      + "arrivals are moved so that the first image arrives when it is stamped"
  }
}
