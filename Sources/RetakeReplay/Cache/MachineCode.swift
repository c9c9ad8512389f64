import Foundation
import RetakeCore

/// Identifies the code that computes here. A value that other code computed is not reused.
enum MachineCode {
  /// The processor's features, as the system lists them. Libraries select their code by them.
  static let processor: Digest128 = {
    let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let flags = text.split(separator: "\n").first {
      $0.hasPrefix("flags") || $0.hasPrefix("Features")
    }
    return Digest128(of: String(flags ?? ""))
  }()

  /// Digest of this program's file. So a stage whose version was not increased is computed again
  /// after every build.
  private static let program = digest(of: "/proc/self/exe")

  /// The C library's math functions, which differ between versions.
  private static let mathematics: Digest128 = {
    let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    let path = maps.split(separator: "\n").first {
      $0.contains("/libm.so") || $0.contains("/libm-")
    }
    .flatMap { $0.firstIndex(of: "/").map($0.suffix(from:)) }
    return path.map { digest(of: String($0)) } ?? .zero
  }()

  private static func digest(of path: String) -> Digest128 {
    guard let file = MappedFile(path) else { return .zero }
    return file.digest(at: 0, count: file.count) ?? .zero
  }

  static func digest(with decoder: Digest128) -> Digest128 {
    var hasher = DigestHasher()
    hasher.append("code 1")
    hasher.append(program)
    hasher.append(mathematics)
    hasher.append(decoder)
    return hasher.finish()
  }
}
