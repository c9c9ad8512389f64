import Foundation

/// A small file that the kernel provides.
enum DeviceFile {
  static func text(_ path: String) -> String? {
    guard let data = FileManager.default.contents(atPath: path), data.count <= 65_536 else {
      return nil
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
