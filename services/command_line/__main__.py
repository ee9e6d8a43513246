"""`python -m command_line`: the same as `baohuang`."""

from command_line.main import main

main()
