import Testing

@testable import RetakeStore

@Suite struct LockHolderTests {
  private static let device = LockHolder.Device(major: 0xFE, minor: 0)
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
    #expect(
      LockHolder.process(in: Self.table, locking: file, on: Self.device, except: 1) == process)
  }

  @Test func `a lock on the file of that number on another disk is not one on this file`() {
    func holder(_ place: String, on device: LockHolder.Device) -> Int? {
      LockHolder.process(
        in: "1: POSIX  ADVISORY  WRITE 17 \(place):700 0 EOF", locking: 700, on: device, except: 1)
    }
    #expect(holder("fe:00", on: Self.device) == 17)
    #expect(holder("fe:01", on: Self.device) == nil)
    #expect(holder("08:00", on: Self.device) == nil)
    // `st_dev` has the lowest 8 bits of the minor number, 12 of the major one, then the others.
    #expect(LockHolder.Device(number: 0xFE02) == LockHolder.Device(major: 0xFE, minor: 2))
    #expect(LockHolder.Device(number: 0x100_0305) == LockHolder.Device(major: 3, minor: 0x1005))
    // File systems that number themselves, such as btrfs, may have two numbers for one file.
    #expect(holder("00:2a", on: LockHolder.Device(major: 0, minor: 0x31)) == 17)
    #expect(holder("fe:00", on: LockHolder.Device(major: 0, minor: 0x31)) == nil)
  }

  @Test func `this process is never the other one`() {
    #expect(
      LockHolder.process(in: Self.table, locking: 700, on: Self.device, except: 17) == nil)
    #expect("\(LockHolder(process: 5, program: "sqlite3"))" == "sqlite3 (process 5)")
    #expect("\(LockHolder(process: 5, program: nil))" == "a program (process 5)")
  }
}
