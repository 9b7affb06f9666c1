/** The version that every program of this package reports. */
export const version = "0.1.0"
