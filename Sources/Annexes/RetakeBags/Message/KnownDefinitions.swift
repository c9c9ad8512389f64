/// The fields of common types of ROS 2, for bags without definitions: recorders before ROS 2 Iron
/// do not write definitions into `.db3` files.
enum KnownDefinitions {
  /// The definitions of a type, the present one first: some types got a field later. Empty for an
  /// unknown type.
  static func texts(of type: String) -> [String] { table[type] ?? [] }

  private static let header = "std_msgs/Header header\n"

  private static let table: [String: [String]] = {
    var table: [String: [String]] = [:]
    for (type, text) in plain { table[type] = [text] }
    for (type, field) in stamped {
      let package = type.split(separator: "/")[0]
      table[type] = [header + "\(package)/\(field)"]
    }
    for name in ["Bool", "Byte", "Char", "Float32", "Float64"] {
      table["std_msgs/\(name)"] = ["\(name.lowercased()) data"]
    }
    for bits in [8, 16, 32, 64] {
      table["std_msgs/Int\(bits)"] = ["int\(bits) data"]
      table["std_msgs/UInt\(bits)"] = ["uint\(bits) data"]
    }
    let range =
      header + "uint8 radiation_type\nfloat32 field_of_view\nfloat32 min_range\n"
      + "float32 max_range\nfloat32 range"
    table["sensor_msgs/Range"] = [range + "\nfloat32 variance", range]
    return table
  }()

  private static let stamped = [
    "geometry_msgs/AccelStamped": "Accel accel",
    "geometry_msgs/AccelWithCovarianceStamped": "AccelWithCovariance accel",
    "geometry_msgs/InertiaStamped": "Inertia inertia",
    "geometry_msgs/PointStamped": "Point point",
    "geometry_msgs/PoseStamped": "Pose pose",
    "geometry_msgs/PoseWithCovarianceStamped": "PoseWithCovariance pose",
    "geometry_msgs/QuaternionStamped": "Quaternion quaternion",
    "geometry_msgs/TwistStamped": "Twist twist",
    "geometry_msgs/TwistWithCovarianceStamped": "TwistWithCovariance twist",
    "geometry_msgs/Vector3Stamped": "Vector3 vector",
    "geometry_msgs/WrenchStamped": "Wrench wrench",
  ]

  private static let plain = [
    "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "geometry_msgs/Accel": "Vector3 linear\nVector3 angular",
    "geometry_msgs/AccelWithCovariance": "Accel accel\nfloat64[36] covariance",
    "geometry_msgs/Inertia": "float64 m\nVector3 com\nfloat64 ixx\nfloat64 ixy\nfloat64 ixz\n"
      + "float64 iyy\nfloat64 iyz\nfloat64 izz",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Point32": "float32 x\nfloat32 y\nfloat32 z",
    "geometry_msgs/Pose": "Point position\nQuaternion orientation",
    "geometry_msgs/Pose2D": "float64 x\nfloat64 y\nfloat64 theta",
    "geometry_msgs/PoseWithCovariance": "Pose pose\nfloat64[36] covariance",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Transform": "Vector3 translation\nQuaternion rotation",
    "geometry_msgs/TransformStamped": header + "string child_frame_id\nTransform transform",
    "geometry_msgs/Twist": "Vector3 linear\nVector3 angular",
    "geometry_msgs/TwistWithCovariance": "Twist twist\nfloat64[36] covariance",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Wrench": "Vector3 force\nVector3 torque",
    "nav_msgs/Odometry": header + "string child_frame_id\n"
      + "geometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist",
    "sensor_msgs/FluidPressure": header + "float64 fluid_pressure\nfloat64 variance",
    "sensor_msgs/Illuminance": header + "float64 illuminance\nfloat64 variance",
    "sensor_msgs/Imu": header + "geometry_msgs/Quaternion orientation\n"
      + "float64[9] orientation_covariance\ngeometry_msgs/Vector3 angular_velocity\n"
      + "float64[9] angular_velocity_covariance\ngeometry_msgs/Vector3 linear_acceleration\n"
      + "float64[9] linear_acceleration_covariance",
    "sensor_msgs/JointState": header + "string[] name\nfloat64[] position\nfloat64[] velocity\n"
      + "float64[] effort",
    "sensor_msgs/LaserScan": header + "float32 angle_min\nfloat32 angle_max\n"
      + "float32 angle_increment\nfloat32 time_increment\nfloat32 scan_time\n"
      + "float32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] intensities",
    "sensor_msgs/MagneticField": header + "geometry_msgs/Vector3 magnetic_field\n"
      + "float64[9] magnetic_field_covariance",
    "sensor_msgs/NavSatFix": header + "NavSatStatus status\nfloat64 latitude\n"
      + "float64 longitude\nfloat64 altitude\nfloat64[9] position_covariance\n"
      + "uint8 position_covariance_type",
    "sensor_msgs/NavSatStatus": "int8 status\nuint16 service",
    "sensor_msgs/RelativeHumidity": header + "float64 relative_humidity\nfloat64 variance",
    "sensor_msgs/Temperature": header + "float64 temperature\nfloat64 variance",
    "sensor_msgs/TimeReference": header + "builtin_interfaces/Time time_ref\nstring source",
    "std_msgs/ColorRGBA": "float32 r\nfloat32 g\nfloat32 b\nfloat32 a",
    "std_msgs/Empty": "",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "std_msgs/String": "string data",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
  ]
}
