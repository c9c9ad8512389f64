/// An item of a file, in the order of the file.
package enum BagItem {
  case message(BagMessage)
  /// Bytes that cannot be read; reading continues after them.
  case loss(BagError)
}
