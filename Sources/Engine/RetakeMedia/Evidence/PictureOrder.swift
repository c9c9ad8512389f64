/// The place of a picture in the order in which pictures are shown, as its own header says it.
struct PictureOrder: Hashable, Sendable {
  /// Numbers of different epochs have no order.
  var epoch = 0
  var number: Int
}
