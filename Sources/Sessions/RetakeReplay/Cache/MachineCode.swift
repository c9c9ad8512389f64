import Foundation
package import RetakeCore

/// Identifies the code that computes here. A value that other code computed is not reused.
package enum MachineCode {
  /// The processor's features, as the system lists them and as the processor itself says: an
  /// emulator shows the host's list. Libraries select their code by them.
  static let processor: Digest128 = {
    let text = SystemFile.text("/proc/cpuinfo") ?? ""
    // The line is called `flags` on x86 and `Features` on ARM.
    let flags = text.split(separator: "\n").first {
      $0.hasPrefix("flags") || $0.hasPrefix("Features")
    }
    return digest(flags: String(flags ?? ""), .current)
  }()

  static func digest(flags: String, _ registers: KernelClass.Registers) -> Digest128 {
    var hasher = DigestHasher()
    hasher.append(flags)
    for number in [
      UInt64(registers.leaf1ECX), UInt64(registers.leaf7EBX), UInt64(registers.leaf7ECX),
      UInt64(registers.leaf7EDX), UInt64(registers.leaf7Part1EAX), registers.savedStates,
      registers.capabilities, registers.capabilities2,
    ] {
      hasher.append("\(number)")
    }
    return hasher.finish()
  }

  /// Digest of this program's file, so that every stage is computed again after a build, also one
  /// whose version was not increased. `nil` if the file cannot be read.
  package static let program: Digest128? = MappedFile.program().flatMap(digest)

  /// The C library's math functions, which differ between versions. `nil` if they cannot be read.
  static let mathematics: Digest128? = {
    let maps = SystemFile.text("/proc/self/maps") ?? ""
    // The library that is mapped, because a path by name may lead to another one than the loader
    // chose.
    let path = maps.split(separator: "\n").first {
      $0.contains("/libm.so") || $0.contains("/libm-")
    }
    .flatMap { $0.firstIndex(of: "/").map($0.suffix(from:)) }
    // They are a part of the program if it maps no such library.
    return path.map { (try? MappedFile(String($0))).flatMap(digest) } ?? .zero
  }()

  private static func digest(of file: MappedFile) -> Digest128? {
    file.digest(at: 0, count: file.count)
  }

  /// - Throws: `CacheError.noProgram`. Without the digests of all code, a cached value could be that
  ///   of other code.
  static func digest(with decoder: Digest128) throws -> Digest128 {
    guard let program, let mathematics else { throw CacheError.noProgram }
    var hasher = DigestHasher()
    // Counted up if other things are digested: values under the old keys are then not found.
    hasher.append("code 1")
    hasher.append(program)
    hasher.append(mathematics)
    hasher.append(decoder)
    return hasher.finish()
  }
}
