import GRDB
import RetakeCore

extension SegmentRecord: StoredRow {
  static var table: Schema.Table { Schema.segment }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(index)
      $0.add(file)
      $0.add(startedNanoseconds)
      $0.add(isClosed)
      $0.add(bytes)
      $0.add(reason)
    }
  }

  init(_ row: inout RowReader) throws {
    // Swift evaluates arguments from left to right, so their order is the order of the columns.
    // Values are checked even where the schema has a CHECK: rows of a foreign file need not fulfil
    // it.
    self.init(
      index: try row.count(), file: try row.text(), startedNanoseconds: try row.nanoseconds(),
      isClosed: try row.int(among: [0, 1]) == 1, bytes: Int64(try row.count()),
      reason: try row.textIfAny())
  }
}

extension SegmentTrackRecord: StoredRow {
  static var table: Schema.Table { Schema.segmentTrack }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(segment)
      $0.add(track)
      $0.add(streamIndex)
      $0.add(codec)
      $0.add(profile)
      $0.add(extradata)
      $0.add(width)
      $0.add(height)
      $0.add(pixelFormat)
      $0.add(range)
      $0.add(matrix)
      $0.add(rotationDegrees)
      $0.add(aspectNumerator)
      $0.add(aspectDenominator)
      $0.add(Int(timeBase.numerator))
      $0.add(Int(timeBase.denominator))
      $0.add(delay)
    }
  }

  init(_ row: inout RowReader) throws {
    let (segment, track) = (try row.count(), try row.count())
    let streamIndex = try row.int(in: 0...Self.streamIndexMax)
    let (codec, profile) = (try row.text(), try row.intIfAny(in: Self.profiles))
    let extradata = try row.blobIfAny()
    let width = try row.int(in: 1...Self.pixelsMax)
    // The area is bounded and not each side alone: two sides at their limit would be 2^56 pixels.
    let height = try row.int(in: 1...Self.pixelsMax / Int64(width))
    self.init(
      segment: segment, track: track, streamIndex: streamIndex, codec: codec, profile: profile,
      extradata: extradata, width: width, height: height, pixelFormat: try row.text(),
      range: try row.textIfAny(), matrix: try row.textIfAny(),
      rotationDegrees: try row.int(among: [0, 90, 180, 270]),
      aspectNumerator: Int(try row.positive()),
      aspectDenominator: Int(try row.positive()),
      timeBase: TimeBase(try row.positive(), try row.positive()),
      delay: try row.int(in: 0...Self.delayMax))
  }

  /// FFmpeg's own limit of the pixels of a frame.
  static let pixelsMax: Int64 = 1 << 28
  static let streamIndexMax: Int64 = 1 << 16
  /// Frames that a decoder delays; H.264 allows 16.
  static let delayMax: Int64 = 1 << 10
  /// FFmpeg's numbers; -99 is unknown.
  static let profiles: ClosedRange<Int64> = -99...Int64(Int32.max)
}

extension PacketRecord: StoredRow {
  static var table: Schema.Table { Schema.packet }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(track)
      $0.add(index)
      $0.add(segment)
      $0.add(ordinal)
      $0.add(pts)
      $0.add(dts)
      $0.add(duration)
      $0.add(flags.rawValue)
      $0.add(size)
      $0.add(digest)
      $0.add(offset)
      $0.add(sideData)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      track: try row.count(), index: try row.count(), segment: try row.count(),
      ordinal: try row.count(), pts: try row.int64IfAny(), dts: try row.int64IfAny(),
      duration: try row.int64(), flags: Flags(rawValue: try row.int(in: 0...7)),
      size: try row.int(in: 0...Self.sizeMax),
      digest: try row.digest(), offset: try row.countIfAny().map { Int64($0) },
      sideData: try row.blobIfAny())
  }

  /// FFmpeg uses 32 bits for a packet's size, and adds 64 bytes of padding.
  static let sizeMax = Int64(Int32.max) - 64
}

extension FrameRecord: StoredRow {
  static var table: Schema.Table { Schema.frame }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(track)
      $0.add(sequence)
      $0.add(pts)
      $0.add(ptsNanoseconds)
      $0.add(arrivalNanoseconds)
      $0.add(packet)
      $0.add(entry)
      $0.add(pixelHash)
      $0.add(cause)
      $0.add(assumed.rawValue)
      $0.add(shown)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      track: try row.count(), sequence: try row.count(), pts: try row.int64IfAny(),
      ptsNanoseconds: try row.nanoseconds(), arrivalNanoseconds: try row.nanoseconds(),
      packet: try row.countIfAny(), entry: try row.countIfAny(),
      pixelHash: try row.digestIfAny(), cause: try row.codeIfAny(),
      assumed: Assumed(rawValue: try row.int(in: 0...255)), shown: try row.count())
  }
}
