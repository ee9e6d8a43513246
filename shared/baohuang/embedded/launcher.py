"""Becomes another program: `python -I -S launcher.py PARENT SIGNAL UID GID PROGRAM ARGUMENTS...`.

Runs between fork and exec of a child, in place of subprocess's `preexec_fn`, which is unsafe in a process with threads
(gRPC has them). It takes the user and group ids, then asks Linux to send SIGNAL when the parent dies (after, since
a change of user undoes it), and becomes the program. The standard library only, and no import of this package.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Do as the module says; does not return. Raises OSError when the program cannot be run."""
    parent, number, uid, gid = (int(argument) for argument in arguments[:4])
    if uid != os.geteuid():
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it died before the request was made
        sys.exit("the parent is gone")
    os.execv(arguments[4], arguments[4:])  # noqa: S606 - what this program is for


if __name__ == "__main__":
    main(sys.argv[1:])
