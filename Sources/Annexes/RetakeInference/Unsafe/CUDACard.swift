import Foundation

/// The NVIDIA card that a process computes on by default, as the driver's library names it.
enum CUDACard {
  private static let nameBytesMax = 256

  /// The card and the driver; `nil` for a fact that the machine does not have.
  static let facts: (card: String?, driver: String?) = {
    // SAFETY: the declarations of cuda.h, which have not changed since CUDA 2. The library stays
    // loaded, because ONNX Runtime uses it, too.
    typealias Start = @convention(c) (UInt32) -> Int32
    typealias Get = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32
    typealias Name = @convention(c) (UnsafeMutablePointer<CChar>, Int32, Int32) -> Int32
    typealias Version = @convention(c) (UnsafeMutablePointer<Int32>) -> Int32
    guard let library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL),
      let start = dlsym(library, "cuInit"), let get = dlsym(library, "cuDeviceGet"),
      let name = dlsym(library, "cuDeviceGetName"),
      let version = dlsym(library, "cuDriverGetVersion"),
      unsafeBitCast(start, to: Start.self)(0) == 0
    else { return (nil, nil) }
    var (device, number): (Int32, Int32) = (0, 0)
    var text = [CChar](repeating: 0, count: nameBytesMax)
    // The first device that CUDA_VISIBLE_DEVICES leaves, which is ONNX Runtime's default, too.
    guard unsafeBitCast(get, to: Get.self)(&device, 0) == 0,
      unsafeBitCast(name, to: Name.self)(&text, Int32(nameBytesMax - 1), device) == 0,
      unsafeBitCast(version, to: Version.self)(&number) == 0
    else { return (nil, nil) }
    let card = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    // 12040 is CUDA 12.4.
    let cuda = "CUDA \(number / 1_000).\(number % 1_000 / 10)"
    return (card, [build, cuda].compactMap(\.self).joined(separator: ", "))
  }()

  /// The version of the driver: `550.54.15`.
  private static var build: String? {
    let text = try? String(contentsOfFile: "/proc/driver/nvidia/version", encoding: .utf8)
    return text?.split(whereSeparator: \.isWhitespace).first { word in
      word.contains(".") && word.allSatisfy { $0.isNumber || $0 == "." }
    }.map(String.init)
  }
}
