"""The `baohuang` command."""
