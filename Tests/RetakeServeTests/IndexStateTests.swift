import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

@Suite struct IndexStateTests {
  @Test func `a commit that is only in the write-ahead log is a change`() throws {
    let folder = try TemporaryFolder("retake-serve")
    let session = SessionFolder(path: folder.url.path)
    let name = URL(fileURLWithPath: session.database).lastPathComponent
    try folder.write("rows", to: name)
    var states = [ServedFrames.IndexState(session)]
    for log in ["", "frames", "frames and more"] {
      try folder.write(log, to: name + "-wal")
      states.append(ServedFrames.IndexState(session))
    }
    #expect(Set(states).count == 4)
    #expect(ServedFrames.IndexState(session) == states[3])
  }
}
