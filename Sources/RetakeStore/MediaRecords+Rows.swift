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

  init(_ row: inout RowReader) throws(RowDamage) {
    self.init(
      index: try row.count(), file: try row.text(), startedNanoseconds: try row.int64(),
      isClosed: try row.int64() == 1, bytes: try row.int64(), reason: try row.textIfAny())
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

  init(_ row: inout RowReader) throws(RowDamage) {
    self.init(
      segment: try row.count(), track: try row.count(), streamIndex: try row.count(),
      codec: try row.text(), profile: try row.intIfAny(), extradata: try row.blobIfAny(),
      width: Int(try row.positive()), height: Int(try row.positive()),
      pixelFormat: try row.text(), range: try row.textIfAny(), matrix: try row.textIfAny(),
      rotationDegrees: try row.int(), aspectNumerator: Int(try row.positive()),
      aspectDenominator: Int(try row.positive()),
      timeBase: TimeBase(try row.positive(), try row.positive()), delay: try row.count())
  }
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

  init(_ row: inout RowReader) throws(RowDamage) {
    self.init(
      track: try row.count(), index: try row.count(), segment: try row.count(),
      ordinal: try row.count(), pts: try row.int64IfAny(), dts: try row.int64IfAny(),
      duration: try row.int64(), flags: Flags(rawValue: try row.count()), size: try row.count(),
      digest: try row.digest(), offset: try row.countIfAny().map { Int64($0) },
      sideData: try row.blobIfAny())
  }
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

  init(_ row: inout RowReader) throws(RowDamage) {
    self.init(
      track: try row.count(), sequence: try row.count(), pts: try row.int64IfAny(),
      ptsNanoseconds: try row.int64(), arrivalNanoseconds: try row.int64(),
      packet: try row.countIfAny(), entry: try row.countIfAny(),
      pixelHash: try row.digestIfAny(), cause: try row.textIfAny(),
      assumed: Assumed(rawValue: try row.count()), shown: try row.count())
  }
}
