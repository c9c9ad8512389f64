import CFFmpeg
import Foundation

/// FFmpeg's cameras and test images. Their library is loaded on demand, because it depends on many
/// other libraries: loading them takes longer than most commands run.
enum MediaDevices {
  private static let library: String = {
    #if canImport(Darwin)
      "libavdevice.\(LIBAVFORMAT_VERSION_MAJOR).dylib"
    #else
      "libavdevice.so.\(LIBAVFORMAT_VERSION_MAJOR)"
    #endif
  }()

  /// Debian's name of the package with the library.
  static let package = "libavdevice\(LIBAVFORMAT_VERSION_MAJOR)"

  /// Why the library could not be loaded; nil if it is loaded.
  private static let failure: String? = {
    guard let handle = dlopen(library, RTLD_NOW | RTLD_LOCAL) else {
      return dlerror().map { String(cString: $0) } ?? library
    }
    guard let symbol = dlsym(handle, "avdevice_register_all") else {
      return "\(library) has no avdevice_register_all"
    }
    // SAFETY: the library's header declares `void avdevice_register_all(void)`. It is called once,
    // and the library stays loaded.
    unsafeBitCast(symbol, to: (@convention(c) () -> Void).self)()
    return nil
  }()

  /// - Throws: `MediaError.noDevices`.
  static func format(_ name: String) throws -> UnsafePointer<AVInputFormat> {
    if let failure { throw MediaError.noDevices(cause: failure) }
    guard let format = av_find_input_format(name) else {
      throw MediaError.noDevices(cause: "it was built without \(name)")
    }
    return format
  }
}
