import CFFmpeg

/// An options dictionary that is passed to FFmpeg and back.
struct OptionDictionary: ~Copyable {
  // SAFETY: the library makes, changes and frees the dictionary; only this value owns it.
  var pointer: OpaquePointer?

  /// In the given order, which is also the order in which they are applied.
  init(_ options: KeyValuePairs<String, String>) {
    for (name, value) in options { av_dict_set(&pointer, name, value, 0) }
  }

  init(_ options: [(name: String, value: String)]) {
    for option in options { av_dict_set(&pointer, option.name, option.value, 0) }
  }

  deinit {
    var pointer = pointer
    av_dict_free(&pointer)
  }

  /// The name of an option that was not used.
  var leftover: String? {
    av_dict_get(pointer, "", nil, AV_DICT_IGNORE_SUFFIX).map { String(cString: $0.pointee.key) }
  }
}
