/// One message of a bag.
package struct BagMessage: Sendable {
  /// The topic's number in the bag.
  package var topic: Int
  /// When the recorder of the bag received it; by its clock, since 1970 as a rule.
  var logNanoseconds: Int64
  /// When it was published, if the bag says it.
  var publishNanoseconds: Int64?
  /// The message as its encoding writes it.
  package var bytes: ArraySlice<UInt8>
  package var place: BagPlace
}
