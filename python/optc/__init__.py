"""Python's way to optc: `optc.backend` is ONNX's Backend API over the command-line tools."""
