import Foundation
import RetakeCore
import Testing

@testable import RetakeReplay

/// The identity that distinguishes the values of different programs.
@Suite struct MachineCodeTests {
  @Test func `the digest of the program is that of its file`() throws {
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    let expected = bytes.withUnsafeBytes { Digest128(of: $0) }
    #expect(MachineCode.program == expected)
  }

  @Test(.enabled(if: SystemFile.text("/proc/self/maps") != nil, "there is no /proc"))
  func `the mathematics are a library of the system, which is found among all others`() throws {
    let maps = try #require(SystemFile.text("/proc/self/maps"))
    #expect(maps.utf8.count > 4_096, "the first page does not have all libraries")
    let library = maps.split(separator: "\n").first { $0.contains("/libm.so") }
    let path = try #require(library.flatMap { $0.firstIndex(of: "/").map { library?[$0...] } })
    let bytes = try Data(contentsOf: URL(fileURLWithPath: String(path ?? "")))
    #expect(MachineCode.mathematics == bytes.withUnsafeBytes { Digest128(of: $0) })
  }

  @Test func `a processor with other registers under the same list is another one`() {
    var registers = KernelClass.Registers.current
    let own = MachineCode.digest(flags: "fma", registers)
    #expect(MachineCode.digest(flags: "fma", registers) == own)
    #expect(MachineCode.digest(flags: "fma avx2", registers) != own)
    registers.leaf7EBX ^= 0x20
    #expect(MachineCode.digest(flags: "fma", registers) != own)
  }

  @Test func `the digest of all code follows the decoder's`() throws {
    let one = try MachineCode.digest(with: .zero)
    #expect(try MachineCode.digest(with: Digest128(of: "other")) != one)
    #expect(try MachineCode.digest(with: .zero) == one)
  }
}
