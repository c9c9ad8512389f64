import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSession

@Suite struct ExportTests {
  private func text(
    _ path: String, _ rows: SessionExport.Rows, _ form: SessionExport.Form, run: Int? = nil
  ) throws -> String {
    var text = ""
    try SessionExport(of: path).table(rows, as: form, run: run) { text += $0 }
    return text
  }

  @Test func `an imported file goes out as it came in`() throws {
    let imported = try ImportedClip(.openGOP)
    let out = imported.folder.file("out.mp4")
    #expect(try SessionExport(of: imported.path).media(to: out.path).map(\.packets) == [120])
    #expect(try Data(contentsOf: out) == Data(contentsOf: imported.source))
    #expect(
      code { try SessionExport(of: imported.path).media(to: out.path) }
        == "session.export.exists")
  }

  @Test(arguments: ["out.mkv", "out.nut", "out.mov"])
  func `another container gets the same packets`(name: String) throws {
    let imported = try ImportedClip(.openGOP)
    let out = imported.folder.file(name).path
    try SessionExport(of: imported.path).media(to: out)
    let demuxer = try MediaDemuxer(path: out)
    var digests: [Digest128] = []
    while let packet = try demuxer.nextPacket() { digests.append(packet.digest) }
    let store = try imported.reader().index.store
    #expect(try digests == store.packets(track: 0, indexes: 0..<999).map(\.digest))
    let left = try FileManager.default.contentsOfDirectory(atPath: imported.folder.url.path)
    #expect(!left.contains { $0.hasPrefix(".") })
  }

  @Test func `frames are written as CSV and JSON lines, one a row`() throws {
    let imported = try ImportedClip(.lateStart)
    let csv = try text(imported.path, .frames, .csv).components(separatedBy: "\r\n")
    #expect(
      csv.first
        == "track,sequence,pts,ptsNanoseconds,arrivalNanoseconds,packet,entry,pixelDigest,cause,"
        + "assumed")
    #expect(csv.count == 22 && csv.last == "")
    #expect(csv[1].hasPrefix("0,0,3500,3500000000,3500000000,0,0,"))
    let lines = try text(imported.path, .frames, .jsonLines).split(separator: "\n")
    #expect(lines.count == 20)
    let object = try JSONSerialization.jsonObject(with: Data(lines[3].utf8)) as? [String: Any]
    #expect(object?["sequence"] as? Int == 3 && object?["cause"] is NSNull)
    let packets = try text(imported.path, .packets, .csv).components(separatedBy: "\r\n")
    #expect(packets.count == 22)
  }

  @Test func `commas, quotes and line breaks stay inside their field`() throws {
    let imported = try ImportedClip(.lateStart)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    let json = #"{"text":"a, \"b\"\nc"}"#
    writer.append([
      EventRecord(ordinal: 0, timeNanoseconds: 5, source: "app", kind: "no,te", json: json)
    ])
    writer.append([RunRecord(run: 1, kind: "live", pipeline: "{}", startedNanoseconds: 0)])
    writer.append([DecisionRecord(run: 1, ordinal: 0, line: "@0 motion 0:0 start")])
    try writer.close()
    let csv = try text(imported.path, .events, .csv)
    #expect(
      csv == "ordinal,timeNanoseconds,track,source,kind,json\r\n"
        + #"0,5,,app,"no,te","{""text"":""a, \""b\""\nc""}""# + "\r\n")
    #expect(
      try text(imported.path, .decisions, .jsonLines)
        == #"{"line":"@0 motion 0:0 start","ordinal":0,"run":1}"# + "\n")
    #expect(code { try text(imported.path, .decisions, .csv, run: 4) } == "session.run.unknown")
    #expect(code { try text(imported.path, .results, .csv) } == "session.export.nothing")
  }

  @Test func `a table that cannot be written leaves nothing`() throws {
    let imported = try ImportedClip(.lateStart)
    let out = imported.folder.file("events.csv").path
    let export = SessionExport(of: imported.path)
    #expect(code { try export.table(.events, as: .csv, toFile: out) } == "session.export.nothing")
    #expect(
      code { try export.table(.frames, as: .csv, toFile: imported.folder.file("no/x").path) }
        == "session.write")
    let left = try FileManager.default.contentsOfDirectory(atPath: imported.folder.url.path)
    #expect(left.sorted() == ["Recordings", "late.mkv"])
  }
}
