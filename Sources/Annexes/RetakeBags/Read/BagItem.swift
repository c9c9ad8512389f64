/// What a reader passes on, in the order of the file.
enum BagItem {
  case message(BagMessage)
  /// Something that cannot be read; reading continues behind it.
  case loss(BagError)
}
