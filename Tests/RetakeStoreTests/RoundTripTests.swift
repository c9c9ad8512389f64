import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeStore

struct RoundTripTests {
  @Test(arguments: [StoreWriter.Durability.recording, .building])
  func `every row comes back as it was written`(durability: StoreWriter.Durability) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let sample = Sample()
    try sample.write(path, durability: durability)

    let reader = try StoreReader(opening: path)

    #expect(try reader.segments() == [sample.segment])
    #expect(try reader.segmentTracks() == [sample.track])
    #expect(try reader.packets(track: 0, indexes: 0..<100) == sample.packets)
    #expect(try reader.frames(track: 0, sequences: 0..<100) == sample.frames)
    #expect(try reader.frames(track: 0, sequences: 3..<5) == Array(sample.frames[3..<5]))
    #expect(try reader.frame(FrameID(track: 0, sequence: 9)) == sample.frames[9])
    #expect(try reader.frame(FrameID(track: 1, sequence: 9)) == nil)
    #expect(try reader.events() == [sample.event])
    #expect(try reader.files() == [sample.file])
    #expect(reader.isClosed)
  }

  @Test func `the rows of a run come back as they were written`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .recording)
    let run = RunRecord(run: 0, kind: "live", pipeline: "{}", startedNanoseconds: 4)
    let node = NodeRecord(run: 0, node: "motion", kind: "motion", version: "1")
    let span = SpanRecord(
      run: 0, node: "motion", track: 0, sequence: 3, readyNanoseconds: 1, startNanoseconds: 2,
      endNanoseconds: 5, cpuNanoseconds: 3, executor: "vision", outcome: "ok")
    let external = ExternalEventRecord(run: 0, ordinal: 2, timeNanoseconds: 8, kind: "arrival")
    let decision = DecisionRecord(run: 0, ordinal: 1, line: "@0 motion 0:3 start")
    let result = ResultRecord(run: 0, ordinal: 1, sink: "boxes", line: "F 0 0")
    writer.append([run])
    writer.append([node])
    writer.append([span])
    writer.append([external])
    writer.append([decision])
    writer.append([result])
    try writer.close()

    let reader = try StoreReader(opening: path)

    #expect(try reader.runs() == [run])
    #expect(try reader.nodes(run: 0) == [node])
    #expect(try reader.spans(run: 0, node: "motion") == [span])
    #expect(try reader.externalEvents(run: 0, ordinals: 0..<9) == [external])
    #expect(try reader.decisions(run: 0, ordinals: 0..<9) == [decision])
    #expect(try reader.results(run: 0, ordinals: 0..<9) == [result])
    #expect(try reader.checkReferences().isEmpty)
  }

  @Test func `a commit numbers itself and the digest does not depend on the batches`() throws {
    let folder = try TemporaryFolder()
    let sample = Sample()
    let whole = try sample.write(folder.file("whole.sqlite").path)
    let path = folder.file("parts.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .recording)
    var ordinals = [try writer.commit().ordinal]
    for packet in sample.packets.reversed() {
      writer.append([packet])
      ordinals.append(try writer.commit().ordinal)
    }
    writer.append([sample.segment])
    writer.append([sample.track])
    writer.append(sample.frames)
    writer.append([sample.event])
    writer.append([sample.file])

    let last = try writer.close()

    #expect(ordinals == Array(1...11))
    #expect(last.ordinal == 12)
    #expect(last.digest == whole.digest)
    #expect(try StoreReader(opening: path).lastCommit() == last)
  }

  @Test func `a replaced frame leaves the digest as if it had been written once`() throws {
    let folder = try TemporaryFolder()
    let sample = Sample()
    let once = try sample.write(folder.file("once.sqlite").path)
    let path = folder.file("twice.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .recording)
    var early = sample
    early.count = 10
    writer.append([sample.segment])
    writer.append([sample.track])
    writer.append(sample.packets)
    writer.append(
      sample.frames.map {
        var frame = $0
        frame.entry = nil
        frame.pixelHash = nil
        return frame
      })
    writer.append([sample.event])
    writer.append([sample.file])
    try writer.commit()

    writer.replace(sample.frames)
    let last = try writer.close()

    #expect(last.digest == once.digest)
    let reader = try StoreReader(opening: path)
    #expect(try reader.checkRows().isEmpty)
    #expect(try reader.frames(track: 0, sequences: 0..<100) == sample.frames)
  }

  @Test func `a closed database is one file in delete mode with strict tables`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path, durability: .recording)

    let mode = try runCommand(
      "sqlite3",
      arguments: [
        path,
        """
        PRAGMA journal_mode; PRAGMA user_version;
        SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict
        """,
      ])

    #expect(mode.stdout == "delete\n4\n15\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
  }

  @Test func `the facts of a session are kept`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .building)
    writer.setMeta("name", "yard")
    try writer.commit()
    writer.setMeta("name", "garden")
    try writer.close()

    let reader = try StoreReader(opening: path)

    #expect(try reader.meta("name") == "garden")
    #expect(try reader.meta("schema") == "4")
    #expect(try reader.meta("unknown") == nil)
    #expect(try reader.checkRows().isEmpty)
  }

  @Test func `rows are counted without being read`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)

    let counts = try StoreReader(opening: path).counts(track: 0)

    #expect(counts.packets == 10)
    #expect(counts.packetBytes == 1_045)
    #expect(counts.frames == 10)
    #expect(counts.damaged == 1)
    #expect(counts.shed == 0)
    #expect(counts.firstNanoseconds == -7)
    #expect(counts.lastNanoseconds == 299_999_990)
  }
}
