package import RetakeSession

/// The result of the import of a bag.
package struct BagImportResult: Hashable, Sendable {
  /// A topic that became a track.
  package struct Track: Hashable, Sendable, Codable {
    /// The number of the track in the session.
    package var track: Int
    /// The name of the topic.
    package var topic: String
    /// Such as `sensor_msgs/msg/Image`.
    package var type: String
    /// The encoding of the images in the bag: `bgr8`, `mjpeg`, `h264`.
    package var encoding: String
    /// All frames of the track, including damaged frames.
    package var frames: Int
    /// Number of frames with a recorded cause.
    package var damaged: Int
  }

  /// A topic that became sensors.
  package struct Sensors: Hashable, Sendable, Codable {
    /// Their names in the session.
    package var sensors: [String]
    /// The name of the topic.
    package var topic: String
    /// Such as `sensor_msgs/msg/Imu`.
    package var type: String
    /// The number of messages that became samples.
    package var samples: Int
    /// The number of messages that could not.
    package var damaged: Int
  }

  /// A topic that became neither a track nor sensors.
  package struct LeftOut: Hashable, Sendable, Codable {
    /// The name of the topic.
    package var topic: String
    /// Such as `sensor_msgs/msg/PointCloud2`.
    package var type: String
    /// Why, in words.
    package var reason: String
  }

  /// The new session.
  package var folder: SessionFolder
  /// In the order of their numbers.
  package var tracks: [Track]
  /// In the order of the topics' names.
  package var sensors: [Sensors]
  /// In the order of their names.
  package var leftOut: [LeftOut]
  /// `clean`, or `lossy` if a part of the bag is missing or damaged.
  package var status: SessionStatus
  /// Missing or damaged parts, with their places in the bag.
  package var losses: [String]
  /// Remarks that are not about losses.
  package var notes: [String]
}
