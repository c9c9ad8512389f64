/// The port and the ending that a tombstone carries in addition to the frame.
struct Tombstone {
  var port: Int
  var ending: Int

  init(_ event: Event) {
    port = event.key.ordinal
    ending = Int(event.extra)
  }
}
