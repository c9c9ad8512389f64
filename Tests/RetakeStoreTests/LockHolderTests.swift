import Testing

@testable import RetakeStore

@Suite struct LockHolderTests {
  private static let table = """
    1: FLOCK  ADVISORY  WRITE 17 fe:00:700 0 EOF
    1: -> FLOCK  ADVISORY  WRITE 18 fe:00:800 0 EOF
    2: POSIX  ADVISORY  READ 4711 fe:00:800 1073741826 1073742335
    3: POSIX  ADVISORY  WRITE 0 fe:00:900 0 EOF
    """

  @Test(arguments: [(UInt64(700), 17), (800, 4_711), (900, nil), (1_000, nil)] as [(UInt64, Int?)])
  func `the process that holds a lock is found by the file's number`(
    file: UInt64, process: Int?
  ) {
    #expect(LockHolder.process(in: Self.table, locking: file, except: 1) == process)
  }

  @Test func `this process is never the other one`() {
    #expect(LockHolder.process(in: Self.table, locking: 700, except: 17) == nil)
    #expect("\(LockHolder(process: 5, program: "sqlite3"))" == "sqlite3 (process 5)")
    #expect("\(LockHolder(process: 5, program: nil))" == "a program (process 5)")
  }
}
