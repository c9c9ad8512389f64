import Foundation
import RetakeCore

/// What computes here: a value that something else computed is not trusted.
enum MachineCode {
  /// What the processor can do, as the system lists it: libraries choose their code by it.
  static let processor: Digest128 = {
    let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let flags = text.split(separator: "\n").first {
      $0.hasPrefix("flags") || $0.hasPrefix("Features")
    }
    return Digest128(of: String(flags ?? ""))
  }()

  /// Of this program's file: a stage whose version somebody forgot to count up is computed anew after
  /// every build.
  private static let program = digest(of: "/proc/self/exe")

  /// The C library's mathematics, which differ from one version to the next.
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
