"""Core ML's ML Programs without Core ML: read a package, translate its program to ONNX."""
