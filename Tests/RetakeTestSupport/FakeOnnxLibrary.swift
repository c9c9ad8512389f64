/// Makes shared libraries that look like ONNX Runtime, with the two functions that all versions
/// have.
package enum FakeOnnxLibrary {
  package static let compiler = try? executable("gcc")

  /// - Parameters:
  ///   - table: The table of functions that it returns, in C: `NULL`, or `table` for an empty
  ///     table.
  /// - Returns: The path of the library.
  /// - Throws: `BuildFailed`, with the compiler's message.
  package static func write(
    version: String, table: String, into folder: TemporaryFolder
  ) throws -> String {
    let source = try folder.write(
      """
      #include <stddef.h>
      static const void *table[400];
      static const void *get_table(unsigned version) { return \(table); }
      static const char *get_version(void) { return "\(version)"; }
      static const void *base[2];
      const void *OrtGetApiBase(void) {
        base[0] = (const void *)get_table;
        base[1] = (const void *)get_version;
        return base;
      }
      """, to: "fake.c")
    let library = folder.file("libonnxruntime.so.\(version)").path
    let build = try runCommand("gcc", arguments: ["-shared", "-fPIC", "-o", library, source.path])
    guard build.status == 0 else { throw BuildFailed(message: build.stderr) }
    return library
  }

  package struct BuildFailed: Error {
    package var message: String
  }
}
