/// How messages and pixels reach a program.
package enum ForeignTransport: String, CaseIterable, Hashable, Sendable {
  /// Messages on file 3, pixels in the shared memory of file 4.
  case files
  /// Messages on standard input and output; the pixels of a frame follow its message.
  case stdio
}
