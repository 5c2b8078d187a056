// The viewer is built by tools/viewer.
